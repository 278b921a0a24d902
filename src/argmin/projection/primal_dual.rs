//! A primal-dual interior point with Mehrotra's predictor and corrector [Mehrotra92], for half-lines and disks
//! alike: argmin 1/2 y'Py + q'y with one constraint c_i(y_i) >= 0 a block, c = y or (1 - |y|^2) / 2,
//! in the units of the blocks.
//!
//!   Py + q - sum_i lambda_i grad c_i = 0,   c_i(y) - t_i = 0,   lambda_i t_i = mu -> 0.
//!
//! Slacks t are variables of their own: 1 - |y|^2 loses its digits at the rim. It takes about as
//! many iterations whatever the condition of P, but ends near the solution, not on it: on values
//! only, to name the face that projected Newton steps then finish on.

use super::feasible_set::FeasibleSet;
use super::quadratic::{Problem, Scale};
use crate::ad::Real;
use crate::linalg::{PackedCholesky, add_product, wide_dot};

/// Part of the way to the boundary that a step goes.
const TO_BOUNDARY: f64 = 0.995;
/// Part of their diagonal below which pivots count as zero: late matrices are that ill-conditioned.
const LEAST_PIVOT: f64 = 1e-16;
/// Least part of mu that a step aims at.
const LEAST_CENTRING: f64 = 1e-3;
/// Growth of the variables beyond which there is no minimum: more than any condition number allows.
const DIVERGED: f64 = 1e11;
/// Steps shorter than this lead nowhere.
const LEAST_STEP: f64 = 1e-6;

/// Its state. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct InteriorPoint {
    /// Blocks' units, and P, q in them.
    unit: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    y: Vec<f64>,
    slack: Vec<f64>,
    multiplier: Vec<f64>,
    /// Gradients of c.
    normal: Vec<f64>,
    /// Py + q - sum lambda grad c, and c - t.
    dual: Vec<f64>,
    primal: Vec<f64>,
    /// lambda t - mu, with the corrector's part.
    complement: Vec<f64>,
    dy: Vec<f64>,
    dslack: Vec<f64>,
    dmultiplier: Vec<f64>,
    cholesky: PackedCholesky<f64>,
    /// Of the variables at the start, at least.
    size: f64,
}

impl InteriorPoint {
    /// Starts in the middle: near the boundary it would stay there.
    pub fn start<T: Real, S: FeasibleSet<T>>(&mut self, problem: &Problem<T, S>, scale: &Scale) {
        let (n, b) = (problem.n(), S::BLOCK);
        self.unit.clear();
        self.unit.extend((0..problem.blocks()).map(|i| problem.set.unit(i, scale.d[i])));
        let unit = &self.unit;
        self.p.clear();
        for k in 0..n {
            let row = problem.row(k).iter().enumerate();
            self.p.extend(row.map(|(l, p)| p.value() * (unit[k / b] * unit[l / b])));
        }
        self.q.clear();
        self.q.extend((0..n).map(|k| problem.q[k].value() * unit[k / b]));
        self.y.clear();
        self.y.resize(n, 0.0);
        // Multipliers are about as large as gradients in the same units.
        let size = largest(&self.q);
        let size = if size > 0.0 { size } else { 1.0 };
        self.size = if S::CURVATURE > 0.0 { size.max(1.0) } else { size };
        self.slack.clear();
        self.multiplier.clear();
        for (y, q) in self.y.chunks_exact_mut(b).zip(self.q.chunks_exact(b)) {
            S::centre(y, 0.1 * size);
            self.slack.push(S::constraint(y, &mut [0.0; 2][..b]));
            self.multiplier.push(largest(q).max(0.1 * size));
        }
        for buffer in [&mut self.dual, &mut self.normal, &mut self.dy] {
            buffer.clear();
            buffer.resize(n, 0.0);
        }
        for buffer in
            [&mut self.primal, &mut self.complement, &mut self.dslack, &mut self.dmultiplier]
        {
            buffer.clear();
            buffer.resize(problem.blocks(), 0.0);
        }
    }

    /// Iterates until each lambda_i t_i is below `goal` of the energies in the problem, at most
    /// `limit` times, and writes z, constraints with the larger multiplier than slack put in force;
    /// not if it diverges. Returns the iterations.
    pub fn iterate<T: Real, S: FeasibleSet<T>>(
        &mut self,
        goal: f64,
        limit: usize,
        z: &mut [T],
    ) -> usize {
        let mut spent = 0;
        while spent < limit {
            self.evaluate::<T, S>();
            if self.gap() <= goal * self.energy() {
                break;
            }
            spent += 1;
            if !self.step::<T, S>() || largest(&self.y) > DIVERGED * self.size {
                break;
            }
        }
        let is_finite = self.y.iter().all(|y| y.is_finite());
        if !is_finite || largest(&self.y) > DIVERGED * self.size {
            return spent;
        }
        let b = S::BLOCK;
        let n = self.y.len();
        for (i, z) in z.chunks_exact_mut(b).enumerate() {
            let stiffness = self.p[i * b * (n + 1)].max(largest(&self.q[i * b..][..b]));
            let y = &mut self.y[i * b..][..b];
            let mut end = [0.0; 2];
            end[..b].copy_from_slice(y);
            if self.multiplier[i] > stiffness * self.slack[i] {
                S::enforce(&mut end[..b]);
            }
            for (z, y) in z.iter_mut().zip(end) {
                *z = T::constant(y * self.unit[i]);
            }
        }
        spent
    }

