//! Scenes from files and texts.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use super::arguments::{Given, count};
use super::exceptions::Error;
use super::scene::Scene;
use crate::formats::LoadOptions;
use crate::model::Scene as Description;
use crate::transition::Transition;

/// Reads a scene: TOML, MJCF (.xml, .mjcf) or URDF (.urdf).
///
/// inputs, parameters: names of u and p, see Scene.select. keyframe: where the scene starts. floating_base: whether
/// the first link of a URDF floats. max_hull_vertices: how many vertices the hull of a mesh of a URDF or MJCF that does
/// not say it itself has for contact at most, 4 or more; 0 for all, 64 if left out.
#[pyfunction]
#[pyo3(signature = (
    path, inputs=None, parameters=None, keyframe=None, floating_base=false, max_hull_vertices=None
))]
pub fn load(
    py: Python,
    path: PathBuf,
    inputs: Option<Vec<String>>,
    parameters: Option<Vec<String>>,
    keyframe: Option<&str>,
    floating_base: bool,
    max_hull_vertices: Option<Given>,
) -> PyResult<Scene> {
    let name = path.display().to_string();
    let max_hull_vertices = count("max_hull_vertices", max_hull_vertices, 0)?;
    let options = LoadOptions { floating_base, max_hull_vertices, ..LoadOptions::default() };
    let mut scene = py.detach(|| Description::load_with(&path, options))?;
    if let Some(keyframe) = keyframe {
        scene.start_at(keyframe, &name)?;
    }
    Scene::new(py, name, scene, inputs, parameters)
}

/// Reads a scene from the text of a TOML file; `name` stands for the file in messages.
#[pyfunction]
#[pyo3(signature = (text, name="scene.toml", inputs=None, parameters=None))]
pub fn parse(
    py: Python,
    text: &str,
    name: &str,
    inputs: Option<Vec<String>>,
    parameters: Option<Vec<String>>,
) -> PyResult<Scene> {
    Scene::new(py, name.to_string(), Description::parse(text, name)?, inputs, parameters)
}

impl Scene {
    fn new(
        py: Python,
        name: String,
        scene: Description,
        inputs: Option<Vec<String>>,
        parameters: Option<Vec<String>>,
    ) -> PyResult<Self> {
        for warning in &scene.warnings {
            let text = std::ffi::CString::new(warning.to_string()).map_err(Error::new_err)?;
            PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyUserWarning>(), &text, 1)?;
        }
        let transition = Transition::new(&name, Arc::new(scene))?;
        Scene::of(name, transition, inputs, parameters)
    }
}
