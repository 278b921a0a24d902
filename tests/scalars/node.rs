//! A node of our own, the square root by Newton's method, differentiated in every way.

use approx::assert_relative_eq;
use stiction::ad::{self, Dual, Node, NodeRule, Real, Var, with_node_rule};

/// y = sqrt(x0), z = sqrt(x0 x1): y y = x0, z z = x0 x1.
#[derive(Clone)]
struct Roots;

/// A starting guess; 0 if there is none.
type Guess = [f64; 2];

impl Node for Roots {
    type Solution = Guess;
    type Workspace<T: Real> = ();
    type Factor<T: Real> = [T; 2];

    fn primal<T: Real>(&self, x: &[T], y: &mut [T], guess: &mut Guess, (): &mut ()) {
        for (k, square) in [x[0], x[0] * x[1]].into_iter().enumerate() {
            let start = if guess[k] > 0.0 { guess[k] } else { square.value().max(1.0) };
            let mut root = T::constant(start);
            for _ in 0..60 {
                root = (root + square / root) * 0.5;
            }
            y[k] = root;
            guess[k] = root.value();
        }
    }

    fn residual<T: Real>(&self, _: &Guess, x: &[T], y: &[T], residual: &mut [T]) {
        residual[0] = y[0] * y[0] - x[0];
        residual[1] = y[1] * y[1] - x[0] * x[1];
    }

    fn factor<T: Real>(&self, _: &Guess, _: &[T], y: &[T], factor: &mut [T; 2]) {
        *factor = [(y[0] * 2.0).recip(), (y[1] * 2.0).recip()];
    }

    fn jvp<T: Real>(&self, _: &Guess, f: &mut [T; 2], x: &[T], _: &[T], dx: &[T], dy: &mut [T]) {
        dy[0] = f[0] * dx[0];
        dy[1] = f[1] * (x[1] * dx[0] + x[0] * dx[1]);
    }

    fn vjp<T: Real>(&self, _: &Guess, f: &mut [T; 2], x: &[T], _: &[T], dy: &[T], dx: &mut [T]) {
        dx[0] += f[0] * dy[0] + f[1] * x[1] * dy[1];
        dx[1] += f[1] * x[0] * dy[1];
    }
}

fn roots<T: Real>(x: &[T]) -> Vec<T> {
    let mut y = [T::zero(); 2];
    T::call(&Roots, x, &mut y, &mut [0.0; 2], &mut Default::default());
    y.to_vec()
}

/// The two roots inside a computation: sqrt(u^2 v) = u sqrt(v), and that times sqrt(u) more.
fn around<T: Real>(x: &[T]) -> Vec<T> {
    let [u, v] = [x[0], x[1]];
    roots(&[u * u * v, u])
}

const AT: [f64; 2] = [1.7, 2.3];
const RULES: [NodeRule; 3] = [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled];

/// u sqrt(v) and u^1.5 sqrt(v): values, and derivatives in u and v.
fn expected() -> ([f64; 2], [[f64; 2]; 2]) {
    let [u, v] = AT;
    let (s, t) = (v.sqrt(), u.sqrt());
    ([u * s, u * t * s], [[s, 0.5 * u / s], [1.5 * t * s, 0.5 * u * t / s]])
}

#[test]
fn first_derivatives() {
    let (values, slopes) = expected();
    let (_, adjoint) = ad::jacobian_by_rows(around, &AT).unwrap();
    let by = |rule| with_node_rule(rule, || ad::jacobian::<2>(around, &AT));
    for i in 0..2 {
        assert_relative_eq!(around(&AT)[i], values[i], max_relative = 1e-15);
        for k in 0..2 {
            assert_relative_eq!(adjoint[(i, k)], slopes[i][k], max_relative = 1e-13);
            for (found, forward) in RULES.map(by) {
                assert_relative_eq!(found[i], values[i], max_relative = 1e-15);
                assert_relative_eq!(forward[(i, k)], slopes[i][k], max_relative = 1e-13);
            }
        }
    }
}

// d2/du2 u^1.5 sqrt(v) = 0.75 sqrt(v / u), d2/du dv = 0.75 sqrt(u / v), d2/dv2 = -u^1.5 v^-1.5 / 4
#[test]
fn second_derivatives_by_nested_duals() {
    let [u, v] = AT;
    let mixed = 0.75 * (u / v).sqrt();
    let expected = [[0.75 * (v / u).sqrt(), mixed], [mixed, -0.25 * u.powf(1.5) * v.powf(-1.5)]];
    let x: [Dual<Dual<f64, 2>, 2>; 2] =
        std::array::from_fn(|k| Dual::variable(Dual::variable(AT[k], k), k));
    for rule in RULES {
        let found = with_node_rule(rule, || around(&x)[1]);
        for i in 0..2 {
            for k in 0..2 {
                let found = found.tangent[i].tangent[k];
                assert_relative_eq!(found, expected[i][k], max_relative = 1e-13);
            }
        }
    }
}

