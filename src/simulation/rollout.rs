//! Many steps in a row.

use super::{StepMemory, StepReport, Workspace, step};
use crate::ad::Real;
use crate::model::System;
use crate::state::State;

/// A simulation under way: the state, what the next step remembers, and the memory it works in.
pub struct Rollout<'a, T: Real> {
    system: System<'a, T>,
    /// The present state.
    pub state: State<T>,
    /// What the next step starts its solvers from.
    pub memory: StepMemory<T>,
    /// Contacts of the last step.
    pub workspace: Workspace<T>,
    next: State<T>,
    /// The time at which it began, s, by which pushes act; nothing if they never do. And the steps since.
    begin: Option<f64>,
    taken: usize,
    inputs: Vec<T>,
    /// All steps so far.
    pub report: StepReport,
}

impl<'a, T: Real> Rollout<'a, T> {
    /// Starts from `state`, with nothing remembered.
    pub fn new(system: System<'a, T>, state: State<T>) -> Self {
        Rollout {
            system,
            next: state.clone(),
            state,
            memory: StepMemory::default(),
            workspace: Workspace::default(),
            begin: Some(0.0),
            taken: 0,
            inputs: Vec::new(),
            report: StepReport::default(),
        }
    }

    /// Says at which time (s) the next step begins, which pushes act by; nothing if they never do. A new rollout begins at 0.
    pub fn set_time(&mut self, time: Option<f64>) {
        (self.begin, self.taken) = (time, 0);
    }

    /// The time at which the next step begins, s, see [`set_time`](Self::set_time).
    pub fn time(&self) -> Option<f64> {
        let duration = self.system.settings.time_step;
        self.begin.map(|begin| begin + self.taken as f64 * duration)
    }

    /// One step under `inputs`, see [`step`].
    pub fn step(&mut self, inputs: &[T]) -> StepReport {
        let System { model, settings, .. } = self.system;
        let mut inputs = inputs;
        if !model.pushes.is_empty() {
            self.inputs.clear();
            self.inputs.extend_from_slice(inputs);
            // What is over acts no more.
            let time = |begin: f64| begin + self.taken as f64 * settings.time_step;
            let time = self.begin.map_or(f64::INFINITY, time);
            model.schedule(time, settings.time_step, &mut self.inputs);
            inputs = &self.inputs;
        }
        self.taken += 1;
        let report = step(
            &self.system,
            &self.state,
            inputs,
            &mut self.memory,
            &mut self.workspace,
            &mut self.next,
        );
        std::mem::swap(&mut self.state, &mut self.next);
        self.report.merge(&report);
        report
    }

    /// `count` steps under the same inputs.
    pub fn advance(&mut self, count: usize, inputs: &[T]) {
        for _ in 0..count {
            self.step(inputs);
        }
    }
}
