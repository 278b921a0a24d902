//! A step that was taken, with the solutions of its contact problems: what its derivatives are made of.

use super::Workspace;
use crate::contact::Contacts;
use crate::dynamics::FreeMotion;

/// The motion without contact, the contact problems and their solutions of one step. Reused, it allocates nothing.
#[derive(Default)]
pub struct SolvedStep {
    motion: FreeMotion<f64>,
    contacts: Contacts<f64>,
    was_split: bool,
}

impl SolvedStep {
    /// Takes the last step of a workspace.
    pub fn keep(&mut self, workspace: &Workspace<f64>) {
        let (motion, contacts) = workspace.parts();
        self.motion.keep(motion);
        self.contacts.keep(contacts);
        self.was_split = workspace.was_split();
    }

    /// The motion without contact, and the constraints.
    pub(crate) fn parts(&self) -> (&FreeMotion<f64>, &Contacts<f64>) {
        (&self.motion, &self.contacts)
    }

    /// Whether the step was split at an impact.
    pub(crate) fn was_split(&self) -> bool {
        self.was_split
    }
}
