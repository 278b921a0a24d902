//! A scene of soft bodies, as Python sees it.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyType};

use super::arguments::{Given, count};
use super::exceptions::{Error, UnsolvedWarning};
use super::numpy_arrays::{Argument, output};
use super::reduced::{Reduced, reduced};
use super::scene_source::{Parts, Request, Source};
use crate::Error as InputError;
use crate::soft::{SoftParameter, SoftRecord, SoftScene as Description, SoftTangents};

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// A scene of soft bodies on half-spaces and other shapes, and its motion as a function of some of its parameters p.
///
/// The N nodes of all bodies stand one after the other: see `nodes`. Lengths in m, all else in SI units too.
#[pyclass(frozen, module = "stiction")]
pub struct SoftScene {
    scene: Arc<Description>,
    parameters: Vec<(String, SoftParameter)>,
    source: Arc<Source>,
}

/// Reads a scene of soft bodies (TOML). parameters: names of p, see `all_parameter_names`.
#[pyfunction]
#[pyo3(signature = (path, parameters=None))]
pub fn load_soft(path: PathBuf, parameters: Option<Vec<String>>) -> PyResult<SoftScene> {
    SoftScene::new(Source::read_soft_scene(Request::of_file(&path), &path)?, parameters)
}

/// Reads a scene of soft bodies from the text of a TOML file; `name` stands for the file in messages.
#[pyfunction]
#[pyo3(signature = (text, name="scene.toml", parameters=None))]
pub fn parse_soft(text: &str, name: &str, parameters: Option<Vec<String>>) -> PyResult<SoftScene> {
    let made = Source::read_soft_scene(Request::of_text(text, name), Path::new(name))?;
    SoftScene::new(made, parameters)
}

impl SoftScene {
    fn new(
        (scene, source): (Option<Description>, Source),
        names: Option<Vec<String>>,
    ) -> PyResult<SoftScene> {
        let none = || {
            Error::new_err(format!(
                "{}: has no [[soft]] bodies; stiction.load reads rigid ones",
                source.name()
            ))
        };
        let scene = scene.ok_or_else(none)?;
        SoftScene::of(Arc::new(source), Arc::new(scene), names.unwrap_or_default())
    }

    pub(super) fn of(
        source: Arc<Source>,
        scene: Arc<Description>,
        names: Vec<String>,
    ) -> PyResult<SoftScene> {
        let mut parameters = Vec::new();
        for own in names {
            let parameter = scene.parameter(&own).ok_or_else(|| {
                let all: Vec<String> = scene.parameters().into_iter().map(|(own, _)| own).collect();
                InputError::unknown_name(source.name(), &own, "is no parameter", (&own, &all))
            })?;
            parameters.push((own, parameter));
        }
        Ok(SoftScene { scene, parameters, source })
    }

    fn node_count(&self) -> usize {
        self.scene.bodies.iter().map(|body| body.position.len()).sum()
    }

    /// The scene with values of p; what is not given is that of the scene.
    fn with(&self, p: Option<Given>) -> PyResult<Description> {
        let mut scene = Description::clone(&self.scene);
        let Some(p) = p else { return Ok(scene) };
        let p = Argument::new("p", p, &[self.parameters.len()])?;
        let values = p.only()?;
        for ((_, parameter), value) in self.parameters.iter().zip(values) {
            scene.set(*parameter, *value);
        }
        scene.check().map_err(Error::new_err)?;
        Ok(scene)
    }

    /// The first node of each body.
    fn firsts(&self) -> Vec<usize> {
        self.nodes().iter().map(|(_, first, _)| *first).collect()
    }

    fn numbers(&self) -> Vec<SoftParameter> {
        self.parameters.iter().map(|(_, parameter)| *parameter).collect()
    }
}

fn steps_of(given: Given) -> PyResult<usize> {
    Ok(count("steps", Some(given), 1)?.unwrap_or(1))
}

/// Warns of steps that were not solved.
fn warn(py: Python, unsolved: usize, steps: usize) -> PyResult<()> {
    if unsolved == 0 {
        return Ok(());
    }
    let message = format!("{unsolved} of {steps} steps were not solved; try a smaller time step");
    let category: Bound<PyType> = py.get_type::<UnsolvedWarning>();
    let message = CString::new(message).unwrap_or_default();
    PyErr::warn(py, &category, &message, 1)
}

fn unsolved(record: &SoftRecord) -> usize {
    record.reports.iter().filter(|report| report.unsolved > 0).count()
}

/// The nodes of all bodies, one after the other.
fn all_nodes<'a>(parts: impl Iterator<Item = &'a [[f64; 3]]>) -> Vec<f64> {
    parts.flat_map(|part| part.as_flattened().iter().copied()).collect()
}

/// The places of all nodes over a motion.
fn all_places(record: &SoftRecord) -> Vec<f64> {
    all_nodes(record.states.iter().flatten().map(|state| &state.position[..]))
}

#[pymethods]
impl SoftScene {
    /// Time step, s.
    #[getter]
    fn dt(&self) -> f64 {
        self.scene.time_step
    }

    /// Of each body its name, its first node and how many it has.
    #[getter]
    fn nodes(&self) -> Vec<(String, usize, usize)> {
        let mut first = 0;
        let each = self.scene.bodies.iter().map(|body| {
            let count = body.position.len();
            first += count;
            (body.name.clone(), first - count, count)
        });
        each.collect()
    }

