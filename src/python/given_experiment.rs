//! An experiment and its recordings as Python hands them over: files, texts, scenes and arrays.

use std::path::PathBuf;

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::scene::Scene;
use crate::Error as InputError;
use crate::identify::{Dataset, Experiment};
use crate::model::Scene as SceneDescription;
use crate::text;
use crate::trajectory::{RecordingFile, expand_all, recordings_of};

/// Arrays by the names of columns.
pub(super) type Columns<'py> = Vec<(String, PyReadonlyArray1<'py, f64>)>;

/// A file or its text.
pub(super) type Named = (PathBuf, Option<String>);

/// Files, folders and patterns in place of those of the experiment; or recordings that are arrays.
pub(super) type Recordings<'py> = (Vec<String>, Option<Vec<Columns<'py>>>);

/// What was given, apart from Python.
pub(super) struct GivenExperiment {
    named: Option<Named>,
    data: Vec<String>,
    /// With its name.
    scene: Option<(String, SceneDescription)>,
    /// Recordings in memory.
    pub files: Option<Vec<RecordingFile>>,
}

impl GivenExperiment {
    pub fn new(
        py: Python,
        named: Option<Named>,
        scene: Option<&Scene>,
        recordings: Option<Recordings>,
    ) -> PyResult<Self> {
        let (data, arrays) = recordings.unwrap_or_default();
        Ok(GivenExperiment {
            named,
            data,
            scene: scene.map(|scene| (scene.name.clone(), scene.description(py))),
            files: arrays.map(in_memory).transpose()?,
        })
    }

    /// The experiment; without one what recordings of the scene are.
    pub fn experiment(&mut self) -> Result<Experiment, InputError> {
        let scene = self.scene.take();
        let Some((path, text)) = &self.named else {
            let message = "is missing: an experiment, or scene=.. with recordings";
            let missing = || InputError::input("stiction", None, "experiment", message);
            let (name, scene) = scene.ok_or_else(missing)?;
            let mut experiment = Experiment::of_scene(&name, scene);
            if self.files.is_none() {
                if self.data.is_empty() {
                    return Err(missing());
                }
                experiment.data = recordings_of(expand_all(&self.data)?, None)?;
            }
            return Ok(experiment);
        };
        let scene = scene.map(|(_, scene)| scene);
        // In a file it is replaced.
        if let (Some(text), Some(_)) = (text, &scene) {
            Experiment::demand_no_scene(text, path)?;
        }
        let read = || text::read(path, text::MOST_BYTES);
        let text = text.clone().map_or_else(read, Ok)?;
        if self.files.is_some() {
            return Experiment::parse_without_data(&text, path, scene);
        }
        let (experiment, missing) = Experiment::parse(&text, path, &self.data, scene)?;
        missing.map_or(Ok(experiment), Err)
    }

    /// The recordings of the experiment.
    pub fn dataset(&self, experiment: &Experiment, threads: usize) -> Result<Dataset, InputError> {
        match &self.files {
            Some(files) => Dataset::of_files(experiment, files, threads),
            None => Dataset::load_on(experiment, threads),
        }
    }
}

/// Recordings that are arrays; messages call them by their places in the list.
fn in_memory(recordings: Vec<Columns>) -> PyResult<Vec<RecordingFile>> {
    let file = |(k, columns): (usize, Columns)| {
        let numbers = |column: PyReadonlyArray1<f64>| column.as_array().iter().copied().collect();
        let columns = columns.into_iter().map(|(name, column)| (name, numbers(column)));
        Ok(RecordingFile::of_columns(&format!("recording {k}"), columns)?)
    };
    recordings.into_iter().enumerate().map(file).collect()
}
