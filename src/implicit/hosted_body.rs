//! A body whose vertices touch what others move too: its part of a contact problem that is solved elsewhere.

use super::condensed_body::CondensedBody;
use super::condensed_contact::Posed;
use super::contact_step::ContactStep;
use super::convergence::Convergence;
use super::momentum::Momentum;
use super::newton::NewtonSettings;
use super::vertex_contact::VertexContact;
use super::vertex_newton::Demand;
use crate::argmin::{Mode, Report, Status};

/// The body, with its memory. Reused with the same elements and vertices, it decides no order twice.
#[derive(Debug, Default)]
pub(crate) struct HostedBody {
    body: CondensedBody,
    posed: Posed,
    search: Convergence,
    /// Whether the last step was taken whole, and how the search ended with it.
    whole: bool,
    ended: Option<Status>,
}

impl HostedBody {
    /// Begins a step from the velocities and impulses in `step`. False, with the step reported as invalid, if there is none.
    #[must_use]
    pub fn begin(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
        settings: NewtonSettings,
    ) -> bool {
        self.search = Convergence::new(settings);
        let sound = step.begin(momentum, contacts);
        if sound {
            step.activate(momentum, contacts);
        }
        sound
    }

    /// Condenses the body on the vertices that may touch, for one more iteration. Why there is none, if there is none.
    pub fn condense(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &ContactStep,
    ) -> Result<(), Status> {
        if !self.search.next() {
            return Err(Status::IterationLimit);
        }
        if !self.body.condense(momentum, contacts, step, self.search.reusable) {
            return Err(Status::Stalled);
        }
        self.posed.ask(momentum, contacts, step, self.body.condensation.kept());
        Ok(())
    }

    /// L of the mass of the kept vertices.
    pub fn mass_factor(&self) -> &[f64] {
        &self.body.condensation.mass_factor
    }

    /// Their velocities without contact (m/s).
    pub fn free(&self) -> &[f64] {
        &self.body.free
    }

    /// Whether no vertex has two contacts. Tied nodes touch nothing.
    pub fn is_unique(&self, contacts: &[VertexContact], active: &[usize]) -> bool {
        let both = self.posed.demands.iter().zip(active);
        let touching = both.filter(|(_, k)| !contacts[**k].is_tie);
        touching.map(|(demand, _)| demand.place).is_sorted_by(|a, b| a < b)
    }

    /// What their contacts ask, as they stand in [`ContactStep::active`].
    pub fn demands(&self) -> &[Demand] {
        &self.posed.demands
    }

    /// Takes velocities of the kept vertices (m/s), and impulses and modes of their contacts, in a problem that was solved like
    /// `report` says; all other nodes follow. False if there is no step.
    pub fn follow(
        &mut self,
        momentum: &Momentum<f64>,
        step: &mut ContactStep,
        (velocity, report): (&[f64], Report),
        outcomes: impl Iterator<Item = ([f64; 3], Mode)>,
    ) -> bool {
        step.contact = report;
        step.kept.clear();
        step.kept.extend_from_slice(self.body.condensation.kept());
        step.solution.modes.clear();
        step.solution.impulses.clear();
        for (impulse, mode) in outcomes {
            step.solution.modes.push(mode);
            step.solution.impulses.extend(impulse);
        }
        step.take_impulses();
        let CondensedBody { moved, start, .. } = &mut self.body;
        moved.clear();
        moved.extend(velocity.iter().zip(start).map(|(v, u)| v - *u));
        let whole = self.body.follow(momentum, step);
        self.whole = whole.unwrap_or_default();
        whole.is_some()
    }

    /// Measures what is left of the momentum: how the search ends with it, if it does.
    pub fn measure(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &mut ContactStep,
    ) -> Option<Status> {
        let added = step.add_passing(contacts);
        step.report.residual = self.body.measure(momentum, contacts, step);
        self.ended = self.search.ended(self.whole && !added, step.report.residual);
        self.ended
    }

    /// Ends the step as its last measurement said, or because there is no other iteration.
    pub fn finish(&self, step: &mut ContactStep, status: Result<(), Status>) {
        let status = status.err().or(self.ended).unwrap_or(Status::Stalled);
        step.finish(status, &self.search);
    }
}
