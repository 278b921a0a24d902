//! Learned terms: what a fit says of them, and where nobody has recorded anything.

use serde_json::{Value, json};

use super::output;
use crate::identify::{Dataset, Experiment, Fit, is_weight, learned_functions};
use crate::model::Model;
use crate::state::State;

/// Warns, once a term, of states beyond what it was learned from.
pub(super) fn warn<'a>(model: &Model, states: impl Iterator<Item = &'a State<f64>> + Clone) {
    let beyond = model.learned.iter().filter_map(|term| term.beyond(states.clone()));
    beyond.for_each(|sentence| output::warn(&sentence));
}

/// The learned terms of a fit as functions, for the result.
pub(super) fn functions(experiment: &Experiment, dataset: &Dataset, fit: &Fit) -> Value {
    let functions = learned_functions(experiment, dataset, fit).into_iter().map(|f| {
        json!({
            "name": f.name,
            "kind": f.kind.name(),
            "of": f.of,
            "axes": f.axes,
            "outputs": f.outputs,
            "values": f.values,
            "half_widths": f.half_widths,
        })
    });
    functions.collect()
}

/// The learned terms among the parameters: their names, how many weights each has, and what is to be said of them.
pub(super) fn weights(result: &Fit) -> Vec<(String, usize, &'static str)> {
    let mut told: Vec<(String, usize, &'static str)> = Vec::new();
    for p in result.parameters.iter().filter(|p| is_weight(&p.name)) {
        let name = p.name.rsplit_once('/').map_or("", |(name, _)| name);
        let known = if p.fixed { ", fixed" } else { "" };
        match told.last_mut().filter(|(last, ..)| last == name) {
            Some((_, count, _)) => *count += 1,
            None => told.push((name.to_string(), 1, known)),
        }
    }
    told
}
