//! A scene as a discrete dynamical system x+ = f(x, u; p) on flat arrays of numbers: what controllers, and
//! the interfaces to other languages, are written against.

mod ambient_derivatives;
mod limits;
mod mechanics;
mod soft_motion;

use std::sync::Arc;

use crate::Error;
use crate::argmin::Status;
use crate::linearize::{
    Adjoints, JacobianWorkspace, Selection, StepAdjoint, StepJacobian, StepProducts, TakenStep,
    step_jacobian,
};
use crate::model::{ParameterRef, Parameters, Scene, domain};
use crate::simulation::{SolvedStep, StepMemory, StepReport, Workspace, step};
use crate::state::State;

pub use soft_motion::{CourseWeights, SoftGradient, SoftMotion};

/// x+ = f(x, u; p) of a scene, with its derivatives, and the memory they are computed in.
///
/// x = [q; v], nq + nv numbers; u the [selected](Self::select_inputs) inputs, all others as the scene has them;
/// tangent vectors dx = [dq; dv], 2 nv numbers, as in [`State::moved`]. Quaternions in x need
/// not have norm 1: they are normalised first.
///
/// A step is a function of x and u alone: its solvers start afresh each time. With
/// [`warm`](Self::set_warm) they start from what the call before left, which is faster along trajectories
/// and agrees up to the solver's tolerance.
///
/// ```
/// use std::sync::Arc;
/// use stiction::model::Scene;
/// use stiction::transition::Transition;
///
/// let text = "simulation.time_step = 0.01
/// [[body]]
/// name = 'ball'
/// mass = 2
/// shape = { sphere = 0.1 }";
/// let scene = Scene::parse(text, "ball.toml")?;
/// let mut ball = Transition::new("ball.toml", Arc::new(scene))?;
/// ball.select_inputs(&["ball/fz".to_string()])?;
/// let (x, u) = (ball.initial_state(), [2.0 * 9.81]);
/// let jacobian = ball.linearize(&x, &u)?;
/// assert_eq!((jacobian.a.shape(), jacobian.b.shape()), ((12, 12), (12, 1)));
/// assert!((jacobian.b[(8, 0)] - 0.01 / 2.0).abs() < 1e-15);
/// # Ok::<(), stiction::Error>(())
/// ```
pub struct Transition {
    name: String,
    scene: Arc<Scene>,
    inputs: Vec<usize>,
    parameter_names: Vec<String>,
    parameters: Vec<ParameterRef>,
    values: Parameters<f64>,
    warm: bool,
    state: State<f64>,
    next: State<f64>,
    all_inputs: Vec<f64>,
    memory: StepMemory<f64>,
    before: StepMemory<f64>,
    workspace: Workspace<f64>,
    jacobian_workspace: JacobianWorkspace,
    jacobian: StepJacobian,
    solved: SolvedStep,
    adjoint: StepAdjoint,
    adjoints: Adjoints,
    report: StepReport,
}

/// The same scene, selection and values of the parameters, with nothing remembered: for another thread.
impl Clone for Transition {
    fn clone(&self) -> Self {
        let Transition { name, scene, inputs, parameter_names, parameters, values, .. } = self;
        Transition {
            inputs: inputs.clone(),
            parameter_names: parameter_names.clone(),
            parameters: parameters.clone(),
            values: values.clone(),
            warm: self.warm,
            ..Transition::start(name, scene.clone())
        }
    }
}

impl Transition {
    /// Of `scene`, called `name` in messages, with the [default inputs](crate::model::Model::default_inputs) and no parameters.
    ///
    /// # Errors
    /// If the contact solver of the scene has no derivatives, or its steps start from two states (by `bdf2`).
    pub fn new(name: &str, scene: Arc<Scene>) -> Result<Self, Error> {
        scene.settings.solver.demand_derivatives(name)?;
        scene.settings.demand_one_state(name)?;
        Ok(Transition::start(name, scene))
    }

