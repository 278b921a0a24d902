//! The comparison with the result that a folder or file held before.

use std::path::Path;

use serde_json::Value;

use crate::identify::{
    Comparison, Dataset, Experiment, Fit, InitialState, RolloutStart, evaluate_from,
    read_parameters,
};
use crate::text;

/// The parameters of the result in `file`, if that is one of the same experiment that fits the scene. Reads before anything is
/// written there.
pub(super) fn previous(file: &Path, experiment: &Experiment) -> Option<Vec<f64>> {
    // A device, to which a result can be written, may have no end.
    let text = file.is_file().then(|| text::read(file, text::MOST_BYTES).ok()).flatten()?;
    let previous: Value = serde_json::from_str(&text).ok()?;
    if previous.get("experiment")?.as_str()? != experiment.name {
        return None;
    }
    let (parameters, _) = read_parameters(file, experiment).ok()?;
    Some(parameters.values)
}

/// Compares a fit with one that had the parameters `before`: whole rollouts of all recordings from their recorded states, or,
/// where the experiment fits or smooths these, from the motion before the first contact.
pub(super) fn with_previous(
    before: Vec<f64>,
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    threads: usize,
) -> Comparison {
    let mut parameters = experiment.scene.parameters.clone();
    parameters.values = before;
    let start = match experiment.initial_state {
        InitialState::Recorded => RolloutStart::Recorded,
        InitialState::Flight | InitialState::Fitted => RolloutStart::Flight,
    };
    let evaluate = |parameters| evaluate_from(experiment, dataset, parameters, start, threads);
    Comparison::new(&evaluate(&parameters), &evaluate(&fit.identified))
}
