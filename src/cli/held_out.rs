//! Recordings that were held out of a fit.

use serde_json::{Value, json};

use super::output::optional;
use crate::identify::{
    Dataset, Evaluation, Experiment, Fit, InitialState, RolloutStart, evaluate_from,
};

/// A kind of error.
type ErrorOf = fn(&Evaluation) -> Option<f64>;

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
        let mut held_out = json!({
            "recordings": self.recordings,
            "position_error_percent": optional(self.fitted.position_error_percent),
            "rotation_error_deg": optional(self.fitted.rotation_error_deg),
            "position_error_percent_of_scene": optional(self.of_scene.position_error_percent),
            "rotation_error_deg_of_scene": optional(self.of_scene.rotation_error_deg),
        });
        // Without hinges there is none.
        if self.fitted.joint_error_deg.is_some() {
            held_out["joint_error_deg"] = optional(self.fitted.joint_error_deg);
            held_out["joint_error_deg_of_scene"] = optional(self.of_scene.joint_error_deg);
        }
        held_out
    }

    /// The kinds of errors that there are, each told once.
    fn kinds(&self) -> Vec<(&'static str, ErrorOf, &'static str)> {
        let mut kinds: Vec<(&str, ErrorOf, &str)> = vec![
            ("position", |errors| errors.position_error_percent, " %"),
            ("rotation", |errors| errors.rotation_error_deg, " degrees"),
        ];
        if self.fitted.joint_error_deg != self.fitted.rotation_error_deg {
            kinds.push(("joint", |errors| errors.joint_error_deg, " degrees"));
        }
        kinds
    }

    /// How much better it does than the scene, in a sentence; nothing where there is nothing to compare.
    pub fn sentence(&self) -> Option<String> {
        let compared = |(kind, of, _): (&str, ErrorOf, &str)| {
            let (fitted, of_scene) = (of(&self.fitted)?, of(&self.of_scene)?);
            let change = 100.0 * (fitted / of_scene - 1.0);
            let way = if change < 0.0 { "below" } else { "above" };
            change
                .is_finite()
                .then(|| format!("{kind} errors are {:.0} % {way} the scene's", change.abs()))
        };
        let errors: Vec<String> = self.kinds().into_iter().filter_map(compared).collect();
        let of = match self.recordings {
            1 => "the recording that was".to_string(),
            count => format!("the {count} recordings that were"),
        };
        let (last, others) = errors.split_last()?;
        let before = if others.is_empty() { String::new() } else { others.join(", ") + " and " };
        Some(format!("On {of} held out, {before}{last}."))
    }

    pub fn text(&self) -> String {
        let said = |(kind, of, unit): (&str, ErrorOf, &str)| {
            let (fitted, of_scene) = (of(&self.fitted)?, of(&self.of_scene)?);
            Some(format!("{kind} error {fitted:.2}{unit} ({of_scene:.2}{unit})"))
        };
        let errors: Vec<String> = self.kinds().into_iter().filter_map(said).collect();
        if errors.is_empty() {
            return format!("{} recordings held out: no pose to compare with", self.recordings);
        }
        let errors = errors.join(", ");
        format!("{} recordings held out: {errors}; in brackets, of the scene", self.recordings)
    }
}