    fn start(name: &str, scene: Arc<Scene>) -> Self {
        Transition {
            name: name.to_string(),
            inputs: scene.model.default_inputs(),
            parameter_names: Vec::new(),
            parameters: Vec::new(),
            values: scene.parameters.clone(),
            warm: false,
            state: scene.state.clone(),
            next: scene.state.clone(),
            all_inputs: scene.still_inputs(),
            memory: StepMemory::default(),
            before: StepMemory::default(),
            workspace: Workspace::default(),
            jacobian_workspace: JacobianWorkspace::default(),
            jacobian: StepJacobian::default(),
            solved: SolvedStep::default(),
            adjoint: StepAdjoint::default(),
            adjoints: Adjoints::default(),
            report: StepReport::default(),
            scene,
        }
    }

    /// Makes the inputs called `names` u, in this order; see [`Model::inputs_named`](crate::model::Model::inputs_named).
    ///
    /// # Errors
    /// As [`Model::inputs_named`](crate::model::Model::inputs_named). Nothing changes then.
    pub fn select_inputs(&mut self, names: &[String]) -> Result<(), Error> {
        self.inputs = self.scene.model.inputs_named(names, &self.name)?;
        self.all_inputs = self.scene.still_inputs();
        Ok(())
    }

    /// Makes the parameters called `names` p, in this order; see
    /// [`Model::parameter_names`](crate::model::Model::parameter_names), and
    /// [`Model::with_weights_named`](crate::model::Model::with_weights_named). Values that were [set](Self::set_parameters) stay.
    ///
    /// # Errors
    /// As [`Model::parameters_named`](crate::model::Model::parameters_named). Nothing changes then.
    pub fn select_parameters(&mut self, names: &[String]) -> Result<(), Error> {
        let names = self.scene.model.with_weights_named(names);
        self.parameters = self.scene.model.parameters_named(&names, &self.name)?;
        self.parameter_names = names;
        Ok(())
    }

    /// p: the selected parameters as they are now.
    pub fn parameters(&self) -> Vec<f64> {
        let value = |parameter: &ParameterRef| self.values.values[parameter.slots[0]];
        self.parameters.iter().map(value).collect()
    }

    /// Gives the selected parameters other values than those of the scene.
    ///
    /// # Errors
    /// If the length is wrong, or a number is not finite or not one that the parameter can have (see
    /// [`domain`]); those of the scene always are. Nothing changes then. Numbers that no body has together,
    /// such as moments of inertia, show in the steps.
    pub fn set_parameters(&mut self, p: &[f64]) -> Result<(), Error> {
        self.check("parameter vector", p.len(), self.np())?;
        for ((name, parameter), &p) in self.parameter_names.iter().zip(&self.parameters).zip(p) {
            self.check_value(name, parameter, p)?;
        }
        for (parameter, &p) in self.parameters.iter().zip(p) {
            for &slot in &parameter.slots {
                self.values.values[slot] = p;
            }
        }
        Ok(())
    }

    /// The values of all parameters.
    pub fn values(&self) -> &Parameters<f64> {
        &self.values
    }

    /// The value of any parameter, see [`Model::parameter_names`](crate::model::Model::parameter_names).
    ///
    /// # Errors
    /// As [`Model::parameters_named`](crate::model::Model::parameters_named).
    pub fn value(&self, name: &str) -> Result<f64, Error> {
        Ok(self.values.values[self.find(name)?.slots[0]])
    }

    /// Takes another value of any parameter.
    ///
    /// # Errors
    /// As [`Model::parameters_named`](crate::model::Model::parameters_named) and [`set_parameters`](Self::set_parameters). Nothing changes then.
    pub fn set_value(&mut self, name: &str, value: f64) -> Result<(), Error> {
        let found = self.find(name)?;
        self.check_value(name, &found, value)?;
        found.slots.iter().for_each(|&slot| self.values.values[slot] = value);
        Ok(())
    }

    /// Takes other values of all parameters, such as [those](Self::values) of another transition of the same scene.
    ///
    /// # Errors
    /// As [`set_parameters`](Self::set_parameters), and if a number that has no name is another than that of the scene. Nothing
    /// changes then.
    pub fn set_values(&mut self, values: Parameters<f64>) -> Result<(), Error> {
        let Parameters { values } = values;
        self.check("parameter vector", values.len(), self.values.values.len())?;
        let mut own = self.scene.parameters.values.clone();
        for (name, slot) in self.scene.model.named_slots() {
            self.check_value(&name, &ParameterRef { slots: vec![slot] }, values[slot])?;
            own[slot] = values[slot];
        }
        if values.iter().zip(&own).any(|(found, own)| found.to_bits() != own.to_bits()) {
            return Err(
                self.error("", "a number without a name is not that of the scene".to_string())
            );
        }
        self.values.values = own;
        Ok(())
    }