    /// The node of each marker, by "body/marker".
    #[getter]
    fn markers(&self) -> Vec<(String, usize)> {
        let nodes = self.nodes();
        let bodies = self.scene.bodies.iter().zip(&nodes);
        let each = bodies.flat_map(|(body, (name, first, _))| {
            body.markers.iter().map(move |own| (format!("{name}/{}", own.name), first + own.node))
        });
        each.collect()
    }

    /// The mass of each node (N), kg: its share of its body's.
    #[getter]
    fn mass<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let each = self.scene.bodies.iter().flat_map(|body| {
            let volumes = body.elements.unit_weight().iter();
            volumes.map(|volume| body.parameters.density * volume)
        });
        output(py, &[], &[self.node_count()], each.collect())
    }

    /// The area of the surface that each node stands for (N), m².
    #[getter]
    fn area<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let mut areas = Vec::with_capacity(self.node_count());
        for body in &self.scene.bodies {
            let first = areas.len();
            areas.resize(first + body.position.len(), 0.0);
            for (&node, area) in body.surface.iter().zip(&body.areas) {
                areas[first + node] = *area;
            }
        }
        output(py, &[], &[self.node_count()], areas)
    }

    /// The names of p.
    #[getter]
    fn parameter_names(&self) -> Vec<String> {
        self.parameters.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All names that p may have.
    #[getter]
    fn all_parameter_names(&self) -> Vec<String> {
        self.scene.parameters().into_iter().map(|(name, _)| name).collect()
    }

    /// The values of p in the scene.
    #[getter]
    fn p0<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let values = self.numbers().into_iter().map(|own| self.scene.value(own)).collect();
        output(py, &[], &[self.parameters.len()], values)
    }

    /// The motion: places and velocities of all nodes at the start and after each step, (steps + 1, N, 3) each.
    #[pyo3(signature = (steps, p=None))]
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        steps: Given,
        p: Option<Given>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let (steps, scene) = (steps_of(steps)?, self.with(p)?);
        let (unsolved, x, v) = py.detach(|| {
            let record = scene.record(steps);
            let v = record.states.iter().flatten().map(|state| &state.velocity[..]);
            (unsolved(&record), all_places(&record), all_nodes(v))
        });
        warn(py, unsolved, steps)?;
        let shape = [steps + 1, self.node_count(), 3];
        Ok((output(py, &[], &shape, x)?, output(py, &[], &shape, v)?))
    }

    /// Where the nodes are after some steps, (N, 3), and how that changes with p, (N, 3, np), by forward sensitivities.
    #[pyo3(signature = (steps, p=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        steps: Given,
        p: Option<Given>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let (steps, scene) = (steps_of(steps)?, self.with(p)?);
        let (numbers, nodes) = (self.numbers(), self.node_count());
        let firsts = self.firsts();
        let found = py.detach(|| {
            let mut tangents = SoftTangents::new(&scene, &numbers);
            for _ in 0..steps {
                tangents.step()?;
            }
            let x = all_nodes(tangents.rollout.states().iter().map(|state| &state.position[..]));
            let width = numbers.len();
            let mut slopes = vec![0.0; 3 * nodes * width];
            let of = |body| tangents.columns(body).enumerate().map(move |own| (body, own));
            for (body, (column, own)) in (0..scene.bodies.len()).flat_map(of) {
                let (Some((moved, _)), first) = (own, 3 * firsts[body]) else { continue };
                for (k, slope) in moved.as_flattened().iter().enumerate() {
                    slopes[(first + k) * width + column] = *slope;
                }
            }
            Ok((x, slopes))
        });
        let (x, slopes) =
            found.map_err(|error: crate::soft::NoDerivative| Error::new_err(error.to_string()))?;
        let width = self.parameters.len();
        Ok((output(py, &[], &[nodes, 3], x)?, output(py, &[], &[nodes, 3, width], slopes)?))
    }

    /// The gradient in p of sum(x_bar * x) over the motion, by its adjoint, and that motion x: x_bar of the shape
    /// (steps + 1, N, 3), for as many steps.
    #[pyo3(signature = (x_bar, p=None))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        x_bar: Given,
        p: Option<Given>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let nodes = self.node_count();
        let weights = Argument::series("x_bar", x_bar, &[nodes, 3])?;
        let weights = weights.only()?;
        let steps = (weights.len() / (3 * nodes)).saturating_sub(1);
        if steps == 0 {
            return Err(Error::new_err("x_bar: must be of a start and a step at least"));
        }
        let (scene, numbers) = (self.with(p)?, self.numbers());
        let firsts = self.firsts();
        let (missed, x, gradient) = py.detach(|| {
            let record = scene.record(steps);
            let x = all_places(&record);
            let mut weigh = |step: usize, body: usize, x: &mut [[f64; 3]], _: &mut [[f64; 3]]| {
                let own = &weights[3 * (step * nodes + firsts[body])..];
                x.as_flattened_mut().iter_mut().zip(own).for_each(|(x, weight)| *x += weight);
            };
            (unsolved(&record), x, record.gradient(&numbers, &mut weigh))
        });
        warn(py, missed, steps)?;
        let gradient = gradient.map_err(|error| Error::new_err(error.to_string()))?;
        let gradient = output(py, &[], &[self.parameters.len()], gradient)?;
        Ok((gradient, output(py, &[], &[steps + 1, nodes, 3], x)?))
    }

    /// As the contents of the files that it was read from, with what is selected.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let mut own = Parts::default();
        own.put_texts(&self.parameter_names());
        let parts =
            [self.source.packed(), &own.packed()].map(|part| PyBytes::new(py, part).into_any());
        reduced(py, "_restored_soft_scene", parts)
    }
}
