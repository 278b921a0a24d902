//! The sets a quadratic is minimised over: products of half-lines or of disks, a block at a time.

use super::disk::{self, minimise_on_disk};
use crate::ad::Real;
use crate::linalg::norm;

/// How a block sits in its part of the feasible set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Face {
    /// Inside: all components are unknown.
    #[default]
    Free,
    /// On a circle: the arc length is unknown.
    Arc,
    /// In a corner: nothing is unknown.
    Fixed,
}

/// A product of closed convex sets, one a block of `BLOCK` variables. `z` and `g` are the block's
/// variables and gradient.
pub(super) trait FeasibleSet<T: Real>: Copy {
    /// Variables a block.
    const BLOCK: usize;

    /// Blocks from which on ill-conditioned faces are too many to try one after another.
    const MANY: usize;

    /// Moves `z` to the nearest point of the `i`-th set stretched by `stretch`.
    fn project(&self, i: usize, stretch: f64, z: &mut [T]);

    /// Moves `z` to the minimiser of the quadratic over the `i`-th set, the other blocks fixed.
    /// `p` is the whole n x n matrix.
    fn minimise(&self, i: usize, p: &[T], n: usize, z: &mut [T], g: &[T]);

    /// |z - Proj(z - d g)|, its largest entry.
    fn natural_distance(&self, i: usize, z: &[T], g: &[T], d: f64) -> f64;

    /// The face a descent step may move on: constraints that hold `z` back now are kept.
    fn binding(&self, i: usize, z: &[T], g: &[T]) -> Face;

    /// The face at a solution. A constraint counts as active only if its multiplier, as a length,
    /// exceeds `WEAK` of the solution's: the weakly active side is the free one.
    fn face(&self, i: usize, block: &Block<T>) -> Face;

    /// Puts `z` exactly on `face`.
    fn enter(&self, i: usize, face: Face, z: &mut [T], g: &[T]);

    /// The face on which a step along `s` would leave the set at once, if it would.
    fn blocking(&self, i: usize, z: &[T], s: &[T]) -> Option<Face>;

    /// The largest step along `s` that stays in the set.
    fn reach(&self, i: usize, z: &[T], s: &[T]) -> f64;

    /// Scale-free distance of the `i`-th block, on `face`, to another face.
    fn margin(&self, i: usize, face: Face, block: &Block<T>) -> f64;

    /// The length in which the constraint of the `i`-th set is c(y) >= 0; `d` is about 1 / P_ii.
    fn unit(&self, i: usize, d: f64) -> f64;

    /// -c'' of the constraint.
    const CURVATURE: f64;

    /// c(y), and its gradient.
    fn constraint(y: &[f64], gradient: &mut [f64]) -> f64;

    /// Moves `y` to where c(y) is well above 0 for variables of `size`.
    fn centre(y: &mut [f64], size: f64);

    /// Moves `y` to where c(y) = 0.
    fn enforce(y: &mut [f64]);
}

/// Multipliers below this part of the solution's size count as zero: the rounding of a solution
/// stays below 1e-13, and the least multiplier of the reference problems is above 1e-10.
const WEAK: f64 = 1e-12;

/// One block at a solution.
pub(super) struct Block<'a, T> {
    /// Variables.
    pub z: &'a [T],
    /// Gradient Pz + q.
    pub g: &'a [T],
    /// Linear term.
    pub q: &'a [T],
    /// About 1 / P_ii: turns gradients into lengths.
    pub d: f64,
    /// Size of the whole solution.
    pub scale: f64,
}

/// z >= 0.
#[derive(Clone, Copy)]
pub(super) struct HalfLines;

impl<T: Real> FeasibleSet<T> for HalfLines {
    const BLOCK: usize = 1;
    const MANY: usize = 24;

    fn project(&self, _: usize, _: f64, z: &mut [T]) {
        z[0] = z[0].max(T::zero());
    }

    fn minimise(&self, i: usize, p: &[T], n: usize, z: &mut [T], g: &[T]) {
        let curvature = p[i * n + i];
        if curvature.value() > 0.0 {
            z[0] = (z[0] - g[0] / curvature).max(T::zero());
        } else if g[0].value() > 0.0 {
            z[0] = T::zero();
        }
    }

    fn natural_distance(&self, _: usize, z: &[T], g: &[T], d: f64) -> f64 {
        let z = z[0].value();
        (z - (z - d * g[0].value()).max(0.0)).abs()
    }

    fn binding(&self, _: usize, z: &[T], g: &[T]) -> Face {
        if z[0].value() <= 0.0 && g[0].value() >= 0.0 { Face::Fixed } else { Face::Free }
    }

    fn face(&self, _: usize, b: &Block<T>) -> Face {
        let below = b.d * b.g[0].value() - b.z[0].value();
        if below > WEAK * b.scale { Face::Fixed } else { Face::Free }
    }

    fn enter(&self, _: usize, face: Face, z: &mut [T], _: &[T]) {
        if face == Face::Fixed {
            z[0] = T::zero();
        }
    }

    fn blocking(&self, _: usize, z: &[T], s: &[T]) -> Option<Face> {
        (z[0].value() <= 0.0 && s[0].value() < 0.0).then_some(Face::Fixed)
    }

    fn reach(&self, _: usize, z: &[T], s: &[T]) -> f64 {
        let (z, s) = (z[0].value(), s[0].value());
        if s < 0.0 { -z / s } else { f64::INFINITY }
    }

    fn margin(&self, _: usize, face: Face, b: &Block<T>) -> f64 {
        match face {
            Face::Fixed => b.d * b.g[0].value() / b.scale,
            _ if b.scale > 0.0 => b.z[0].value() / b.scale,
            _ => 0.0,
        }
    }