    /// How the contact problems of all calls were solved since this was last asked.
    pub fn take_report(&mut self) -> StepReport {
        std::mem::take(&mut self.report)
    }

    /// Whether solvers start from what the call before left.
    pub fn set_warm(&mut self, warm: bool) {
        self.warm = warm;
    }

    /// The scene.
    pub fn scene(&self) -> &Arc<Scene> {
        &self.scene
    }

    /// Length of a configuration.
    pub fn nq(&self) -> usize {
        self.scene.model.nq()
    }

    /// Length of a velocity; tangent vectors have twice as many numbers.
    pub fn nv(&self) -> usize {
        self.scene.model.nv()
    }

    /// Length of u.
    pub fn nu(&self) -> usize {
        self.inputs.len()
    }

    /// Length of p.
    pub fn np(&self) -> usize {
        self.parameters.len()
    }

    /// Names of the numbers of x.
    pub fn state_names(&self) -> Vec<String> {
        let model = &self.scene.model;
        [model.configuration_names(), model.velocity_names()].concat()
    }

    /// Names of the numbers of u.
    pub fn input_names(&self) -> Vec<String> {
        let names = self.scene.model.input_names();
        self.inputs.iter().map(|&k| names[k].clone()).collect()
    }

    /// Names of the numbers of p.
    pub fn parameter_names(&self) -> &[String] {
        &self.parameter_names
    }

    /// Where the scene starts, `[q; v]`.
    pub fn initial_state(&self) -> Vec<f64> {
        let State { q, v } = &self.scene.state;
        q.iter().chain(v).copied().collect()
    }

    /// The selected inputs as the scene has them; of pushes 0, as a step by itself has no time.
    pub fn initial_input(&self) -> Vec<f64> {
        let still = self.scene.still_inputs();
        self.inputs.iter().map(|&k| still[k]).collect()
    }

    /// f(x, u), written into `next` (nq + nv numbers).
    ///
    /// # Errors
    /// If a length is wrong, a number is not finite, a quaternion is zero, or the step does not give finite
    /// numbers. What was not solved to tolerance is no error: see the report.
    pub fn step(&mut self, x: &[f64], u: &[f64], next: &mut [f64]) -> Result<StepReport, Error> {
        self.take(x, u)?;
        self.check("next state", next.len(), self.nq() + self.nv())?;
        let Transition { scene, values, state, all_inputs, memory, workspace, .. } = self;
        let system = scene.system_with(values);
        let report = step(&system, state, all_inputs, memory, workspace, &mut self.next);
        self.report.merge(&report);
        self.check_end(is_usable(&report, &self.next))?;
        let (q, v) = next.split_at_mut(self.next.q.len());
        q.copy_from_slice(&self.next.q);
        v.copy_from_slice(&self.next.v);
        Ok(report)
    }

    /// f with its Jacobians A, B, C at (x, u).
    ///
    /// # Errors
    /// As [`Self::step`]; also if the contacts determine no derivative.
    pub fn linearize(&mut self, x: &[f64], u: &[f64]) -> Result<&StepJacobian, Error> {
        self.take(x, u)?;
        let Transition { scene, values, state, all_inputs, memory, .. } = self;
        let system = scene.system_with(values);
        let selection = Selection { inputs: &self.inputs, parameters: &self.parameters };
        let (workspace, jacobian) = (&mut self.jacobian_workspace, &mut self.jacobian);
        step_jacobian(&system, state, all_inputs, selection, memory, workspace, jacobian);
        self.report.merge(&self.jacobian.report);
        self.check_end(is_usable(&self.jacobian.report, &self.jacobian.next))?;
        if !self.jacobian.is_determined() {
            let message = "the contacts do not determine a derivative here: their problem was not solved; \
                           try more compliance or a shorter time step";
            return Err(Error::undefined(&self.name, message));
        }
        Ok(&self.jacobian)
    }

