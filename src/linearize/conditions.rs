//! The contact problems of a step, each factorised once for all columns of its Jacobians.

use crate::ad::{Linearization, Node};
use crate::argmin::ContactFactor;
use crate::contact::Contacts;
use crate::dynamics::FreeMotion;
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

/// Whether a step is what one problem of the coupled or of the smoothed node an island makes of it, each solved at once.
pub(super) fn is_one_problem_an_island(
    system: &System<f64>,
    (motion, contacts): (&FreeMotion<f64>, &Contacts<f64>),
    was_split: bool,
) -> bool {
    let System { model, settings, .. } = system;
    // Smoothing is of Coulomb's law.
    let is_posed = settings.smoothing == 0.0 || settings.solver == ContactSolver::Coupled;
    settings.solver.solves_at_once()
        && is_posed
        && model.equalities.is_empty()
        && !was_split
        && !contacts.unfinished
        && (0..motion.trees()).all(|tree| motion.is_admissible(tree))
}

impl Conditions {
    /// Factorises the conditions of the step that `workspace` holds. False if it was more than one problem of the
    /// coupled or of the smoothed node an island, or if the conditions do not determine the velocities.
    #[must_use]
    pub fn factor(&mut self, system: &System<f64>, workspace: &Workspace<f64>) -> bool {
        self.smooth = system.settings.smoothing > 0.0;
        let (motion, contacts) = workspace.parts();
        if !is_one_problem_an_island(system, (motion, contacts), workspace.was_split()) {
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
