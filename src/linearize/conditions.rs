//! The contact problems of a step, each factorised once for all columns of its Jacobians.

use crate::ad::{Linearization, Node};
use crate::argmin::{ContactFactor, Status};
use crate::contact::Contacts;
use crate::model::{ContactSolver, Settings, StaggeredDerivative, System};
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

/// Whether the derivative of a step is that of the conditions of its contact problems, and not of how they were solved.
pub(super) fn are_by_conditions(settings: &Settings) -> bool {
    !matches!(
        settings.solver,
        ContactSolver::Staggered { derivative: StaggeredDerivative::Unrolled, .. }
    )
}

/// Whether the conditions of the contact problems are smoothed, or penalties.
pub(super) fn are_smoothed(settings: &Settings) -> bool {
    settings.is_relaxed()
}

impl Conditions {
    /// Factorises the conditions of the step that `workspace` holds. False if its derivative is not theirs.
    #[must_use]
    pub fn factor(&mut self, system: &System<f64>, workspace: &Workspace<f64>) -> bool {
        self.smooth = are_smoothed(system.settings);
        if !are_by_conditions(system.settings) {
            return false;
        }
        let (_, contacts) = workspace.parts();
        if contacts.follow_impacts() {
            return false;
        }
        self.reserve(contacts);
        for (k, (_, problem)) in contacts.solved().enumerate() {
            let (node, inputs, outputs, solution) = problem.solved();
            if self.smooth {
                let (node, solution, outputs) = problem.smoothed();
                Node::factor(node, solution, inputs, outputs, &mut self.smoothed[k]);
            } else if solution.report.status == Status::InvalidInput {
                node.factor(solution, inputs, outputs, &mut self.coupled[k]);
            } else {
                let factor = &mut self.coupled[k];
                node.factor_solved(solution, inputs, outputs, problem.workspace(), factor);
            }
        }
        true
    }

    /// The same of a step that was kept, of coupled or of smoothed nodes.
    pub fn factor_kept(&mut self, smooth: bool, contacts: &Contacts<f64>) {
        self.smooth = smooth;
        self.reserve(contacts);
        let all = contacts.solved().enumerate();
        for (k, (_, problem)) in all.filter(|(_, (island, _))| !island.has_guests) {
            let (node, inputs, outputs, solution) = problem.solved();
            if self.smooth {
                let (node, solution, outputs) = problem.smoothed();
                Node::factor(node, solution, inputs, outputs, &mut self.smoothed[k]);
                continue;
            }
            node.factor(solution, inputs, outputs, &mut self.coupled[k]);
        }
    }

    fn reserve(&mut self, contacts: &Contacts<f64>) {
        let islands = contacts.solved().count();
        if self.coupled.len().max(self.smoothed.len()) < islands {
            self.coupled.resize_with(islands, ContactFactor::default);
            self.smoothed.resize_with(islands, Linearization::default);
        }
    }

    /// Those of an island, by its place among those that were solved.
    pub fn of(&mut self, island: usize) -> Condition<'_> {
        match self.smooth {
            true => Condition::Smoothed(&mut self.smoothed[island]),
            false => Condition::Coupled(&mut self.coupled[island]),
        }
    }
}
