//! What is said about steps that no body makes.

use super::output;
use crate::model::Model;
use crate::simulation::Plausibility;

/// Says on standard error what was found, if anything, `of` something: a recording, or nothing.
pub(super) fn warn(plausibility: &Plausibility, of: &str, model: &Model, time_step: f64) {
    if let Some(sentence) = plausibility.sentence(model, time_step) {
        let of = if of.is_empty() { String::new() } else { format!("{of}: ") };
        output::warn(&format!("{of}{sentence}"));
    }
}
