//! Minimising a quadratic of two variables over a disk.

use crate::ad::Real;
use crate::linalg::norm;

/// Whether a disk of this radius counts as a point: below it |z|^2 = R^2 underflows.
pub(super) fn is_point(radius: f64) -> bool {
    radius * radius < f64::MIN_POSITIVE
}

/// -g / |g|, the direction in which z leaves the centre as R grows; 0 if g is 0.
pub(super) fn against<T: Real>(g: &[T]) -> [f64; 2] {
    let g = [-g[0].value(), -g[1].value()];
    let length = norm(&g);
    if length > 0.0 { [g[0] / length, g[1] / length] } else { g }
}

/// argmin 1/2 x'Ax + c'x, |x| <= `radius`, with A = [a0 a1; a1 a2] positive semi-definite. Where
/// it is not unique, that of least norm.
pub(super) fn minimise_on_disk<T: Real>(a: [T; 3], c: [T; 2], radius: T) -> [T; 2] {
    if c[0].value() == 0.0 && c[1].value() == 0.0 {
        return [T::zero(); 2];
    }
    if is_point(radius.value()) {
        let size = norm(&c);
        return [-c[0] * (radius / size), -c[1] * (radius / size)];
    }
    if let Some(x) = unconstrained(a, c, radius.value()) {
        return x;
    }
    // (A + lambda) x = -c, |x| = R
    let lambda = multiplier(a.map(T::value), c.map(T::value), radius.value());
    let mut lambda = T::constant(lambda);
    let mut x = solve(a, c, lambda);
    // The root was found on values; each further Newton step carries one more derivative.
    for _ in 0..T::ORDER {
        let length = norm(&x);
        let y = solve(a, [-x[0], -x[1]], lambda);
        let slope = x[0] * y[0] + x[1] * y[1];
        lambda += (length / radius - 1.0) * length * length / slope;
        x = solve(a, c, lambda);
    }
    let stretch = radius / norm(&x);
    [x[0] * stretch, x[1] * stretch]
}

// -(A + lambda)^-1 c
fn solve<T: Real>(a: [T; 3], c: [T; 2], lambda: T) -> [T; 2] {
    let (a0, a2) = (a[0] + lambda, a[2] + lambda);
    let inverse = (a0 * a2 - a[1] * a[1]).recip();
    [(a[1] * c[1] - a2 * c[0]) * inverse, (a[1] * c[0] - a0 * c[1]) * inverse]
}

// -A+ c, if the minimum is attained there and within the disk.
fn unconstrained<T: Real>(a: [T; 3], c: [T; 2], radius: f64) -> Option<[T; 2]> {
    let is_within = |x: &[T; 2]| {
        let x = x.map(T::value);
        x[0] * x[0] + x[1] * x[1] <= radius * radius
    };
    let (v, trace) = (a.map(T::value), a[0].value() + a[2].value());
    // A direction without curvature to rounding: about the ratio of the eigenvalues.
    const FLAT: f64 = 1e-14;
    if v[0] * v[2] - v[1] * v[1] > FLAT * trace * trace {
        return Some(solve(a, c, T::zero())).filter(is_within);
    }
    if trace == 0.0 {
        return None;
    }
    // A = s e e', A+ = A / s^2, s = tr A; c must be along e.
    let inverse = -(a[0] + a[2]).recip();
    let e = |x: [T; 2]| [a[0] * x[0] + a[1] * x[1], a[1] * x[0] + a[2] * x[1]];
    let along = e(c).map(|c| c * inverse);
    let across = (c[0] + along[0]).value().abs().max((c[1] + along[1]).value().abs());
    let size = c[0].value().abs().max(c[1].value().abs());
    Some(along.map(|c| c * -inverse)).filter(|x| across <= FLAT * size && is_within(x))
}

// The root lambda of the secular equation 1 / |x(lambda)| = 1 / R, by Newton from the left, where
// it converges monotonically.
fn multiplier(a: [f64; 3], c: [f64; 2], radius: f64) -> f64 {
    /// Relative size of a step after which the next would be below rounding.
    const LAST: f64 = 1e-8;
    const STEPS: usize = 30;
    let (mean, half) = (0.5 * (a[0] + a[2]), 0.5 * (a[0] - a[2]));
    let spread = norm(&[half, a[1]]);
    let (large, small) = (mean + spread, (mean - spread).max(0.0));
    let rim = radius.recip();
    let mut lambda = (norm(&c) * rim - large).max(0.0);
    if small + lambda <= 4.0 * f64::EPSILON * large {
        lambda = 4.0 * f64::EPSILON * large;
    }
    for _ in 0..STEPS {
        // x = -(A + lambda)^-1 c and y = (A + lambda)^-1 x, with one division.
        let (a0, a2) = (a[0] + lambda, a[2] + lambda);
        let inverse = (a0 * a2 - a[1] * a[1]).recip();
        let x = [(a[1] * c[1] - a2 * c[0]) * inverse, (a[1] * c[0] - a0 * c[1]) * inverse];
        let y = [(a2 * x[0] - a[1] * x[1]) * inverse, (a0 * x[1] - a[1] * x[0]) * inverse];
        let square = x[0] * x[0] + x[1] * x[1];
        let step = (square.sqrt() * rim - 1.0) * square / (x[0] * y[0] + x[1] * y[1]);
        if !step.is_finite() {
            break;
        }
        lambda = (lambda + step).max(0.0);
        if step.abs() <= LAST * lambda {
            break;
        }
    }
    lambda
}

/// The largest t with |z + t s| <= `radius`.
pub(super) fn reach(radius: f64, z: [f64; 2], s: [f64; 2]) -> f64 {
    let (ss, zs) = (s[0] * s[0] + s[1] * s[1], z[0] * s[0] + z[1] * s[1]);
    if ss == 0.0 {
        return f64::INFINITY;
    }
    let length = norm(&z);
    let slack = ((radius - length) * (radius + length)).max(0.0);
    let root = (zs * zs + ss * slack).sqrt();
    // Of the two forms of the larger root the one without cancellation.
    if zs > 0.0 { slack / (zs + root) } else { (root - zs) / ss }
}
