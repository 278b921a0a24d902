//! The contact problems of a step, each factorised once for all columns of its Jacobians.

use crate::ad::{Linearization, Node};
use crate::argmin::ContactFactor;
use crate::model::{ContactSolver, System};
use crate::simulation::Workspace;

/// The conditions of each island of a step. Reused, it allocates nothing.
#[derive(Default)]
pub(super) struct Conditions {
    smooth: bool,
    coupled: Vec<ContactFactor<f64>>,
    smoothed: Vec<Linearization<f64>>,
}

/// The conditions of an island.
pub(super) enum Condition<'a> {
    Coupled(&'a mut ContactFactor<f64>),
    Smoothed(&'a mut Linearization<f64>),
}

impl Conditions {
    /// Factorises the conditions of the step that `workspace` holds. False if it was more than one problem of the
    /// coupled or of the smoothed node an island, or if the conditions do not determine the velocities.
    #[must_use]
    pub fn factor(&mut self, system: &System<f64>, workspace: &Workspace<f64>) -> bool {
        let System { model, settings, .. } = system;
        self.smooth = settings.smoothing > 0.0;
        let solved_at_once = match settings.solver {
            ContactSolver::Coupled => true,
            ContactSolver::ConvexRelaxation | ContactSolver::Pyramid => !self.smooth,
            _ => false,
        };
        let (motion, contacts) = workspace.parts();
        let found = |tree| motion.health(tree) == (true, true);
        if !solved_at_once
            || !model.equalities.is_empty()
            || workspace.was_split()
            || contacts.unfinished
            || !(0..motion.trees()).all(found)
        {
            return false;
        }
        let islands = contacts.solved().count();
        if self.coupled.len().max(self.smoothed.len()) < islands {
            self.coupled.resize_with(islands, ContactFactor::default);
            self.smoothed.resize_with(islands, Linearization::default);
        }
        contacts.solved().enumerate().all(|(k, (_, problem))| {
            let (node, inputs, outputs, solution) = problem.solved();
            if self.smooth {
                let (node, solution, outputs) = problem.smoothed();
                Node::factor(node, solution, inputs, outputs, &mut self.smoothed[k]);
                return true;
            }
            let factor = &mut self.coupled[k];
            node.factor_solved(solution, inputs, outputs, problem.workspace(), factor);
            factor.is_determined()
        })
    }

    /// Those of an island, by its place among those that were solved.
    pub fn of(&mut self, island: usize) -> Condition<'_> {
        match self.smooth {
            true => Condition::Smoothed(&mut self.smoothed[island]),
            false => Condition::Coupled(&mut self.coupled[island]),
        }
    }
}
