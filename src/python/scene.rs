//! A scene, as Python sees it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::arguments::{Given, Sizes, count, part};
use super::calls::{Interrupt, evaluate, lock};
use super::contact_dict::contact_dict;
use super::exceptions::Error;
use super::numpy_arrays::{Argument, Cases, concatenated, joined, output};
use super::reduced::{Reduced, reduced};
use super::scene_source::{Parts, Source};
use super::step_jacobian::{Jacobian, Linearized};
use super::still_array::still_array;
use crate::Error as InputError;
use crate::model::Keyframe;
use crate::transition::Transition;

type Array<'py> = Bound<'py, PyArrayDyn<f64>>;

/// A scene as a discrete dynamical system x+ = f(x, u; p).
///
/// x = [q; v], nq + nv numbers, SI units. Of a free body q is the position of its origin in the world (m) and the
/// unit quaternion w, x, y, z from body to world, v the velocity of the origin in the world (m/s) and the angular
/// velocity in the body (rad/s); of a joint with one coordinate q is the angle or distance and v its rate.
/// Tangent vectors dx = [dq; dv] have 2 nv numbers: of a free body a shift in the world (m) and a rotation vector
/// in the body (rad). u are the selected inputs, constant over the step: controls, velocities that are prescribed (m/s, rad/s), or forces (N)
/// and torques (N m).
/// p are the selected parameters.
///
/// Arrays may be of any real numbers, lists too; results are float64. All take leading axes, as in NumPy: a batch is
/// computed on `threads` threads (all by default) with the same bits on any number of them.
#[pyclass(frozen, module = "stiction")]
pub struct Scene {
    pub(super) name: String,
    pub(super) sizes: Sizes,
    pub(super) transition: Mutex<Transition>,
    pub(super) source: Arc<Source>,
}

impl Scene {
    /// Something of each state, of this shape.
    fn of_state<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        p: Option<Given<'_, 'py>>,
        shape: &[usize],
        f: impl Fn(&mut Transition, &[f64]) -> Result<Vec<f64>, InputError> + Sync,
    ) -> PyResult<Array<'py>> {
        let cases = Cases::new([self.state("x", x)?], self.values(py, p)?)?;
        let each = shape.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
        let found = evaluate(py, &self.transition, &cases, 0, None, each, |of, [x], _| f(of, x))?;
        output(py, &cases.shape, shape, joined(found)?)
    }
}

#[pymethods]
impl Scene {
    /// Length of a configuration.
    #[getter]
    fn nq(&self) -> usize {
        self.sizes.nq
    }

    /// Length of a velocity; tangent vectors have 2 nv numbers.
    #[getter]
    fn nv(&self) -> usize {
        self.sizes.nv
    }

    /// Length of u.
    #[getter]
    fn nu(&self) -> usize {
        self.sizes.nu
    }

    /// Length of p.
    #[getter]
    fn np(&self) -> usize {
        self.sizes.np
    }

    /// The file, as it was given.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The time step, s.
    #[getter]
    fn dt(&self, py: Python) -> f64 {
        lock(py, &self.transition).scene().settings.time_step
    }