    /// `[A B C] d` of a direction `[dx; du; dp]`: a tangent vector, 2 nv numbers.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn jvp(&mut self, x: &[f64], u: &[f64], direction: &[f64]) -> Result<Vec<f64>, Error> {
        let dimension = 2 * self.nv() + self.nu() + self.np();
        self.check_numbers("direction", direction, dimension)?;
        self.product(x, u, |products| products.jvp(direction))
    }

    /// `[A B C]' w` of weights w (2 nv numbers): adjoints of `[dx; du; dp]`, by [one step back](StepAdjoint).
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn vjp(&mut self, x: &[f64], u: &[f64], weights: &[f64]) -> Result<Vec<f64>, Error> {
        self.check_numbers("weight vector", weights, 2 * self.nv())?;
        self.take_step(x, u)?;
        self.pull_back(weights)
    }

    /// [`Self::vjp`] of the step that was taken.
    fn pull_back(&mut self, weights: &[f64]) -> Result<Vec<f64>, Error> {
        self.solved.keep(&self.workspace);
        let step = TakenStep {
            system: &self.scene.system_with(&self.values),
            state: &self.state,
            inputs: &self.all_inputs,
            memory: &self.before,
            solved: &self.solved,
            next: &self.next,
        };
        self.adjoints.fit(&self.scene.model);
        self.adjoint
            .pull_back(&step, weights, &mut self.adjoints)
            .map_err(|error| Error::undefined(&self.name, error.to_string()))?;
        let Adjoints { state, inputs, parameters, .. } = &self.adjoints;
        let mut product = state.clone();
        product.extend(self.inputs.iter().map(|&k| inputs[k]));
        let of = |p: &ParameterRef| p.slots.iter().map(|&slot| parameters[slot]).sum::<f64>();
        product.extend(self.parameters.iter().map(of));
        self.check_product(product)
    }

    /// The second-order term `sum_i w_i d2 x+_i` in `[dx; du; dp]`, column by column; see
    /// [`StepProducts::hessian`].
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn hessian(&mut self, x: &[f64], u: &[f64], weights: &[f64]) -> Result<Vec<f64>, Error> {
        self.check_numbers("weight vector", weights, 2 * self.nv())?;
        self.product(x, u, |products| {
            Ok(products.hessian(weights)?.iter().copied().collect::<Vec<f64>>())
        })
    }

    /// x (+) dx: x moved by a tangent vector.
    ///
    /// # Errors
    /// If a length is wrong or a number is not finite.
    pub fn integrate(&mut self, x: &[f64], dx: &[f64]) -> Result<Vec<f64>, Error> {
        self.take_state(x)?;
        self.check_numbers("tangent vector", dx, 2 * self.nv())?;
        let moved = self.state.moved(self.scene.model.coordinates(), dx);
        Ok([moved.q, moved.v].concat())
    }

    /// x1 (-) x0: the tangent vector that moves `from` to `to`.
    ///
    /// # Errors
    /// If a length is wrong or a number is not finite.
    pub fn difference(&mut self, from: &[f64], to: &[f64]) -> Result<Vec<f64>, Error> {
        self.take_state(from)?;
        let start = self.state.clone();
        self.take_state(to)?;
        Ok(self.state.difference(self.scene.model.coordinates(), &start))
    }

    fn product(
        &mut self,
        x: &[f64],
        u: &[f64],
        product: impl FnOnce(&StepProducts) -> Result<Vec<f64>, crate::ad::Error>,
    ) -> Result<Vec<f64>, Error> {
        self.take_step(x, u)?;
        let products = StepProducts {
            system: &self.scene.system_with(&self.values),
            state: &self.state,
            inputs: &self.all_inputs,
            selection: Selection { inputs: &self.inputs, parameters: &self.parameters },
            memory: &self.before,
            next: &self.next,
        };
        let product =
            product(&products).map_err(|error| Error::undefined(&self.name, error.to_string()))?;
        self.check_product(product)
    }

    /// The step from x under u, and what was remembered before.
    fn take_step(&mut self, x: &[f64], u: &[f64]) -> Result<(), Error> {
        self.take(x, u)?;
        self.before.clone_from(&self.memory);
        let Transition { scene, values, state, all_inputs, memory, workspace, .. } = self;
        let report =
            step(&scene.system_with(values), state, all_inputs, memory, workspace, &mut self.next);
        self.report.merge(&report);
        self.check_end(is_usable(&report, &self.next))?;
        Ok(())
    }

    fn check_product(&self, product: Vec<f64>) -> Result<Vec<f64>, Error> {
        if product.iter().any(|x| !x.is_finite()) {
            let message = "the contacts do not determine a derivative here";
            return Err(Error::undefined(&self.name, message));
        }
        Ok(product)
    }

    /// An error if a parameter cannot have this value.
    fn check_value(&self, name: &str, parameter: &ParameterRef, value: f64) -> Result<(), Error> {
        let taken = |values: &Parameters<f64>| values.values[parameter.slots[0]];
        // What is there already, or in the scene, needs no look: most calls change nothing.
        if value == taken(&self.values) || value == taken(&self.scene.parameters) {
            return Ok(());
        }
        if !value.is_finite() {
            return Err(self.error(name, format!("must be finite, found {value}")));
        }
        let (least, most) = domain(name);
        if !(least..=most).contains(&value) {
            let message = format!("must be from {least} to {most}, found {value}");
            return Err(self.error(name, message));
        }
        Ok(())
    }

    fn find(&self, name: &str) -> Result<ParameterRef, Error> {
        Ok(self.scene.model.parameters_named(&[name.to_string()], &self.name)?.remove(0))
    }

    fn take(&mut self, x: &[f64], u: &[f64]) -> Result<(), Error> {
        self.take_state(x)?;
        self.check("input", u.len(), self.nu())?;
        if let Some(k) = u.iter().position(|u| !u.is_finite()) {
            return Err(
                self.error(&self.input_names()[k], format!("must be finite, found {}", u[k]))
            );
        }
        for (&k, &u) in self.inputs.iter().zip(u) {
            self.all_inputs[k] = u;
        }
        if !self.warm {
            self.memory.clear();
        }
        Ok(())
    }

    /// x into `state`, its quaternions with norm 1.
    fn take_state(&mut self, x: &[f64]) -> Result<(), Error> {
        let (nq, nv) = (self.nq(), self.nv());
        self.check("state", x.len(), nq + nv)?;
        if let Some(k) = x.iter().position(|x| !x.is_finite()) {
            return Err(
                self.error(&self.state_names()[k], format!("must be finite, found {}", x[k]))
            );
        }
        self.state.q.copy_from_slice(&x[..nq]);
        self.state.v.copy_from_slice(&x[nq..]);
        let scene = self.scene.clone();
        let mut first = 0;
        for joint in scene.model.coordinates() {
            if let Some((at, _)) = joint.quaternion() {
                let q = &mut self.state.q[first + at..first + at + 4];
                let size = q.iter().map(|x| x * x).sum::<f64>().sqrt();
                if !(size > 1e-6 && size < 1e6) {
                    let message = format!(
                        "a quaternion of norm {size:e} is no orientation; an initial guess wants one \
                         too, such as 1, 0, 0, 0"
                    );
                    return Err(self.error(&self.state_names()[first + at], message));
                }
                if (size - 1.0).abs() > 4.0 * f64::EPSILON {
                    q.iter_mut().for_each(|x| *x /= size);
                }
            }
            first += joint.nq();
        }
        Ok(())
    }

    fn check(&self, what: &str, found: usize, expected: usize) -> Result<(), Error> {
        if found == expected {
            return Ok(());
        }
        Err(self.error("", format!("the {what} has {expected} numbers here, found {found}")))
    }

    fn check_numbers(&self, what: &str, numbers: &[f64], expected: usize) -> Result<(), Error> {
        self.check(what, numbers.len(), expected)?;
        match numbers.iter().find(|x| !x.is_finite()) {
            Some(x) => Err(self.error("", format!("the {what} must be finite, found {x}"))),
            None => Ok(()),
        }
    }

    /// An error unless the step is usable; solvers do not start from one that is not.
    fn check_end(&mut self, usable: bool) -> Result<(), Error> {
        if usable {
            return Ok(());
        }
        self.memory.clear();
        let message = "the step does not give finite numbers: an input or a velocity is too large, or a \
                       number of the scene too extreme";
        Err(Error::undefined(&self.name, message))
    }

    fn error(&self, field: &str, message: String) -> Error {
        Error::input(&self.name, None, field, message)
    }
}

fn is_usable(report: &StepReport, next: &State<f64>) -> bool {
    let finite = next.q.iter().chain(&next.v).all(|x| x.is_finite());
    finite && report.worst.status != Status::InvalidInput
}
