//! Parameters judged by recordings, as Python sees it.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;

use super::arguments::{Given, threads as number_of_threads};
use super::calls::{Warning, say, watched_apart};
use super::exceptions::Error;
use super::given_experiment::{GivenExperiment, Named, Recordings};
use super::scene::Scene;
use crate::Error as InputError;
use crate::identify::{
    Doubt, Experiment, GivenParameters, Judgement, RolloutStart, parameters_of_scene,
    parameters_with, read_parameters,
};
use crate::model::Scene as SceneDescription;

/// Where parameters are from.
#[derive(FromPyObject)]
pub enum ParameterSource<'py> {
    /// Another scene with the same ones.
    Scene(PyRef<'py, Scene>),
    /// A result, or a file of such a scene.
    File(PathBuf),
    /// Some of them, by their names.
    Values(Vec<(String, f64)>),
}

/// The same apart from Python.
enum OwnSource {
    Scene(String, Box<SceneDescription>),
    File(PathBuf),
    Values(Vec<(String, f64)>),
}

impl ParameterSource<'_> {
    fn own(self, py: Python) -> OwnSource {
        match self {
            ParameterSource::Scene(scene) => {
                OwnSource::Scene(scene.name.clone(), Box::new(scene.description(py)))
            }
            ParameterSource::File(path) => OwnSource::File(path),
            ParameterSource::Values(values) => OwnSource::Values(values),
        }
    }
}

impl OwnSource {
    /// `owner` names values in messages.
    fn parameters(
        self,
        owner: &str,
        experiment: &Experiment,
    ) -> Result<GivenParameters, InputError> {
        match self {
            OwnSource::Scene(name, scene) => parameters_of_scene(&scene, &name, experiment),
            OwnSource::File(path) => read_parameters(&path, experiment),
            OwnSource::Values(values) => {
                let values = values.iter().map(|(name, value)| (name.as_str(), *value));
                Ok((parameters_with(values, owner, experiment)?, None))
            }
        }
    }
}

/// What an evaluation finds, as JSON, and what there is to warn of.
type Found = (String, Vec<Warning>);

fn run(
    mut given: GivenExperiment,
    sources: [Option<OwnSource>; 2],
    (start, threads): (RolloutStart, usize),
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Found, InputError> {
    let experiment = given.experiment()?;
    let dataset = given.dataset(&experiment, threads)?;
    let model = &experiment.scene.model;
    let mut sentences: Vec<String> =
        experiment.scene.warnings.iter().map(ToString::to_string).collect();
    sentences.extend(dataset.notes.iter().cloned());
    sentences.extend(model.learned.iter().filter_map(|term| term.beyond(dataset.states())));
    let [parameters, compare] = sources;
    let mut read = |source: Option<OwnSource>, owner| {
        let Some(source) = source else { return Ok(None) };
        let (parameters, warning) = source.parameters(owner, &experiment)?;
        sentences.extend(warning);
        Ok::<_, InputError>(Some(parameters))
    };
    let [parameters, others] = [read(parameters, "parameters")?, read(compare, "compare")?];
    let both = [parameters.as_ref(), others.as_ref()];
    let judgement = Judgement::new(&experiment, &dataset, both, (start, threads), go_on)?;
    let time_step = dataset.settings.time_step;
    let mut warnings: Vec<Warning> = sentences.into_iter().map(Warning::Other).collect();
    warnings.extend(judgement.doubts(model, time_step).into_iter().map(|doubt| match doubt {
        Doubt::Unsolved(sentence) => Warning::Unsolved(sentence),
        Doubt::Implausible(sentence) => Warning::Implausible(sentence),
    }));
    Ok((serde_json::Value::Object(judgement.json(model, time_step)).to_string(), warnings))
}

/// Whole rollouts against recordings, as JSON: see `stiction.evaluate`.
#[pyfunction]
pub fn _evaluate(
    py: Python,
    experiment: (Option<Named>, Option<PyRef<Scene>>),
    recordings: Option<Recordings>,
    sources: [Option<ParameterSource>; 2],
    initial: &str,
    threads: Option<Given>,
) -> PyResult<String> {
    let starts = [RolloutStart::Recorded, RolloutStart::Flight];
    let start = starts.into_iter().find(|start| start.name() == initial).ok_or_else(|| {
        Error::new_err(format!("initial: must be \"recorded\" or \"flight\", found {initial:?}"))
    })?;
    let threads = number_of_threads(threads)?;
    let (named, scene) = experiment;
    let given = GivenExperiment::new(py, named, scene.as_deref(), recordings)?;
    let sources = sources.map(|source| source.map(|source| source.own(py)));
    let (json, warnings) = watched_apart(py, move |stop| {
        Ok(run(given, sources, (start, threads), &|| !stop.load(Ordering::Relaxed))?)
    })?;
    say(py, &warnings)?;
    Ok(json)
}
