//! First and second derivatives in closed forms other than those computed with: inverse functions
//! by the reciprocal slope of the function, by half angles, by quotients.

use proptest::prelude::*;
use stiction::ad::{Dual, Real};

use super::{check, near, same};

type Nested<const N: usize = 1> = Dual<Dual<f64, N>, N>;

fn jet(f: fn(Nested) -> Nested, x: f64) -> [f64; 3] {
    let y = f(Dual::variable(Dual::variable(x, 0), 0));
    assert!(same(y.value.tangent[0], y.tangent[0].value));
    [y.value.value, y.value.tangent[0], y.tangent[0].tangent[0]]
}

/// The range, the condition of the closed form in it, the function, and [f', f''] from x and f(x).
type Row = (&'static str, (f64, f64), f64, fn(Nested) -> Nested, fn(f64, f64) -> [f64; 2]);

#[test]
fn derivatives_in_closed_form() {
    const LN_2: f64 = std::f64::consts::LN_2;
    const LN_10: f64 = std::f64::consts::LN_10;
    // The condition is that of the closed form's last function in its argument, y, which is rounded:
    // y tan y for cos, y / tan y for sin, y tanh y and y / tanh y for cosh and sinh, and twice or
    // thrice it for powers.
    let rows: &[Row] = &[
        ("recip", (1e-90, 1e90), 1.0, Real::recip, |x, y| [-y / x, 2.0 * y / x / x]),
        ("sqrt", (1e-90, 1e90), 1.0, Real::sqrt, |x, y| [y / (2.0 * x), -y / x / x / 4.0]),
        ("cbrt", (1e-90, 1e90), 1.0, Real::cbrt, |x, y| [y / x / 3.0, -2.0 * y / x / x / 9.0]),
        ("exp", (-300.0, 300.0), 1.0, Real::exp, |_, y| [y, y]),
        ("exp2", (-300.0, 300.0), 1.0, Real::exp2, |_, y| [y * LN_2, y * LN_2 * LN_2]),
        // 1 + (e^x - 1) has no cancellation above -1.
        ("exp_m1", (-1.0, 300.0), 2.0, Real::exp_m1, |_, y| [1.0 + y, 1.0 + y]),
        ("ln", (1e-90, 1e90), 1.0, Real::ln, |x, _| [1.0 / x, -1.0 / x / x]),
        // |y| < 7, thrice in the exponent of the second.
        ("ln_1p", (-0.99, 1e3), 14.0, Real::ln_1p, |_, y| [(-y).exp(), -(-2.0 * y).exp()]),
        ("log2", (1e-90, 1e90), 1.0, Real::log2, |x, _| [1.0 / LN_2 / x, -1.0 / LN_2 / x / x]),
        ("log10", (1e-90, 1e90), 1.0, Real::log10, |x, _| [1.0 / LN_10 / x, -1.0 / LN_10 / x / x]),
        // cos is a difference of squares of halves, rounded: 1 / cos x < 6.
        ("sin", (0.1, 1.4), 6.0, Real::sin, |x, _| {
            let (s, c) = ((x / 2.0).sin(), (x / 2.0).cos());
            [(c - s) * (c + s), -2.0 * s * c]
        }),
        ("tan", (1e-12, 1.5), 22.0, Real::tan, |x, _| {
            let r = 1.0 / x.cos();
            [r * r, 2.0 * x.sin() * r * r * r]
        }),
        ("asin", (1e-12, 0.99), 3.0 * 11.0, Real::asin, |x, y| {
            let r = 1.0 / y.cos();
            [r, x * r * r * r]
        }),
        ("acos", (1e-12, 0.99), 3.0 * 16.0, Real::acos, |x, y| {
            let r = 1.0 / y.sin();
            [-r, -x * r * r * r]
        }),
        // y < 1.5, tan y < 14.
        ("atan", (1e-12, 14.0), 4.0 * 22.0, Real::atan, |x, y| {
            let c = y.cos();
            [c * c, -2.0 * x * c * c * c * c]
        }),
        ("sinh", (1e-12, 300.0), 1.0, Real::sinh, |x, y| {
            // cosh = e^-x + sinh without cancellation.
            [(-x).exp() + y, y]
        }),
        // sinh 2x / cosh x / 2
        ("cosh", (0.01, 300.0), 1.0, Real::cosh, |x, y| [(2.0 * x).sinh() / y / 2.0, y]),
        ("tanh", (1e-12, 100.0), 3.0, Real::tanh, |x, y| {
            let r = 1.0 / x.cosh();
            [r * r, -2.0 * y * r * r]
        }),
        ("asinh", (1e-12, 1e5), 3.0 * 12.0, Real::asinh, |x, y| {
            let r = 1.0 / y.cosh();
            [r, -x * r * r * r]
        }),
        // Near 1 the argument of acosh has lost half of its digits, but y has not: y / tanh y < 13.
        ("acosh", (1.01, 1e5), 3.0 * 13.0, Real::acosh, |x, y| {
            let r = 1.0 / y.sinh();
            [r, -x * r * r * r]
        }),
        ("atanh", (1e-12, 0.99), 4.0 * 3.0, Real::atanh, |x, y| {
            let c = y.cosh();
            [c * c, 2.0 * x * c * c * c * c]
        }),
        ("powi 7", (1e-30, 1e30), 7.0, |x| x.powi(7), |x, y| [7.0 * y / x, 42.0 * y / x / x]),
        ("powi -3", (1e-30, 1e30), 7.0, |x| x.powi(-3), |x, y| [-3.0 * y / x, 12.0 * y / x / x]),
        ("powf 2.5", (1e-30, 1e30), 1.0, |x| x.powf(2.5), |x, y| [2.5 * y / x, 3.75 * y / x / x]),
    ];
    // Ten roundings of the closed form and as many of ours, each times the condition.
    let odd = ["recip", "cbrt", "tan", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "powi 7"];
    for &(name, (low, high), condition, f, closed) in rows {
        let draw = if low > 0.0 && high / low > 1e6 {
            (low.log10()..high.log10()).prop_map(|e: f64| 10.0_f64.powf(e)).boxed()
        } else {
            (low..high).boxed()
        };
        check(500, draw, |x| {
            let [y, first, second] = jet(f, x);
            let expected = closed(x, y);
            for (found, expected) in [first, second].into_iter().zip(expected) {
                let close = near(found, expected, 20.0 * condition);
                prop_assert!(close, "{name} at {x}: {found} of {expected}");
            }
            if odd.contains(&name) {
                // Not of the value: the standard library's atanh is not odd to the bit.
                prop_assert_eq!(&jet(f, -x)[1..], &[first, -second][..], "{}", name);
            }
            Ok(())
        });
    }
}

// Slopes far out, where a square over- or underflows though the slope does not.
#[test]
fn slopes_of_huge_and_tiny_numbers() {
    let at = |f: fn(Nested) -> Nested, x: f64| jet(f, x);
    let rows: &[(&str, [f64; 3], f64, f64)] = &[
        ("asinh", at(Real::asinh, 1e300), 1e-300, 0.0),
        ("acosh", at(Real::acosh, 1e300), 1e-300, 0.0),
        ("atan", at(Real::atan, 1e100), 1e-200, -2e-300),
        ("atan", at(Real::atan, 1e308), 0.0, 0.0),
        ("atan", at(Real::atan, -1e160), 0.0, 0.0),
        ("atan", at(Real::atan, f64::INFINITY), 0.0, 0.0),
        ("asinh", at(Real::asinh, 1e-300), 1.0, -1e-300),
        ("asin", at(Real::asin, 1e-300), 1.0, 1e-300),
        ("tanh", at(Real::tanh, 1e-300), 1.0, -2e-300),
        ("tanh", at(Real::tanh, 100.0), 4.0 * (-200.0_f64).exp(), -8.0 * (-200.0_f64).exp()),
        ("tanh", at(Real::tanh, -400.0), 0.0, 0.0),
        ("tanh", at(Real::tanh, f64::INFINITY), 0.0, 0.0),
        ("exp_m1", at(Real::exp_m1, 1e-300), 1.0, 1.0),
        ("ln_1p", at(Real::ln_1p, 1e-300), 1.0, -1.0),
        ("sqrt", at(Real::sqrt, 1e-200), 0.5e100, -0.25e300),
        ("cbrt", at(Real::cbrt, 1e-180), 1e120 / 3.0, -2e300 / 9.0),
        ("cbrt", at(Real::cbrt, 1e300), 1e-200 / 3.0, 0.0),
        ("recip", at(Real::recip, 1e-100), -1e200, 2e300),
        ("ln", at(Real::ln, 1e-150), 1e150, -1e300),
        ("ln", at(Real::ln, 1e300), 1e-300, 0.0),
    ];
    for &(name, [_, first, second], slope, curvature) in rows {
        // Ten roundings; those of 200 in an exponent are 200 of them.
        assert!(near(first, slope, 400.0), "{name}: {first} of {slope}");
        assert!(near(second, curvature, 400.0), "{name}: {second} of {curvature}");
    }
    let pair = |f: fn(Dual<f64, 2>, Dual<f64, 2>) -> Dual<f64, 2>, x: f64, y: f64| {
        f(Dual::variable(x, 0), Dual::variable(y, 1)).tangent
    };
    for scale in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
        let [x, y] = pair(Real::hypot, 3.0 * scale, -4.0 * scale);
        assert!(near(x, 0.6, 8.0) && near(y, -0.8, 8.0), "{scale}: {x} {y}");
        let [y, x] = pair(Real::atan2, 3.0 * scale, 4.0 * scale);
        assert!(near(y, 0.16 / scale, 8.0) && near(x, -0.12 / scale, 8.0), "{scale}: {x} {y}");
        let [x, y] = pair(|x, y| x / y, 3.0 * scale, 4.0 * scale);
        assert!(near(x, 0.25 / scale, 8.0) && near(y, -0.1875 / scale, 8.0), "{scale}: {x} {y}");
    }
}

