//! Parameters from a file: the result of an identification, or a scene.

use std::collections::HashSet;
use std::path::Path;

use serde_json::Value;

use super::experiment::{Experiment, FreeParameter};
use crate::Error;
use crate::model::{Parameters, Scene};

/// Parameters of an experiment, and what to know of where they are from, in a sentence, if there is anything.
pub type GivenParameters = (Parameters<f64>, Option<String>);

/// The scene's parameters with those of an identification result in their place, or, of a file that ends in `.toml`, all
/// those of another scene that has the same ones.
///
/// # Errors
/// If the file cannot be read, is neither, or has parameters or values that the experiment has not.
pub fn read_parameters(path: &Path, experiment: &Experiment) -> Result<GivenParameters, Error> {
    let file = path.display().to_string();
    if path.extension().is_some_and(|kind| kind.eq_ignore_ascii_case("toml")) {
        return parameters_of_scene(&Scene::load(path)?, &file, experiment);
    }
    let text = crate::text::read(path, crate::text::MOST_BYTES)?;
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
            take(name, value, experiment, &mut parameters).map_err(|wrong| match wrong {
                Wrong::Value => bad(&field("value"), format!("{name} cannot be {value}")),
                Wrong::Name => bad(&field(key), format!("the scene has no parameter {name:?}")),
            })?;
        }
    }
    Ok((parameters, None))
}

/// The scene's parameters with other values in their place, by names. What the experiment ties to a parameter goes with it, unless it
/// has a value of its own among them.
///
/// # Errors
/// If there is no such parameter, or it cannot have the value; `owner` is named in the message.
pub fn parameters_with<'a>(
    values: impl IntoIterator<Item = (&'a str, f64)>,
    owner: &str,
    experiment: &Experiment,
) -> Result<Parameters<f64>, Error> {
    let mut parameters = experiment.scene.parameters.clone();
    let values: Vec<(&str, f64)> = values.into_iter().collect();
    for &(name, value) in &values {
        if let Some(free) = experiment.parameters.iter().find(|free| free.name == name) {
            free.set(value, &mut parameters);
        }
    }
    // Those that are named last, so that they count.
    for (name, value) in values {
        take(name, value, experiment, &mut parameters).map_err(|wrong| match wrong {
            Wrong::Value => Error::input(owner, None, name, format!("cannot be {value}")),
            Wrong::Name => {
                let known = experiment.parameter_names();
                Error::unknown_name(owner, name, "is no parameter", (name, &known))
            }
        })?;
    }
    Ok(parameters)
}

/// What is wrong with a parameter that is given.
enum Wrong {
    Name,
    Value,
}

fn take(
    name: &str,
    value: f64,
    experiment: &Experiment,
    parameters: &mut Parameters<f64>,
) -> Result<(), Wrong> {
    if !FreeParameter::allows(name, value) {
        return Err(Wrong::Value);
    }
    match experiment.set(name, value, parameters) {
        true => Ok(()),
        false => Err(Wrong::Name),
    }
}

/// The parameters of the experiment with those of another scene, name by name. Numbers of sensors and recorded inputs
/// are the experiment's.
///
/// # Errors
/// If the scenes have not the same parameters; `file` is that of the other.
pub fn parameters_of_scene(
    other: &Scene,
    file: &str,
    experiment: &Experiment,
) -> Result<GivenParameters, Error> {
    let [own_names, names] =
        [&experiment.scene.model, &other.model].map(|model| model.parameter_names());
    let [own_set, set]: [HashSet<&String>; 2] =
        [&own_names, &names].map(|names| names.iter().collect());
    let lacking = own_names.iter().find(|name| !set.contains(name)).map(|name| (name, "no"));
    let more = names.iter().find(|name| !own_set.contains(name)).map(|name| (name, "a"));
    if let Some((name, has)) = lacking.or(more) {
        let message = format!(
            "is another scene than that of {}: it has {has} {name}; give the scene of a result, or evaluate with it by --scene",
            experiment.name
        );
        return Err(Error::input(file, None, "", message));
    }
    let [ours, theirs] =
        [&experiment.scene.model, &other.model].map(|model| model.parameter_finder());
    let beside = experiment.parameter_names().into_iter().skip(own_names.len());
    let beside: Vec<String> =
        beside.filter(|name| experiment.parameters.iter().any(|free| free.name == *name)).collect();
    let warning = (!beside.is_empty()).then(|| {
        format!(
            "{file}: a scene does not say {}, of the experiment: give the result (.json) of the fit instead",
            beside.join(", ")
        )
    });
    let mut parameters = experiment.scene.parameters.clone();
    for (own, from) in own_names.iter().filter_map(|name| ours(name).zip(theirs(name))) {
        for (&slot, &source) in own.slots.iter().zip(&from.slots) {
            parameters.values[slot] = other.parameters.values[source];
        }
    }
    Ok((parameters, warning))
}
