//! A rollout as a computation in steps, for gradients in little memory.

use super::{StepMemory, Workspace, step};
use crate::ad::{Real, Steps};
use crate::model::{Model, Parameters, Settings, System};
use crate::state::State;

/// What is summed over a rollout.
pub trait RolloutLoss {
    /// What the state after `k` steps adds.
    fn of<T: Real>(&self, k: usize, parameters: &Parameters<T>, state: &State<T>) -> T;
}

/// A rollout from a fixed state under constant inputs, as a function of all its physical parameters
/// ([`Parameters::values`]): what [`Checkpointing`](crate::ad::Checkpointing) differentiates.
///
/// The state of a step is `q`, `v` and the impulses of the last step, from which solvers start, for
/// every point that may touch.
pub struct RolloutSteps<'a, L> {
    /// Bodies, ground, contact pairs.
    pub model: &'a Model,
    /// Numbers of the method.
    pub settings: &'a Settings,
    /// The state before the first step.
    pub initial: &'a State<f64>,
    /// What every step takes, see [`step`].
    pub inputs: &'a [f64],
    /// What is summed.
    pub loss: L,
}

/// Scratch memory of a [`RolloutSteps`].
pub struct RolloutWorkspace<T: Real> {
    parameters: Parameters<T>,
    inputs: Vec<T>,
    state: State<T>,
    next: State<T>,
    memory: StepMemory<T>,
    workspace: Workspace<T>,
}

impl<T: Real> Default for RolloutWorkspace<T> {
    fn default() -> Self {
        RolloutWorkspace {
            parameters: Parameters { values: Vec::new() },
            inputs: Vec::new(),
            state: State { q: Vec::new(), v: Vec::new() },
            next: State { q: Vec::new(), v: Vec::new() },
            memory: StepMemory::default(),
            workspace: Workspace::default(),
        }
    }
}

impl<L> RolloutSteps<'_, L> {
    /// Splits the numbers of a step into q, v and impulses.
    fn split<'s, T>(&self, numbers: &'s [T]) -> [&'s [T]; 3] {
        let (q, rest) = numbers.split_at(self.initial.q.len());
        let (v, impulses) = rest.split_at(self.initial.v.len());
        [q, v, impulses]
    }
}

impl<L: RolloutLoss> Steps for RolloutSteps<'_, L> {
    type Memory = ();
    type Workspace<T: Real> = RolloutWorkspace<T>;

    fn start<T: Real>(&self, _: &[T], numbers: &mut Vec<T>) {
        let State { q, v } = self.initial;
        numbers.extend(q.iter().chain(v).map(|&x| T::constant(x)));
        numbers.resize(numbers.len() + StepMemory::<T>::numbers(self.model), T::zero());
    }

    fn step<T: Real>(
        &self,
        k: usize,
        parameters: &[T],
        numbers: &mut [T],
        (): &mut (),
        w: &mut RolloutWorkspace<T>,
    ) {
        replace(&mut w.parameters.values, parameters);
        w.inputs.clear();
        w.inputs.extend(self.inputs.iter().map(|&x| T::constant(x)));
        let duration = self.settings.time_step;
        self.model.schedule(k as f64 * duration, duration, &mut w.inputs);
        let [q, v, impulses] = self.split(numbers);
        replace(&mut w.state.q, q);
        replace(&mut w.state.v, v);
        w.memory.read(self.model, impulses);
        let system =
            System { model: self.model, parameters: &w.parameters, settings: self.settings };
        step(&system, &w.state, &w.inputs, &mut w.memory, &mut w.workspace, &mut w.next);
        let (q, rest) = numbers.split_at_mut(w.next.q.len());
        let (v, impulses) = rest.split_at_mut(w.next.v.len());
        q.copy_from_slice(&w.next.q);
        v.copy_from_slice(&w.next.v);
        w.memory.write(self.model, impulses);
    }

    fn loss<T: Real>(
        &self,
        k: usize,
        parameters: &[T],
        numbers: &[T],
        w: &mut RolloutWorkspace<T>,
    ) -> T {
        replace(&mut w.parameters.values, parameters);
        let [q, v, _] = self.split(numbers);
        replace(&mut w.state.q, q);
        replace(&mut w.state.v, v);
        self.loss.of(k, &w.parameters, &w.state)
    }
}

fn replace<T: Copy>(to: &mut Vec<T>, from: &[T]) {
    to.clear();
    to.extend_from_slice(from);
}