/// The gradient and the Hessian of a function of two variables.
fn jet2(f: fn(Nested<2>, Nested<2>) -> Nested<2>, x: f64, y: f64) -> [f64; 5] {
    let z = f(Dual::variable(Dual::variable(x, 0), 0), Dual::variable(Dual::variable(y, 1), 1));
    // The two mixed derivatives come by different ways.
    let [[xx, xy], [yx, yy]] = z.tangent.map(|t| t.tangent);
    let size = xx.abs().max(yy.abs()).max(xy.abs());
    assert!((xy - yx).abs() <= 50.0 * f64::EPSILON * size, "{x}, {y}: {xy} and {yx}");
    [z.value.tangent[0], z.value.tangent[1], xx, xy, yy]
}

#[test]
fn two_variables_in_polar_coordinates() {
    // x = r cos t, y = r sin t: hypot' = (c, s), atan2' = (-s, c) / r (of y, x as x, y).
    let numbers = (-90.0..90.0, -3.1..3.1);
    check(1000, numbers, |(e, t): (f64, f64)| {
        let r = 10.0_f64.powf(e);
        let (s, c) = t.sin_cos();
        let (x, y) = (r * c, r * s);
        let found = jet2(Real::hypot, x, y);
        let expected = [c, s, s * s / r, -s * c / r, c * c / r];
        let scales = [1.0, 1.0, 1.0 / r, 1.0 / r, 1.0 / r];
        for k in 0..5 {
            // Twenty roundings, of parts as large as the scale.
            let close = (found[k] - expected[k]).abs() <= 20.0 * f64::EPSILON * scales[k];
            prop_assert!(close, "hypot: {:?} of {:?}", found, expected);
        }
        let found = jet2(|x, y| y.atan2(x), x, y);
        let (r1, r2) = (1.0 / r, 1.0 / r / r);
        let expected =
            [-s * r1, c * r1, 2.0 * s * c * r2, (s - c) * (s + c) * r2, -2.0 * s * c * r2];
        let scales = [r1, r1, r2, r2, r2];
        for k in 0..5 {
            let close = (found[k] - expected[k]).abs() <= 40.0 * f64::EPSILON * scales[k];
            prop_assert!(close, "atan2: {:?} of {:?}", found, expected);
        }
        Ok(())
    });
}

