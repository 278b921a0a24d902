//! Parameters judged by recordings, alone or beside others.

use serde_json::{Map, Value, json};

use super::data::Dataset;
use super::experiment::Experiment;
use super::trust::{
    Comparison, ErrorSpread, Evaluation, RolloutStart, TrajectoryError, evaluate_while,
};
use crate::Error;
use crate::model::{Model, Parameters};
use crate::simulation::{Plausibility, StepReport};

/// Whole rollouts with some parameters against the recordings of an experiment, and those with others to compare with.
///
/// As JSON:
///
/// | key | what it holds |
/// |---|---|
/// | `experiment` | the experiment file, or the scene that stands for one |
/// | `initial` | where rollouts start: `recorded` or `flight` |
/// | `count` | how many recordings there are |
/// | `position_error_percent`, `rotation_error_deg`, `joint_error_deg` | means over the recordings; the last one where there are hinges |
/// | `summary` | of each kind of error: `mean`, `median`, `most_of_nine_tenths`, and `least` and `largest` with their `error` and the `name` of the recording |
/// | `comparison` | with others: see [`Comparison::json`] |
/// | `solver` | `steps`, `unsolved`, `worst_residual` of the contact problems |
/// | `trajectories` | a list in the order of the recordings: `name`, `frames`, errors, `unsolved`, `before` (errors with others), `implausible` ([`Plausibility::json`]) |
#[derive(Clone, Debug)]
pub struct Judgement {
    /// With the parameters.
    pub evaluation: Evaluation,
    /// With the others.
    pub before: Option<Evaluation>,
    /// The two compared.
    pub comparison: Option<Comparison>,
    /// How the contact problems of the first were solved, all recordings together.
    pub report: StepReport,
    experiment: String,
    start: RolloutStart,
}

/// What is not right about rollouts, in a sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Doubt {
    /// Contact problems were not solved.
    Unsolved(String),
    /// Steps are such as no body makes.
    Implausible(String),
}

/// A kind of error: its name in JSON, what it is of a recording, and its name in words.
type KindOfError = (&'static str, fn(&TrajectoryError) -> Option<f64>, &'static str);

/// All there are: positions in % of a length, the others in degrees.
const KINDS: [KindOfError; 3] = [
    ("position_error_percent", |t| t.position_error_percent, "position error"),
    ("rotation_error_deg", |t| t.rotation_error_deg, "rotation error"),
    ("joint_error_deg", |t| t.joint_error_deg, "joint error"),
];

