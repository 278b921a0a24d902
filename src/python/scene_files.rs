//! Scenes from files and texts.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;

use super::arguments::{Given, Sizes, count};
use super::calls::lock;
use super::exceptions::Error;
use super::scene::Scene;
use super::scene_source::{Request, Source};
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
    keyframe: Option<String>,
    floating_base: bool,
    max_hull_vertices: Option<Given>,
) -> PyResult<Scene> {
    let max_hull_vertices = count("max_hull_vertices", max_hull_vertices, 0)?;
    let request = Request { floating_base, max_hull_vertices, keyframe, ..Request::of_file(&path) };
    let made = py.detach(|| Source::read_scene(request, &path))?;
    Scene::new(py, made, inputs, parameters)
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
    let made = Source::read_scene(Request::of_text(text, name), Path::new(name))?;
    Scene::new(py, made, inputs, parameters)
}

impl Scene {
    fn new(
        py: Python,
        (scene, source): (Description, Source),
        inputs: Option<Vec<String>>,
        parameters: Option<Vec<String>>,
    ) -> PyResult<Self> {
        for warning in &scene.warnings {
            let text = std::ffi::CString::new(warning.to_string()).map_err(Error::new_err)?;
            PyErr::warn(py, &py.get_type::<pyo3::exceptions::PyUserWarning>(), &text, 1)?;
        }
        let transition = Transition::new(source.name(), Arc::new(scene))?;
        Scene::of(Arc::new(source), transition, inputs, parameters)
    }

    /// The scene with the values of its parameters that are set.
    pub(super) fn description(&self, py: Python) -> Description {
        let transition = lock(py, &self.transition);
        let parameters = transition.values().clone();
        Description { parameters, ..Description::clone(transition.scene()) }
    }

    pub(super) fn of(
        source: Arc<Source>,
        mut transition: Transition,
        inputs: Option<Vec<String>>,
        parameters: Option<Vec<String>>,
    ) -> PyResult<Self> {
        if let Some(inputs) = inputs {
            transition.select_inputs(&inputs)?;
        }
        if let Some(parameters) = parameters {
            transition.select_parameters(&parameters)?;
        }
        let (nq, nv) = (transition.nq(), transition.nv());
        let sizes = Sizes { nq, nv, nu: transition.nu(), np: transition.np() };
        let name = source.name().to_string();
        Ok(Scene { name, sizes, transition: Mutex::new(transition), source })
    }
}
