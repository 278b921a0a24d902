//! Against num-dual, on ranges where its formulas and ours lose at most the digits said here.

use num_dual::{Dual2_64, Dual64, DualNum};
use proptest::prelude::*;
use stiction::ad::{Dual, Real};

use super::{check, near};

type Nested = Dual<Dual<f64, 1>, 1>;

/// A function in their scalars and in ours, the range to draw from, and how many roundings the worse
/// of the two formulas makes of its result: their number times the condition of the worst of them.
struct Row {
    name: &'static str,
    range: (f64, f64),
    roundings: f64,
    first: fn(Dual64) -> Dual64,
    second: fn(Dual2_64) -> Dual2_64,
    ours: fn(Nested) -> Nested,
}

macro_rules! rows {
    ($($f:ident($($a:expr)?) in $low:expr, $high:expr; $roundings:expr;)*) => {
        [$(Row {
            name: stringify!($f),
            range: ($low, $high),
            roundings: $roundings,
            first: |x| DualNum::$f(&x $(, $a)?),
            second: |x| DualNum::$f(&x $(, $a)?),
            ours: |x| Real::$f(x $(, $a)?),
        },)*]
    };
}

#[test]
fn derivatives_are_those_of_num_dual() {
    // About ten operations in each formula. Where a difference such as 1 - x^2 is formed of numbers
    // of size 1, its condition in the range comes on top: 1 / (1 - x^2) < 6 for |x| < 0.9 and
    // x^2 / (x^2 - 1) < 6 for x > 1.1; twice that, and thrice the power, for second derivatives.
    // sin / cos and sinh / cosh are as good as their parts; cosh overflows long after 20.
    // Near a zero of the second derivative it is the difference of larger terms: ranges stay away
    // from zeros, and rows that need it have both signs.
    let rows = rows! {
        recip() in 1e-50, 1e50; 20.0;
        sqrt() in 1e-50, 1e50; 20.0;
        cbrt() in 1e-50, 1e50; 20.0;
        exp() in -100.0, 100.0; 20.0;
        exp2() in -100.0, 100.0; 20.0;
        exp_m1() in -20.0, 100.0; 20.0;
        ln() in 1e-50, 1e50; 20.0;
        ln_1p() in -0.9, 1e3; 20.0;
        log2() in 1e-50, 1e50; 20.0;
        log10() in 1e-50, 1e50; 20.0;
        sin() in -3.0, -0.1; 20.0;
        cos() in -3.0, -1.7; 20.0;
        tan() in 0.01, 1.5; 60.0;
        asin() in 0.01, 0.9; 120.0;
        acos() in -0.9, -0.01; 120.0;
        atan() in 0.01, 1e3; 30.0;
        sinh() in -20.0, -0.01; 20.0;
        cosh() in -20.0, 20.0; 20.0;
        tanh() in 0.1, 2.0; 200.0;
        asinh() in 0.01, 1e3; 30.0;
        acosh() in 1.1, 1e3; 120.0;
        atanh() in -0.9, -0.01; 120.0;
        powi(7) in -30.0, -0.1; 40.0;
        powi(-3) in -30.0, -0.1; 40.0;
        powf(2.7) in 0.01, 30.0; 40.0;
        powf(-0.5) in 0.01, 30.0; 40.0;
    };
    for row in &rows {
        let (low, high) = row.range;
        // Large ranges are drawn from by magnitude.
        let draw = if low > 0.0 && high / low > 1e6 {
            (low.log10()..high.log10()).prop_map(|e: f64| 10.0_f64.powf(e)).boxed()
        } else {
            (low..high).boxed()
        };
        check(500, draw, |x| {
            let ours = (row.ours)(Dual::variable(Dual::variable(x, 0), 0));
            let first = (row.first)(Dual64::from(x).derivative());
            let second = (row.second)(Dual2_64::from(x).derivative());
            let pairs = [
                (ours.value.value, first.re),
                (ours.value.tangent[0], first.eps),
                (ours.tangent[0].value, second.v1),
                (ours.tangent[0].tangent[0], second.v2),
            ];
            for (k, (found, expected)) in pairs.into_iter().enumerate() {
                let roundings = if k == 0 { 4.0 } else { row.roundings };
                prop_assert!(
                    near(found, expected, roundings),
                    "{} at {x}: {k}: {found} of {expected}",
                    row.name
                );
            }
            Ok(())
        });
    }
}

#[test]
fn derivatives_of_two_variables_are_those_of_num_dual() {
    // First derivatives only: both have them in a few operations. ln is the worst of them near 1,
    // where x^a ln x has few digits if computed as here and there alike.
    let numbers = (0.1..20.0, -5.0..5.0);
    check(1000, numbers, |(x, y): (f64, f64)| {
        let ours = |f: fn(Dual<f64, 2>, Dual<f64, 2>) -> Dual<f64, 2>| {
            f(Dual::variable(x, 0), Dual::variable(y, 1)).tangent
        };
        let theirs = |f: fn(Dual64, Dual64) -> Dual64| {
            let (a, b) = (Dual64::from(x), Dual64::from(y));
            [f(a.derivative(), b).eps, f(a, b.derivative()).eps]
        };
        let rows = [
            ("atan2", ours(|x, y| y.atan2(x)), theirs(|x, y| y.atan2(x))),
            ("pow", ours(|x, y| x.pow(y)), theirs(|x, y| x.powd(y))),
            ("div", ours(|x, y| y / x), theirs(|x, y| y / x)),
            ("mul", ours(|x, y| y * x), theirs(|x, y| y * x)),
        ];
        for (name, found, expected) in rows {
            for k in 0..2 {
                // x^y is exp(y ln x) there: the exponent, up to 15, multiplies its rounding.
                prop_assert!(
                    near(found[k], expected[k], 80.0),
                    "{name} at {x}, {y}: {found:?} of {expected:?}"
                );
            }
        }
        Ok(())
    });
}
