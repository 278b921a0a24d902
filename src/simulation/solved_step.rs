//! A step that was taken, with the solutions of its contact problems: what its derivatives are made of.

use super::splits::Splits;
use super::workspace::{Workspace, is_untouched};
use crate::contact::Contacts;
use crate::dynamics::FreeMotion;
use crate::model::Model;

/// The motion without contact, the contact problems and their solutions of one step. Reused, it allocates nothing.
#[derive(Default)]
pub struct SolvedStep {
    motion: FreeMotion<f64>,
    contacts: Contacts<f64>,
    splits: Splits,
}

impl SolvedStep {
    /// Takes the last step of a workspace.
    pub fn keep(&mut self, workspace: &Workspace<f64>) {
        let (motion, contacts) = workspace.parts();
        self.motion.keep(motion);
        self.contacts.keep(contacts);
        self.splits.keep(workspace.splits());
    }

    /// The motion without contact, and the constraints.
    pub(crate) fn parts(&self) -> (&FreeMotion<f64>, &Contacts<f64>) {
        (&self.motion, &self.contacts)
    }

    /// Where the step was split at impacts.
    pub(crate) fn splits(&self) -> &Splits {
        &self.splits
    }

    /// Whether nothing acted on a tree in the step but its own forces.
    pub(crate) fn is_untouched(&self, model: &Model, tree: usize) -> bool {
        is_untouched(model, &self.motion, &self.contacts, tree)
    }
}
