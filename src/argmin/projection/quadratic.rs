//! The problem both nodes solve, argmin 1/2 z'Pz + q'z over a set, and how far a point is from
//! solving it.

use std::ops::Range;

use super::feasible_set::{Block, FeasibleSet};
use super::low_rank::LowRank;
use crate::ad::Real;
use crate::linalg::{add_product, wide_dot};

/// argmin 1/2 z'Pz + q'z, z in `set`.
pub(super) struct Problem<'a, T, S> {
    /// P, n x n row-major, symmetric positive semi-definite.
    pub p: &'a [T],
    /// q, n.
    pub q: &'a [T],
    /// Where z may be.
    pub set: S,
    /// P = W W', if that is known.
    pub low_rank: Option<&'a LowRank<T>>,
}

impl<'a, T: Real, S: FeasibleSet<T>> Problem<'a, T, S> {
    /// The same with `low_rank` as the factor of P.
    pub fn with_factor<'b>(&self, low_rank: Option<&'b LowRank<T>>) -> Problem<'b, T, S>
    where
        'a: 'b,
    {
        Problem { p: self.p, q: self.q, set: self.set, low_rank }
    }

    /// Number of variables.
    pub fn n(&self) -> usize {
        self.q.len()
    }

    /// Number of blocks.
    pub fn blocks(&self) -> usize {
        self.n() / S::BLOCK
    }

    /// The variables of block `i`.
    pub fn range(&self, i: usize) -> Range<usize> {
        i * S::BLOCK..(i + 1) * S::BLOCK
    }

    /// Row `i` of P.
    pub fn row(&self, i: usize) -> &[T] {
        &self.p[i * self.n()..][..self.n()]
    }

    /// g = Pz + q, in O(n) times the rank if that is low; `u` is scratch.
    pub fn gradient(&self, z: &[T], g: &mut Vec<T>, u: &mut Vec<T>) {
        match self.low_rank {
            Some(w) => {
                w.transposed_product(z, u);
                g.clear();
                g.extend_from_slice(self.q);
                w.add_product(u, g);
            }
            None => self.exact_gradient(z, g),
        }
    }

    /// g = Pz + q by P itself.
    pub fn exact_gradient(&self, z: &[T], g: &mut Vec<T>) {
        g.clear();
        g.extend_from_slice(self.q);
        if T::ORDER == 0 {
            // P is symmetric: its rows serve as columns.
            add_product(self.p, z, g);
        } else {
            // Its derivatives need not be.
            for (i, g) in g.iter_mut().enumerate() {
                *g += wide_dot(self.row(i), z);
            }
        }
    }

    /// 1/2 z'Pz + q'z = 1/2 z'(g + q)
    pub fn objective(&self, z: &[T], g: &[T]) -> f64 {
        let terms = z.iter().zip(g).zip(self.q);
        0.5 * terms.map(|((z, g), q)| z.value() * (g.value() + q.value())).sum::<f64>()
    }

    /// Whether all entries are finite and no diagonal entry of P is negative.
    pub fn is_admissible(&self) -> bool {
        let n = self.n();
        is_finite(self.p) && is_finite(self.q) && (0..n).all(|i| self.p[i * n + i].value() >= 0.0)
    }

    /// z <- Proj(z)
    pub fn project(&self, z: &mut [T]) {
        for i in 0..self.blocks() {
            self.set.project(i, 1.0, &mut z[self.range(i)]);
        }
    }
}

// Without leaving early, which the compiler can do several entries at a time.
fn is_finite<T: Real>(x: &[T]) -> bool {
    const PART: usize = 64;
    let finite = |x: &[T]| x.iter().fold(true, |all, x| all & (x.value().abs() < f64::INFINITY));
    x.chunks(PART).all(finite)
}

/// The units of a problem, from the diagonal of P: makes residuals scale-free.
#[derive(Clone, Debug, Default)]
pub(super) struct Scale {
    /// D, one a block: 1 / P_ii, of the mean of the block's diagonal.
    pub d: Vec<f64>,
    /// max |D q|: how far away the unconstrained minimiser is.
    reach: f64,
}

impl Scale {
    /// Measures `problem`.
    pub fn measure<T: Real, S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>) {
        let n = problem.n();
        let diagonal = |i: usize| problem.p[i * n + i].value();
        let largest = (0..n).map(diagonal).fold(0.0, f64::max);
        self.d.clear();
        self.reach = 0.0;
        for i in 0..problem.blocks() {
            let mean = problem.range(i).map(diagonal).sum::<f64>() / S::BLOCK as f64;
            if mean > 0.0 {
                let q = &problem.q[problem.range(i)];
                let force = q.iter().map(|q| q.value().abs()).fold(0.0, f64::max);
                self.reach = self.reach.max(force / mean);
                self.d.push(mean.recip());
            } else {
                // No curvature at all: the unit of the stiffest block.
                self.d.push(if largest > 0.0 { largest.recip() } else { 1.0 });
            }
        }
    }

    /// max(|z|, |D q|)
    pub fn of<T: Real>(&self, z: &[T]) -> f64 {
        z.iter().map(|z| z.value().abs()).fold(self.reach, f64::max)
    }

    /// |z - Proj(z - D g)| / max(|z|, |D q|), largest entries: the relative natural residual.
    pub fn natural_residual<T: Real, S: FeasibleSet<T>>(
        &self,
        problem: &Problem<T, S>,
        z: &[T],
        g: &[T],
    ) -> f64 {
        let mut largest = 0.0_f64;
        for (i, &d) in self.d.iter().enumerate() {
            let range = problem.range(i);
            let distance = problem.set.natural_distance(i, &z[range.clone()], &g[range], d);
            if distance.is_nan() {
                return f64::INFINITY;
            }
            largest = largest.max(distance);
        }
        if largest == 0.0 { 0.0 } else { largest / self.of(z) }
    }

    /// All blocks at the point `z` with gradient `g`.
    pub fn blocks<'a, T: Real, S: FeasibleSet<T>>(
        &'a self,
        problem: &Problem<'a, T, S>,
        z: &'a [T],
        g: &'a [T],
    ) -> impl Iterator<Item = Block<'a, T>> {
        let scale = self.of(z);
        let parts = z.chunks_exact(S::BLOCK).zip(g.chunks_exact(S::BLOCK));
        let parts = parts.zip(problem.q.chunks_exact(S::BLOCK)).zip(&self.d);
        parts.map(move |(((z, g), q), &d)| Block { z, g, q, d, scale })
    }
}
