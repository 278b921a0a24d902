//! Nodes of which only the solver and the residual are written.

use approx::assert_relative_eq;
use stiction::ad::{self, Dual, Implicit, Node, NodeRule, Real, with_node_rule};

/// y_i + sum_j c_ij sin(y_j) x_i = x_{i mod m}: contracts, so that iterating it solves it.
#[derive(Clone)]
struct Waves {
    outputs: usize,
}

const INPUTS: usize = 5;

impl Waves {
    fn right<T: Real>(&self, x: &[T], y: &[T], i: usize) -> T {
        let weight = |j: usize| 0.3 * (1.0 + (3 * i + 2 * j) as f64).cos() / self.outputs as f64;
        let waves = y.iter().enumerate().fold(T::zero(), |sum, (j, y)| sum + y.sin() * weight(j));
        x[i % INPUTS] - waves * x[(i + 1) % INPUTS]
    }
}

impl Implicit for Waves {
    /// Iterations spent.
    type Solution = usize;
    type Workspace = ();

    fn solve<T: Real>(&self, x: &[T], y: &mut [T], iterations: &mut usize, (): &mut ()) {
        y.fill(T::zero());
        *iterations = 80;
        for _ in 0..*iterations {
            for i in 0..self.outputs {
                y[i] = self.right(x, y, i);
            }
        }
    }

    fn residual<T: Real>(&self, _: &usize, x: &[T], y: &[T], residual: &mut [T]) {
        for (i, r) in residual.iter_mut().enumerate() {
            *r = y[i] - self.right(x, y, i);
        }
    }
}

const AT: [f64; INPUTS] = [0.7, -0.4, 1.1, 0.2, -0.9];
const ALONG: [f64; INPUTS] = [0.3, 1.2, -0.8, 0.5, 0.1];

fn call<T: Real, N: Node>(node: &N, x: &[T], outputs: usize) -> Vec<T> {
    let mut y = vec![T::zero(); outputs];
    T::call(node, x, &mut y, &mut Default::default(), &mut Default::default());
    y
}

#[test]
fn first_derivatives_agree_with_the_iterations() {
    // Fewer and more outputs than lanes.
    for outputs in [1, 3, 4, 9] {
        let node = Waves { outputs };
        let inputs: [Dual<f64, INPUTS>; INPUTS] = std::array::from_fn(|k| Dual::variable(AT[k], k));
        let [expected, residual] = [NodeRule::Unrolled, NodeRule::ByResidual]
            .map(|rule| with_node_rule(rule, || call(&node, &inputs, outputs)));
        let (_, forward) = ad::jacobian::<2>(|x| call(&node, x, outputs), &AT);
        let (_, adjoint) = ad::jacobian_by_rows(|x| call(&node, x, outputs), &AT).unwrap();
        for i in 0..outputs {
            for k in 0..INPUTS {
                for found in [forward[(i, k)], adjoint[(i, k)], residual[i].tangent[k]] {
                    assert_relative_eq!(found, expected[i].tangent[k], epsilon = 1e-13);
                }
            }
        }
    }
}

type Second = Dual<Dual<f64, 2>, 2>;

fn seeded() -> [Second; INPUTS] {
    let slopes = |k: usize| [ALONG[k], if k == 2 { 1.0 } else { 0.0 }];
    std::array::from_fn(|k| Dual::new(Dual::new(AT[k], slopes(k)), slopes(k).map(Real::constant)))
}

#[test]
fn second_derivatives_agree_with_the_iterations() {
    let node = Waves { outputs: 6 };
    let [jvp, residual, expected] = [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled]
        .map(|rule| with_node_rule(rule, || call(&node, &seeded(), 6)));
    for i in 0..6 {
        for (k, l) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let expected = expected[i].tangent[k].tangent[l];
            assert!(expected.abs() > 1e-5, "{i} {k} {l}: nothing to find");
            for found in [jvp[i].tangent[k].tangent[l], residual[i].tangent[k].tangent[l]] {
                assert_relative_eq!(found, expected, epsilon = 1e-13);
            }
        }
    }
}

// The adjoint in duals: its tangents are the second derivatives.
#[test]
fn adjoints_differentiate_again() {
    let node = Waves { outputs: 6 };
    let x: [Dual<f64, 1>; INPUTS] = std::array::from_fn(|k| Dual::new(AT[k], [ALONG[k]]));
    let (mut y, mut solution) = ([Dual::constant(0.0); 6], 0);
    Real::call(&node, &x, &mut y, &mut solution, &mut Default::default());
    let mut factor = Default::default();
    node.factor(&solution, &x, &y, &mut factor);
    let mut seed = [Dual::constant(0.0); 6];
    seed[3] = Dual::constant(1.0);
    let mut found = [Dual::constant(0.0); INPUTS];
    node.vjp(&solution, &mut factor, &x, &y, &seed, &mut found);
    let gradient = |h: f64| {
        let x: [f64; INPUTS] = std::array::from_fn(|k| AT[k] + h * ALONG[k]);
        ad::gradient(|x| call(&node, x, 6)[3], &x).unwrap().1
    };
    let h = 1e-5;
    let (at, above, below) = (gradient(0.0), gradient(h), gradient(-h));
    for k in 0..INPUTS {
        assert_relative_eq!(found[k].value, at[k], epsilon = 1e-14);
        let expected = (above[k] - below[k]) / (2.0 * h);
        assert_relative_eq!(found[k].tangent[0], expected, epsilon = 1e-9);
    }
}

