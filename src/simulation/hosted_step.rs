//! A step of rigid bodies with guests, which touch them and are none: on values only.

use super::step::finish;
use super::step_memory::StepMemory;
use super::step_report::StepReport;
use super::workspace::Workspace;
use crate::contact::{Contacts, Guests, Impulses};
use crate::dynamics::FreeMotion;
use crate::model::System;
use crate::state::State;

/// The rigid bodies of a step, to be solved as often as guests ask.
pub(crate) struct Host<'a> {
    /// What they are.
    pub system: &'a System<'a, f64>,
    /// How they move without contact.
    pub motion: &'a FreeMotion<f64>,
    contacts: &'a mut Contacts<f64>,
    impulses: &'a Vec<Impulses<f64>>,
}

impl Host<'_> {
    /// Solves their contact problems with guests as they are.
    pub fn solve(&mut self, guests: &mut Guests) {
        self.contacts.solve_with(self.system, self.motion, self.impulses, guests);
    }

    /// Their velocities at the end of the step, as they were solved last; at first those without contact.
    pub fn velocities(&self) -> &[f64] {
        &self.contacts.velocities
    }
}

/// As [`step`](super::step), with guests that go as fast as `haste` (m/s) and push others: `solve` is to solve the contact problems of the [`Host`] at least once.
pub(crate) fn hosted_step(
    system: &System<f64>,
    state: &State<f64>,
    inputs: &[f64],
    (memory, workspace): (&mut StepMemory<f64>, &mut Workspace<f64>),
    next: &mut State<f64>,
    (haste, solve): (f64, &mut dyn FnMut(&mut Host)),
) -> StepReport {
    memory.resize(system.model.trees.len());
    let Workspace { motion, contacts, impacts, .. } = workspace;
    motion.start(system, state, inputs, system.settings.time_step);
    impacts.clear();
    motion.hasten(haste);
    contacts.find(system, state, motion);
    solve(&mut Host { system, motion, contacts, impulses: &memory.trees });
    contacts.remember(system, motion, &mut memory.trees);
    finish(system, state, workspace, next)
}
