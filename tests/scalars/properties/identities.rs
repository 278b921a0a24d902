//! Identities: a function after its inverse is the identity, with slope 1 and no curvature, on the
//! nested duals and on the tape over duals.

use proptest::prelude::*;
use stiction::ad::{self, Dual, Real};

use super::check;

/// The function, evaluated on any scalar, and what it should be.
macro_rules! identity {
    // The condition is that of the outer function in its argument: x f'(x) / f(x), and that of its
    // curvature, which multiplies the roundings of slope and curvature of the inner one.
    ($(|$x:ident| $f:expr, in $range:expr, condition $condition:expr;)*) => {$(
        check(500, $range, |x: f64| {
            let name = stringify!($f);
            let y = {
                let $x: Dual<Dual<f64, 1>, 1> = Dual::variable(Dual::variable(x, 0), 0);
                $f
            };
            let (value, g, h) = ad::hessian::<1>(|x| { let $x = x[0]; $f }, &[x]).unwrap();
            let slope = ad::gradient(|x| { let $x = x[0]; $f }, &[x]).unwrap().1[0];
            let condition: f64 = { let $x = x; _ = $x; $condition };
            // Twenty operations in all.
            let bound = 20.0 * f64::EPSILON * condition.max(1.0);
            prop_assert!((y.value.value - x).abs() <= bound * x.abs(), "{name} at {x}: {y:?}");
            for slope in [slope, g[0], y.value.tangent[0], y.tangent[0].value] {
                prop_assert!((slope - 1.0).abs() <= bound, "{name} at {x}: slope {slope}");
            }
            prop_assert_eq!(value, y.value.value);
            // The curvature is a sum of two terms of about 1 / x (or 1) times the condition.
            let bound = 4.0 * bound * condition.max(1.0) * (1.0 / x.abs()).max(1.0);
            for curvature in [y.tangent[0].tangent[0], h[(0, 0)]] {
                prop_assert!(curvature.abs() <= bound, "{name} at {x}: curvature {curvature}");
            }
            Ok(())
        });
    )*};
}

#[test]
fn a_function_after_its_inverse_is_the_identity() {
    identity! {
        |x| x.recip().recip(), in 0.01..100.0, condition 1.0;
        |x| x.sqrt() * x.sqrt(), in 0.01..100.0, condition 1.0;
        |x| x.cbrt().powi(3), in 0.01..100.0, condition 3.0;
        |x| x.exp().ln(), in -5.0..-0.1, condition 1.0 / x.abs() + x.abs();
        |x| x.ln().exp(), in 0.01..100.0, condition x.ln().abs();
        |x| x.exp2().log2(), in 0.1..5.0, condition 1.0 / x + x;
        |x| x.exp_m1().ln_1p(), in -2.0..5.0, condition x.exp_m1().abs() + (-x).exp();
        |x| x.ln_1p().exp_m1(), in -0.9..50.0, condition 1.0 / (1.0 + x) + x.ln_1p().abs();
        |x| (x * std::f64::consts::LN_10).exp().log10(), in 0.1..5.0, condition 1.0 / x + 3.0 * x;
        |x| x.sin().asin(), in -1.4..1.4, condition 1.0 / x.cos().powi(2);
        |x| x.asin().sin(), in -0.95..0.95, condition 1.0 / (1.0 - x * x);
        |x| x.cos().acos(), in 0.2..2.9, condition 1.0 / x.sin().powi(2);
        |x| x.acos().cos(), in 0.1..0.95, condition 1.0 / (1.0 - x * x) + 1.0 / x;
        |x| x.tan().atan(), in -1.4..1.4, condition 1.0 / x.cos().powi(2);
        |x| x.atan().tan(), in -20.0..20.0, condition 1.0 + x * x;
        |x| x.sinh().asinh(), in -5.0..5.0, condition 1.0 + x.abs();
        |x| x.asinh().sinh(), in -50.0..50.0, condition 1.0 + x.asinh().abs();
        |x| x.cosh().acosh(), in 0.2..5.0, condition 1.0 / x.tanh().powi(2) + x;
        |x| x.acosh().cosh(), in 1.1..50.0, condition x.acosh() + x * x / (x * x - 1.0);
        |x| x.tanh().atanh(), in -2.5..2.5, condition x.cosh().powi(2);
        |x| x.atanh().tanh(), in -0.95..0.95, condition 1.0 / (1.0 - x * x);
        |x| x.sin().atan2(x.cos()), in -3.1..3.1, condition 1.0;
        |x| (x * 0.6).hypot(x * 0.8), in 0.01..100.0, condition 1.0;
        |x| x.powf(0.3).powf(1.0 / 0.3), in 0.01..100.0, condition 4.0 + x.ln().abs();
        |x| x.powi(-3).powf(-1.0 / 3.0), in 0.01..100.0, condition 4.0 + 3.0 * x.ln().abs();
        |x| (x * x).pow(x.recip() * 0.5).pow(x), in 0.1..10.0, condition 4.0 + x.ln().abs() / x + x;
    }
}

/// What vanishes identically does so with its derivatives, up to the size of its terms.
#[test]
fn terms_that_cancel() {
    check(1000, -10.0..10.0, |x: f64| {
        let v: Dual<Dual<f64, 1>, 1> = Dual::variable(Dual::variable(x, 0), 0);
        let terms = [
            (v.sinh() * v.sinh() - v.cosh() * v.cosh() + 1.0, x.cosh().powi(2)),
            (v.sin() * v.sin() + v.cos() * v.cos() - 1.0, 1.0),
            (v.sin_cos().0 - v.sin(), 1.0),
            (v.sin_cos().1 - v.cos(), 1.0),
            (v.tan() * v.cos() - v.sin(), (1.0 / x.cos()).powi(2)),
            (v.tanh() * v.cosh() - v.sinh(), x.cosh()),
            (v.exp_m1() - v.exp() + 1.0, x.exp()),
            (v.exp() - v.sinh() - v.cosh(), x.cosh()),
            (v.asin() + v.acos() - std::f64::consts::FRAC_PI_2, 1.0 / (1.0 - x * x).abs().powi(2)),
            (v.abs() * v.signum() - v, x.abs()),
            (v.copysign(-v) + v, x.abs()),
            (v - v.floor() - (v - v.trunc()) - (v.trunc() - v.floor()), 1.0),
        ];
        for (k, (y, size)) in terms.into_iter().enumerate() {
            if y.value.value.is_nan() {
                // asin and acos, out of their domain.
                prop_assert!(k == 8 && x.abs() > 1.0);
                continue;
            }
            // Twenty roundings, doubled by each differentiation of a square.
            let bound = 80.0 * f64::EPSILON * size.max(1.0);
            for found in [y.value.value, y.value.tangent[0], y.tangent[0].tangent[0]] {
                prop_assert!(found.abs() <= bound, "{k} at {x}: {y:?}, size {size}");
            }
        }
        Ok(())
    });
}
