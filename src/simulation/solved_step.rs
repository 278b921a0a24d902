//! A step that was taken, with the solutions of its contact problems: what its derivatives are made of.

use super::known_step::KnownStep;
use super::splits::Splits;
use super::workspace::{Workspace, is_untouched};
use crate::contact::Contacts;
use crate::dynamics::{FreeMotion, ImplicitTangent};
use crate::model::Model;

/// The motion without contact, the contact problems and their solutions of one step. Reused, it allocates nothing.
#[derive(Default)]
pub struct SolvedStep {
    motion: FreeMotion<f64>,
    contacts: Contacts<f64>,
    splits: Splits,
    /// Of an implicit step where Newton's method ended, if that was [kept](Self::keep_implicit).
    tangent: Option<Box<ImplicitTangent>>,
}

impl SolvedStep {
    /// Takes the last step of a workspace.
    pub fn keep(&mut self, workspace: &Workspace<f64>) {
        let (motion, contacts) = workspace.parts();
        self.motion.keep(motion);
        self.contacts.keep(contacts);
        self.splits.keep(workspace.splits());
    }

    /// The same of an implicit step, for duals that make it again.
    pub(crate) fn keep_implicit(&mut self, workspace: &Workspace<f64>) {
        self.keep(workspace);
        if let Some(tangent) = workspace.tangent() {
            self.tangent.get_or_insert_default().keep(tangent);
        }
    }

    /// The step, if it was not split: impacts are not kept.
    pub(crate) fn known(&self) -> KnownStep<'_> {
        let Self { motion, contacts, splits, tangent } = self;
        KnownStep { motion, contacts, tangent: tangent.as_deref(), splits, impacts: &[] }
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
