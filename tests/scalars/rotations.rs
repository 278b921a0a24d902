//! Exponential and logarithm of rotations, with their derivatives, at zero and across the
//! thresholds below which they are summed as series.

use approx::assert_relative_eq;
use nalgebra::{UnitQuaternion, Vector3};
use stiction::ad::{self, Dual, Real};
use stiction::spatial::{
    Quaternion, conjugate, cross_matrix, exp, left_jacobian, log, product, rotation_matrix,
};

use crate::random::Random;

/// Angles around both thresholds (0.5 rad in exp, 0.0632 rad in log), and far from them.
const ANGLES: [f64; 14] =
    [0.0, 1e-300, 1e-12, 1e-9, 1e-4, 0.063, 0.0633, 0.3, 0.499_999, 0.5, 0.500_001, 1.5, 3.0, 3.1];

fn direction(random: &mut Random) -> Vector3<f64> {
    Vector3::from(random.vector::<3>(1.0)).normalize()
}

fn exp_of<T: Real>(w: &[T]) -> Vec<T> {
    exp(Vector3::new(w[0], w[1], w[2])).to_vec()
}

// exp(w) = [1 - w.w / 8, w / 2] to third order
#[test]
fn the_exponential_has_its_derivative_at_zero() {
    for w in [Vector3::zeros(), Vector3::new(6e-10, -8e-10, 0.0), Vector3::new(0.0, 0.0, 1e-9)] {
        let (_, forward) = ad::jacobian::<3>(exp_of, w.as_slice());
        let (_, reverse) = ad::jacobian_by_rows(exp_of, w.as_slice()).unwrap();
        for slopes in [forward, reverse] {
            for j in 0..3 {
                assert_relative_eq!(slopes[(0, j)], -w[j] / 4.0, max_relative = 1e-15);
                for i in 0..3 {
                    let expected = if i == j { 0.5 } else { 0.0 };
                    assert!((slopes[(1 + i, j)] - expected).abs() < 1e-17, "{slopes}");
                }
            }
        }
    }
    // d2 exp_w / dw_j dw_k = -1/4 where j = k
    let w: [Dual<Dual<f64, 3>, 3>; 3] =
        std::array::from_fn(|j| Dual::variable(Dual::variable(0.0, j), j));
    let q = exp_of(&w);
    for j in 0..3 {
        for k in 0..3 {
            assert_eq!(q[0].tangent[j].tangent[k], if j == k { -0.25 } else { 0.0 });
            assert!((0..3).all(|i| q[1 + i].tangent[j].tangent[k] == 0.0));
        }
    }
}

// log([w, v]) = 2 v to second order in v
#[test]
fn the_logarithm_has_its_derivative_at_zero() {
    let f = |q: &[Dual<f64, 4>]| log([q[0], q[1], q[2], q[3]]).as_slice().to_vec();
    for sign in [1.0, -1.0] {
        let (_, slopes) = ad::jacobian::<4>(f, &[sign, 0.0, 0.0, 0.0]);
        for i in 0..3 {
            for j in 0..4 {
                assert_eq!(slopes[(i, j)], if j == i + 1 { 2.0 * sign } else { 0.0 });
            }
        }
    }
}

#[test]
fn the_exponential_is_the_rotation() {
    let mut random = Random(11);
    for angle in ANGLES {
        let w = direction(&mut random) * angle;
        let reference = UnitQuaternion::from_scaled_axis(w);
        let q = exp(w);
        let expected = [reference.w, reference.i, reference.j, reference.k];
        for (found, expected) in q.into_iter().zip(expected) {
            assert_relative_eq!(found, expected, epsilon = 1e-15);
        }
        let r = reference.to_rotation_matrix().into_inner();
        assert_relative_eq!(rotation_matrix(q), r, epsilon = 1e-15);
    }
}

#[test]
fn logarithm_and_exponential_undo_each_other_and_so_do_their_derivatives() {
    let mut random = Random(12);
    for angle in ANGLES {
        for sign in [1.0, -1.0] {
            let w = direction(&mut random) * angle;
            fn there_and_back<T: Real>(w: &[T], sign: f64) -> Vec<T> {
                let q: Quaternion<T> = exp(Vector3::new(w[0], w[1], w[2]));
                log(q.map(|x| x * sign)).as_slice().to_vec()
            }
            let (values, slopes) = ad::jacobian::<3>(|w| there_and_back(w, sign), w.as_slice());
            for i in 0..3 {
                assert_relative_eq!(values[i], w[i], max_relative = 2e-15, epsilon = 1e-15);
                for j in 0..3 {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert_relative_eq!(slopes[(i, j)], expected, epsilon = 1e-13);
                }
            }
        }
    }
}

// exp(w + dw) = exp(J dw) exp(w): the tangent of exp at w, times the inverse of exp(w), is J dw / 2.
#[test]
fn the_left_jacobian_is_the_derivative_of_the_exponential() {
    let mut random = Random(13);
    for angle in ANGLES {
        let w = direction(&mut random) * angle;
        let seeded: Vector3<Dual<f64, 3>> = Vector3::from_fn(|j, _| Dual::variable(w[j], j));
        let q = exp(seeded);
        let back = conjugate(q.map(|x| Dual::constant(x.value)));
        let turn = product(q, back);
        let j = left_jacobian(w);
        for column in 0..3 {
            assert!(turn[0].tangent[column].abs() < 1e-15);
            for row in 0..3 {
                let found = 2.0 * turn[1 + row].tangent[column];
                assert_relative_eq!(found, j[(row, column)], epsilon = 2e-14);
            }
        }
    }
}

#[test]
fn the_cross_matrix_multiplies() {
    let mut random = Random(14);
    let [a, b] = std::array::from_fn(|_| Vector3::from(random.vector::<3>(1.0)));
    assert_eq!(cross_matrix(a) * b, a.cross(&b));
}
