//! How loops were closed after a step, as steps of their own: from rest, of a second, with nothing that acts but the
//! conditions, which ask for what is open. Their derivatives are those of any step, in coordinates alone.

use crate::contact::Contacts;
use crate::dynamics::FreeMotion;
use crate::model::{Parameters, System};
use crate::simulation::{ClosureStep, ClosureSteps};
use crate::state::State;

/// Scratch memory.
#[derive(Default)]
pub(super) struct LoopClosure {
    steps: ClosureSteps,
    /// The parameters without gravity.
    weightless: Parameters<f64>,
    inputs: Vec<f64>,
}

impl LoopClosure {
    /// Finds again how the loops were closed after the step from `state` that was solved.
    pub fn find(
        &mut self,
        system: &System<f64>,
        state: &State<f64>,
        solved: (&FreeMotion<f64>, &Contacts<f64>),
    ) {
        self.steps.find(system, state, solved);
        self.weightless.values.clone_from(&system.parameters.values);
        self.weightless.values[system.model.gravity_slots()].fill(0.0);
        self.inputs.clear();
        self.inputs.resize(system.model.nv() + system.model.nu(), 0.0);
    }

    /// The parameters that the steps have, and their inputs.
    pub fn numbers(&self) -> (&Parameters<f64>, &[f64]) {
        (&self.weightless, &self.inputs)
    }

    /// The steps, in turn.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &ClosureStep> {
        self.steps.iter()
    }
}