/// A node whose derivative tells by which rule it was taken: its iterations carry a slope of 1, its
/// conditions have one of 2, its `jvp` one of 3.
#[derive(Clone)]
struct Telltale;

impl Node for Telltale {
    type Solution = ();
    type Workspace<T: Real> = ();
    type Factor<T: Real> = ();

    fn primal<T: Real>(&self, x: &[T], y: &mut [T], (): &mut (), (): &mut ()) {
        y[0] = x[0];
    }
    fn residual<T: Real>(&self, (): &(), x: &[T], y: &[T], residual: &mut [T]) {
        residual[0] = y[0] - x[0] * 2.0;
    }
    fn factor<T: Real>(&self, (): &(), _: &[T], _: &[T], (): &mut ()) {}
    fn jvp<T: Real>(&self, (): &(), (): &mut (), _: &[T], _: &[T], dx: &[T], dy: &mut [T]) {
        dy[0] = dx[0] * 3.0;
    }
    fn vjp<T: Real>(&self, (): &(), (): &mut (), _: &[T], _: &[T], dy: &[T], dx: &mut [T]) {
        dx[0] += dy[0] * 3.0;
    }
}

/// The rule in force, by the tangent that comes out of a node.
fn in_force() -> NodeRule {
    let mut y = [Dual::<f64, 1>::default()];
    let x = [Dual::variable(1.0, 0)];
    Real::call(&Telltale, &x, &mut y, &mut (), &mut Default::default());
    match y[0].tangent[0] {
        1.0 => NodeRule::Unrolled,
        2.0 => NodeRule::ByResidual,
        _ => NodeRule::ByJvp,
    }
}

#[test]
fn a_rule_holds_within_its_scope() {
    assert_eq!(in_force(), NodeRule::ByJvp);
    with_node_rule(NodeRule::Unrolled, || {
        assert_eq!(in_force(), NodeRule::Unrolled);
        with_node_rule(NodeRule::ByResidual, || assert_eq!(in_force(), NodeRule::ByResidual));
        with_node_rule(NodeRule::ByJvp, || assert_eq!(in_force(), NodeRule::ByJvp));
        assert_eq!(in_force(), NodeRule::Unrolled);
    });
    assert_eq!(in_force(), NodeRule::ByJvp);
}

#[test]
fn a_panic_restores_the_rule() {
    with_node_rule(NodeRule::ByResidual, || {
        let panicked = std::panic::catch_unwind(|| {
            with_node_rule(NodeRule::Unrolled, || {
                with_node_rule(NodeRule::ByJvp, || std::panic::resume_unwind(Box::new(())))
            })
        });
        assert!(panicked.is_err());
        assert_eq!(in_force(), NodeRule::ByResidual);
    });
    assert_eq!(in_force(), NodeRule::ByJvp);
}

#[test]
fn threads_start_with_the_default_rule() {
    with_node_rule(NodeRule::Unrolled, || {
        std::thread::scope(|scope| {
            let started = scope.spawn(|| {
                let at_first = in_force();
                with_node_rule(NodeRule::ByResidual, || (at_first, in_force()))
            });
            assert_eq!(started.join().unwrap(), (NodeRule::ByJvp, NodeRule::ByResidual));
        });
        assert_eq!(in_force(), NodeRule::Unrolled);
    });
}

#[test]
fn constants_into_a_node_come_out_as_constants() {
    let kept = roots(&[Var::constant(9.0), Var::constant(4.0)]);
    let (y, dy) = ad::gradient(|x| x[0] * kept[0] + kept[1], &[2.0]).unwrap();
    assert_relative_eq!(y, 12.0, max_relative = 1e-15);
    assert_relative_eq!(dy[0], 3.0, max_relative = 1e-15);
}

#[test]
fn a_stale_variable_into_a_node_is_refused() {
    let mut kept = Var::constant(0.0);
    ad::gradient(
        |x| {
            kept = x[0];
            kept
        },
        &[3.0],
    )
    .unwrap();
    let found = ad::gradient(|x| roots(&[x[0], kept])[0], &[2.0]);
    assert_eq!(found, Err(ad::Error::StaleVariable));
}
