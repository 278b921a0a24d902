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
    /// Time since the start, s, by which pushes act; nothing if they never do.
    pub time: Option<f64>,
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
            time: Some(0.0),
            inputs: Vec::new(),
            report: StepReport::default(),
        }
    }

    /// One step under `inputs`, see [`step`].
    pub fn step(&mut self, inputs: &[T]) -> StepReport {
        let System { model, settings, .. } = self.system;
        let mut inputs = inputs;
        if !model.pushes.is_empty() {
            self.inputs.clear();
            self.inputs.extend_from_slice(inputs);
            // What is over acts no more.
            let time = self.time.unwrap_or(f64::INFINITY);
            model.schedule(time, settings.time_step, &mut self.inputs);
            inputs = &self.inputs;
        }
        self.time = self.time.map(|time| time + settings.time_step);
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
