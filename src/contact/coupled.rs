//! Normal and friction impulses of a body as one problem, one node: the default.

use super::body_contacts::Impulses;
use crate::ad::Real;
use crate::argmin::{ContactSolution, CoupledContact, Mode, Report};
use crate::collision::ContactPoint;
use crate::state::NV;

/// Memory of the coupled solve.
pub(super) struct Coupled<T: Real> {
    solution: ContactSolution,
    workspace: T::Workspace<CoupledContact>,
}

impl<T: Real> Default for Coupled<T> {
    fn default() -> Self {
        Coupled { solution: ContactSolution::default(), workspace: Default::default() }
    }
}

impl<T: Real> Coupled<T> {
    /// Solves the problem `inputs` (as [`CoupledContact`] takes them) into `outputs`.
    pub fn solve(
        &mut self,
        points: &[ContactPoint<T>],
        inputs: &[T],
        tolerance: f64,
        warm: &Impulses<T>,
        outputs: &mut [T],
    ) -> (Report, &[Mode]) {
        let solution = &mut self.solution;
        solution.impulses.clear();
        for point in points {
            solution.impulses.extend(warm.of(point).map(|x| x.value()));
        }
        let node = CoupledContact { contacts: points.len(), velocities: NV, tolerance };
        T::call(&node, inputs, outputs, solution, &mut self.workspace);
        (solution.report, &solution.modes)
    }
}
