//! Jacobians along a trajectory.

use nalgebra::DMatrix;
use ndarray::{Array2, Array3, ArrayViewMut2, Axis};

use super::convention::Convention;
use super::selection::Selection;
use super::step_jacobian::{JacobianWorkspace, StepJacobian, step_jacobian};
use crate::Error;
use crate::argmin::Status;
use crate::contact::ContactRecord;
use crate::model::{ParameterRef, System};
use crate::simulation::{StepMemory, StepReport};
use crate::state::State;
use crate::trajectory::{Controls, Trajectory};

/// The Jacobians of N steps, stacked along the first axis; see [`StepJacobian`] for one of them.
/// nq = 7 and nv = 6 numbers a free body, nu selected inputs, np parameters.
#[derive(Clone, Debug)]
pub struct Linearization {
    /// How states, tangent vectors and forces are written.
    pub convention: Convention,
    /// The names of the inputs u, nu of them.
    pub inputs: Vec<String>,
    /// The names of the parameters, np of them.
    pub parameters: Vec<String>,
    /// Times at which the steps start, s.
    pub times: Vec<f64>,
    /// States `[q; v]` at which the steps start, N x (nq + nv).
    pub x: Array2<f64>,
    /// States at which the steps end, x+ = f(x, u), N x (nq + nv).
    pub f: Array2<f64>,
    /// The selected inputs, N x nu.
    pub u: Array2<f64>,
    /// dx+/dx, N x 2 nv x 2 nv.
    pub a: Array3<f64>,
    /// dx+/du, N x 2 nv x nu.
    pub b: Array3<f64>,
    /// dx+/dp, N x 2 nv x np.
    pub c: Array3<f64>,
    /// Whether the derivatives of each step are numbers, see [`StepJacobian::is_determined`].
    pub determined: Vec<bool>,
    /// How the contact problems of each step were solved.
    pub reports: Vec<StepReport>,
    /// The touching contacts of each step.
    pub modes: Vec<Vec<ContactRecord>>,
}

impl Linearization {
    /// How the contact problems of all steps were solved.
    pub fn report(&self) -> StepReport {
        let mut total = StepReport::default();
        for report in &self.reports {
            total.merge(report);
        }
        total
    }
}

/// Linearises the steps of a scene.
pub struct Linearizer<'a> {
    name: &'a str,
    system: System<'a, f64>,
    /// Those of the present step.
    all_inputs: Vec<f64>,
    /// The same as far as they act in the present step.
    acting: Vec<f64>,
    controls: Option<&'a Controls>,
    inputs: Vec<usize>,
    names: Vec<String>,
    parameters: Vec<ParameterRef>,
    workspace: JacobianWorkspace,
    jacobian: StepJacobian,
}

impl<'a> Linearizer<'a> {
    /// Steps of `system` under constant `inputs`, with respect to those of them called
    /// `selected` (see [`inputs_named`](crate::model::Model::inputs_named)) and the parameters called `names` (see
    /// [`Model::parameter_names`](crate::model::Model::parameter_names)). `name` stands for the
    /// scene in messages.
    ///
    /// # Errors
    /// If there is no input or parameter of such a name, the contact solver has no derivatives, or steps start from two states (by `bdf2`).
    pub fn new(
        name: &'a str,
        system: System<'a, f64>,
        inputs: &[f64],
        selected: &[String],
        names: &[String],
    ) -> Result<Self, Error> {
        system.settings.solver.demand_derivatives(name)?;
        system.settings.demand_one_state(name)?;
        Ok(Linearizer {
            name,
            system,
            all_inputs: inputs.to_vec(),
            acting: Vec::new(),
            controls: None,
            inputs: system.model.inputs_named(selected, name)?,
            names: names.to_vec(),
            parameters: system.model.parameters_named(names, name)?,
            workspace: JacobianWorkspace::default(),
            jacobian: StepJacobian::default(),
        })
    }

    /// The inputs follow `controls` at the time at which each step starts; those without a column stay.
    pub fn drive(&mut self, controls: &'a Controls) {
        self.controls = Some(controls);
    }

