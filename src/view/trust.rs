//! What a report says of how far a result can be trusted.

use super::fit_report::{FitReport, PhaseResidual, Profile, ReportedTest};
use crate::identify::{Dataset, Experiment, Fit, LossProfile, Others, ScoreTest, errors_by_phase};

/// Tests that a page shows: claims, and as many as this.
const SHOWN: usize = 8;
/// Correlations from here on are said in words.
const STRONG: f64 = 0.95;

impl FitReport {
    /// Adds how the loss depends on each parameter, what it is made of (three simulations on `threads` threads), and
    /// which estimates go together.
    pub fn trusted(
        mut self,
        experiment: &Experiment,
        dataset: &Dataset,
        fit: &Fit,
        profiles: &[LossProfile],
        threads: usize,
    ) -> FitReport {
        let drawn = profiles.iter().filter(|profile| profile.values.len() > 1);
        let drawn = drawn.map(|profile| Profile {
            parameter: experiment.parameters[..profile.parameter]
                .iter()
                .filter(|p| !p.is_weight())
                .count(),
            values: profile.values.clone(),
            loss: profile.loss.clone(),
            others_fitted: profile.others == Others::Fitted,
        });
        self.profiles = drawn.collect();
        let phases = errors_by_phase(experiment, dataset, fit, threads);
        let phases = phases.into_iter().map(|errors| PhaseResidual {
            phase: errors.phase.name().to_string(),
            frames: errors.frames,
            mean_square: errors.mean_square(),
            share: errors.share,
            position: errors.position,
            rotation_deg: errors.rotation.map(f64::to_degrees),
        });
        self.phases = phases.collect();
        if let Some(correlations) = &mut self.correlations {
            let remarks = remarks(&correlations.names, &correlations.matrix);
            correlations.remarks.extend(remarks);
        }
        self
    }

    /// Adds what was tried to improve the model, in sentences.
    pub fn improved(mut self, sentences: impl Iterator<Item = String>) -> FitReport {
        self.improvement = sentences.collect();
        self
    }

    /// Adds what the fit would gain by numbers that it held: those that are claims, and the next ones.
    pub fn tested(mut self, tests: &[ScoreTest], dataset: &Dataset) -> FitReport {
        let shown =
            tests.iter().enumerate().filter(|(k, test)| *k < SHOWN || test.is_significant());
        let shown = shown.map(|(_, test)| {
            let values = test.held.iter().copied().zip(test.proposed.iter().copied());
            let members = test.members.iter().cloned().zip(values);
            let named = |&k: &usize| dataset.trajectories[k].name.clone();
            ReportedTest {
                name: test.name.clone(),
                members: members.map(|(name, (held, proposed))| (name, held, proposed)).collect(),
                gain: test.gain,
                part: test.part,
                p_value: test.adjusted_p_value,
                is_claim: test.is_significant(),
                better: [test.better, test.recordings],
                strongest: test.strongest.iter().map(named).collect(),
            }
        });
        self.score_tests = shown.collect();
        self
    }
}

/// Pairs of estimates that are hardly identifiable one by one.
fn remarks(names: &[String], matrix: &[Vec<f64>]) -> Vec<String> {
    let pairs = (0..names.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    let strong = pairs.filter(|&(a, b)| matrix[a][b].abs() >= STRONG);
    strong
        .map(|(a, b)| {
            let together = if matrix[a][b] > 0.0 { "both up" } else { "one up, one down" };
            format!(
                "{} and {} can hardly be told apart: {together}, the loss changes little (correlation \
                 {:.3}).",
                names[a], names[b], matrix[a][b]
            )
        })
        .collect()
}
