//! The Euclidean norm where its square over- or underflows, in all scalars.

use stiction::ad::{self, Dual, Real, Var};
use stiction::linalg::{dot, norm};

use crate::random::Random;

type Nested = Dual<Dual<f64, 3>, 3>;

/// What |x| and its gradient are, by each scalar in turn.
fn by_all_scalars(x: [f64; 3]) -> Vec<(f64, [f64; 3])> {
    let (taped, by_tape) = ad::gradient(norm, &x).unwrap();
    let dual = norm(&std::array::from_fn::<_, 3, _>(|k| Dual::<f64, 3>::variable(x[k], k)));
    let nested: [Nested; 3] = std::array::from_fn(|k| Dual::variable(Dual::variable(x[k], k), k));
    let nested = norm(&nested);
    let (value, twice, _) = ad::hessian::<3>(norm, &x).unwrap();
    let three = |x: Vec<f64>| [x[0], x[1], x[2]];
    vec![
        (taped, three(by_tape)),
        (dual.value, dual.tangent),
        (nested.value.value, nested.value.tangent),
        (nested.value.value, nested.tangent.map(|t| t.value)),
        (value, three(twice)),
    ]
}

fn assert_close(found: f64, expected: f64, relative: f64, unit: f64, what: &str) {
    let close = found == expected || (found - expected).abs() <= relative * unit;
    assert!(close, "{what}: {found:e} instead of {expected:e}");
}

#[test]
fn the_norm_neither_over_nor_underflows() {
    let directions = [[3.0, 4.0, 12.0], [-12.0, 0.0, 3.0], [0.0, 0.0, 7.0], [1e-9, -2.0, 1.0]];
    for scale in [1.0, 1e145, 1e154, 1e200, 1e306, 1e-146, 1e-154, 1e-162, 1e-200, 3e-307] {
        for [a, b, c] in directions {
            let (u, x) = ([a, b, c], [a * scale, b * scale, c * scale]);
            let length = (a * a + b * b + c * c).sqrt();
            assert_close(norm(&x), length * scale, 4e-16, length * scale, "value");
            for (value, slopes) in by_all_scalars(x) {
                assert_close(value, length * scale, 4e-16, length * scale, "value");
                for k in 0..3 {
                    assert_close(
                        slopes[k],
                        u[k] / length,
                        1e-15,
                        1.0,
                        &format!("{x:?}, slope {k}"),
                    );
                }
            }
            // (I - u u') / |x|
            let (_, _, hessian) = ad::hessian::<3>(norm, &x).unwrap();
            let nested: [Nested; 3] =
                std::array::from_fn(|k| Dual::variable(Dual::variable(x[k], k), k));
            let nested = norm(&nested);
            for i in 0..3 {
                for j in 0..3 {
                    let unit = 1.0 / (length * scale);
                    let one = f64::from(u8::from(i == j));
                    let expected = (one - u[i] / length * (u[j] / length)) * unit;
                    let what = format!("{x:?}, second derivative {i} {j}");
                    assert_close(hessian[(i, j)], expected, 1e-14, unit, &what);
                    assert_close(nested.tangent[i].tangent[j], expected, 1e-14, unit, &what);
                }
            }
        }
    }
}

// 3, 4 and 12 times the least positive number: their norm is 13 times it.
#[test]
fn denormal_numbers_have_a_norm_and_its_derivative() {
    let least = f64::from_bits(1);
    let x = [3.0, -4.0, 12.0].map(|k| k * least);
    for (value, slopes) in by_all_scalars(x) {
        assert_eq!(value, 13.0 * least);
        for (slope, expected) in slopes.into_iter().zip([3.0 / 13.0, -4.0 / 13.0, 12.0 / 13.0]) {
            assert_close(slope, expected, 1e-15, 1.0, "slope");
        }
    }
}

#[test]
fn the_norm_at_zero_infinity_and_nan() {
    for (value, slopes) in by_all_scalars([0.0, -0.0, 0.0]) {
        assert_eq!((value, slopes), (0.0, [0.0; 3]));
    }
    for (x, expected) in [
        ([1.0, f64::NEG_INFINITY, 2.0], [0.0, -1.0, 0.0]),
        ([f64::MAX, 0.0, f64::INFINITY], [0.0, 0.0, 1.0]),
        ([f64::INFINITY, 0.0, f64::NEG_INFINITY], [1.0, 0.0, 0.0]),
    ] {
        for (value, slopes) in by_all_scalars(x) {
            assert_eq!((value, slopes), (f64::INFINITY, expected), "{x:?}");
        }
    }
    for x in [[f64::NAN, 1.0, 0.0], [f64::INFINITY, f64::NAN, 0.0], [1e200, 1e200, f64::NAN]] {
        assert!(norm(&x).is_nan() && by_all_scalars(x).iter().all(|(value, _)| value.is_nan()));
    }
    assert_eq!(norm::<f64>(&[]), 0.0);
    // Beyond the largest number there is no other.
    assert_eq!(norm(&[f64::MAX, f64::MAX]), f64::INFINITY);
}

// The usual case stays what it was, to the bit: the physics has that as its reference.
#[test]
fn the_usual_norm_is_the_root_of_the_square() {
    let mut random = Random(5);
    for _ in 0..1000 {
        let x: [f64; 3] = random.vector(10.0);
        assert_eq!(norm(&x).to_bits(), dot(&x, &x).sqrt().to_bits());
        let taped = |x: &[Var]| ad::Real::sqrt(dot(x, x));
        assert_eq!(ad::gradient(norm, &x), ad::gradient(taped, &x));
    }
    let operations = |f: fn(&[Var]) -> Var| {
        let recording = ad::Recording::start();
        let x = recording.variables(&[3.0, 4.0]);
        f(&x);
        recording.operations()
    };
    assert_eq!(operations(norm), operations(|x| dot(x, x).sqrt()));
}
