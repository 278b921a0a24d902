//! A step of rigid bodies with guests, which touch them and are none: on values only.

use super::implicit_step::Search;
use super::step::{finish, finish_implicit};
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
    pub motion: &'a mut FreeMotion<f64>,
    contacts: &'a mut Contacts<f64>,
    impulses: &'a Vec<Impulses<f64>>,
    implicit: Option<Implicit<'a>>,
    /// Whether momenta are others than those of the problems that were solved last.
    stale: bool,
}

/// What an implicit step is of, and Newton's method on its momenta.
struct Implicit<'a> {
    step: (&'a State<f64>, &'a [f64], f64),
    search: &'a mut Search,
}

impl Host<'_> {
    /// Solves their contact problems with guests as they are.
    pub fn solve(&mut self, guests: &mut Guests) {
        if std::mem::take(&mut self.stale) {
            self.contacts.start(self.motion);
        }
        self.contacts.solve_with(self.system, self.motion, self.impulses, guests);
        if let Some(Implicit { search, .. }) = &mut self.implicit {
            search.take(self.motion, self.contacts);
        }
    }

    /// Begins Newton's method on their momenta, if they are those at the end of the step, from where they were solved last, and
    /// [linearises](Self::linearize) them: also where they are met already, since derivatives are those of what is linearised.
    pub fn begin(&mut self) {
        if let Some(Implicit { step, search }) = &mut self.implicit {
            search.begin(self.system, *step, (self.motion, self.contacts));
            search.has_ended(self.system, *step, self.motion);
            self.linearize();
        }
    }

    /// Meets their momenta with guests as they are.
    pub fn settle(&mut self, guests: &mut Guests) {
        if self.implicit.is_none() {
            return;
        }
        self.begin();
        let mut met = false;
        loop {
            self.solve(guests);
            // Once more where they are met, so that they are linearised there.
            let ended = self.has_ended();
            if met && ended || !self.linearize() {
                return;
            }
            met = ended;
        }
    }

    /// Whether their momenta are those at the end of the step.
    pub fn is_implicit(&self) -> bool {
        self.implicit.is_some()
    }

    /// Measures what is left of their momenta: whether the search ends with that.
    pub fn has_ended(&mut self) -> bool {
        let Some(Implicit { step, search }) = &mut self.implicit else { return true };
        search.has_ended(self.system, *step, self.motion)
    }

    /// Linearises their momenta where they were solved last, for the next problem. False if there is none.
    pub fn linearize(&mut self) -> bool {
        let Some(Implicit { step, search }) = &mut self.implicit else { return true };
        let sound = search.advance(self.system, *step, self.motion);
        self.stale |= sound;
        sound
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
    let Workspace { motion, contacts, impacts, implicit, .. } = workspace;
    let backward = system.settings.integrator.is_backward();
    let implicit = backward.then(|| implicit.hosted(system, state, inputs, memory));
    let (start, rate) = match &implicit {
        Some((start, rate, _)) => (*start, *rate),
        None => (state, system.settings.time_step),
    };
    motion.start(system, start, inputs, rate);
    impacts.clear();
    motion.hasten(haste);
    contacts.find(system, start, motion);
    contacts.start(motion);
    let implicit =
        implicit.map(|(start, rate, search)| Implicit { step: (start, inputs, rate), search });
    let impulses = &memory.trees;
    let mut host = Host { system, motion, contacts, impulses, implicit, stale: false };
    solve(&mut host);
    let own = host.implicit.map(|own| own.search.report);
    contacts.remember(system, motion, &mut memory.trees);
    match own {
        Some(own) => finish_implicit(system, own, workspace, next),
        None => finish(system, state, workspace, next),
    }
}
