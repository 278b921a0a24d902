//! The derivative of both nodes by the implicit function theorem, reduced to the active face.
//!
//! With z = z(y, R), B = dz/dy and N = dz/dR (the outward normal of each active disk):
//!
//!   (B'PB + diag(gamma)) dy = -B'(dP z + dq + P N dR),   dz = B dy + N dR.
//!
//! It is [LeLidec21] (7) with the multipliers eliminated. Where the matrix H on the left is
//! singular, dy is the solution of least norm: H+ is symmetric, so `vjp` stays the exact transpose
//! of `jvp`.

use super::face_hessian::ReducedHessian;
use super::feasible_set::{Face, FeasibleSet};
use super::low_rank::LowRank;
use super::quadratic::Problem;
use crate::ad::Real;
use crate::linalg::{add_product, add_scaled, wide_dot};

/// The factorisation behind `jvp` and `vjp`, with their scratch memory.
#[derive(Clone, Debug, Default)]
pub struct ProjectionFactor<T> {
    hessian: ReducedHessian<T>,
    low_rank: LowRank<T>,
    is_low_rank: bool,
    /// N, n x 1 a block; empty if the set depends on nothing.
    normals: Vec<T>,
    g: Vec<T>,
    x: Vec<T>,
    y: Vec<T>,
    u: Vec<T>,
}

impl<T: Real> ProjectionFactor<T> {
    /// Factorises at the solution `z` on `faces`.
    pub(super) fn factor<S: FeasibleSet<T>>(
        &mut self,
        problem: &Problem<T, S>,
        z: &[T],
        faces: impl Iterator<Item = Face>,
    ) {
        for buffer in [&mut self.g, &mut self.x, &mut self.y, &mut self.normals] {
            buffer.clear();
        }
        let n = problem.n();
        self.x.resize(n, T::zero());
        self.y.resize(n, T::zero());
        self.hessian.faces.clear();
        self.hessian.faces.extend(faces);
        // A factor of P has no derivative across its rank.
        self.is_low_rank = T::ORDER == 0 && self.low_rank.detect(problem.p, n);
        let problem = problem.with_factor(self.is_low_rank.then_some(&self.low_rank));
        // Only circles ask for g.
        if self.is_low_rank {
            problem.gradient(z, &mut self.g, &mut self.u);
        } else {
            self.g.resize(n, T::zero());
            let arcs =
                self.hessian.faces.iter().enumerate().filter(|(_, face)| **face == Face::Arc);
            for k in arcs.flat_map(|(i, _)| problem.range(i)) {
                self.g[k] = problem.q[k] + wide_dot(problem.row(k), z);
            }
        }
        self.hessian.factor(&problem, z, &self.g);
    }

    /// N; to be filled after `factor` by a node whose set has parameters.
    pub(super) fn normals(&mut self) -> &mut Vec<T> {
        &mut self.normals
    }

    /// dz = B dy + N dR, with dP, dq, dR behind one another in `tangents`.
    pub(super) fn jvp<S: FeasibleSet<T>>(
        &mut self,
        problem: &Problem<T, S>,
        z: &[T],
        tangents: &[T],
        dz: &mut [T],
    ) {
        let n = problem.n();
        let (dp, rest) = tangents.split_at(n * n);
        let (dq, dr) = rest.split_at(n);
        // N dR
        self.y.fill(T::zero());
        for (k, &normal) in self.normals.iter().enumerate() {
            self.y[k] = normal * dr[k / S::BLOCK];
        }
        // x = dP z + dq + P N dR
        for k in 0..n {
            self.x[k] = dq[k] + wide_dot(&dp[k * n..][..n], z);
            if !self.normals.is_empty() {
                self.x[k] += wide_dot(problem.row(k), &self.y);
            }
        }
        self.hessian.solve(&self.x, dz);
        for (dz, &normal) in dz.iter_mut().zip(&self.y) {
            *dz = normal - *dz;
        }
    }

    /// With w the adjoints of z and b = B H+ B' w: dL/dq = -b, dL/dP = -b z', dL/dR = N'(w - P'b),
    /// added to `adjoints` in the order of the inputs.
    pub(super) fn vjp<S: FeasibleSet<T>>(
        &mut self,
        problem: &Problem<T, S>,
        z: &[T],
        w: &[T],
        adjoints: &mut [T],
    ) {
        let n = problem.n();
        let (ap, rest) = adjoints.split_at_mut(n * n);
        let (aq, ar) = rest.split_at_mut(n);
        self.hessian.solve(w, &mut self.x);
        for (k, &b) in self.x.iter().enumerate() {
            aq[k] -= b;
            // Fixed variables have b = 0.
            if !b.is_zero() || T::ORDER > 0 {
                add_scaled(&mut ap[k * n..][..n], -b, z);
            }
        }
        if self.normals.iter().all(|n| T::ORDER == 0 && n.vanishes()) {
            return;
        }
        // y = P b
        self.y.fill(T::zero());
        if self.is_low_rank {
            self.low_rank.transposed_product(&self.x, &mut self.u);
            self.low_rank.add_product(&self.u, &mut self.y);
        } else {
            // Its rows serve as columns.
            add_product(problem.p, &self.x, &mut self.y);
        }
        for (k, &normal) in self.normals.iter().enumerate() {
            ar[k / S::BLOCK] += normal * (w[k] - self.y[k]);
        }
    }
}
