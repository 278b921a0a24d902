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
use crate::soft::{SoftRollout, SoftScene as Description};
use crate::transition::{CourseWeights, SoftMotion};

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// A scene of soft bodies, on half-spaces and other shapes or beside rigid ones, and its motion as a function of some of its parameters
/// p and of what acts on the rigid bodies over time, U.
///
/// The N nodes of all soft bodies stand one after the other: see `nodes`. Lengths in m, all else in SI units too.
#[pyclass(frozen, module = "stiction")]
pub struct SoftScene {
    motion: SoftMotion,
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
        let motion = SoftMotion::new(source.name(), scene, &names, &inputs)?;
        Ok(SoftScene { motion, source })
    }

    /// p, if it is given.
    fn given_p(&self, p: Option<Given>) -> PyResult<Option<Argument>> {
        p.map(|given| Argument::new("p", given, &[self.motion.values().len()])).transpose()
    }

    /// U, if it is given.
    fn given_inputs(&self, inputs: Option<Given>, steps: usize) -> PyResult<Option<Argument>> {
        let width = self.motion.input_names().len();
        inputs.map(|given| Argument::new("U", given, &[steps, width])).transpose()
    }

    /// Series of what `add` adds at the start and after each step, and how many these are.
    fn followed<const K: usize>(
        &self,
        py: Python,
        (steps, p, inputs): (Given, Option<Given>, Option<Given>),
        add: fn(&SoftRollout, &mut [Vec<f64>; K]),
    ) -> PyResult<([Vec<f64>; K], usize)> {
        let steps = steps_of(steps)?;
        let (p, inputs) = (self.given_p(p)?, self.given_inputs(inputs, steps)?);
        let (p, inputs) = (only(&p)?, only(&inputs)?);
        let mut series = [const { Vec::new() }; K];
        let unsolved =
            py.detach(|| self.motion.follow(steps, p, inputs, &mut |at| add(at, &mut series)))?;
        warn(py, unsolved, steps)?;
        Ok((series, steps + 1))
    }
}

/// The numbers of an argument, if it is given.
fn only(given: &Option<Argument>) -> PyResult<Option<&[f64]>> {
    given.as_ref().map(Argument::only).transpose()
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

#[pymethods]
impl SoftScene {
    /// Time step, s.
    #[getter]
    fn dt(&self) -> f64 {
        self.motion.scene().time_step
    }

    /// Of each body its name, its first node and how many it has.
    #[getter]
    fn nodes(&self) -> Vec<(String, usize, usize)> {
        self.motion.bodies()
    }

    /// The node of each marker, by "body/marker".
    #[getter]
    fn markers(&self) -> Vec<(String, usize)> {
        self.motion.markers()
    }

    /// The mass of each node (N), kg: its share of its body's.
    #[getter]
    fn mass<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let each = self.motion.scene().bodies.iter().flat_map(|body| {
            let volumes = body.elements.unit_weight().iter();
            volumes.map(|volume| body.parameters.density * volume)
        });
        output(py, &[], &[self.motion.nodes()], each.collect())
    }

    /// The area of the surface that each node stands for (N), m².
    #[getter]
    fn area<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let mut areas = Vec::with_capacity(self.motion.nodes());
        for body in &self.motion.scene().bodies {
            let first = areas.len();
            areas.resize(first + body.position.len(), 0.0);
            for (&node, area) in body.surface.iter().zip(&body.areas) {
                areas[first + node] = *area;
            }
        }
        output(py, &[], &[self.motion.nodes()], areas)
    }

    /// The names of p.
    #[getter]
    fn parameter_names(&self) -> Vec<String> {
        self.motion.parameter_names()
    }

    /// All names that p may have.
    #[getter]
    fn all_parameter_names(&self) -> Vec<String> {
        self.motion.all_parameter_names()
    }

    /// The values of p in the scene.
    #[getter]
    fn p0<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let values = self.motion.values();
        output(py, &[], &[values.len()], values)
    }

    /// The names of u, in each step.
    #[getter]
    fn input_names(&self) -> Vec<String> {
        self.motion.input_names()
    }

    /// The names of the state of the rigid bodies: configuration, then velocities. None without rigid bodies.
    #[getter]
    fn state_names(&self) -> Vec<String> {
        self.motion.state_names()
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
        let ([x, v], frames) = self.followed(py, (steps, p, U), |at, [x, v]| {
            for state in at.states() {
                x.extend_from_slice(state.position.as_flattened());
                v.extend_from_slice(state.velocity.as_flattened());
            }
        })?;
        let shape = [frames, self.motion.nodes(), 3];
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
        let ([states], frames) = self.followed(py, (steps, p, U), |at, [states]| {
            let own = at.rigid_state().into_iter();
            states.extend(own.flat_map(|state| state.q.iter().chain(&state.v)));
        })?;
        output(py, &[], &[frames, states.len() / frames], states)
    }

    /// Where the nodes are after some steps, (N, 3), and how that changes with p, (N, 3, np), by forward sensitivities.
    #[pyo3(signature = (steps, p=None))]
    fn jacobian<'py>(
        &self,
        py: Python<'py>,
        steps: Given,
        p: Option<Given>,
    ) -> PyResult<(Array<'py>, Array<'py>)> {
        let (steps, p) = (steps_of(steps)?, self.given_p(p)?);
        let p = only(&p)?;
        let (x, slopes) = py.detach(|| self.motion.jacobian(steps, p, None))?;
        let (nodes, width) = (self.motion.nodes(), self.motion.values().len());
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
        let nodes = self.motion.nodes();
        let weights = Argument::series("x_bar", x_bar, &[nodes, 3])?;
        let x = weights.only()?;
        let steps = (x.len() / (3 * nodes)).saturating_sub(1);
        if steps == 0 {
            return Err(Error::new_err("x_bar: must be of a start and a step at least"));
        }
        let changes = U.is_some();
        let (p, inputs) = (self.given_p(p)?, self.given_inputs(U, steps)?);
        let (p, inputs) = (only(&p)?, only(&inputs)?);
        let width = 2 * self.motion.nv();
        let rigid_bar = rigid_bar
            .map(|given| Argument::new("rigid_bar", given, &[steps + 1, width]))
            .transpose()?;
        let weights = CourseWeights { x, v: &[], rigid: only(&rigid_bar)?.unwrap_or_default() };
        let gradient = py.detach(|| self.motion.vjp(steps, p, inputs, weights))?;
        warn(py, gradient.unsolved, steps)?;
        let mut found = vec![output(py, &[], &[gradient.parameters.len()], gradient.parameters)?];
        if changes {
            found.push(output(py, &[], &[steps, gradient.inputs.len() / steps], gradient.inputs)?);
        }
        found.push(output(py, &[], &[steps + 1, nodes, 3], gradient.x)?);
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
