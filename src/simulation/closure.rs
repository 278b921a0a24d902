//! Loops that a step has opened are closed again.
//!
//! A step keeps the velocities that would open a loop at zero, at the configuration it starts from; along
//! curves that leaves the loop open by some (dt v)². Newton steps on the violation phi,
//! dq = -M^-1 J' (J M^-1 J')^-1 phi, close it: the least displacement in the metric of the mass
//! matrix (with the damping of joints over a second), found by the node that finds impulses. Their number is
//! decided on values; a loop that stays open is reported as not solved. Where none is open, derivatives take a displacement of nothing:
//! what opens one would be closed.

use crate::ad::Real;
use crate::argmin::{ContactResiduals, Report, Status};
use crate::contact::{Conflict, Contacts};
use crate::dynamics::FreeMotion;
use crate::model::System;
use crate::simulation::StepReport;
use crate::state::State;

/// Violations up to this, m or rad, are left.
const CLOSED: f64 = 1e-13;
/// Violations from which on a loop counts as open, m or rad.
const UNCLOSED: f64 = 1e-9;
/// Newton steps at most; each squares the violation.
const ROUNDS: usize = 6;

/// Scratch memory.
pub(super) struct Closure<T: Real> {
    motion: FreeMotion<T>,
    contacts: Contacts<T>,
    still: Vec<T>,
    velocities: Vec<T>,
    moved: State<T>,
    /// The configuration before the last of the Newton steps.
    before: Vec<T>,
    displacements: usize,
    /// How many are made at least.
    least: usize,
}

impl<T: Real> Default for Closure<T> {
    fn default() -> Self {
        Closure {
            motion: FreeMotion::default(),
            contacts: Contacts::default(),
            still: Vec::new(),
            velocities: Vec::new(),
            moved: State::default(),
            before: Vec::new(),
            displacements: 0,
            least: T::ORDER,
        }
    }
}

impl Closure<f64> {
    /// One that makes a displacement at least, of which a derivative is made.
    pub fn displaced() -> Self {
        Closure { least: 1, ..Closure::default() }
    }
}

impl<T: Real> Closure<T> {
    /// Moves `state` until all loops are closed; its velocities stay as they are.
    /// Returns equalities that could not be closed.
    pub fn close(
        &mut self,
        system: &System<T>,
        state: &mut State<T>,
        report: &mut StepReport,
    ) -> Option<Conflict> {
        self.close_by(system, state, report, |_, _, _, _| ())
    }

    /// As [`close`](Self::close); calls `each` with the number of each displacement before it is made, from where, and the
    /// problem that it solves. Of these [`displacements`](Self::displacements) are made: the last may be taken back.
    pub fn close_by(
        &mut self,
        system: &System<T>,
        state: &mut State<T>,
        report: &mut StepReport,
        mut each: impl FnMut(usize, &State<T>, &FreeMotion<T>, &Contacts<T>),
    ) -> Option<Conflict> {
        let model = system.model;
        self.still.clear();
        self.still.resize(model.nv() + model.nu(), T::zero());
        self.velocities.clone_from(&state.v);
        state.v.fill(T::zero());
        let (mut least, mut conflict) = (f64::INFINITY, None);
        // How the last displacement was found, which counts if it is kept.
        let (mut last, mut found) = (StepReport::default(), StepReport::default());
        // Numbers that are not finite are no closer in the first round already.
        self.before.clone_from(&state.q);
        self.displacements = 0;
        for round in 0..=ROUNDS {
            // Displacements are velocities over a second.
            self.motion.start(system, state, &self.still, T::one());
            self.motion.rest();
            let again = self.displacements < self.least;
            let open = self.contacts.close_loops(system, state, &self.motion, (CLOSED, again));
            let closer = open.is_none_or(|open| open < least || again && open <= CLOSED);
            if closer {
                found.merge(&last);
            }
            let Some(open) = open else {
                least = 0.0;
                break;
            };
            // Near enough a step squares the violation; from too far off it can lead away.
            if !closer || round == ROUNDS {
                if !closer && self.displacements <= self.least && open <= UNCLOSED {
                    // What would open a loop is closed, however near it is: derivatives stay.
                    for (q, before) in state.q.iter_mut().zip(&self.before) {
                        *q += T::constant(before.value() - q.value());
                    }
                } else if !closer {
                    state.q.copy_from_slice(&self.before);
                    self.displacements = self.displacements.saturating_sub(1);
                }
                if least.min(open) > UNCLOSED {
                    let status = Status::IterationLimit;
                    let unclosed = Report { status, residual: open, ..Report::default() };
                    report.merge(&found);
                    report.add(unclosed, ContactResiduals::default());
                    let open = least.min(open);
                    let conflict = conflict.or_else(|| self.contacts.open_loops(model, open));
                    return self.end(state, conflict);
                }
                least = least.min(open);
                break;
            }
            least = open;
            self.before.clone_from(&state.q);
            each(round, state, &self.motion, &self.contacts);
            self.displacements += 1;
            self.moved.q.clone_from(&state.q);
            self.moved.v.clone_from(&state.v);
            for (tree, entry) in model.trees.iter().enumerate() {
                let velocity = &self.contacts.velocities[entry.v.clone()];
                // A turn about one axis is always found; what is not finite the next round sees.
                let _found = self.motion.advance(model, tree, velocity, false, &mut self.moved);
            }
            state.q.copy_from_slice(&self.moved.q);
            last = StepReport::default();
            for island in self.contacts.reports() {
                last.add(island.report, island.residuals);
                conflict = conflict.or(island.conflict);
            }
        }
        // Whatever contradicted itself on the way, they are closed: the last displacements are as small as the rounding of
        // what asks for them, so that parallel conditions of a loop agree on few of their digits.
        if found.unsolved > 0 {
            found.unsolved = 0;
            (found.worst.status, found.worst.residual) = (Status::Solved, least);
            found.residuals = ContactResiduals::default();
        }
        report.merge(&found);
        self.end(state, None)
    }

    /// How many displacements the last closure is made of.
    pub fn displacements(&self) -> usize {
        self.displacements
    }

    fn end(&self, state: &mut State<T>, conflict: Option<Conflict>) -> Option<Conflict> {
        state.v.copy_from_slice(&self.velocities);
        conflict
    }
}
