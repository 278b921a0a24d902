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
            report: StepReport::default(),
        }
    }

    /// One step under the given wrenches, see [`step`].
    pub fn step(&mut self, wrenches: &[T]) -> StepReport {
        let report = step(
            &self.system,
            &self.state,
            wrenches,
            &mut self.memory,
            &mut self.workspace,
            &mut self.next,
        );
        std::mem::swap(&mut self.state, &mut self.next);
        self.report.merge(&report);
        report
    }

    /// `count` steps under the same wrenches.
    pub fn advance(&mut self, count: usize, wrenches: &[T]) {
        for _ in 0..count {
            self.step(wrenches);
        }
    }
}
