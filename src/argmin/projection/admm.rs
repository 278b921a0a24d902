//! The regularised ADMM of [LeLidec21], appendix A, for both problems of (5): they differ only in
//! the projection.
//!
//! Two things the paper does not say: the variables are scaled by S, constant on a block, so that
//! S P S has diagonal 1, and rho changes at most every [`ADAPTATION_PERIOD`] iterations, because
//! each change costs a factorisation.

use super::feasible_set::FeasibleSet;
use super::quadratic::{Problem, Scale};
use crate::ad::Real;
use crate::linalg::{PivotedCholesky, largest_eigenvalue};

/// Iterations at most.
pub(super) const ITERATIONS: usize = 2000;
/// Weight alpha of the proximal term, relative to the largest eigenvalue L.
const PROXIMAL: f64 = 1e-6;
const ADAPTATION_PERIOD: usize = 5;
/// Ratio of primal and dual residual beyond which rho changes ([LeLidec21], appendix A).
const ADAPTATION_THRESHOLD: f64 = 10.0;

/// State of the iterations in scaled variables. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Admm<T> {
    /// S P S
    p: Vec<T>,
    /// S P S + (alpha + rho) I
    shifted: Vec<T>,
    cholesky: PivotedCholesky<T>,
    x: Vec<T>,
    y: Vec<T>,
    z: Vec<T>,
    previous: Vec<T>,
    q: Vec<T>,
    /// S, one a variable.
    stretch: Vec<f64>,
    alpha: f64,
    rho: f64,
    /// L / alpha
    condition: f64,
    scratch: Vec<f64>,
    iterations: usize,
}

impl<T: Real> Admm<T> {
    /// Starts at `z` with multipliers `y` = -`g`.
    pub fn start<S: FeasibleSet<T>>(
        &mut self,
        problem: &Problem<T, S>,
        scale: &Scale,
        (z, g): (&[T], &[T]),
    ) {
        let n = problem.n();
        self.stretch.clear();
        self.stretch.extend((0..n).map(|k| scale.d[k / S::BLOCK].sqrt()));
        let s = &self.stretch;
        self.p.clear();
        self.p.extend((0..n * n).map(|k| problem.p[k] * (s[k / n] * s[k % n])));
        self.q.clear();
        self.q.extend((0..n).map(|k| problem.q[k] * s[k]));
        self.z.clear();
        self.z.extend((0..n).map(|k| z[k] / s[k]));
        self.x.clone_from(&self.z);
        self.y.clear();
        self.y.extend((0..n).map(|k| -g[k] * s[k]));
        self.iterations = 0;

        // rho = sqrt(L alpha) (L / alpha)^0.4   [LeLidec21], appendix A
        let largest = largest_eigenvalue(&self.p, n, &mut self.scratch);
        let largest = if largest > 0.0 { largest } else { 1.0 };
        self.alpha = PROXIMAL * largest;
        self.condition = largest / self.alpha;
        self.rho = (largest * self.alpha).sqrt() * self.condition.powf(0.4);
        self.factor();
    }

    fn factor(&mut self) {
        let n = self.q.len();
        self.shifted.clone_from(&self.p);
        for k in 0..n {
            self.shifted[k * n + k] += T::constant(self.alpha + self.rho);
        }
        self.cholesky.factor(&self.shifted, n);
    }

    /// Iterates until all [`ITERATIONS`] are spent or neither residual is above `tolerance`; writes
    /// z. Returns the iterations.
    pub fn iterate<S: FeasibleSet<T>>(
        &mut self,
        problem: &Problem<T, S>,
        tolerance: f64,
        z: &mut [T],
    ) -> usize {
        let mut spent = 0;
        while spent < ITERATIONS {
            spent += 1;
            let (primal, dual) = self.step(problem);
            if primal.max(dual) <= tolerance {
                break;
            }
            self.adapt(primal, dual);
        }
        for (k, z) in z.iter_mut().enumerate() {
            *z = self.z[k] * self.stretch[k];
        }
        spent
    }

    // One iteration; returns the primal and the dual residual, relative.
    fn step<S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>) -> (f64, f64) {
        let (alpha, rho) = (self.alpha, self.rho);
        // x = argmin L_rho: (P + (alpha + rho) I) x = alpha x - q - y + rho z
        for (k, x) in self.x.iter_mut().enumerate() {
            *x = *x * alpha - self.q[k] - self.y[k] + self.z[k] * rho;
        }
        self.cholesky.solve(&mut self.x);
        // z = Proj(x + y / rho)
        self.previous.clone_from(&self.z);
        for (k, z) in self.z.iter_mut().enumerate() {
            *z = self.x[k] + self.y[k] / rho;
        }
        for i in 0..problem.blocks() {
            let range = problem.range(i);
            let stretch = self.stretch[range.start].recip();
            problem.set.project(i, stretch, &mut self.z[range]);
        }
        // y = y + rho (x - z)
        let (mut primal, mut dual, mut size, mut force) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for k in 0..self.x.len() {
            let gap = self.x[k] - self.z[k];
            self.y[k] += gap * rho;
            let change = self.z[k].value() - self.previous[k].value();
            primal = primal.max(gap.value().abs());
            dual = dual.max(rho * change.abs());
            size = size.max(self.x[k].value().abs()).max(self.z[k].value().abs());
            force = force.max(self.y[k].value().abs()).max(self.q[k].value().abs());
        }
        (ratio(primal, size), ratio(dual, force))
    }

    // rho times or over (L / alpha)^0.1 when one residual is far ahead.
    fn adapt(&mut self, primal: f64, dual: f64) {
        self.iterations += 1;
        if !self.iterations.is_multiple_of(ADAPTATION_PERIOD) {
            return;
        }
        let factor = self.condition.powf(0.1);
        if primal > ADAPTATION_THRESHOLD * dual {
            self.rho *= factor;
        } else if dual > ADAPTATION_THRESHOLD * primal {
            self.rho /= factor;
        } else {
            return;
        }
        self.factor();
    }
}

fn ratio(residual: f64, size: f64) -> f64 {
    if residual == 0.0 { 0.0 } else { residual / size }
}
