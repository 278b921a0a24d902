//! The contact problems of a step, each factorised once for all columns of its Jacobians.

use crate::argmin::ContactResponse;
use crate::model::{ContactSolver, System};
use crate::simulation::Workspace;

/// The conditions of each island of a step. Reused, it allocates nothing.
#[derive(Default)]
pub(super) struct Conditions {
    islands: Vec<ContactResponse<f64>>,
}

impl Conditions {
    /// Factorises the conditions of the step that `workspace` holds. False if it was more than one problem of the
    /// coupled node an island, or if the conditions do not determine the velocities.
    #[must_use]
    pub fn factor(&mut self, system: &System<f64>, workspace: &Workspace<f64>) -> bool {
        let System { model, settings, .. } = system;
        let coupled =
            [ContactSolver::Coupled, ContactSolver::ConvexRelaxation, ContactSolver::Pyramid];
        let (motion, contacts) = workspace.parts();
        let found = |tree| motion.health(tree) == (true, true);
        if !coupled.contains(&settings.solver)
            || settings.smoothing != 0.0
            || !model.equalities.is_empty()
            || workspace.was_split()
            || contacts.unfinished
            || !(0..motion.trees()).all(found)
        {
            return false;
        }
        contacts.solved().enumerate().all(|(k, (_, problem))| {
            if self.islands.len() == k {
                self.islands.push(ContactResponse::default());
            }
            let (node, inputs, outputs, solution) = problem.solved();
            let response = &mut self.islands[k];
            node.response(solution, inputs, outputs, problem.workspace(), response)
        })
    }

    /// Those of an island, by its place among those that were solved.
    pub fn of(&mut self, island: usize) -> &mut ContactResponse<f64> {
        &mut self.islands[island]
    }
}
