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
    let size = norm(&c);
    if size.value() == 0.0 {
        return [T::zero(); 2];
    }
    if is_point(radius.value()) {
        return [-c[0] * (radius / size), -c[1] * (radius / size)];
    }
    let spectrum = Spectrum::of(a.map(T::value), c.map(T::value));
    if spectrum.is_interior(radius.value()) {
        return spectrum.unconstrained(a, c);
    }
    // (A + lambda) x = -c, |x| = R
    let mut lambda = T::constant(spectrum.multiplier(radius.value()));
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

/// Eigenvalues of A (large, small) and the size of c along their eigenvectors.
struct Spectrum {
    large: f64,
    small: f64,
    along_large: f64,
    along_small: f64,
}

impl Spectrum {
    fn of(a: [f64; 3], c: [f64; 2]) -> Self {
        let (mean, half) = (0.5 * (a[0] + a[2]), 0.5 * (a[0] - a[2]));
        let spread = half.hypot(a[1]);
        let large = mean + spread;
        // The product of the eigenvalues, rather than mean - spread, keeps the digits of the small.
        let determinant = a[0] * a[2] - a[1] * a[1];
        let small = if large > 0.0 { (determinant / large).max(0.0) } else { 0.0 };
        // Of the two forms of the leading eigenvector the one without cancellation.
        let e = if half >= 0.0 { [half + spread, a[1]] } else { [a[1], spread - half] };
        let length = norm(&e);
        let e = if length > 0.0 { [e[0] / length, e[1] / length] } else { [1.0, 0.0] };
        Spectrum {
            large,
            small,
            along_large: e[0] * c[0] + e[1] * c[1],
            along_small: e[0] * c[1] - e[1] * c[0],
        }
    }

    // A direction without curvature to rounding.
    fn is_flat(&self) -> bool {
        self.small <= 1e-14 * self.large
    }

    fn is_interior(&self, radius: f64) -> bool {
        if self.large == 0.0 {
            return false;
        }
        let size = self.along_large.hypot(self.along_small);
        if !self.is_flat() {
            (self.along_large / self.large).hypot(self.along_small / self.small) <= radius
        } else {
            self.along_small.abs() <= 1e-14 * size && self.along_large.abs() <= radius * self.large
        }
    }

    // -A+ c
    fn unconstrained<T: Real>(&self, a: [T; 3], c: [T; 2]) -> [T; 2] {
        if !self.is_flat() {
            return solve(a, c, T::zero());
        }
        // A = s e e', A+ = A / s^2, s = tr A
        let trace = a[0] + a[2];
        let inverse = -(trace * trace).recip();
        [(a[0] * c[0] + a[1] * c[1]) * inverse, (a[1] * c[0] + a[2] * c[1]) * inverse]
    }

    /// The root lambda of the secular equation 1 / |x(lambda)| = 1 / R, by Newton from the left,
    /// where it converges monotonically.
    fn multiplier(&self, radius: f64) -> f64 {
        let size = self.along_large.hypot(self.along_small);
        let mut lambda = (size / radius - self.large).max(0.0);
        if self.small + lambda <= 0.0 {
            lambda = f64::EPSILON * self.large;
        }
        for _ in 0..30 {
            let x = [
                self.along_large / (self.large + lambda),
                self.along_small / (self.small + lambda),
            ];
            let length = x[0].hypot(x[1]);
            let slope = x[0] * x[0] / (self.large + lambda) + x[1] * x[1] / (self.small + lambda);
            let step = (length / radius - 1.0) * length * length / slope;
            if !step.is_finite() {
                break;
            }
            lambda = (lambda + step).max(0.0);
            if step.abs() <= 4.0 * f64::EPSILON * lambda {
                break;
            }
        }
        lambda
    }
}

/// The largest t with |z + t s| <= `radius`.
pub(super) fn reach(radius: f64, z: [f64; 2], s: [f64; 2]) -> f64 {
    let (ss, zs) = (s[0] * s[0] + s[1] * s[1], z[0] * s[0] + z[1] * s[1]);
    if ss == 0.0 {
        return f64::INFINITY;
    }
    let slack = ((radius - z[0].hypot(z[1])) * (radius + z[0].hypot(z[1]))).max(0.0);
    let root = (zs * zs + ss * slack).sqrt();
    // Of the two forms of the larger root the one without cancellation.
    if zs > 0.0 { slack / (zs + root) } else { (root - zs) / ss }
}
