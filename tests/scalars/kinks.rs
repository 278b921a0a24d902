//! The conventions at kinks (the table in `ad`), the same in every scalar.

use stiction::ad::{self, Dual, Function, NodeRule, Real, with_node_rule};
use stiction::linalg::norm;

/// The gradient of `f` by every scalar there is; they must agree to the bit. Second derivatives
/// must be numbers.
fn slopes_of(f: &impl Function, at: &[f64]) -> Vec<f64> {
    fn forward<const N: usize>(f: &impl Function, at: &[f64]) -> Vec<f64> {
        ad::jacobian::<N>(|x| f.evaluate(x), at).1.row(0).iter().copied().collect()
    }
    let expected = forward::<1>(f, at);
    assert_eq!(forward::<4>(f, at), expected);
    assert_eq!(ad::vjp(|x| f.evaluate(x), at, |_| vec![1.0]).unwrap().1, expected);
    let value = f.evaluate(at)[0];
    for (k, &slope) in expected.iter().enumerate() {
        let seeded = |j: usize| f64::from(u8::from(j == k));
        let lifted = |j: usize, x: f64| Dual::<f64, 1>::new(x, [seeded(j)]);
        let x: Vec<Dual<Dual<f64, 1>, 1>> = (0..at.len())
            .map(|j| Dual::new(lifted(j, at[j]), [Dual::constant(seeded(j))]))
            .collect();
        let y = f.evaluate(&x)[0];
        assert_eq!((y.value.value, y.value.tangent[0], y.tangent[0].value), (value, slope, slope));
        assert!(!y.tangent[0].tangent[0].is_nan());
        let x: Vec<_> = (0..at.len()).map(|j| lifted(j, at[j])).collect();
        for rule in [NodeRule::ByResidual, NodeRule::Unrolled] {
            assert_eq!(with_node_rule(rule, || f.evaluate(&x)[0].tangent[0]), slope);
        }
    }
    expected
}

macro_rules! slopes {
    (|$x:ident| $f:expr, $at:expr) => {{
        struct F;
        impl Function for F {
            fn evaluate<T: Real>(&self, $x: &[T]) -> Vec<T> {
                vec![$f]
            }
        }
        slopes_of(&F, &$at)
    }};
}

#[test]
fn conventions_hold_in_every_scalar() {
    assert_eq!(slopes!(|x| x[0].abs(), [0.0]), [0.0]);
    assert_eq!(slopes!(|x| x[0].abs(), [-0.0]), [0.0]);
    assert_eq!(slopes!(|x| x[0].sqrt(), [0.0]), [0.0]);
    assert_eq!(slopes!(|x| x[0].max(x[1]), [2.0, 2.0]), [1.0, 0.0]);
    assert_eq!(slopes!(|x| x[1].max(x[0]), [2.0, 2.0]), [0.0, 1.0]);
    assert_eq!(slopes!(|x| x[0].max(x[1]), [2.0, 2.1]), [0.0, 1.0]);
    assert_eq!(slopes!(|x| x[0].min(x[1]), [2.0, 2.0]), [1.0, 0.0]);
    assert_eq!(slopes!(|x| x[1].min(x[0]), [2.0, 2.0]), [0.0, 1.0]);
    assert_eq!(slopes!(|x| x[0].min(x[1]), [2.0, 1.9]), [0.0, 1.0]);
    for at in [0.0, -3.0, 2.5] {
        assert_eq!(slopes!(|x| x[0].powi(0), [at]), [0.0]);
    }
    assert_eq!(slopes!(|x| x[0].powi(1), [0.0]), [1.0]);
    assert_eq!(slopes!(|x| x[0].powi(2), [0.0]), [0.0]);
    assert_eq!(slopes!(|x| x[0].powf(0.0), [0.0]), [0.0]);
    assert_eq!(slopes!(|x| x[0].powf(0.0), [2.5]), [0.0]);
    assert_eq!(slopes!(|x| x[0].atan2(x[1]), [0.0, 0.0]), [0.0, 0.0]);
    assert_eq!(slopes!(|x| norm(x), [0.0, 0.0, 0.0]), [0.0; 3]);
    assert_eq!(slopes!(|x| norm(x), [0.0, 0.0, 4.0]), [0.0, 0.0, 1.0]);
}

