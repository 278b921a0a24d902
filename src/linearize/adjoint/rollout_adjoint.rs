//! Many steps backwards.

use super::parts::Adjoints;
use super::step_adjoint::{StepAdjoint, TakenStep, Way};
use crate::ad;
use crate::model::System;
use crate::simulation::{SolvedStep, StepMemory, StepReport, Workspace, step};
use crate::state::State;

/// A rollout that keeps what its derivatives need, and the sweep back over it: memory is linear in the number of steps, and
/// is kept for the next rollout, which allocates nothing then.
///
/// ```
/// use stiction::linearize::RolloutAdjoint;
/// use stiction::model::{Scene, System};
///
/// let text = "simulation.time_step = 0.01
/// [[body]]
/// name = 'ball'
/// mass = 2
/// shape = { sphere = 0.1 }";
/// let Scene { model, parameters, settings, state, inputs, .. } = Scene::parse(text, "ball.toml")?;
/// let system = System { model: &model, parameters: &parameters, settings: &settings };
/// let mut rollout = RolloutAdjoint::default();
/// rollout.start(&state);
/// for _ in 0..10 {
///     rollout.step(&system, &inputs);
/// }
/// // The height at the end, which is the third number of the tangent vector.
/// rollout.reverse(&system, |k, adjoint| if k == 10 { adjoint[2] = 1.0 })?;
/// let gravity = model.parameters_named(&["gravity/z".into()], "ball.toml")?[0].slots[0];
/// // dt^2 (1 + 2 + ... + 10)
/// assert!((rollout.adjoints().parameters[gravity] - 55e-4).abs() < 1e-15);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct RolloutAdjoint {
    /// States, one more than steps, and what each step starts from besides; those beyond are of rollouts before.
    states: Vec<State<f64>>,
    memories: Vec<StepMemory<f64>>,
    inputs: Vec<Vec<f64>>,
    inputs_adjoints: Vec<Vec<f64>>,
    solved: Vec<SolvedStep>,
    steps: usize,
    workspace: Workspace<f64>,
    report: StepReport,
    adjoint: StepAdjoint,
    adjoints: Adjoints,
    end: Vec<f64>,
    /// What the step after adds to the adjoint of the state before it.
    past: Vec<f64>,
    recorded: usize,
    begin: f64,
}

impl RolloutAdjoint {
    /// Starts from `state`, with nothing remembered.
    pub fn start(&mut self, state: &State<f64>) {
        self.steps = 0;
        self.begin = 0.0;
        self.report = StepReport::default();
        self.reserve();
        self.states[0].clone_from(state);
        self.memories[0].clear();
    }

    /// Says at which time (s) the first step begins, which pushes act by; nothing if they never do. Without it that is 0.
    pub fn set_time(&mut self, time: Option<f64>) {
        self.begin = time.unwrap_or(f64::INFINITY);
    }

    /// Starts from what a step before left too.
    pub fn start_with(&mut self, state: &State<f64>, memory: &StepMemory<f64>) {
        self.start(state);
        self.memories[0].clone_from(memory);
    }

    /// One step under `inputs` (those of [`step`]).
    pub fn step(&mut self, system: &System<f64>, inputs: &[f64]) -> StepReport {
        let k = self.steps;
        self.steps += 1;
        self.reserve();
        let own = &mut self.inputs[k];
        own.clear();
        own.extend_from_slice(inputs);
        let duration = system.settings.time_step;
        system.model.schedule(self.begin + k as f64 * duration, duration, own);
        let inputs = &*own;
        // So that a copy of it keeps the memory that it is copied into.
        self.memories[0].resize(system.model.trees.len());
        let (before, after) = self.memories.split_at_mut(k + 1);
        let memory = &mut after[0];
        memory.clone_from(&before[k]);
        let (before, after) = self.states.split_at_mut(k + 1);
        let report = step(system, &before[k], inputs, memory, &mut self.workspace, &mut after[0]);
        self.solved[k].keep(&self.workspace);
        self.report.merge(&report);
        report
    }

