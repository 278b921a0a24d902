//! The least velocity after an impact, v*, which undoes penetration over several steps (`Zhong21` App. G).
//!
//! ```text
//! goal = [-gap / (8 dt), 0..] a contact                                  (S.22)
//! v* = J_C (I - J_E'(J_E J_E')^-1 J_E) J_C^+ goal                         (S.23)
//! ```
//!
//! Where there are no constraints and no more contacts than points, v* = goal, even where rows of J_C depend on each other (S.24). The
//! pseudo-inverse is that of its two cases: of least norm where contacts leave motion free, of least squares where they do not.

use super::point_rows::{PointRows, dot};
use super::point_system::PointSystem;
use crate::ad::Real;
use crate::linalg::{FactorError, PivotedCholesky, SpdSolution, SpdSolve};

/// Steps over which penetration is undone.
const STEPS: f64 = 8.0;

/// The memory of it.
pub(super) struct TargetVelocity<T: Real> {
    gram: Vec<T>,
    factor: PivotedCholesky<T>,
    motion: Vec<T>,
    multiplier: Vec<T>,
    inputs: Vec<T>,
    solution: SpdSolution,
    workspace: T::Workspace<SpdSolve>,
}

impl<T: Real> Default for TargetVelocity<T> {
    fn default() -> Self {
        TargetVelocity {
            gram: Vec::new(),
            factor: PivotedCholesky::default(),
            motion: Vec::new(),
            multiplier: Vec::new(),
            inputs: Vec::new(),
            solution: SpdSolution::default(),
            workspace: Default::default(),
        }
    }
}

/// a a' of rows over points, all of it.
fn gram<T: Real>(rows: &PointRows<T>, dimension: usize, out: &mut Vec<T>) {
    let n = rows.len();
    out.clear();
    out.resize(n * n, T::zero());
    for i in 0..n {
        for j in 0..=i {
            let mut sum = T::zero();
            for (p, a) in rows.row(i) {
                for (_, b) in rows.row(j).filter(|(q, _)| p == *q) {
                    sum += dot(a, b, dimension);
                }
            }
            out[i * n + j] = sum;
            out[j * n + i] = sum;
        }
    }
}

impl<T: Real> TargetVelocity<T> {
    /// v* for the contacts with these gaps and rows, and constraints with the rows `constraints`.
    pub fn set(
        &mut self,
        system: &PointSystem,
        gaps: &[T],
        rows: &PointRows<T>,
        constraints: &PointRows<T>,
        target: &mut Vec<T>,
    ) -> Result<(), FactorError> {
        let d = system.dimension();
        target.clear();
        target.resize(rows.len(), T::zero());
        for (target, &gap) in target.iter_mut().step_by(d).zip(gaps) {
            *target = -gap / (STEPS * system.step);
        }
        if constraints.is_empty() && gaps.len() <= system.points() {
            return Ok(());
        }
        // P = J'(J J')^+ goal
        gram(rows, d, &mut self.gram);
        self.factor.factor(&self.gram, rows.len());
        self.factor.solve(target);
        self.motion.clear();
        self.motion.resize(system.coordinates(), T::zero());
        rows.add_transpose_times(target, &mut self.motion);
        if !constraints.is_empty() {
            gram(constraints, d, &mut self.inputs);
            let n = constraints.len();
            self.inputs.extend((0..n).map(|i| constraints.dot(i, &self.motion)));
            self.multiplier.clear();
            self.multiplier.resize(n, T::zero());
            let node = SpdSolve { n, columns: 1 };
            let (solution, workspace) = (&mut self.solution, &mut self.workspace);
            T::call(&node, &self.inputs, &mut self.multiplier, solution, workspace);
            if let Some(failure) = self.solution.failure {
                return Err(failure);
            }
            self.multiplier.iter_mut().for_each(|m| *m = -*m);
            constraints.add_transpose_times(&self.multiplier, &mut self.motion);
        }
        rows.times(&self.motion, target);
        Ok(())
    }
}