// x^a with all second derivatives, at exponents where something vanishes too.
#[test]
fn powers_by_exponentials() {
    let exponents =
        prop_oneof![2 => -3.0..3.0, 1 => proptest::sample::select(vec![0.0, 1.0, 2.0, -1.0])];
    check(1000, (0.1..10.0, exponents), |(x, a): (f64, f64)| {
        let found = jet2(Real::pow, x, a);
        let (y, l) = ((a * x.ln()).exp(), x.ln());
        let (first, mixed) = (y / x, y / x * (1.0 + a * l));
        let expected = [a * first, y * l, a * (a - 1.0) * first / x, mixed, y * l * l];
        let scales = [
            (a.abs() + 1.0) * first,
            y * (l.abs() + 1.0),
            (a * a + a.abs() + 1.0) * first / x,
            first * (1.0 + (a * l).abs()),
            y * (l * l + 1.0),
        ];
        for k in 0..5 {
            // Twenty roundings, and those of the exponent a ln x < 7 on top.
            let close = (found[k] - expected[k]).abs() <= 40.0 * f64::EPSILON * scales[k];
            prop_assert!(close, "{:?} of {:?}", found, expected);
        }
        Ok(())
    });
}

#[test]
fn quotients_and_products() {
    check(1000, (-5.0..5.0, 0.1..5.0), |(x, y): (f64, f64)| {
        let found = jet2(|x, y| x / y, x, y);
        let expected = [1.0 / y, -x / (y * y), 0.0, -1.0 / (y * y), 2.0 * x / (y * y * y)];
        for (found, expected) in found.into_iter().zip(expected) {
            prop_assert!(near(found, expected, 20.0), "{} of {}", found, expected);
        }
        prop_assert_eq!(jet2(|x, y| x * y, x, y), [y, x, 0.0, 1.0, 0.0]);
        prop_assert_eq!(jet2(|x, y| x.mul_add(y, x * 2.0), x, y), [y + 2.0, x, 0.0, 1.0, 0.0]);
        Ok(())
    });
}
