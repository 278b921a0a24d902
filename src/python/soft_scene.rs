//! A scene of soft bodies, as Python sees it.

use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple, PyType};

use super::arguments::{Given, count};
use super::exceptions::{Error, UnsolvedWarning};
use super::numpy_arrays::{Argument, output};
use super::reduced::{Reduced, reduced};
use super::scene_source::{Parts, Request, Source};
use crate::Error as InputError;
use crate::model::Model;
use crate::soft::{
    InputSchedule, SoftNumber, SoftParameter, SoftRecord, SoftRollout, SoftScene as Description,
    SoftTangents,
};

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// A scene of soft bodies, on half-spaces and other shapes or beside rigid ones, and its motion as a function of some of its parameters
/// p and of what acts on the rigid bodies over time, U.
///
/// The N nodes of all soft bodies stand one after the other: see `nodes`. Lengths in m, all else in SI units too.
#[pyclass(frozen, module = "stiction")]
pub struct SoftScene {
    scene: Arc<Description>,
    parameters: Vec<(String, SoftParameter)>,
    /// The inputs that u is of.
    inputs: Vec<(String, usize)>,
    source: Arc<Source>,
}

/// Reads a scene of soft bodies (TOML). parameters: names of p, see `all_parameter_names`; inputs: names of u, of the rigid bodies beside
/// them, such as motor/u or box/fx.
#[pyfunction]
#[pyo3(signature = (path, parameters=None, inputs=None))]
pub fn load_soft(
    path: PathBuf,
    parameters: Option<Vec<String>>,
    inputs: Option<Vec<String>>,
) -> PyResult<SoftScene> {
    SoftScene::new(Source::read_soft_scene(Request::of_file(&path), &path)?, parameters, inputs)
}

/// Reads a scene of soft bodies from the text of a TOML file; `name` stands for the file in messages.
#[pyfunction]
#[pyo3(signature = (text, name="scene.toml", parameters=None, inputs=None))]
pub fn parse_soft(
    text: &str,
    name: &str,
    parameters: Option<Vec<String>>,
    inputs: Option<Vec<String>>,
) -> PyResult<SoftScene> {
    let made = Source::read_soft_scene(Request::of_text(text, name), Path::new(name))?;
    SoftScene::new(made, parameters, inputs)
}

impl SoftScene {
    fn new(
        (scene, source): (Option<Description>, Source),
        names: Option<Vec<String>>,
        inputs: Option<Vec<String>>,
    ) -> PyResult<SoftScene> {
        let none = || {
            Error::new_err(format!(
                "{}: has no [[soft]] bodies; stiction.load reads rigid ones",
                source.name()
            ))
        };
        let scene = scene.ok_or_else(none)?;
        let (names, inputs) = (names.unwrap_or_default(), inputs.unwrap_or_default());
        SoftScene::of(Arc::new(source), Arc::new(scene), names, inputs)
    }

    pub(super) fn of(
        source: Arc<Source>,
        scene: Arc<Description>,
        names: Vec<String>,
        inputs: Vec<String>,
    ) -> PyResult<SoftScene> {
        let known = scene.rigid.as_deref().map(|scene| scene.model.input_names());
        let known = known.unwrap_or_default();
        let input = |own: String| {
            let place = known.iter().position(|name| *name == own).ok_or_else(|| {
                InputError::unknown_name(source.name(), &own, "is no input", (&own, &known))
            })?;
            Ok((own, place))
        };
        let inputs = inputs.into_iter().map(input).collect::<PyResult<Vec<_>>>()?;
        let mut parameters = Vec::new();
        for own in names {
            let parameter = scene.parameter(&own).ok_or_else(|| {
                let all: Vec<String> = scene.parameters().into_iter().map(|(own, _)| own).collect();
                InputError::unknown_name(source.name(), &own, "is no parameter", (&own, &all))
            })?;
            parameters.push((own, parameter));
        }
        Ok(SoftScene { scene, parameters, inputs, source })
    }