    /// Linearises along a rollout of `steps` steps from `state`: each step starts where the one
    /// before ended. `progress` is told how many steps are done.
    ///
    /// # Errors
    /// If a state, or the problem that a step solves, is not finite.
    pub fn rollout(
        &mut self,
        state: &State<f64>,
        steps: usize,
        mut progress: impl FnMut(usize),
    ) -> Result<Linearization, Error> {
        let mut result = self.empty(steps);
        let mut memory = StepMemory::default();
        let mut state = state.clone();
        for k in 0..steps {
            let time = k as f64 * self.system.settings.time_step;
            self.step(time, &state, &mut memory);
            self.fill(&mut result, k, time, &state)?;
            state.clone_from(&self.jacobian.next);
            progress(k + 1);
        }
        Ok(result)
    }

    /// Linearises one step from each state of a trajectory, which need not be one of this scene.
    /// The steps take the time of the scene, and each starts its solvers afresh. `progress` is told
    /// how many steps are done.
    ///
    /// # Errors
    /// If a state, or the problem that a step solves, is not finite.
    pub fn states(
        &mut self,
        trajectory: &Trajectory,
        mut progress: impl FnMut(usize),
    ) -> Result<Linearization, Error> {
        let mut result = self.empty(trajectory.states.len());
        for (k, (&time, state)) in trajectory.times.iter().zip(&trajectory.states).enumerate() {
            self.step(time, state, &mut StepMemory::default());
            self.fill(&mut result, k, time, state)?;
            progress(k + 1);
        }
        Ok(result)
    }

    fn step(&mut self, time: f64, state: &State<f64>, memory: &mut StepMemory<f64>) {
        if let Some(controls) = self.controls {
            controls.apply(time, self.system.settings.time_step, &mut self.all_inputs);
        }
        self.acting.clone_from(&self.all_inputs);
        let duration = self.system.settings.time_step;
        self.system.model.schedule(time, duration, &mut self.acting);
        let Linearizer { system, acting, inputs, parameters, workspace, jacobian, .. } = self;
        let selection = Selection { inputs, parameters };
        step_jacobian(system, state, acting, selection, memory, workspace, jacobian);
    }

    fn empty(&self, steps: usize) -> Linearization {
        let (nq, nv, np) = (self.system.model.nq(), self.system.model.nv(), self.names.len());
        let known = self.system.model.input_names();
        let nu = self.inputs.len();
        Linearization {
            convention: Convention::Stiction,
            inputs: self.inputs.iter().map(|&k| known[k].clone()).collect(),
            parameters: self.names.clone(),
            times: Vec::with_capacity(steps),
            x: Array2::zeros((steps, nq + nv)),
            f: Array2::zeros((steps, nq + nv)),
            u: Array2::zeros((steps, nu)),
            a: Array3::zeros((steps, 2 * nv, 2 * nv)),
            b: Array3::zeros((steps, 2 * nv, nu)),
            c: Array3::zeros((steps, 2 * nv, np)),
            determined: Vec::with_capacity(steps),
            reports: Vec::with_capacity(steps),
            modes: Vec::with_capacity(steps),
        }
    }

    fn fill(
        &self,
        result: &mut Linearization,
        k: usize,
        time: f64,
        state: &State<f64>,
    ) -> Result<(), Error> {
        let step = &self.jacobian;
        let finite = step.next.q.iter().chain(&step.next.v).all(|x| x.is_finite());
        if !finite || step.report.worst.status == Status::InvalidInput {
            let message = format!(
                "the step from state {k}, at {time} s, does not give finite numbers: an input or a \
                 velocity is too large, or a number of the scene too extreme"
            );
            return Err(Error::input(self.name, None, "", message));
        }
        for (stack, state) in [(&mut result.x, state), (&mut result.f, &step.next)] {
            let numbers = state.q.iter().chain(&state.v);
            stack.row_mut(k).iter_mut().zip(numbers).for_each(|(to, &from)| *to = from);
        }
        for (to, &input) in result.u.row_mut(k).iter_mut().zip(&self.inputs) {
            *to = self.acting[input];
        }
        copy(&step.a, result.a.index_axis_mut(Axis(0), k));
        copy(&step.b, result.b.index_axis_mut(Axis(0), k));
        copy(&step.c, result.c.index_axis_mut(Axis(0), k));
        result.times.push(time);
        result.determined.push(step.is_determined());
        result.reports.push(step.report);
        result.modes.push(step.modes.clone());
        Ok(())
    }
}

fn copy(from: &DMatrix<f64>, mut to: ArrayViewMut2<f64>) {
    for ((i, j), to) in to.indexed_iter_mut() {
        *to = from[(i, j)];
    }
}
