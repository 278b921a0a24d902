//! Values, first and second derivatives of the elementary functions, against num-dual.

use approx::assert_relative_eq;
use nalgebra::SVector;
use num_dual::{Dual2_64, Dual2SVec64, DualNum, hessian, second_derivative};
use stiction::ad::{self, Dual, Real, Var};

type Nested<const N: usize> = Dual<Dual<f64, N>, N>;

/// The variable `k` of `N` in both layers.
fn nested<const N: usize>(x: f64, k: usize) -> Nested<N> {
    Dual::variable(Dual::variable(x, k), k)
}

/// Each function of one variable at some points: duals in two layers and the tape against num-dual.
macro_rules! check {
    ($(|$x:ident| $f:expr, at $points:expr;)*) => {$(
        for p in $points {
            let name = stringify!($f);
            let (value, first, second) = second_derivative(|$x: Dual2_64| $f, p);
            let ours = { let $x = nested::<1>(p, 0); $f };
            let (taped, slope) = ad::gradient(|x: &[Var]| { let $x = x[0]; $f }, &[p]).unwrap();
            let found = [
                ours.value.value, taped,
                ours.value.tangent[0], ours.tangent[0].value, slope[0],
                ours.tangent[0].tangent[0],
            ];
            for (found, expected) in found.into_iter().zip([value, value, first, first, first, second]) {
                let close = (found - expected).abs() <= 4e-15 * expected.abs().max(1.0);
                assert!(close, "{name} at {p}: {found} instead of {expected}");
            }
        }
    )*};
}

#[test]
fn functions_of_one_variable() {
    check! {
        |x| x.sqrt(), at [0.3, 2.0, 17.0];
        |x| x.exp(), at [-1.0, 0.0, 1.3];
        |x| x.ln(), at [0.4, 1.0, 6.0];
        |x| x.sin(), at [-2.0, 0.0, 0.9];
        |x| x.cos(), at [-2.0, 0.0, 0.9];
        |x| x.tan(), at [-1.0, 0.0, 0.9];
        |x| x.asin(), at [-0.6, 0.0, 0.5];
        |x| x.acos(), at [-0.6, 0.0, 0.5];
        |x| x.atan(), at [-3.0, 0.0, 0.5];
        |x| x.tanh(), at [-1.5, 0.0, 0.5];
        |x| x.recip(), at [-1.5, 0.8];
        |x| x.powi(0), at [-1.5, 0.8];
        |x| x.powi(1), at [-1.5, 0.8];
        |x| x.powi(2), at [-1.5, 0.8];
        |x| x.powi(5), at [-1.5, 0.8];
        |x| x.powi(-3), at [-1.5, 0.8];
        |x| x.powf(2.7), at [0.8, 1.9];
        |x| x.powf(-0.5), at [0.8, 1.9];
        |x| -x, at [1.2];
        |x| x + 2.0, at [1.2];
        |x| x - 2.0, at [1.2];
        |x| x * 3.0, at [1.2];
        |x| x / 3.0, at [1.2];
        |x| (x.sin() * x.exp() - x / (x * x + 1.0)).tanh(), at [-0.4, 0.3];
    }
}

/// The same for two variables.
macro_rules! check2 {
    ($(|$x:ident, $y:ident| $f:expr;)*) => {$(
        for p in [[0.7, -1.3], [-2.0, 0.4], [1.5, 2.5], [-0.6, -0.2]] {
            let name = stringify!($f);
            let (value, gradient, second) =
                hessian(|v: SVector<Dual2SVec64<2>, 2>| { let [[$x, $y]] = v.data.0; $f }, &p.into());
            let ours = { let ($x, $y) = (nested::<2>(p[0], 0), nested::<2>(p[1], 1)); $f };
            let (taped, slopes) =
                ad::gradient(|x: &[Var]| { let ($x, $y) = (x[0], x[1]); $f }, &p).unwrap();
            assert_relative_eq!(ours.value.value, value, max_relative = 1e-14);
            assert_relative_eq!(taped, value, max_relative = 1e-14);
            for i in 0..2 {
                let expected = gradient[i];
                for found in [ours.value.tangent[i], ours.tangent[i].value, slopes[i]] {
                    let close = (found - expected).abs() <= 1e-14 * expected.abs().max(1.0);
                    assert!(close, "{name} at {p:?}: {found} instead of {expected}");
                }
                for k in 0..2 {
                    let (found, expected) = (ours.tangent[i].tangent[k], second[(i, k)]);
                    let close = (found - expected).abs() <= 1e-13 * expected.abs().max(1.0);
                    assert!(close, "{name} at {p:?}: {found} instead of {expected}");
                }
            }
        }
    )*};
}