    fn node_count(&self) -> usize {
        self.scene.bodies.iter().map(|body| body.position.len()).sum()
    }

    /// The scene with values of p, and of u in each of some steps; what is not given is that of the scene.
    fn with(&self, p: Option<Given>, inputs: Option<Given>, steps: usize) -> PyResult<Description> {
        let mut scene = Description::clone(&self.scene);
        if let Some(p) = p {
            let p = Argument::new("p", p, &[self.parameters.len()])?;
            let values = p.only()?;
            for ((_, parameter), value) in self.parameters.iter().zip(values) {
                scene.set(*parameter, *value);
            }
            scene.check().map_err(Error::new_err)?;
        }
        if let Some(inputs) = inputs {
            let width = self.inputs.len();
            let inputs = Argument::new("U", inputs, &[steps, width])?;
            let values = inputs.only()?;
            if let Some(k) = values.iter().position(|x| !x.is_finite()) {
                let (step, name) = (k / width, &self.inputs[k % width].0);
                return Err(Error::new_err(format!("U: {name} is not finite in step {step}")));
            }
            let times: Vec<f64> = (0..steps).map(|step| scene.span(step)[0]).collect();
            for (j, &(_, input)) in self.inputs.iter().enumerate() {
                let values = values.iter().skip(j).step_by(width).copied().collect();
                scene.schedules.push(InputSchedule { input, times: times.clone(), values });
            }
        }
        Ok(scene)
    }

