//! `stiction identify --model A --model B`: competing models of the same recordings.
//!
//! JSON, printed with `--json` and in `comparison.json` (or the file of `-o`): see [file-formats.md], "Competing models".
//!
//! [file-formats.md]: ../../docs/file-formats.md

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::identify::{Arguments, identified};
use super::interrupt;
use super::outcome::Outcome;
use super::output::{json_head, json_text, number, optional, print, threads, warn};
use super::processes::options;
use super::report_folder::Destination;
use super::stages::Stages;
use super::whole_files::write_file;
use crate::Error;
use crate::identify::{
    Contender, Dataset, Experiment, FOLDS, FitStatus, Group, ModelPair, ModelSelection,
    PairedDifference, compare, compare_models, demand_comparable, introduce, is_weight,
};
use crate::markers::MarkerExperiment;

/// The file of the comparison in a folder.
const COMPARISON: &str = "comparison.json";

/// Fits each model, then compares them. Of several processes the first one alone writes and prints.
pub(super) fn run(arguments: &Arguments, group: &Arc<Group>) -> Result<Outcome, Error> {
    introduce(group, if group.is_alone() { String::new() } else { options() })?;
    let threads_used = group.together(threads(arguments.threads))?;
    let files = &arguments.models;
    group.together(demand_models(arguments))?;
    let folds = group.together(folds(arguments.holdout))?;
    let destination =
        group.at_first(|| arguments.output.as_deref().map(Destination::new).transpose())?.flatten();
    // What cannot be compared is refused before anything is fitted.
    {
        let mut read = Vec::new();
        for file in files {
            let mut experiment =
                group.together(rigid_experiment(file, &arguments.recordings.data))?;
            compare(group, &experiment, None)?;
            let dataset = Dataset::load_shares(&experiment, group, threads_used)?;
            dataset.give_ranges(&mut experiment);
            read.push((experiment, dataset));
        }
        let models: Vec<_> = read.iter().map(|(model, dataset)| (model, dataset)).collect();
        demand_comparable(&models)?;
    }
    let names = names(files);
    let lock = group.at_first(|| {
        let lock = destination.as_ref().map(Destination::lock).transpose()?;
        if let Some(Destination::Folder(folder)) = &destination {
            names.iter().try_for_each(|name| Destination::new(&folder.join(name)).map(drop))?;
        }
        Ok(lock)
    })?;
    let folder = match (&arguments.output, &destination) {
        (Some(folder), Some(Destination::Folder(_))) => Some(folder.clone()),
        _ => None,
    };
    // The others are told to write where the first one does.
    let folder = group.of_first("a folder", || folder.map(|path| path.display().to_string()));
    let mut models = Vec::new();
    let mut outcome = Outcome::Done;
    for (file, name) in files.iter().zip(&names) {
        let mut own = arguments.clone();
        own.recordings.experiment = Some(file.clone());
        own.models.clear();
        own.output = folder.as_ref().map(|folder| Path::new(folder).join(name));
        own.holdout = None;
        let (own, found) = identified(&own, group, true)?;
        outcome = outcome.worse(own);
        models.extend(found);
        let stopped = models.last().is_some_and(|model| model.fit.status == FitStatus::Stopped);
        if stopped || !group.agreed(!interrupt::interrupted()) {
            warn("stopped before all models were fitted: they are not compared");
            return Ok(outcome.worse(Outcome::Failed));
        }
    }
    let mut stages = Stages::new(arguments.json);
    let selection = compare_models(&models, folds, threads_used, &mut |number| {
        stages.enter("each recording by fits to others", Some(models.len()));
        stages.done(number, models.len());
        stages.tell(models[number].experiment.name.clone());
        !interrupt::interrupted()
    })?;
    drop(stages);
    let Some(selection) = selection else {
        warn("stopped: the models are not compared");
        return Ok(Outcome::Failed);
    };
    let sentences = sentences(&models, &selection);
    let mut object = json_head("identify", models[0].experiment.seed, threads_used);
    let results: Vec<Value> = names
        .iter()
        .map(|name| match &folder {
            Some(_) => format!("{name}/result.json").into(),
            None => Value::Null,
        })
        .collect();
    object.extend(description(&models, &selection, &results));
    object.insert("sentences".into(), sentences.clone().into());
    let text = json_text(object);
    let written = group.at_first(|| {
        let place = match &destination {
            Some(Destination::File(file)) => file.clone(),
            Some(Destination::Folder(folder)) => folder.join(COMPARISON),
            None => return Ok(None),
        };
        write_file(&place, format!("{text}\n").as_bytes())?;
        Ok(Some(place))
    })?;
    if arguments.json {
        print(&text);
    } else {
        sentences.iter().for_each(|sentence| print(sentence));
        if let Some(place) = written.flatten() {
            print(&format!("written to {}", place.display()));
        }
    }
    drop(lock);
    Ok(outcome)
}