/// y^3 + p y = q, real root by Newton's method: one output, closed forms.
#[derive(Clone)]
struct Cubic;

impl Implicit for Cubic {
    type Solution = ();
    type Workspace = ();

    fn solve<T: Real>(&self, x: &[T], y: &mut [T], (): &mut (), (): &mut ()) {
        y[0] = T::one();
        for _ in 0..40 {
            y[0] -= (y[0].powi(3) + x[0] * y[0] - x[1]) / (y[0] * y[0] * 3.0 + x[0]);
        }
    }

    fn residual<T: Real>(&self, (): &(), x: &[T], y: &[T], residual: &mut [T]) {
        residual[0] = y[0].powi(3) + x[0] * y[0] - x[1];
    }
}

// With s = 3 y^2 + p: y_q = 1 / s, y_qq = -6 y / s^3, y_qqq = (108 y^2 - 6 s) / s^5
#[test]
fn three_derivatives_of_a_root() {
    let (p, q) = (1.5, 2.0);
    let inner = Dual::<f64, 1>::variable(q, 0);
    let middle = Dual::<_, 1>::variable(inner, 0);
    let outer = Dual::<_, 1>::variable(middle, 0);
    let y = call(&Cubic, &[Real::constant(p), outer], 1)[0];
    let root = y.value();
    assert_relative_eq!(root.powi(3) + p * root, q, max_relative = 1e-14);
    let s = 3.0 * root * root + p;
    assert_relative_eq!(y.tangent[0].value(), 1.0 / s, max_relative = 1e-14);
    let second = -6.0 * root / s.powi(3);
    assert_relative_eq!(y.tangent[0].tangent[0].value, second, max_relative = 1e-13);
    let third = (108.0 * root * root - 6.0 * s) / s.powi(5);
    assert_relative_eq!(y.tangent[0].tangent[0].tangent[0], third, max_relative = 1e-12);
}

/// The same condition twice: only the sum of the outputs is determined.
#[derive(Clone)]
struct Sum;

impl Implicit for Sum {
    type Solution = ();
    type Workspace = ();

    fn solve<T: Real>(&self, x: &[T], y: &mut [T], (): &mut (), (): &mut ()) {
        y.fill(x[0] * x[0] * 0.5);
    }

    fn residual<T: Real>(&self, (): &(), x: &[T], y: &[T], residual: &mut [T]) {
        residual.fill(y[0] + y[1] - x[0] * x[0]);
    }
}

#[test]
fn outputs_that_are_not_unique_change_by_the_least_norm() {
    let (_, forward) = ad::jacobian::<1>(|x| call(&Sum, x, 2), &[3.0]);
    let (_, adjoint) = ad::jacobian_by_rows(|x| call(&Sum, x, 2), &[3.0]).unwrap();
    for i in 0..2 {
        assert_relative_eq!(forward[(i, 0)], 3.0, max_relative = 1e-12);
        assert_relative_eq!(adjoint[(i, 0)], 3.0, max_relative = 1e-12);
    }
}

/// The cubic, its root given.
#[derive(Clone)]
struct Flat;

impl Implicit for Flat {
    type Solution = ();
    type Workspace = ();

    fn solve<T: Real>(&self, _: &[T], y: &mut [T], (): &mut (), (): &mut ()) {
        y[0] = T::zero();
    }

    fn residual<T: Real>(&self, (): &(), x: &[T], y: &[T], residual: &mut [T]) {
        Implicit::residual(&Cubic, &(), x, y, residual);
    }
}

#[test]
fn a_solver_that_fails_harms_no_one() {
    let x = [f64::NAN, 1.0];
    let (y, slopes) = ad::gradient(|x| call(&Cubic, x, 1)[0], &x).unwrap();
    assert!(y.is_nan() && slopes.iter().all(|s| s.is_nan()));
    let (_, forward) = ad::jacobian::<2>(|x| call(&Cubic, x, 1), &x);
    assert!(forward.iter().all(|s| s.is_nan()));
    // dF/dy = 3 y^2 + p = 0 at the origin: the least norm is no change at all.
    let (_, forward) = ad::jacobian::<2>(|x| call(&Flat, x, 1), &[0.0, 0.0]);
    assert_eq!(forward.as_slice(), [0.0; 2]);
    let none = call::<Dual<f64, 1>, _>(&Waves { outputs: 0 }, &AT.map(Real::constant), 0);
    assert!(none.is_empty());
}

#[test]
fn a_second_call_allocates_nothing() {
    fn allocations<T: Real>(x: &[T]) -> u64 {
        let (mut y, mut solution) = (vec![T::zero(); 6], 0);
        let mut workspace = T::Workspace::<Waves>::default();
        let mut again = || {
            T::call(&Waves { outputs: 6 }, x, &mut y, &mut solution, &mut workspace);
        };
        again();
        allocation_counter::measure(&mut again).count_total
    }
    let x: [Dual<f64, 3>; INPUTS] = std::array::from_fn(|k| Dual::variable(AT[k], k));
    assert_eq!(allocations(&AT), 0);
    assert_eq!(allocations(&x), 0);
    for rule in [NodeRule::ByJvp, NodeRule::ByResidual] {
        assert_eq!(with_node_rule(rule, || allocations(&seeded())), 0);
    }
}