    /// How many velocities the rigid bodies have.
    fn velocities(&self) -> usize {
        self.scene.rigid.as_deref().map_or(0, |scene| scene.model.nv())
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

    /// The names of u, in each step.
    #[getter]
    fn input_names(&self) -> Vec<String> {
        self.inputs.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The names of the state of the rigid bodies: configuration, then velocities. None without rigid bodies.
    #[getter]
    fn state_names(&self) -> Vec<String> {
        let model = self.scene.rigid.as_deref().map(|scene| &scene.model);
        let both = |model: &Model| [model.configuration_names(), model.velocity_names()].concat();
        model.map(both).unwrap_or_default()
    }

    /// The motion: places and velocities of all nodes at the start and after each step, (steps + 1, N, 3) each. U: (steps, nu).
    #[pyo3(signature = (steps, p=None, U=None))]
    #[expect(non_snake_case, reason = "as literature and the documents of Python have it")]
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        steps: Given,
        p: Option<Given>,
        U: Option<Given>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let steps = steps_of(steps)?;
        let scene = self.with(p, U, steps)?;
        let (unsolved, x, v) = py.detach(|| {
            let record = scene.record(steps);
            let v = record.states.iter().flatten().map(|state| &state.velocity[..]);
            (unsolved(&record), all_places(&record), all_nodes(v))
        });
        warn(py, unsolved, steps)?;
        let shape = [steps + 1, self.node_count(), 3];
        Ok((output(py, &[], &shape, x)?, output(py, &[], &shape, v)?))
    }

    /// The motion of the rigid bodies: their state at the start and after each step, (steps + 1, nx), see `state_names`.
    #[pyo3(signature = (steps, p=None, U=None))]
    #[expect(non_snake_case, reason = "as literature and the documents of Python have it")]
    fn rigid_rollout<'py>(
        &self,
        py: Python<'py>,
        steps: Given,
        p: Option<Given>,
        U: Option<Given>,
    ) -> PyResult<Array<'py>> {
        let steps = steps_of(steps)?;
        let scene = self.with(p, U, steps)?;
        let (missed, x) = py.detach(|| {
            let mut rollout = SoftRollout::new(&scene);
            let (mut missed, mut x) = (0, Vec::new());
            for step in 0..=steps {
                if step > 0 {
                    missed += usize::from(rollout.step().unsolved > 0);
                }
                let state = rollout.rigid_state();
                x.extend(state.into_iter().flat_map(|state| state.q.iter().chain(&state.v)));
            }
            (missed, x)
        });
        warn(py, missed, steps)?;
        let width = x.len() / (steps + 1);
        output(py, &[], &[steps + 1, width], x)
    }

    /// Where the nodes are after some steps, (N, 3), and how that changes with p, (N, 3, np), by forward sensitivities.
    #[pyo3(signature = (steps, p=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        steps: Given,
        p: Option<Given>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let steps = steps_of(steps)?;
        let scene = self.with(p, None, steps)?;
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

    /// The gradient in p, and where U is given in that too, of sum(x_bar * x) over the motion, by its adjoint, and that motion x: x_bar of
    /// the shape (steps + 1, N, 3), for as many steps. rigid_bar, (steps + 1, 2 nv), likewise weighs small changes of the state of the
    /// rigid bodies: of velocities, and of what these move. Returns (p_bar, x) or (p_bar, U_bar, x).
    #[pyo3(signature = (x_bar, p=None, U=None, rigid_bar=None))]
    #[expect(non_snake_case, reason = "as literature and the documents of Python have it")]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        x_bar: Given,
        p: Option<Given>,
        U: Option<Given>,
        rigid_bar: Option<Given>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let nodes = self.node_count();
        let weights = Argument::series("x_bar", x_bar, &[nodes, 3])?;
        let weights = weights.only()?;
        let steps = (weights.len() / (3 * nodes)).saturating_sub(1);
        if steps == 0 {
            return Err(Error::new_err("x_bar: must be of a start and a step at least"));
        }
        let changes = U.is_some();
        let first = self.scene.schedules.len();
        let (scene, mut numbers) = (self.with(p, U, steps)?, self.numbers());
        if changes {
            let body = scene.bodies.len();
            let of = |step| {
                let number = move |j| SoftNumber::Scheduled(first + j, step);
                (0..self.inputs.len()).map(move |j| SoftParameter { body, number: number(j) })
            };
            numbers.extend((0..steps).flat_map(of));
        }
        let width = 2 * self.velocities();
        let rigid_bar = rigid_bar
            .map(|given| Argument::new("rigid_bar", given, &[steps + 1, width]))
            .transpose()?;
        let rigid_bar = rigid_bar.as_ref().map_or(Ok(&[][..]), Argument::only)?;
        let firsts = self.firsts();
        let (missed, x, gradient) = py.detach(|| {
            let record = scene.record(steps);
            let x = all_places(&record);
            let mut weigh = |step: usize, body: usize, x: &mut [[f64; 3]], _: &mut [[f64; 3]]| {
                let own = &weights[3 * (step * nodes + firsts[body])..];
                x.as_flattened_mut().iter_mut().zip(own).for_each(|(x, weight)| *x += weight);
            };
            let mut weigh_rigid = |step: usize, tangent: &mut [f64]| {
                let own = rigid_bar.get(step * width..).unwrap_or_default();
                tangent.iter_mut().zip(own).for_each(|(x, weight)| *x += weight);
            };
            let gradient = record.gradient_beside(&numbers, &mut weigh, &mut weigh_rigid);
            (unsolved(&record), x, gradient)
        });
        warn(py, missed, steps)?;
        let mut gradient = gradient.map_err(|error| Error::new_err(error.to_string()))?;
        let to_inputs = gradient.split_off(self.parameters.len());
        let mut found = vec![output(py, &[], &[self.parameters.len()], gradient)?];
        if changes {
            found.push(output(py, &[], &[steps, self.inputs.len()], to_inputs)?);
        }
        found.push(output(py, &[], &[steps + 1, nodes, 3], x)?);
        PyTuple::new(py, found)
    }

    /// As the contents of the files that it was read from, with what is selected.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let mut own = Parts::default();
        own.put_texts(&self.parameter_names());
        own.put_texts(&self.input_names());
        let parts =
            [self.source.packed(), &own.packed()].map(|part| PyBytes::new(py, part).into_any());
        reduced(py, "_restored_soft_scene", parts)
    }
}
