//! Linear systems in a scalar with derivatives, from a factor of their values alone.
//!
//! With A = A0 + E, E the part that differentiates, x <- x + A0^-1 (b - A x) gains an order of
//! derivatives at each step, because a product of more than `ORDER` such parts is zero: after
//! `ORDER` steps x is the solution. No factor in the scalar itself is needed.

use crate::ad::Real;

/// Memory of a solve; also what the nodes of this module keep between `factor` and `jvp` or `vjp`.
#[derive(Clone, Debug, Default)]
pub struct Refinement<T> {
    right: Vec<T>,
    solution: Vec<T>,
    error: Vec<T>,
    pub(super) scratch: Vec<T>,
}

impl<T: Real> Refinement<T> {
    /// The right-hand side to be filled in before [`solve`](Self::solve).
    pub(super) fn right(&mut self, right: impl Iterator<Item = T>) -> &mut [T] {
        self.solution.clear();
        self.solution.extend(right);
        &mut self.solution
    }

    /// A^-1 b, where `invert` is x <- A0^-1 x and `subtract` is y <- y - A x.
    pub(super) fn solve(
        &mut self,
        invert: impl Fn(&mut [T], &mut Vec<T>),
        subtract: impl Fn(&[T], &mut [T]),
    ) -> &[T] {
        if T::ORDER > 0 {
            self.right.clear();
            self.right.extend_from_slice(&self.solution);
        }
        invert(&mut self.solution, &mut self.scratch);
        for _ in 0..T::ORDER {
            self.error.clear();
            self.error.extend_from_slice(&self.right);
            subtract(&self.solution, &mut self.error);
            invert(&mut self.error, &mut self.scratch);
            for (x, &e) in self.solution.iter_mut().zip(&self.error) {
                *x += e;
            }
        }
        &self.solution
    }
}
