//! What is said about steps that no body makes.

use serde_json::{Value, json};

use crate::model::{Model, System};
use crate::simulation::{Rollout, StepReport};
use crate::verify::{Implausible, plausible};

/// The steps of a run that are not plausible.
#[derive(Default)]
pub(super) struct Plausibility {
    steps: usize,
    /// The first, and when it ended, s.
    first: Option<(f64, Implausible)>,
}

impl Plausibility {
    /// Looks at the step that a rollout has just made, which ended at `time`.
    pub fn see(
        &mut self,
        system: &System<f64>,
        time: f64,
        rollout: &Rollout<f64>,
        report: &StepReport,
    ) {
        let Some(found) = plausible(system, &rollout.state, &rollout.workspace, report) else {
            return;
        };
        self.steps += 1;
        self.first.get_or_insert((time, found));
    }

    /// Says on standard error what was found.
    pub fn warn(&self, model: &Model) {
        let Some((time, Implausible { body, oddity })) = &self.first else { return };
        let body = &model.bodies[*body].name;
        let steps = match self.steps {
            1 => "1 step is not plausible".to_string(),
            steps => format!("{steps} steps are not plausible"),
        };
        eprintln!(
            "warning: {steps}, the first to {time} s: {body:?}: {oddity}; from there on the motion is not to be \
             trusted"
        );
    }

    /// Null where all is well.
    pub fn json(&self, model: &Model) -> Value {
        let Some((time, Implausible { body, oddity })) = &self.first else { return Value::Null };
        json!({
            "steps": self.steps,
            "time": time,
            "body": model.bodies[*body].name,
            "what": oddity.to_string(),
        })
    }
}
