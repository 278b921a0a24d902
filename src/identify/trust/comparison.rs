//! Two results compared recording by recording.
use serde_json::{Value, json};

use super::{Evaluation, TrajectoryError};
use crate::identify::statistics::quantile_95;

/// Differences of an error in pairs: what is common to both, as a recording that is hard for any
/// parameters, drops out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairedDifference {
    /// Mean error before.
    pub before: f64,
    /// Mean error now.
    pub now: f64,
    /// Mean of now less before: negative is better.
    pub difference: f64,
    /// Its standard error, by how far the recordings disagree; nothing for fewer than two.
    pub standard_error: Option<f64>,
    /// Recordings with less error now.
    pub better: usize,
    /// Recordings with more.
    pub worse: usize,
    /// Recordings.
    pub count: usize,
}

/// A difference is said to be one from so many standard errors on: 95 %.
const SIGNIFICANT: f64 = 1.959964;

impl PairedDifference {
    /// Of errors before and now, recording by recording. Nothing if there are none, or they are not as many,
    /// or not all finite.
    pub fn new(before: &[f64], now: &[f64]) -> Option<PairedDifference> {
        let finite = before.iter().chain(now).all(|x| x.is_finite());
        if before.is_empty() || before.len() != now.len() || !finite {
            return None;
        }
        let count = before.len();
        let n = count as f64;
        let differences: Vec<f64> =
            before.iter().zip(now).map(|(before, now)| now - before).collect();
        let difference = differences.iter().sum::<f64>() / n;
        let squares: f64 = differences.iter().map(|d| (d - difference).powi(2)).sum();
        Some(PairedDifference {
            before: before.iter().sum::<f64>() / n,
            now: now.iter().sum::<f64>() / n,
            difference,
            standard_error: (count > 1).then(|| (squares / (n - 1.0) / n).sqrt()),
            better: differences.iter().filter(|d| **d < 0.0).count(),
            worse: differences.iter().filter(|d| **d > 0.0).count(),
            count,
        })
    }

    /// Whether the difference is beyond what chance would make of it (95 %).
    pub fn is_significant(&self) -> bool {
        self.standard_error.is_some_and(|error| self.difference.abs() > SIGNIFICANT * error)
    }

    /// The 95 % interval of the difference, by Student's t distribution; nothing for fewer than two recordings.
    pub fn interval(&self) -> Option<[f64; 2]> {
        let half = quantile_95(self.count.saturating_sub(1)) * self.standard_error?;
        Some([self.difference - half, self.difference + half])
    }

    /// As JSON has it: null where a number is not finite.
    fn json(&self) -> Value {
        json!({
            "now": self.now,
            "before": self.before,
            "difference": self.difference,
            "standard_error": self.standard_error,
            "better": self.better,
            "worse": self.worse,
            "count": self.count,
        })
    }

    /// In words; `what` has an error, in `unit`.
    pub fn sentence(&self, what: &str, unit: &str) -> String {
        let PairedDifference { before, now, difference, better, worse, count, .. } = *self;
        let same = count - better - worse;
        let head = format!("{what} error {now:.3} {unit} instead of {before:.3} {unit}");
        if same == count {
            return format!("{head}: the same in all {count} recordings");
        }
        let size = match self.standard_error {
            Some(error) => format!("{:.3} +- {error:.3} {unit}", difference.abs()),
            None => format!("{:.3} {unit}", difference.abs()),
        };
        let tally = format!("less in {better} of {count} recordings, more in {worse}");
        let verdict = match (self.is_significant(), difference < 0.0) {
            (true, true) => format!("better by {size}"),
            (true, false) => format!("worse by {size}"),
            (false, _) => {
                let direction = if difference < 0.0 { "less" } else { "more" };
                format!("{size} {direction}, which may be chance")
            }
        };
        format!("{head}: {verdict} ({tally})")
    }
}

/// Errors of whole rollouts with two sets of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Of positions, % of the length scale; nothing where an error is not finite.
    pub position: Option<PairedDifference>,
    /// Of rotations, degrees; likewise.
    pub rotation: Option<PairedDifference>,
}

impl Comparison {
    /// Compares evaluations of the same recordings, pair by pair in their order. Nothing is said of
    /// positions or rotations where none are recorded, or one is not finite.
    pub fn new(before: &Evaluation, now: &Evaluation) -> Comparison {
        let paired = |of: fn(&TrajectoryError) -> Option<f64>| {
            let list = |evaluation: &Evaluation| -> Vec<f64> {
                evaluation.trajectories.iter().filter_map(of).collect()
            };
            PairedDifference::new(&list(before), &list(now))
        };
        Comparison {
            position: paired(|t| t.position_error_percent),
            rotation: paired(|t| t.rotation_error_deg),
        }
    }

    /// As JSON has it: `position_percent` and `rotation_deg`, each with `now`, `before`, `difference` (now less before), its
    /// `standard_error`, `better`, `worse` and `count` (recordings), or null; and `sentences`.
    pub fn json(&self) -> Value {
        let pairs = |pairs: &Option<PairedDifference>| pairs.as_ref().map(PairedDifference::json);
        json!({
            "position_percent": pairs(&self.position),
            "rotation_deg": pairs(&self.rotation),
            "sentences": self.sentences(),
        })
    }

    /// In words.
    pub fn sentences(&self) -> Vec<String> {
        let position = self.position.map(|pairs| pairs.sentence("position", "%"));
        let rotation = self.rotation.map(|pairs| pairs.sentence("rotation", "degrees"));
        position.into_iter().chain(rotation).collect()
    }
}
