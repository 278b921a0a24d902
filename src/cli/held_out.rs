//! Recordings that were held out of a fit.

use serde_json::{Value, json};

use super::output::optional;
use crate::identify::{
    Dataset, Evaluation, Experiment, Fit, InitialState, RolloutStart, evaluate_from,
};

/// How a fit does on recordings that it has not seen, and how the scene's own parameters do.
pub(super) struct HeldOut {
    recordings: usize,
    /// By the parameters found.
    pub fitted: Evaluation,
    of_scene: Evaluation,
}

impl HeldOut {
    pub fn new(experiment: &Experiment, out: &Dataset, result: &Fit, threads: usize) -> HeldOut {
        let start = match experiment.initial_state {
            InitialState::Recorded => RolloutStart::Recorded,
            InitialState::Flight | InitialState::Fitted => RolloutStart::Flight,
        };
        let evaluate = |parameters| evaluate_from(experiment, out, parameters, start, threads);
        HeldOut {
            recordings: out.trajectories.len(),
            fitted: evaluate(&result.identified),
            of_scene: evaluate(&experiment.scene.parameters),
        }
    }

    pub fn json(&self) -> Value {
        json!({
            "recordings": self.recordings,
            "position_error_percent": optional(self.fitted.position_error_percent),
            "rotation_error_deg": optional(self.fitted.rotation_error_deg),
            "position_error_percent_of_scene": optional(self.of_scene.position_error_percent),
            "rotation_error_deg_of_scene": optional(self.of_scene.rotation_error_deg),
        })
    }

    /// How much better it does than the scene, in a sentence; nothing where there is nothing to compare.
    pub fn sentence(&self) -> Option<String> {
        let compared = |kind: &str, of: fn(&Evaluation) -> Option<f64>| {
            let (fitted, of_scene) = (of(&self.fitted)?, of(&self.of_scene)?);
            let change = 100.0 * (fitted / of_scene - 1.0);
            let way = if change < 0.0 { "below" } else { "above" };
            change
                .is_finite()
                .then(|| format!("{kind} errors are {:.0} % {way} the scene's", change.abs()))
        };
        let errors = [
            compared("position", |errors| errors.position_error_percent),
            compared("rotation", |errors| errors.rotation_error_deg),
        ];
        let errors: Vec<String> = errors.into_iter().flatten().collect();
        let of = match self.recordings {
            1 => "the recording that was".to_string(),
            count => format!("the {count} recordings that were"),
        };
        (!errors.is_empty()).then(|| format!("On {of} held out, {}.", errors.join(" and ")))
    }

    pub fn text(&self) -> String {
        let said = |kind: &str, of: fn(&Evaluation) -> Option<f64>, unit: &str| {
            let (fitted, of_scene) = (of(&self.fitted)?, of(&self.of_scene)?);
            Some(format!("{kind} error {fitted:.2}{unit} ({of_scene:.2}{unit})"))
        };
        let errors = [
            said("position", |errors| errors.position_error_percent, " %"),
            said("rotation", |errors| errors.rotation_error_deg, " degrees"),
        ];
        let errors: Vec<String> = errors.into_iter().flatten().collect();
        if errors.is_empty() {
            return format!("{} recordings held out: no pose to compare with", self.recordings);
        }
        let errors = errors.join(", ");
        format!("{} recordings held out: {errors}; in brackets, of the scene", self.recordings)
    }
}
