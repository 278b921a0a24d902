//! Anderson mixing (`Walker11`): from the last iterates of a fixed-point iteration the combination whose residual would be the least, if
//! residuals were linear.

use std::ops::Range;

use crate::linalg::{add_scaled, dot, solve_lower};

/// Differences of residuals that point the same way to this part say nothing of their own.
const PARALLEL: f64 = 1e-8;
/// Weights beyond are of what is not linear.
const MOST_WEIGHT: f64 = 2.0;

/// Velocities v, momenta R there, and R - J' lambda.
#[derive(Default)]
struct Iterate {
    velocity: Vec<f64>,
    momentum: Vec<f64>,
    left: Vec<f64>,
}

/// The last iterates, of which the first is the present one. Reused, it allocates nothing.
#[derive(Default)]
pub(super) struct AndersonMixing {
    iterates: [Iterate; 3],
    known: usize,
    /// The mixed velocities and momenta.
    pub velocity: Vec<f64>,
    pub momentum: Vec<f64>,
    left: Vec<f64>,
    differences: [Vec<f64>; 2],
}

impl AndersonMixing {
    /// Forgets all iterates.
    pub fn clear(&mut self) {
        self.known = 0;
    }

    /// Takes an iterate, with J' lambda: to be [mixed](Self::mix) tree by tree.
    pub fn take(&mut self, velocity: &[f64], momentum: &[f64], impulses: &[f64]) {
        self.iterates.rotate_right(1);
        self.known = (self.known + 1).min(self.iterates.len());
        let [present, ..] = &mut self.iterates;
        for (to, from) in [
            (&mut present.velocity, velocity),
            (&mut present.momentum, momentum),
            (&mut present.left, momentum),
            (&mut self.velocity, velocity),
            (&mut self.momentum, momentum),
        ] {
            to.clear();
            to.extend_from_slice(from);
        }
        add_scaled(&mut present.left, -1.0, impulses);
    }

    /// Mixes the velocities `own` of a tree whose mass is L L'.
    pub fn mix(&mut self, own: Range<usize>, l: &[f64]) {
        let [present, before @ ..] = &self.iterates;
        let before = &before[..self.known - 1];
        self.left.clear();
        self.left.extend_from_slice(&present.left[own.clone()]);
        solve_lower(l, own.len(), &mut self.left);
        for (other, difference) in before.iter().zip(&mut self.differences) {
            difference.clear();
            let both = present.left[own.clone()].iter().zip(&other.left[own.clone()]);
            difference.extend(both.map(|(x, y)| x - y));
            solve_lower(l, own.len(), difference);
        }
        let [first, second] = &self.differences;
        let weights = match before.len() {
            0 => [0.0; 2],
            1 => [dot(first, &self.left) / dot(first, first), 0.0],
            _ => least_squares([first, second], &self.left),
        };
        if !weights.iter().all(|weight| weight.abs() <= MOST_WEIGHT) {
            return;
        }
        for (other, weight) in before.iter().zip(weights) {
            for k in own.clone() {
                self.velocity[k] -= weight * (present.velocity[k] - other.velocity[k]);
                self.momentum[k] -= weight * (present.momentum[k] - other.momentum[k]);
            }
        }
    }
}

/// The weights of two vectors whose sum is nearest to a third.
fn least_squares([a, b]: [&[f64]; 2], x: &[f64]) -> [f64; 2] {
    let (aa, ab, bb) = (dot(a, a), dot(a, b), dot(b, b));
    let (ax, bx) = (dot(a, x), dot(b, x));
    let determinant = aa * bb - ab * ab;
    if determinant <= PARALLEL * aa * bb {
        return [ax / aa, 0.0];
    }
    [(bb * ax - ab * bx) / determinant, (aa * bx - ab * ax) / determinant]
}