impl Judgement {
    /// Judges `parameters`, beside `others` if there are any, on so many threads, as long as `go_on` says so, which is asked
    /// before each recording.
    ///
    /// # Errors
    /// If the recordings have nothing that is compared.
    pub fn new(
        experiment: &Experiment,
        dataset: &Dataset,
        [parameters, others]: [Option<&Parameters<f64>>; 2],
        (start, threads): (RolloutStart, usize),
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Judgement, Error> {
        let evaluate = |parameters: &Parameters<f64>| {
            evaluate_while(experiment, dataset, parameters, (start, threads), go_on)
        };
        let evaluation = evaluate(parameters.unwrap_or(&experiment.scene.parameters));
        if evaluation.position_error_percent.or(evaluation.rotation_error_deg).is_none() {
            let message = "record no position, orientation or joint angle, and these alone are compared; what \
                           sensors read is not: `stiction identify` says how well it fits (loss)";
            return Err(Error::input(&experiment.name, None, "data", message));
        }
        let before = others.map(evaluate);
        let comparison = before.as_ref().map(|before| Comparison::new(before, &evaluation));
        let mut report = StepReport::default();
        evaluation.trajectories.iter().for_each(|t| report.merge(&t.report));
        let experiment = experiment.name.clone();
        Ok(Judgement { evaluation, before, comparison, report, experiment, start })
    }

    /// The kinds of error that there are of, by their names in JSON and in words, and what they come to.
    pub fn summaries(&self) -> Vec<([&'static str; 2], ErrorSpread)> {
        let found = KINDS.into_iter();
        found
            .filter_map(|(key, of, words)| Some(([key, words], self.evaluation.summary(of)?)))
            .collect()
    }

    /// What is not right: of contact problems, then of each recording.
    pub fn doubts(&self, model: &Model, time_step: f64) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        let StepReport { unsolved, steps, worst, .. } = &self.report;
        if *unsolved > 0 {
            doubts.push(Doubt::Unsolved(format!(
                "{unsolved} contact problems in {steps} steps were not solved to the tolerance (worst residual {:.1e})",
                worst.residual
            )));
        }
        for (of, evaluation) in self.evaluations() {
            for t in &evaluation.trajectories {
                let of = |sentence: String| format!("{of}{}: {sentence}", t.name);
                let StepReport { conflicts, plausibility, .. } = &t.report;
                let conflicts = conflicts.sentence(model, Some(time_step));
                doubts.extend(conflicts.map(|sentence| Doubt::Unsolved(of(sentence))));
                let odd = plausibility.sentence(model, time_step);
                doubts.extend(odd.map(|sentence| Doubt::Implausible(of(sentence))));
            }
        }
        doubts
    }

    /// The steps that no body makes, of all rollouts.
    pub fn plausibility(&self) -> Plausibility {
        let mut all = Plausibility::default();
        for (_, evaluation) in self.evaluations() {
            evaluation.trajectories.iter().for_each(|t| all.merge(&t.report.plausibility, 0));
        }
        all
    }

    /// With what sentences about them begin.
    fn evaluations(&self) -> impl Iterator<Item = (&'static str, &Evaluation)> {
        let before = self.before.iter().map(|before| ("compared with: ", before));
        [("", &self.evaluation)].into_iter().chain(before)
    }

    /// As JSON has it, of a scene with this model and time step.
    pub fn json(&self, model: &Model, time_step: f64) -> Map<String, Value> {
        let Judgement { evaluation, report, .. } = self;
        let rows = evaluation.trajectories.iter().enumerate().map(|(k, t)| {
            let mut row = row(t, self.before.as_ref().map(|before| &before.trajectories[k]));
            if !t.report.plausibility.is_whole() {
                row["implausible"] = t.report.plausibility.json(model, time_step);
            }
            row
        });
        let mut object = Map::new();
        object.insert("experiment".into(), self.experiment.clone().into());
        object.insert("initial".into(), self.start.name().into());
        object.insert("count".into(), evaluation.trajectories.len().into());
        let position = json!(evaluation.position_error_percent);
        object.insert("position_error_percent".into(), position);
        object.insert("rotation_error_deg".into(), json!(evaluation.rotation_error_deg));
        if let Some(joint) = evaluation.joint_error_deg {
            object.insert("joint_error_deg".into(), json!(joint));
        }
        object.insert("summary".into(), self.summary());
        if let Some(comparison) = &self.comparison {
            object.insert("comparison".into(), comparison.json());
        }
        let solver = json!({
            "steps": report.steps,
            "unsolved": report.unsolved,
            "worst_residual": report.worst.residual,
        });
        object.insert("solver".into(), solver);
        object.insert("trajectories".into(), rows.collect());
        object
    }

    fn summary(&self) -> Value {
        let names = |(error, k): (f64, usize)| json!({ "error": error, "name": self.evaluation.trajectories[k].name });
        let summaries = self.summaries().into_iter().map(|([key, _], summary)| {
            let summary = json!({
                "mean": summary.mean,
                "median": summary.median,
                "most_of_nine_tenths": summary.most_of_nine_tenths,
                "least": names(summary.least),
                "largest": names(summary.largest),
            });
            (key.to_string(), summary)
        });
        Value::Object(summaries.collect())
    }
}

/// What is said of a recording, and of the same one with what it is compared with.
fn row(t: &TrajectoryError, before: Option<&TrajectoryError>) -> Value {
    let mut row = json!({
        "name": t.name,
        "frames": t.frames,
        "position_error_percent": t.position_error_percent,
        "rotation_error_deg": t.rotation_error_deg,
        "unsolved": t.report.unsolved,
    });
    // Without hinges there is none.
    if let Some(joint) = t.joint_error_deg {
        row["joint_error_deg"] = json!(joint);
    }
    if let Some(before) = before {
        row["before"] = json!({
            "position_error_percent": before.position_error_percent,
            "rotation_error_deg": before.rotation_error_deg,
        });
        if let Some(joint) = before.joint_error_deg {
            row["before"]["joint_error_deg"] = json!(joint);
        }
    }
    row
}
