//! The comparison of two results: as JSON, and with the result that a folder or file held before.
//!
//! JSON: `position_percent` and `rotation_deg`, each with `now`, `before`, `difference` (now less before), its
//! `standard_error`, `better`, `worse` and `count` (recordings), or `null`; and `sentences`.

use std::path::Path;

use serde_json::{Value, json};

use super::output::{number, optional};
use super::result_file::read_parameters;
use crate::identify::{
    Comparison, Dataset, Experiment, Fit, InitialState, PairedDifference, RolloutStart,
    evaluate_from,
};
use crate::text;

pub(super) fn description(comparison: &Comparison) -> Value {
    let pairs = |pairs: &Option<PairedDifference>| {
        pairs.as_ref().map(|pairs| {
            json!({
                "now": number(pairs.now),
                "before": number(pairs.before),
                "difference": number(pairs.difference),
                "standard_error": optional(pairs.standard_error),
                "better": pairs.better,
                "worse": pairs.worse,
                "count": pairs.count,
            })
        })
    };
    json!({
        "position_percent": pairs(&comparison.position),
        "rotation_deg": pairs(&comparison.rotation),
        "sentences": comparison.sentences(),
    })
}

/// The parameters of the result in `file`, if that is one of the same experiment that fits the scene. Reads before anything is
/// written there.
pub(super) fn previous(file: &Path, experiment: &Experiment) -> Option<Vec<f64>> {
    // A device, to which a result can be written, may have no end.
    let text = file.is_file().then(|| text::read(file, text::MOST_BYTES).ok()).flatten()?;
    let previous: Value = serde_json::from_str(&text).ok()?;
    if previous.get("experiment")?.as_str()? != experiment.name {
        return None;
    }
    read_parameters(file, experiment).ok().map(|parameters| parameters.values)
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