#[test]
fn functions_of_two_variables() {
    check2! {
        |x, y| x + y;
        |x, y| x - y;
        |x, y| x * y;
        |x, y| x / y;
        |x, y| y.atan2(x);
        |x, y| (x * x + y * y).sqrt() * (x / y).sin();
        |x, y| { let mut z = x; z += y; z *= x; z -= y * y; z /= y; z };
    }
}

// Not shared with any library.
#[test]
fn closed_forms() {
    let at = |x: f64, f: fn(Nested<1>) -> Nested<1>| {
        let y = f(nested(x, 0));
        [y.value.value, y.tangent[0].value, y.tangent[0].tangent[0]]
    };
    let pi = std::f64::consts::PI;
    for (found, expected) in [
        (at(pi / 4.0, Real::tan), [1.0, 2.0, 4.0]),
        (at(1.0, Real::atan), [pi / 4.0, 0.5, -0.5]),
        (at(0.5, Real::asin), [pi / 6.0, 2.0 / 3.0_f64.sqrt(), 4.0 / 27.0_f64.sqrt()]),
        (at(0.0, Real::exp), [1.0, 1.0, 1.0]),
        (at(2.0, Real::ln), [2.0_f64.ln(), 0.5, -0.25]),
        (at(-2.5, Real::abs), [2.5, -1.0, 0.0]),
        (at(4.0, Real::sqrt), [2.0, 0.25, -1.0 / 32.0]),
        (at(0.0, Real::tanh), [0.0, 1.0, 0.0]),
        (at(-2.0, |x| x.powi(3)), [-8.0, 12.0, -12.0]),
        (at(4.0, |x| x.powf(1.5)), [8.0, 3.0, 0.375]),
    ] {
        for (found, expected) in found.into_iter().zip(expected) {
            assert_relative_eq!(found, expected, epsilon = 1e-14);
        }
    }
}

#[test]
fn orders_count_the_layers() {
    assert_eq!(<f64 as Real>::ORDER, 0);
    assert_eq!(<Dual<f64, 3> as Real>::ORDER, 1);
    assert_eq!(<Nested<1> as Real>::ORDER, 2);
    assert_eq!(<Var as Real>::ORDER, 1);
    assert_eq!(<Var<Dual<f64, 4>> as Real>::ORDER, 2);
}

#[test]
fn derivatives_in_any_number_of_directions() {
    let f = |x: &[Dual<f64, 4>]| vec![x[0] * x[1], x[2].sin(), x[0] + x[2]];
    let x = [2.0, 3.0, 0.5];
    let (values, jacobian) = ad::jacobian::<4>(f, &x);
    for count in [0, 1, 3, 4, 5, 9] {
        let directions = nalgebra::DMatrix::from_fn(3, count, |i, k| (1 + i * 3 + k * 5) as f64);
        let (found, product) = ad::jvp_many::<4>(f, &x, &directions).unwrap();
        assert_eq!(found, values);
        assert_relative_eq!(product, &jacobian * directions, max_relative = 1e-14);
    }
    let found = ad::jvp_many::<4>(f, &x, &nalgebra::DMatrix::zeros(2, 1));
    assert_eq!(found.unwrap_err(), ad::Error::Shape { expected: 3, found: 2 });
}