    /// Room for the step that comes.
    fn reserve(&mut self) {
        if self.states.len() <= self.steps {
            self.states.resize_with(self.steps + 1, State::default);
            self.memories.resize_with(self.steps + 1, StepMemory::default);
            self.inputs.resize_with(self.steps, Vec::default);
            self.inputs_adjoints.resize_with(self.steps, Vec::default);
            self.solved.resize_with(self.steps, SolvedStep::default);
        }
    }

    /// How many steps were taken.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The state after `k` steps.
    ///
    /// # Panics
    /// If there were fewer.
    pub fn state(&self, k: usize) -> &State<f64> {
        assert!(k <= self.steps, "there were only {} steps", self.steps);
        &self.states[k]
    }

    /// How the contact problems of all steps were solved.
    pub fn report(&self) -> &StepReport {
        &self.report
    }

    /// Sweeps back over all steps: `seed(k, adjoint)` adds the gradient of what is differentiated in the state after `k` steps
    /// to `adjoint`, as a tangent vector `[dq; dv]`, from the last state to the first. What comes of it are
    /// [`adjoints`](Self::adjoints).
    ///
    /// # Errors
    /// As [`StepAdjoint::pull_back`].
    pub fn reverse(
        &mut self,
        system: &System<f64>,
        mut seed: impl FnMut(usize, &mut [f64]),
    ) -> Result<(), ad::Error> {
        self.reverse_from(system, |k, _, adjoint| seed(k, adjoint))
    }

    /// The same; `seed(k, state, adjoint)` is told the state.
    ///
    /// # Errors
    /// As there.
    pub fn reverse_from(
        &mut self,
        system: &System<f64>,
        mut seed: impl FnMut(usize, &State<f64>, &mut [f64]),
    ) -> Result<(), ad::Error> {
        self.recorded = 0;
        self.adjoints.fit(system.model);
        self.past.clear();
        self.past.resize(2 * system.model.nv(), 0.0);
        seed(self.steps, &self.states[self.steps], &mut self.adjoints.state);
        for k in (0..self.steps).rev() {
            let taken = TakenStep {
                system,
                state: &self.states[k],
                inputs: &self.inputs[k],
                memory: &self.memories[k],
                solved: &self.solved[k],
                next: &self.states[k + 1],
            };
            std::mem::swap(&mut self.end, &mut self.adjoints.state);
            self.adjoints.state.clear();
            self.adjoints.state.resize(self.end.len(), 0.0);
            self.adjoints.inputs.fill(0.0);
            self.adjoints.past.fill(0.0);
            if self.adjoint.pull_back(&taken, &self.end, &mut self.adjoints)? == Way::Tape {
                self.recorded += 1;
            }
            // Each step has inputs of its own.
            let own = &mut self.inputs_adjoints[k];
            own.clone_from(&self.adjoints.inputs);
            let duration = system.settings.time_step;
            system.model.schedule(self.begin + k as f64 * duration, duration, own);
            let Adjoints { state, past, .. } = &mut self.adjoints;
            state.iter_mut().zip(&self.past).for_each(|(to, x)| *to += x);
            std::mem::swap(&mut self.past, past);
            seed(k, &self.states[k], &mut self.adjoints.state);
        }
        // What the first step of a rollout that goes on from another has of the state before it.
        std::mem::swap(&mut self.past, &mut self.adjoints.past);
        Ok(())
    }

    /// Of the last sweep the adjoints of the inputs of step `k`.
    ///
    /// # Panics
    /// If there were fewer steps.
    pub fn input_adjoints(&self, k: usize) -> &[f64] {
        assert!(k < self.steps, "there were only {} steps", self.steps);
        &self.inputs_adjoints[k]
    }

    /// What the last sweep found: of the first state and of all parameters; of the inputs those of the first step.
    pub fn adjoints(&self) -> &Adjoints {
        &self.adjoints
    }

    /// How many steps of the last sweep went by the tape.
    pub fn recorded_steps(&self) -> usize {
        self.recorded
    }
}