/// An error unless there are models to compare, each given once.
fn demand_models(arguments: &Arguments) -> Result<(), Error> {
    let files = &arguments.models;
    let shown = |file: &Path| file.display().to_string();
    if let Some(file) = &arguments.recordings.experiment {
        let message = "is an experiment beside those of --model; give it by --model too";
        return Err(Error::input(shown(file), None, "", message));
    }
    if let [only] = &files[..] {
        let message = "is one model alone; give another one to compare it with: --model B.toml";
        return Err(Error::input("--model", None, shown(only), message));
    }
    if let Some(given) = arguments.recordings.data.iter().find(|given| given.ends_with(".toml")) {
        let message = "is no recording; give experiments by --model";
        return Err(Error::input("--data", None, given, message));
    }
    let whole = |file: &PathBuf| fs::canonicalize(file).unwrap_or_else(|_| file.clone());
    for (k, file) in files.iter().enumerate() {
        if files[..k].iter().any(|other| whole(other) == whole(file)) {
            let message = "is given twice: a model cannot be told apart from itself";
            return Err(Error::input("--model", None, shown(file), message));
        }
    }
    if arguments.resume && arguments.output.as_deref().is_some_and(is_json) {
        let message = "needs a folder for several models: -o DIR";
        return Err(Error::input("--resume", None, "", message));
    }
    Ok(())
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

/// In how many folds a share of the recordings is left out at a time.
fn folds(share: Option<f64>) -> Result<usize, Error> {
    let Some(share) = share else { return Ok(FOLDS) };
    if !(share > 0.0 && share <= 0.5) {
        let message = "must be more than 0 and at most 0.5 with --model: each fit that judges leaves so much out";
        return Err(Error::input("--holdout", None, share.to_string(), message));
    }
    Ok((1.0 / share).round().min(1e6) as usize)
}

/// The experiment of a file, if it is one of rigid bodies.
fn rigid_experiment(file: &Path, data: &[String]) -> Result<Experiment, Error> {
    if MarkerExperiment::load(file, data)?.is_some() {
        let name = file.display().to_string();
        return Err(Error::input(name, None, "", "is of soft bodies: --model is not yet"));
    }
    let experiment = Experiment::load(file, data)?;
    experiment.scene.settings.solver.demand_derivatives(&file.display().to_string())?;
    Ok(experiment)
}

/// What the folders of models are called: after their files, each in its own way.
fn names(files: &[PathBuf]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for file in files {
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        let stem = stem.unwrap_or_else(|| "model".to_string());
        let numbered = |k: usize| if k == 0 { stem.clone() } else { format!("{stem}-{}", k + 1) };
        let taken = |name: &String| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        // Of one more than there are, one is free.
        let free = (0..=files.len()).map(numbered).find(|name| !taken(name));
        names.push(free.unwrap_or(stem));
    }
    names
}

fn description(
    models: &[Contender],
    selection: &ModelSelection,
    results: &[Value],
) -> Map<String, Value> {
    let name = |k: usize| models[k].experiment.name.as_str();
    let rank = |k: usize| selection.ranking.iter().position(|&own| own == k).map(|at| at + 1);
    let of_model = |(k, model): (usize, &Contender)| {
        let told = model.fit.parameters.iter().filter(|p| !is_weight(&p.name));
        let parameters: Map<String, Value> =
            told.map(|p| (p.name.clone(), number(p.value))).collect();
        json!({
            "experiment": name(k),
            "rank": rank(k),
            "status": model.fit.status.name(),
            "loss": number(model.fit.loss),
            "held_out_loss": optional(selection.losses[k]),
            "parameters": parameters,
            "result": results[k],
        })
    };
    let pair = |pair: &ModelPair| {
        json!({
            "better": name(pair.better),
            "other": name(pair.other),
            "is_told": pair.is_told(),
            "p_value": number(pair.p_value),
            "adjusted_p_value": optional(pair.adjusted_p_value),
            "log_loss": difference(&pair.loss),
            "position_percent": pair.position.as_ref().map(difference),
            "rotation_deg": pair.rotation.as_ref().map(difference),
        })
    };
    let mut object = Map::new();
    object.insert("recordings".into(), selection.recordings.into());
    object.insert("folds".into(), selection.folds.into());
    object.insert("models".into(), models.iter().enumerate().map(of_model).collect());
    object.insert("ranking".into(), selection.ranking.iter().map(|&k| name(k)).collect());
    object.insert("pairs".into(), selection.pairs.iter().map(pair).collect());
    object
}

fn difference(pairs: &PairedDifference) -> Value {
    json!({
        "now": number(pairs.now),
        "before": number(pairs.before),
        "difference": number(pairs.difference),
        "interval": pairs.interval().map(|interval| interval.map(number).to_vec()),
        "better": pairs.better,
        "worse": pairs.worse,
        "count": pairs.count,
    })
}

/// What the comparison says, in words: the ranking, and of each pair whether one is better.
fn sentences(models: &[Contender], selection: &ModelSelection) -> Vec<String> {
    let name = |k: usize| models[k].experiment.name.as_str();
    let mut sentences = Vec::new();
    let ranked = |&k: &usize| match selection.losses[k] {
        Some(loss) => format!("{} ({loss:.4})", name(k)),
        None => format!("{} (no fit)", name(k)),
    };
    let ranking: Vec<String> = selection.ranking.iter().map(ranked).collect();
    let ModelSelection { recordings, folds, .. } = selection;
    sentences.push(format!(
        "from the best to the worst, by the geometric mean of the losses of {recordings} recordings, each by a fit to those \
         of other parts (of {folds}): {}",
        ranking.join(", ")
    ));
    sentences.extend(selection.pairs.iter().map(|pair| told(name, pair)));
    for &k in selection.ranking.iter().filter(|&&k| selection.losses[k].is_none()) {
        sentences.push(format!(
            "{} has no fit to judge ({}; its loss on recordings that it was not fitted to is not a number): it comes last",
            name(k),
            models[k].fit.status.name()
        ));
    }
    sentences
}

fn told<'a>(name: impl Fn(usize) -> &'a str, pair: &ModelPair) -> String {
    let ModelPair { better, other, loss, .. } = *pair;
    let (better, other) = (name(better), name(other));
    let verdict = match pair.is_told() {
        true => format!("{better} is better than {other}"),
        false => format!("{better} and {other} cannot be told apart"),
    };
    let interval = loss.interval().map_or(String::new(), |[low, high]| {
        format!(" (95 %: {:.3} to {:.3})", low.exp(), high.exp())
    });
    let p = pair.adjusted_p_value.unwrap_or(pair.p_value);
    let mut said = format!(
        "{verdict}: the loss of {better} is {:.3} times that of {other}{interval}, less in {} of {} recordings (p = {p:.1e})",
        loss.difference.exp(),
        loss.better,
        loss.count
    );
    let errors = [("position", "%", pair.position), ("rotation", "degrees", pair.rotation)];
    for (kind, unit, pairs) in errors {
        let Some(pairs) = pairs else { continue };
        let interval = pairs
            .interval()
            .map_or(String::new(), |[low, high]| format!(" (difference {low:+.3} to {high:+.3})"));
        said += &format!(
            "; {kind} error {:.3} {unit} instead of {:.3} {unit}{interval}",
            pairs.now, pairs.before
        );
    }
    said
}
