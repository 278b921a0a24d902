//! One step of the time-stepping map.

use super::StepMemory;
use super::impacts::Impacts;
use crate::ad::Real;
use crate::argmin::{ContactResiduals, Mode, Report, Status};
use crate::contact::{ContactRecord, Contacts, Decisions};
use crate::dynamics::FreeBody;
use crate::model::{ContactSolver, Settings, System};
use crate::state::{NV, State};

/// Scratch memory of a step. Results do not depend on what it held before.
pub struct Workspace<T: Real> {
    free: Vec<FreeBody<T>>,
    contacts: Contacts<T>,
    impacts: Impacts<T>,
}

impl<T: Real> Default for Workspace<T> {
    fn default() -> Self {
        Workspace { free: Vec::new(), contacts: Contacts::default(), impacts: Impacts::default() }
    }
}

impl<T: Real> Workspace<T> {
    /// The contacts of the last step; first the impacts it was split at.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactRecord> {
        self.impacts.records.iter().chain(&self.contacts.records)
    }

    /// What the touching contacts of the last step did: pair, feature, mode, what decided the target and
    /// the coefficient of friction. Two states between which this differs are separated by a kink of
    /// the step.
    pub fn modes(&self) -> impl Iterator<Item = (usize, usize, Mode, Decisions)> {
        self.contacts().filter(|contact| contact.mode != Mode::Break).map(|contact| {
            (contact.pair, contact.feature, contact.mode, (contact.target, contact.regime))
        })
    }
}

/// How the contact problems of a step, or of several, were solved: worst status and residual, least
/// margin, sum of the iterations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepReport {
    /// The worst of the problems.
    pub worst: Report,
    /// How many problems did not meet the tolerance.
    pub unsolved: usize,
    /// The largest residuals of each part of the contact law.
    pub residuals: ContactResiduals,
    /// How many steps there were.
    pub steps: usize,
}

impl Default for StepReport {
    fn default() -> Self {
        let worst = Report { margin: f64::INFINITY, ..Report::default() };
        let residuals = ContactResiduals::default();
        StepReport { worst, unsolved: 0, residuals, steps: 0 }
    }
}

/// Residuals of the contact law from which on a solver that solves another law is worth a warning.
const APPRECIABLE: f64 = 1e-3;

impl StepReport {
    /// Adds one problem.
    fn add(&mut self, report: Report, residuals: ContactResiduals) {
        let unsolved = usize::from(!report.status.is_solved());
        self.merge(&StepReport { worst: report, unsolved, residuals, steps: 0 });
    }

    /// What a reader of the results should know about the solution of the contact problems, in
    /// sentences; nothing if all is well.
    pub fn warnings(&self, settings: &Settings) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.unsolved > 0 {
            let problems = if self.unsolved == 1 { "problem was" } else { "problems were" };
            warnings.push(format!(
                "{} contact {problems} not solved in {} steps ({}; largest residual {:.1e}, tolerance \
                 {:e}): the results are the best found and complete, but not to be trusted there; try {}",
                self.unsolved,
                self.steps,
                self.worst.status,
                self.worst.residual,
                settings.tolerance,
                match settings.solver {
                    ContactSolver::GaussSeidel => "solver \"coupled\", which solves the same problem",
                    _ => "a shorter time step or more compliance",
                }
            ));
        }
        let ContactResiduals { complementarity, cone, dissipation } = self.residuals;
        let most = complementarity.max(cone).max(dissipation);
        if most > APPRECIABLE && self.unsolved == 0 {
            let parts = [
                (complementarity, "bodies penetrate, pull or push from apart"),
                (cone, "friction leaves its cone"),
                (dissipation, "friction does not oppose the slip"),
            ];
            let parts: Vec<String> = parts
                .iter()
                .filter(|(size, _)| *size > APPRECIABLE)
                .map(|(size, what)| format!("{what} by up to {:.1} %", 100.0 * size))
                .collect();
            warnings.push(format!(
                "solver \"{}\" departs from the contact law: {} of the largest contact velocity of the \
                 step; \"coupled\" does not",
                settings.solver.name(),
                parts.join(", ")
            ));
        }
        warnings
    }

    /// Adds the steps of another report.
    pub fn merge(&mut self, other: &StepReport) {
        self.unsolved += other.unsolved;
        self.steps += other.steps;
        self.residuals = self.residuals.max(other.residuals);
        // An inadmissible input is worse than any residual.
        if !other.worst.status.is_solved() && self.worst.status != Status::InvalidInput {
            self.worst.status = other.worst.status;
        }
        self.worst.iterations += other.worst.iterations;
        let residual = other.worst.residual;
        let residual = if residual.is_nan() { f64::INFINITY } else { residual };
        self.worst.residual = self.worst.residual.max(residual);
        self.worst.margin = self.worst.margin.min(other.worst.margin);
    }
}

/// Advances `state` by one time step into `next`: `LeLidec21`, Algorithm 1, with the contact solver
/// of the settings.
///
/// `wrenches` holds six numbers a body: the force on its origin in the world, N, and the torque in
/// its own frame, N m. Nothing is allocated once `workspace`, `memory` and `next` have grown to
/// size (on `f64` and duals; the tape grows).
pub fn step<T: Real>(
    system: &System<T>,
    state: &State<T>,
    wrenches: &[T],
    memory: &mut StepMemory<T>,
    workspace: &mut Workspace<T>,
    next: &mut State<T>,
) -> StepReport {
    let dt = T::constant(system.settings.time_step);
    let bodies = state.bodies();
    memory.resize(bodies);
    next.q.resize(state.q.len(), T::zero());
    next.v.resize(state.v.len(), T::zero());
    let mut report = StepReport { steps: 1, ..StepReport::default() };
    let Workspace { free, contacts, impacts } = workspace;
    free.clear();
    for body in 0..bodies {
        let wrench = &wrenches[NV * body..NV * (body + 1)];
        free.push(FreeBody::new(system.parameters, state, body, wrench, dt));
    }
    impacts.clear();
    if system.settings.split_impacts {
        impacts.split(system, state, wrenches, free);
    }
    contacts.resolve(system, free, &mut memory.bodies);
    if contacts.unfinished {
        let status = Status::IterationLimit;
        let residual = f64::INFINITY;
        report.add(Report { status, residual, ..Report::default() }, ContactResiduals::default());
    }
    for island in impacts.reports.iter().chain(contacts.reports()) {
        report.add(island.report, island.residuals);
    }
    let nothing = ContactResiduals::default();
    let margin = f64::INFINITY;
    for (body, (free, velocity)) in free.iter().zip(&contacts.velocities).enumerate() {
        free.advance(velocity, body, next);
        let untouched = (0..NV).all(|k| velocity[k].value() == free.free_velocity[k].value());
        if let Some((_, back)) = impacts.back.iter().find(|(split, _)| *split == body)
            && untouched
        {
            for (v, &back) in next.v[NV * body..].iter_mut().zip(back) {
                *v += back;
            }
        }
        if !free.admissible {
            let (status, residual) = (Status::InvalidInput, f64::INFINITY);
            report.add(Report { status, residual, ..Report::default() }, nothing);
        } else if !free.converged {
            let status = Status::IterationLimit;
            report.add(Report { status, margin, ..Report::default() }, nothing);
        }
    }
    report
}
