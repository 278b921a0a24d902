//! What is said about steps that no body makes.

use serde_json::{Value, json};

use super::output;
use crate::model::Model;
use crate::simulation::{Implausible, Plausibility};

/// For JSON: null where all is well.
pub(super) fn json(plausibility: &Plausibility, model: &Model, time_step: f64) -> Value {
    let Some((step, Implausible { body, oddity })) = &plausibility.first else {
        return Value::Null;
    };
    json!({
        "steps": plausibility.steps,
        "time": output::number(*step as f64 * time_step),
        "body": model.bodies.get(*body).map(|body| &body.name),
        "what": oddity.to_string(),
    })
}

/// Says on standard error what was found, if anything, `of` something: a recording, or nothing.
pub(super) fn warn(plausibility: &Plausibility, of: &str, model: &Model, time_step: f64) {
    if let Some(sentence) = plausibility.sentence(model, time_step) {
        let of = if of.is_empty() { String::new() } else { format!("{of}: ") };
        output::warn(&format!("{of}{sentence}"));
    }
}
