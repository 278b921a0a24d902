//! Whether a model can explain recordings at all.

use super::phases::errors_by_phase;
use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;
use crate::identify::search::Fit;

/// A loss (mean square in standard deviations, 1 is noise alone) beyond which a model does not explain recordings.
pub const UNEXPLAINED: f64 = 9.0;

/// That the model at the result of a fit does not explain the recordings, and in which phase of the motion it is
/// furthest from them; nothing where it does.
pub fn unexplained(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    threads: usize,
) -> Option<String> {
    if fit.loss <= UNEXPLAINED {
        return None;
    }
    let begin = "the model does not explain the recordings";
    let end = "check units, order and size of what is recorded, and the noise that is stated; values and standard \
               errors mean nothing before that";
    if !fit.loss.is_finite() {
        return Some(format!("{begin}: the loss is not finite; {end}"));
    }
    let phases = errors_by_phase(experiment, dataset, fit, threads);
    let worst = phases.iter().max_by(|a, b| a.mean_square().total_cmp(&b.mean_square()));
    let phase = worst.map(|worst| {
        format!(", most in phase {:?} ({:.3})", worst.phase.name(), worst.mean_square().sqrt())
    });
    Some(format!(
        "{begin}: residuals are {:.3} standard deviations of the noise, root of the mean square{}; {end}",
        fit.loss.sqrt(),
        phase.unwrap_or_default()
    ))
}