#[test]
fn conventions_at_zero_bases_borders_and_signs() {
    let power = |x: f64, a: f64| slopes!(|x| x[0].pow(x[1]), [x, a]);
    assert_eq!(power(0.0, 0.0), [0.0, 0.0]);
    assert_eq!(power(0.0, 1.0), [1.0, 0.0]);
    assert_eq!(power(0.0, 2.0), [0.0, 0.0]);
    assert_eq!(power(-0.0, 3.0), [0.0, 0.0]);
    assert_eq!(power(1.0, 0.0), [0.0, 0.0]);
    let clamped = |x: f64, low: f64, high: f64| slopes!(|x| x[0].clamp(x[1], x[2]), [x, low, high]);
    assert_eq!(clamped(0.5, 1.0, 2.0), [0.0, 1.0, 0.0]);
    assert_eq!(clamped(1.0, 1.0, 2.0), [1.0, 0.0, 0.0]);
    assert_eq!(clamped(2.0, 1.0, 2.0), [1.0, 0.0, 0.0]);
    assert_eq!(clamped(2.5, 1.0, 2.0), [0.0, 0.0, 1.0]);
    assert_eq!(clamped(1.0, 1.0, 1.0), [1.0, 0.0, 0.0]);
    // Borders the wrong way round: the upper one.
    assert_eq!(clamped(0.0, 3.0, 2.0), [0.0, 0.0, 1.0]);
    let signed = |x: f64, sign: f64| slopes!(|x| x[0].copysign(x[1]), [x, sign]);
    assert_eq!([signed(0.0, 1.0), signed(-0.0, -2.0)], [[1.0, 0.0]; 2]);
    assert_eq!([signed(-0.0, 1.0), signed(3.0, -0.0)], [[-1.0, 0.0]; 2]);
    for (y, x) in [(0.0, 0.0), (0.0, -0.0), (-0.0, 0.0), (-0.0, -0.0)] {
        assert_eq!(slopes!(|x| x[0].atan2(x[1]), [y, x]), [0.0, 0.0]);
        assert_eq!(slopes!(|x| x[0].hypot(x[1]), [y, x]), [0.0, 0.0]);
    }
    // On the axes there is no kink.
    assert_eq!(slopes!(|x| x[0].hypot(x[1]), [0.0, -2.0]), [0.0, -1.0]);
    assert_eq!(slopes!(|x| x[0].atan2(x[1]), [0.0, -2.0]), [-0.5, 0.0]);
    for at in [0.0, -0.0, 1.0, 0.5, -2.0] {
        assert_eq!(slopes!(|x| x[0].signum() + x[0].floor() + x[0].ceil(), [at]), [0.0]);
        assert_eq!(slopes!(|x| x[0].round() + x[0].trunc(), [at]), [0.0]);
    }
}

// A slope that is infinite where the value is finite does no harm to variables it does not depend
// on, nor to constants.
#[test]
fn infinite_slopes_stay_where_they_are() {
    for (f, at) in [
        ((|x| x.asin()) as fn(Dual<f64, 2>) -> Dual<f64, 2>, 1.0),
        (|x| -x.acos(), 1.0),
        (|x| x.powf(0.5), 0.0),
        (|x| x.pow(Dual::constant(0.5)), 0.0),
        (|x| x.cbrt(), 0.0),
        (|x| x.cbrt(), -0.0),
        (|x| x.acosh(), 1.0),
        (|x| x.atanh(), 1.0),
        (|x| x.atanh(), -1.0),
    ] {
        let (_, slopes) = ad::jacobian::<2>(|x| vec![x[0] + f(x[1])], &[0.5, at]);
        assert_eq!((slopes[(0, 0)], slopes[(0, 1)]), (1.0, f64::INFINITY));
        assert_eq!(f(Dual::constant(at)).tangent, [0.0; 2]);
    }
    // A tangent that vanishes only at the point keeps its own derivative: d2/dx2 asin(x^2) = 2.
    let x: Dual<Dual<f64, 1>, 1> = Dual::variable(Dual::variable(0.0, 0), 0);
    assert_eq!((x * x).asin().tangent[0].tangent[0], 2.0);
}
