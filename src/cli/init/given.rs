//! An experiment for a scene or recordings that are there already.

use std::path::{Path, PathBuf};

use crate::Error;
use crate::model::Scene;
use crate::trajectory::{RecordingFile, expand, understand};

/// The text of an experiment, and what could not be understood, in sentences. `scene`: with its file, unless that is written beside
/// the experiment.
pub(super) fn experiment(
    (own, scene): (Scene, Option<&Path>),
    recordings: Option<&str>,
    directory: &Path,
) -> Result<(String, Vec<String>), Error> {
    let mut told = Vec::new();
    let mut text = String::from(
        "# What is identified from which recordings: `stiction help experiment`, `stiction help recordings`.\n\n",
    );
    let named =
        scene.map_or_else(|| Ok(PathBuf::from("scene.toml")), |path| seen_from(directory, path))?;
    text += &format!("scene = {}\n", quoted(&named));
    let mut columns = String::new();
    match recordings {
        None => {
            text += "data = [\"recording.csv\"]               # files, folders or patterns such as \"tosses/*.csv\"\n"
        }
        Some(pattern) => {
            let files = expand(pattern)?;
            let place = seen_from(directory, Path::new(pattern))?;
            text += &format!("data = [{}]\n", quoted(&place));
            let file = RecordingFile::load(&files[0])?;
            let understood = understand(&file, &own.model);
            for (ours, theirs) in &understood.entries {
                columns += &format!("{ours:?} = {theirs}\n");
            }
            let name = files[0].display();
            told.extend(file.remarks().iter().map(|remark| format!("{name}: {remark}")));
            if !understood.unknown.is_empty() {
                let list = understood.unknown.join(", ");
                told.push(format!("{name}: not understood, and not used: the columns {list}"));
                columns += &format!("# not used: {list}\n");
            }
            if !understood.missing.is_empty() {
                let list = understood.missing.join(", ");
                told.push(format!(
                    "{name}: nothing was found of {list}: `[columns]` of the experiment says so"
                ));
            }
        }
    }
    text += "initial_state = \"fitted\"               # recordings have noise; \"recorded\" starts from their first frames\n\n\
             [noise]                                # standard deviations of the recording; they weigh the residuals\n\
             position = 0.001                       # m\nrotation_deg = 0.5\n\n";
    let model = &own.model;
    let known = model.told_parameter_names();
    let ends = |end: &str| known.iter().find(|name| name.ends_with(end)).cloned();
    let first = ["/mu", "/damping", "/friction", "/mass"].into_iter().find_map(ends);
    let name = first.or_else(|| known.first().cloned()).unwrap_or_default();
    let slot = model.parameter(&name).and_then(|found| found.slots.first().copied());
    let start = slot.map_or(0.0, |slot| own.parameters.values[slot]);
    text += &format!(
        "[[parameter]]                          # one or more of the numbers of the scene: `stiction help parameters`\n\
         name = {name:?}\nstart = {start}\nlower = 0\n"
    );
    if !columns.is_empty() {
        text += &format!(
            "\n[columns]                              # what the names of the columns probably mean\n{columns}"
        );
    }
    Ok((text, told))
}

/// A path as an experiment in a directory names it.
fn seen_from(directory: &Path, path: &Path) -> Result<PathBuf, Error> {
    if directory == Path::new(".") || path.is_absolute() {
        return Ok(path.to_path_buf());
    }
    let here = std::env::current_dir().map_err(|error| Error::io(".", error))?;
    Ok(here.join(path))
}

/// A path as TOML has it.
fn quoted(path: &Path) -> String {
    format!("{:?}", path.display().to_string())
}