    fn evaluate<T: Real, S: FeasibleSet<T>>(&mut self) {
        self.dual.copy_from_slice(&self.q);
        add_product(&self.p, &self.y, &mut self.dual);
        let b = S::BLOCK;
        for i in 0..self.slack.len() {
            let range = i * b..(i + 1) * b;
            let normal = &mut self.normal[range.clone()];
            self.primal[i] = S::constraint(&self.y[range.clone()], normal) - self.slack[i];
            for (dual, normal) in self.dual[range].iter_mut().zip(normal) {
                *dual -= self.multiplier[i] * *normal;
            }
        }
    }

    // The largest lambda_i t_i.
    fn gap(&self) -> f64 {
        self.slack.iter().zip(&self.multiplier).map(|(t, m)| t * m).fold(0.0, f64::max)
    }

    // The largest of |q_k y_k| and P_kk y_k^2.
    fn energy(&self) -> f64 {
        let n = self.y.len();
        let of = |k: usize| {
            let y = self.y[k].abs();
            (self.q[k].abs() * y).max(self.p[k * (n + 1)] * y * y)
        };
        (0..n).map(of).fold(0.0, f64::max)
    }

    // A predictor and a corrector step. False where there is none worth taking.
    fn step<T: Real, S: FeasibleSet<T>>(&mut self) -> bool {
        let blocks = self.slack.len();
        if !self.factor::<T, S>() {
            return false;
        }
        for i in 0..blocks {
            self.complement[i] = self.multiplier[i] * self.slack[i];
        }
        let mu = self.complement.iter().sum::<f64>() / blocks as f64;
        self.direction(S::BLOCK);
        let length = self.longest(1.0);
        let after = |i: usize| {
            (self.slack[i] + length * self.dslack[i])
                * (self.multiplier[i] + length * self.dmultiplier[i])
        };
        let sigma = ((0..blocks).map(after).sum::<f64>() / blocks as f64 / mu).powi(3);
        let sigma = sigma.max(LEAST_CENTRING);
        // What the predictor neglected is of second order: products of its own changes. On disks they
        // are only good as far as the predictor is.
        let second = if S::CURVATURE > 0.0 { length * length } else { 1.0 };
        let b = S::BLOCK;
        for i in 0..blocks {
            self.complement[i] += second * self.dslack[i] * self.dmultiplier[i] - sigma * mu;
            let dy = &self.dy[i * b..][..b];
            self.primal[i] -= 0.5 * second * S::CURVATURE * wide_dot(dy, dy);
            for (dual, dy) in self.dual[i * b..].iter_mut().zip(dy) {
                *dual += second * S::CURVATURE * self.dmultiplier[i] * dy;
            }
        }
        self.direction(b);
        let length = self.longest(TO_BOUNDARY);
        for (y, dy) in self.y.iter_mut().zip(&self.dy) {
            *y += length * dy;
        }
        for i in 0..blocks {
            self.multiplier[i] += length * self.dmultiplier[i];
            // Where there is more room than the straight line knew, it is taken.
            let room = S::constraint(&self.y[i * b..][..b], &mut self.normal[i * b..][..b]);
            self.slack[i] = (self.slack[i] + length * self.dslack[i]).max(room);
        }
        length > LEAST_STEP
    }

    // P + sum_i lambda_i (curvature + grad c grad c' / t_i)
    fn factor<T: Real, S: FeasibleSet<T>>(&mut self) -> bool {
        let (n, b) = (self.y.len(), S::BLOCK);
        let push = |k: usize, rows: &mut Vec<f64>| {
            let first = rows.len();
            rows.extend_from_slice(&self.p[k * n + k..(k + 1) * n]);
            let i = k / b;
            rows[first] += S::CURVATURE * self.multiplier[i];
            let weight = self.multiplier[i] / self.slack[i] * self.normal[k];
            for (entry, normal) in rows[first..].iter_mut().zip(&self.normal[k..(i + 1) * b]) {
                *entry += weight * normal;
            }
        };
        self.cholesky.factor_rows(n, LEAST_PIVOT, push).is_ok()
    }

    // The changes that cancel `dual`, `primal` and `complement` to first order.
    fn direction(&mut self, b: usize) {
        for i in 0..self.slack.len() {
            let range = i * b..(i + 1) * b;
            let pull = (self.complement[i] + self.multiplier[i] * self.primal[i]) / self.slack[i];
            for k in range {
                self.dy[k] = -self.dual[k] - self.normal[k] * pull;
            }
        }
        self.cholesky.solve(&mut self.dy);
        for i in 0..self.slack.len() {
            let range = i * b..(i + 1) * b;
            let dslack = self.primal[i] + wide_dot(&self.normal[range.clone()], &self.dy[range]);
            self.dslack[i] = dslack;
            self.dmultiplier[i] =
                -(self.complement[i] + self.multiplier[i] * dslack) / self.slack[i];
        }
    }

    // `part` of the way to where a slack or multiplier would end, at most the whole step.
    fn longest(&self, part: f64) -> f64 {
        let pairs = self.slack.iter().zip(&self.dslack);
        let pairs = pairs.chain(self.multiplier.iter().zip(&self.dmultiplier));
        pairs.filter(|(_, d)| **d < 0.0).map(|(x, d)| -part * x / d).fold(1.0, f64::min)
    }
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| largest.max(x.abs()))
}