    /// Where the scene starts, (nq + nv).
    #[getter]
    fn x0<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let x0 = lock(py, &self.transition).initial_state();
        output(py, &[], &[x0.len()], x0)
    }

    /// The inputs as the scene has them, (nu).
    #[getter]
    fn u0<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let u0 = lock(py, &self.transition).initial_input();
        output(py, &[], &[u0.len()], u0)
    }

    /// Between what x is to stay, (2, nq + nv): limits of joints, and the speeds they are made for.
    #[getter]
    fn x_limits<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let limits = lock(py, &self.transition).state_limits();
        output(py, &[2], &[limits[0].len()], limits.concat())
    }

    /// Between which u has an effect, (2, nu).
    #[getter]
    fn u_limits<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let limits = lock(py, &self.transition).input_limits();
        output(py, &[2], &[limits[0].len()], limits.concat())
    }

    /// The values of the selected parameters, (np).
    #[getter]
    fn p0<'py>(&self, py: Python<'py>) -> PyResult<Array<'py>> {
        let p0 = lock(py, &self.transition).parameters();
        output(py, &[], &[p0.len()], p0)
    }

    /// Names of the numbers of x, such as "box/px" and "arm/v".
    #[getter]
    fn state_names(&self, py: Python) -> Vec<String> {
        lock(py, &self.transition).state_names()
    }

    /// Names of the numbers of u, such as "box/fx" and "motor/u".
    #[getter]
    fn input_names(&self, py: Python) -> Vec<String> {
        lock(py, &self.transition).input_names()
    }

    /// Names of the numbers of p, such as "floor-box/mu".
    #[getter]
    pub(super) fn parameter_names(&self, py: Python) -> Vec<String> {
        lock(py, &self.transition).parameter_names().to_vec()
    }

    /// Names of all parameters there are to select.
    #[getter]
    fn all_parameter_names(&self, py: Python) -> Vec<String> {
        lock(py, &self.transition).scene().model.parameter_names()
    }

    /// Names of all inputs there are to select: forces or velocities that are prescribed, then controls.
    #[getter]
    fn all_input_names(&self, py: Python) -> Vec<String> {
        lock(py, &self.transition).scene().model.input_names()
    }

    /// Where quaternions w, x, y, z start in x, and their rotation vectors in dx: (k, 2) integers.
    #[getter]
    fn quaternions(&self, py: Python) -> Vec<(usize, usize)> {
        let transition = lock(py, &self.transition);
        let (mut q, mut v, mut found) = (0, 0, Vec::new());
        for joint in transition.scene().model.coordinates() {
            found.extend(joint.quaternion().map(|(first, turn)| (q + first, v + turn)));
            q += joint.nq();
            v += joint.nv();
        }
        found
    }

    /// Names of the bodies.
    #[getter]
    fn bodies(&self, py: Python) -> Vec<String> {
        let transition = lock(py, &self.transition);
        transition.scene().model.bodies.iter().map(|body| body.name.clone()).collect()
    }

    /// The states that the file gives names, by these: x, (nq + nv). `stiction.Scene.keyframes` has them.
    #[getter]
    fn _keyframes<'py>(&self, py: Python<'py>) -> PyResult<BTreeMap<String, Array<'py>>> {
        let scene = lock(py, &self.transition).scene().clone();
        let state = |keyframe: &Keyframe| {
            let q = keyframe.q.as_ref().unwrap_or(&scene.state.q);
            let x = [&q[..], keyframe.v.as_ref().unwrap_or(&scene.state.v)].concat();
            Ok((keyframe.name.clone(), output(py, &[], &[x.len()], x)?))
        };
        scene.keyframes.iter().map(state).collect()
    }

    /// The same scene with other inputs and parameters selected; what is not given stays.
    ///
    /// inputs: names, or "controls", "forces", "all" in the list. The default of a scene is the controls, without
    /// any the forces. parameters: names, see all_parameter_names; also "box/inertia" and "box/half_extents", three
    /// numbers tied to one; no number twice. Values that were set are kept; afterwards each scene has its own.
    #[pyo3(signature = (inputs=None, parameters=None))]
    fn select(
        &self,
        py: Python,
        inputs: Option<Vec<String>>,
        parameters: Option<Vec<String>>,
    ) -> PyResult<Scene> {
        let transition = lock(py, &self.transition).clone();
        Scene::of(self.source.clone(), transition, inputs, parameters)
    }

    /// The value of a parameter.
    fn get_parameter(&self, py: Python, name: &str) -> PyResult<f64> {
        Ok(lock(py, &self.transition).value(name)?)
    }

    /// Takes another value of a parameter from here on.
    fn set_parameter(&self, py: Python, name: &str, value: f64) -> PyResult<()> {
        Ok(lock(py, &self.transition).set_value(name, value)?)
    }

    /// The state after a step: x (..., nq + nv), u (..., nu), p (..., np) to (..., nq + nv).
    ///
    /// u: inputs over the step, those of the scene if left out. p: values of the selected parameters, if not those
    /// that are set. Quaternions are normalised first. A step depends on its arguments only.
    #[pyo3(signature = (x, u=None, p=None, *, threads=None))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        u: Option<Given<'_, 'py>>,
        p: Option<Given<'_, 'py>>,
        threads: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        let nx = self.sizes.nx();
        let cases = Cases::new([self.state("x", x)?, self.input(py, u)?], self.values(py, p)?)?;
        let next = evaluate(
            py,
            &self.transition,
            &cases,
            1,
            threads,
            Some(nx),
            |transition, [x, u], _| {
                let mut next = vec![0.0; nx];
                transition.step(x, u, &mut next)?;
                Ok(next)
            },
        )?;
        output(py, &cases.shape, &[nx], joined(next)?)
    }

    /// States along a motion: x0 (..., nq + nv), U (..., N, nu), p (..., np) to (..., N + 1, nq + nv).
    ///
    /// U: the inputs over each step; or `steps`, so many steps under those of the scene. The first state is x0. A step
    /// starts its solvers from what the one before left, so that single steps agree with it up to their tolerance.
    #[pyo3(signature = (x0, U=None, p=None, *, steps=None, threads=None))]
    #[expect(
        non_snake_case,
        reason = "the name in Python, as in the literature: a matrix of inputs"
    )]
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        x0: Given<'_, 'py>,
        U: Option<Given<'_, 'py>>,
        p: Option<Given<'_, 'py>>,
        steps: Option<Given<'_, 'py>>,
        threads: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        let (nx, nu) = (self.sizes.nx(), self.sizes.nu);
        let (inputs, steps, stride) = match (U, count("steps", steps, 0)?) {
            (Some(inputs), None) => {
                let inputs = Argument::sequence("U", inputs, nu)?;
                let steps = inputs.own()[0];
                (inputs, steps, nu)
            }
            (None, Some(steps)) => (self.input(py, None)?, steps, 0),
            _ => return Err(Error::new_err("rollout takes either U or steps")),
        };
        let cases = Cases::new([self.state("x0", x0)?, inputs], self.values(py, p)?)?;
        let length = steps.checked_add(1).and_then(|frames| frames.checked_mul(nx));
        let too_many =
            || InputError::input(&self.name, None, "", format!("no memory for {steps} steps"));
        let follow = |transition: &mut Transition,
                      [x0, inputs]: [&[f64]; 2],
                      interrupt: &Interrupt| {
            let length = length.ok_or_else(too_many)?;
            let mut states = Vec::new();
            states.try_reserve_exact(length).map_err(|_| too_many())?;
            states.resize(length, 0.0);
            states[..nx].copy_from_slice(x0);
            for k in 0..steps {
                interrupt.check()?;
                let (before, after) = states[k * nx..].split_at_mut(nx);
                transition.set_warm(k > 0);
                let taken = transition.step(before, &inputs[k * stride..][..nu], &mut after[..nx]);
                transition.set_warm(false);
                taken?;
            }
            Ok(states)
        };
        let states = evaluate(py, &self.transition, &cases, steps, threads, length, follow)?;
        output(py, &cases.shape, &[steps + 1, nx], joined(states)?)
    }

    /// Derivatives of steps, see Jacobian: x (..., nq + nv), u (..., nu), p (..., np).
    ///
    /// With a leading axis, along a trajectory: linearize(X[:-1], U).
    #[pyo3(signature = (x, u=None, p=None, *, threads=None))]
    fn linearize<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        u: Option<Given<'_, 'py>>,
        p: Option<Given<'_, 'py>>,
        threads: Option<Given<'_, 'py>>,
    ) -> PyResult<Jacobian> {
        let cases = Cases::new([self.state("x", x)?, self.input(py, u)?], self.values(py, p)?)?;
        let Sizes { nu, np, .. } = self.sizes;
        let ndx = self.sizes.ndx();
        let each = ndx.checked_mul(ndx + nu + np).and_then(|n| n.checked_add(self.sizes.nx() + 1));
        let found =
            evaluate(py, &self.transition, &cases, 1, threads, each, |transition, [x, u], _| {
                let scene = transition.scene().clone();
                Ok(Linearized::new(&scene.model, transition.linearize(x, u)?))
            })?;
        Jacobian::new(py, &cases.shape, found, self.sizes)
    }

    /// What a step does to small changes: A dx + B du + C dp, (..., 2 nv), without forming the matrices.
    ///
    /// dx (..., 2 nv), du (..., nu), dp (..., np): zero if left out.
    #[pyo3(signature = (x, u=None, dx=None, du=None, dp=None, p=None, *, threads=None))]
    #[expect(clippy::too_many_arguments, reason = "those of Python, each by its name")]
    fn jvp<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        u: Option<Given<'_, 'py>>,
        dx: Option<Given<'_, 'py>>,
        du: Option<Given<'_, 'py>>,
        dp: Option<Given<'_, 'py>>,
        p: Option<Given<'_, 'py>>,
        threads: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        let Sizes { nu, np, .. } = self.sizes;
        let ndx = self.sizes.ndx();
        let directions = [part("dx", dx, ndx)?, part("du", du, nu)?, part("dp", dp, np)?];
        let [dx, du, dp] = directions;
        let arguments = [self.state("x", x)?, self.input(py, u)?, dx, du, dp];
        let cases = Cases::new(arguments, self.values(py, p)?)?;
        let multiply =
            |transition: &mut Transition, [x, u, dx, du, dp]: [&[f64]; 5], _: &Interrupt| {
                transition.jvp(x, u, &[dx, du, dp].concat())
            };
        let products = evaluate(py, &self.transition, &cases, 1, threads, Some(ndx), multiply)?;
        output(py, &cases.shape, &[ndx], joined(products)?)
    }

    /// How w' dx+ depends on the arguments: (A' w, B' w, C' w) for w (..., 2 nv), by one sweep in reverse.
    #[pyo3(signature = (x, u, w, p=None, *, threads=None))]
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        u: Option<Given<'_, 'py>>,
        w: Given<'_, 'py>,
        p: Option<Given<'_, 'py>>,
        threads: Option<Given<'_, 'py>>,
    ) -> PyResult<(Array<'py>, Array<'py>, Array<'py>)> {
        let cases = self.weighted(py, x, u, w, p)?;
        let Sizes { nu, np, .. } = self.sizes;
        let ndx = self.sizes.ndx();
        let length = ndx + nu + np;
        let adjoints = evaluate(
            py,
            &self.transition,
            &cases,
            1,
            threads,
            Some(length),
            |transition, [x, u, w], _| transition.vjp(x, u, w),
        )?;
        let take = |first: usize, length: usize| {
            let parts = adjoints.iter().map(|a| &a[first..first + length]);
            output(py, &cases.shape, &[length], concatenated(parts)?)
        };
        Ok((take(0, ndx)?, take(ndx, nu)?, take(ndx + nu, np)?))
    }

    /// Second derivatives of w' dx+ in [dx; du; dp], symmetric, (..., n, n) with n = 2 nv + nu + np.
    #[pyo3(signature = (x, u, w, p=None, *, threads=None))]
    fn hessian<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        u: Option<Given<'_, 'py>>,
        w: Given<'_, 'py>,
        p: Option<Given<'_, 'py>>,
        threads: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        let cases = self.weighted(py, x, u, w, p)?;
        let n = self.sizes.ndx() + self.sizes.nu + self.sizes.np;
        let hessians = evaluate(
            py,
            &self.transition,
            &cases,
            1,
            threads,
            n.checked_mul(n),
            |transition, [x, u, w], _| transition.hessian(x, u, w),
        )?;
        output(py, &cases.shape, &[n, n], joined(hessians)?)
    }

    /// x moved by a tangent vector dx: (..., nq + nv) and (..., 2 nv) to (..., nq + nv).
    fn integrate<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        dx: Given<'_, 'py>,
    ) -> PyResult<Array<'py>> {
        let dx = Argument::new("dx", dx, &[self.sizes.ndx()])?;
        let cases = Cases::new([self.state("x", x)?, dx], self.values(py, None)?)?;
        let moved = evaluate(
            py,
            &self.transition,
            &cases,
            0,
            None,
            Some(self.sizes.nx()),
            |transition, [x, dx], _| transition.integrate(x, dx),
        )?;
        output(py, &cases.shape, &[self.sizes.nx()], joined(moved)?)
    }

    /// The tangent vector that moves x0 to x1: (..., 2 nv).
    fn difference<'py>(
        &self,
        py: Python<'py>,
        x0: Given<'_, 'py>,
        x1: Given<'_, 'py>,
    ) -> PyResult<Array<'py>> {
        let states = [self.state("x0", x0)?, self.state("x1", x1)?];
        let cases = Cases::new(states, self.values(py, None)?)?;
        let found = evaluate(
            py,
            &self.transition,
            &cases,
            0,
            None,
            Some(self.sizes.ndx()),
            |transition, [x0, x1], _| transition.difference(x0, x1),
        )?;
        output(py, &cases.shape, &[self.sizes.ndx()], joined(found)?)
    }

    /// Where a body is: position of its origin in the world (m) and quaternion w, x, y, z from body to world, (..., 7).
    #[pyo3(signature = (x, body, p=None))]
    fn pose<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        body: &str,
        p: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        let body = lock(py, &self.transition).body(body)?;
        self.of_state(py, x, p, &[7], |of, x| Ok(of.pose(x, body)?.to_vec()))
    }

    /// The Jacobian of a point of a body (m, in its frame; its origin if left out) in v, (..., 6, nv): velocity of the point,
    /// then angular velocity, in the world.
    #[pyo3(signature = (x, body, point=None, p=None))]
    fn frame_jacobian<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        body: &str,
        point: Option<[f64; 3]>,
        p: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        let body = lock(py, &self.transition).body(body)?;
        let (point, shape) = (point.unwrap_or_default(), [6, self.sizes.nv]);
        self.of_state(py, x, p, &shape, |of, x| of.frame_jacobian(x, body, point))
    }

    /// The mass matrix M, (..., nv, nv), with the armature of joints.
    #[pyo3(signature = (x, p=None))]
    fn mass_matrix<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        p: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        self.of_state(py, x, p, &[self.sizes.nv; 2], Transition::mass_matrix)
    }

    /// The generalised forces at which nothing accelerates (gravity, centrifugal, Coriolis), (..., nv).
    #[pyo3(signature = (x, p=None))]
    fn bias<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        p: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        self.of_state(py, x, p, &[self.sizes.nv], Transition::bias)
    }

    /// The generalised forces M a + bias that give the accelerations a (..., nv), without contacts, motors, springs and damping.
    #[pyo3(signature = (x, a, p=None))]
    fn inverse_dynamics<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        a: Given<'_, 'py>,
        p: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        let nv = self.sizes.nv;
        let arguments = [self.state("x", x)?, Argument::new("a", a, &[nv])?];
        let cases = Cases::new(arguments, self.values(py, p)?)?;
        let found = evaluate(py, &self.transition, &cases, 0, None, Some(nv), |of, [x, a], _| {
            of.inverse_dynamics(x, a)
        })?;
        output(py, &cases.shape, &[nv], joined(found)?)
    }

    /// The energy of motion, and that in gravity (zero at the origin of the world), J, (..., 2).
    #[pyo3(signature = (x, p=None))]
    fn energy<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        p: Option<Given<'_, 'py>>,
    ) -> PyResult<Array<'py>> {
        self.of_state(py, x, p, &[2], |of, x| Ok(of.energy(x)?.to_vec()))
    }

    /// The contacts of a step from x under u, a dict each: "pair", "point" (which one of the pair), "mode", "gap" (m, at the
    /// start of the step), "position" and "normal" (in the world, out of the first of the pair), "force" (mean over the step,
    /// on the second of the pair, in the world, N), "couple" (the same of torsional and rolling friction, N m), "bodies" (names; None for the world).
    #[pyo3(signature = (x, u=None))]
    fn contacts<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        u: Option<Given<'_, 'py>>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let cases = Cases::new([self.state("x", x)?, self.input(py, u)?], self.values(py, None)?)?;
        if !cases.shape.is_empty() {
            return Err(Error::new_err("contacts: takes one state, without leading axes"));
        }
        let found = evaluate(py, &self.transition, &cases, 1, None, Some(0), |of, [x, u], _| {
            of.contacts(x, u)
        })?;
        let scene = lock(py, &self.transition).scene().clone();
        let all = found.into_iter().flatten();
        all.map(|(contact, position)| contact_dict(py, &scene, &contact, position)).collect()
    }

    /// What a camera sees, the first or one from where all is seen: red, green, blue of each pixel (8 bits), (height, width, 3).
    #[pyo3(signature = (x, camera=None))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        x: Given<'_, 'py>,
        camera: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        still_array(py, &mut lock(py, &self.transition), &self.state("x", x)?, camera)
    }

    /// A scene whose values are its own.
    fn __copy__(&self, py: Python) -> PyResult<Scene> {
        self.select(py, None, None)
    }

    fn __deepcopy__(&self, py: Python, _memo: &Bound<PyAny>) -> PyResult<Scene> {
        self.select(py, None, None)
    }

    /// As the contents of the files that it was read from, with what is selected and all values.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Reduced<'py>> {
        let mut own = Parts::default();
        let transition = lock(py, &self.transition);
        own.put_texts(&transition.input_names());
        own.put_texts(transition.parameter_names());
        own.put_numbers(&transition.values().values);
        drop(transition);
        let parts =
            [self.source.packed(), &own.packed()].map(|part| PyBytes::new(py, part).into_any());
        reduced(py, "_restored_scene", parts)
    }

    fn __repr__(&self) -> String {
        let Sizes { nq, nv, nu, np } = self.sizes;
        format!("<stiction.Scene {:?}: nq {nq}, nv {nv}, nu {nu}, np {np}>", self.name)
    }
}
