//! The result of an identification, read back.

use std::path::Path;

use serde_json::Value;

use crate::Error;
use crate::identify::{Experiment, FreeParameter};
use crate::model::Parameters;

/// The scene's parameters with those of an identification result in their place.
pub(super) fn read_parameters(
    path: &Path,
    experiment: &Experiment,
) -> Result<Parameters<f64>, Error> {
    let text = crate::text::read(path, crate::text::MOST_BYTES)?;
    let file = path.display().to_string();
    let bad = |field: &str, message: String| Error::input(&file, None, field, message);
    let result: Value = serde_json::from_str(&text)
        .map_err(|error| Error::input(&file, error.line(), "", error.to_string()))?;
    let list = result.get("parameters").and_then(Value::as_array).ok_or_else(|| {
        bad("parameters", "is missing; give a result of `stiction identify -o`".into())
    })?;
    let mut parameters = experiment.scene.parameters.clone();
    for (i, entry) in list.iter().enumerate() {
        let field = |name: &str| format!("parameters[{i}].{name}");
        let name = entry
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| bad(&field("name"), "is missing".into()))?;
        let value = entry
            .get("value")
            .and_then(Value::as_f64)
            .ok_or_else(|| bad(&field("value"), "must be a number".into()))?;
        let mut names = vec![("name", name)];
        for tied in entry.get("tied").and_then(Value::as_array).into_iter().flatten() {
            let tied = tied.as_str();
            names.push((
                "tied",
                tied.ok_or_else(|| bad(&field("tied"), "must be a list of strings".into()))?,
            ));
        }
        for (key, name) in names {
            if !FreeParameter::allows(name, value) {
                return Err(bad(&field("value"), format!("{name} cannot be {value}")));
            }
            if !experiment.set(name, value, &mut parameters) {
                return Err(bad(&field(key), format!("the scene has no parameter {name:?}")));
            }
        }
    }
    Ok(parameters)
}
