//! Rotations as unit quaternions `[w, x, y, z]`, and their exponential map.
//!
//! Near zero the quotients of the exponential map (sin x / x and its kind) are summed as series in
//! the squared angle, so that values and derivatives of every order are exact there too: no
//! threshold below which the map turns into a constant.

use nalgebra::{Matrix3, Vector3};

use crate::ad::Real;

/// A unit quaternion w, x, y, z: the rotation from body to world.
pub type Quaternion<T> = [T; 4];

/// Squared angle (rad²) below which series are used. Eight terms leave 1e-17 of them there.
const SERIES: f64 = 0.25;

/// Sum of c_k x^k, by Horner's rule.
fn series<T: Real>(x: T, coefficients: &[f64]) -> T {
    coefficients.iter().rev().fold(T::zero(), |sum, &c| sum * x + c)
}

/// The rotation by the rotation vector `w` (rad).
pub fn exp<T: Real>(w: Vector3<T>) -> Quaternion<T> {
    let angle2 = w.dot(&w);
    let (c, s) = if angle2.value() < SERIES {
        // cos(a/2) and sin(a/2)/a in powers of (a/2)^2
        let x = angle2 * 0.25;
        let cosine = [
            1.0,
            -1.0 / 2.0,
            1.0 / 24.0,
            -1.0 / 720.0,
            1.0 / 40_320.0,
            -1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
        ];
        let sinc = [
            1.0,
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5_040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
        ];
        (series(x, &cosine), series(x, &sinc) * 0.5)
    } else {
        let angle = angle2.sqrt();
        ((angle * 0.5).cos(), (angle * 0.5).sin() / angle)
    };
    [c, w.x * s, w.y * s, w.z * s]
}

/// The rotation vector of `q`, of length at most pi (rad): the inverse of [`exp`].
pub fn log<T: Real>(q: Quaternion<T>) -> Vector3<T> {
    let [w, x, y, z] = if q[0].value() < 0.0 { q.map(|q| -q) } else { q };
    let v = Vector3::new(x, y, z);
    let n2 = v.dot(&v);
    let scale = if n2.value() < 1e-3 {
        // 2 asin(n) / n in powers of n^2
        let asin = [
            1.0,
            1.0 / 6.0,
            3.0 / 40.0,
            15.0 / 336.0,
            105.0 / 3_456.0,
            945.0 / 42_240.0,
            10_395.0 / 599_040.0,
        ];
        series(n2, &asin) * 2.0
    } else {
        let n = n2.sqrt();
        n.atan2(w) * 2.0 / n
    };
    v * scale
}

/// The Hamilton product: first `q`, then `p`.
pub fn product<T: Real>(p: Quaternion<T>, q: Quaternion<T>) -> Quaternion<T> {
    [
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    ]
}

/// The inverse rotation.
pub fn conjugate<T: Real>(q: Quaternion<T>) -> Quaternion<T> {
    [q[0], -q[1], -q[2], -q[3]]
}

/// `q` brought back to unit length after rounding: one Newton step on 1/|q|.
pub fn normalized<T: Real>(q: Quaternion<T>) -> Quaternion<T> {
    let square = q.iter().fold(T::zero(), |sum, &x| sum + x * x);
    let scale = -square * 0.5 + 1.5;
    q.map(|x| x * scale)
}

/// The matrix R of `q`: world coordinates are R times body coordinates.
pub fn rotation_matrix<T: Real>(q: Quaternion<T>) -> Matrix3<T> {
    let [w, x, y, z] = q;
    let one = T::one();
    let double = |a: T| a + a;
    Matrix3::new(
        one - double(y * y + z * z),
        double(x * y - w * z),
        double(x * z + w * y),
        double(x * y + w * z),
        one - double(x * x + z * z),
        double(y * z - w * x),
        double(x * z - w * y),
        double(y * z + w * x),
        one - double(x * x + y * y),
    )
}

/// The matrix `[a]` with `[a] b = a x b`.
pub fn cross_matrix<T: Real>(a: Vector3<T>) -> Matrix3<T> {
    let zero = T::zero();
    Matrix3::new(zero, -a.z, a.y, a.z, zero, -a.x, -a.y, a.x, zero)
}

/// J with exp(w + dw) = exp(J dw) exp(w) to first order.
pub fn left_jacobian<T: Real>(w: Vector3<T>) -> Matrix3<T> {
    let angle2 = w.dot(&w);
    // (1 - cos a) / a^2 and (a - sin a) / a^3
    let (first, second) = if angle2.value() < SERIES {
        let one = [
            1.0 / 2.0,
            -1.0 / 24.0,
            1.0 / 720.0,
            -1.0 / 40_320.0,
            1.0 / 3_628_800.0,
            -1.0 / 479_001_600.0,
            1.0 / 87_178_291_200.0,
        ];
        let two = [
            1.0 / 6.0,
            -1.0 / 120.0,
            1.0 / 5_040.0,
            -1.0 / 362_880.0,
            1.0 / 39_916_800.0,
            -1.0 / 6_227_020_800.0,
            1.0 / 1_307_674_368_000.0,
        ];
        (series(angle2, &one), series(angle2, &two))
    } else {
        let angle = angle2.sqrt();
        ((T::one() - angle.cos()) / angle2, (angle - angle.sin()) / (angle2 * angle))
    };
    let hat = cross_matrix(w);
    Matrix3::identity() + hat * first + hat * hat * second
}

/// u with exp(x + dt u) = exp(x) exp(dt w) to first order: how a rotation vector `x` (rad) changes while the
/// body turns at `w` (rad/s, body frame).
pub fn rotation_vector_rate<T: Real>(x: Vector3<T>, w: Vector3<T>) -> Vector3<T> {
    let angle2 = x.dot(&x);
    // (1 - (a / 2) cot(a / 2)) / a^2
    let second = if angle2.value() < SERIES {
        let coefficients = [
            1.0 / 12.0,
            1.0 / 720.0,
            1.0 / 30_240.0,
            1.0 / 1_209_600.0,
            1.0 / 47_900_160.0,
            691.0 / 1_307_674_368_000.0,
            1.0 / 74_724_249_600.0,
        ];
        series(angle2, &coefficients)
    } else {
        let half = angle2.sqrt() * 0.5;
        (T::one() - half * half.cos() / half.sin()) / angle2
    };
    let turned = x.cross(&w);
    w + turned * T::constant(0.5) + x.cross(&turned) * second
}