    fn unit(&self, _: usize, d: f64) -> f64 {
        d.sqrt()
    }

    const CURVATURE: f64 = 0.0;

    fn constraint(y: &[f64], gradient: &mut [f64]) -> f64 {
        gradient[0] = 1.0;
        y[0]
    }

    fn centre(y: &mut [f64], size: f64) {
        y[0] = size;
    }

    fn enforce(y: &mut [f64]) {
        y[0] = 0.0;
    }
}

/// |z_i| <= R_i in the plane.
#[derive(Clone, Copy)]
pub(super) struct Disks<'a, T> {
    /// R, one a disk.
    pub radius: &'a [T],
}

impl<T: Real> Disks<'_, T> {
    fn is_on_circle(&self, i: usize, z: &[T]) -> bool {
        // Projections put z on the circle up to rounding.
        const ON_CIRCLE: f64 = 1.0 - 1e-13;
        norm(&[z[0].value(), z[1].value()]) >= self.radius[i].value() * ON_CIRCLE
    }
}

// x' y
fn along<T: Real>(x: &[T], y: &[T]) -> f64 {
    x[0].value() * y[0].value() + x[1].value() * y[1].value()
}

impl<T: Real> FeasibleSet<T> for Disks<'_, T> {
    const BLOCK: usize = 2;
    const MANY: usize = 6;

    fn project(&self, i: usize, stretch: f64, z: &mut [T]) {
        let radius = self.radius[i] * stretch;
        let length = norm(z);
        if length.value() > radius.value() {
            let ratio = radius / length;
            z[0] *= ratio;
            z[1] *= ratio;
        }
    }

    fn minimise(&self, i: usize, p: &[T], n: usize, z: &mut [T], g: &[T]) {
        let k = 2 * i;
        let a = [p[k * n + k], p[k * n + k + 1], p[(k + 1) * n + k + 1]];
        let c = [g[0] - a[0] * z[0] - a[1] * z[1], g[1] - a[1] * z[0] - a[2] * z[1]];
        z.copy_from_slice(&minimise_on_disk(a, c, self.radius[i]));
    }

    fn natural_distance(&self, i: usize, z: &[T], g: &[T], d: f64) -> f64 {
        let (z, radius) = ([z[0].value(), z[1].value()], self.radius[i].value());
        let target = [z[0] - d * g[0].value(), z[1] - d * g[1].value()];
        let is_outside = target[0] * target[0] + target[1] * target[1] > radius * radius;
        let ratio = if is_outside { radius / norm(&target) } else { 1.0 };
        (z[0] - ratio * target[0]).abs().max((z[1] - ratio * target[1]).abs())
    }

    fn binding(&self, i: usize, z: &[T], g: &[T]) -> Face {
        if disk::is_point(self.radius[i].value()) {
            Face::Fixed
        } else if self.is_on_circle(i, z) && along(z, g) < 0.0 {
            Face::Arc
        } else {
            Face::Free
        }
    }

    fn face(&self, i: usize, b: &Block<T>) -> Face {
        let radius = self.radius[i].value();
        let target = [0, 1].map(|k| b.z[k].value() - b.d * b.g[k].value());
        if disk::is_point(radius) {
            Face::Fixed
        } else if norm(&target) - radius > WEAK * b.scale && along(b.z, b.z) > 0.0 {
            Face::Arc
        } else {
            Face::Free
        }
    }

    fn enter(&self, i: usize, face: Face, z: &mut [T], g: &[T]) {
        let radius = self.radius[i];
        let towards = match face {
            Face::Free => return,
            Face::Arc => [z[0], z[1]],
            Face::Fixed => [-g[0], -g[1]],
        };
        let length = norm(&towards);
        if length.value() > 0.0 {
            z[0] = towards[0] * (radius / length);
            z[1] = towards[1] * (radius / length);
        } else if face == Face::Fixed {
            z.fill(T::zero());
        }
    }

    fn blocking(&self, i: usize, z: &[T], s: &[T]) -> Option<Face> {
        (self.is_on_circle(i, z) && along(z, s) > 0.0).then_some(Face::Arc)
    }

    fn reach(&self, i: usize, z: &[T], s: &[T]) -> f64 {
        disk::reach(
            self.radius[i].value(),
            [z[0].value(), z[1].value()],
            [s[0].value(), s[1].value()],
        )
    }

    fn margin(&self, i: usize, face: Face, b: &Block<T>) -> f64 {
        let radius = self.radius[i].value();
        let length = |x: &[T]| norm(&[x[0].value(), x[1].value()]);
        match face {
            Face::Free => (radius - length(b.z)) / radius,
            // gamma_i R_i / |q_i| = |g_i| / (2 |q_i|); R_i / d keeps it finite where q_i = 0.
            Face::Arc => length(b.g) / (2.0 * length(b.q).max(radius / b.d)),
            // At R = 0 derivatives are one-sided by convention, whatever is near.
            Face::Fixed => f64::INFINITY,
        }
    }

    fn unit(&self, i: usize, _: f64) -> f64 {
        self.radius[i].value()
    }

    const CURVATURE: f64 = 1.0;

    fn constraint(y: &[f64], gradient: &mut [f64]) -> f64 {
        gradient[0] = -y[0];
        gradient[1] = -y[1];
        0.5 * (1.0 - y[0] * y[0] - y[1] * y[1])
    }

    fn centre(y: &mut [f64], _: f64) {
        y.fill(0.0);
    }

    fn enforce(y: &mut [f64]) {
        let length = norm(y);
        if length > 0.0 {
            y.iter_mut().for_each(|y| *y /= length);
        }
    }
}
