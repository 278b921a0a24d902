//! One step of the time-stepping map.

use crate::ad::Real;
use crate::argmin::{Mode, Report, Status};
use crate::contact::{BodyContacts, ContactRecord, Impulses};
use crate::dynamics::FreeBody;
use crate::model::{Model, System};
use crate::state::{NV, State};

/// What a step remembers for the next one: the impulses it starts its solvers from. An argument and
/// a result, so that a step is a function of its arguments.
#[derive(Clone, Debug, Default)]
pub struct StepMemory<T> {
    bodies: Vec<Impulses<T>>,
}

impl<T: Real> StepMemory<T> {
    /// Forgets the last step, as before the first one, and keeps the memory.
    pub fn clear(&mut self) {
        self.bodies.iter_mut().for_each(Impulses::clear);
    }

    /// How many numbers it takes to hold all impulses there can be.
    pub fn numbers(model: &Model) -> usize {
        model.pairs.iter().map(|pair| 3 * model.bodies[pair.body].shape.contact_points()).sum()
    }

    /// Writes the impulses of all points that can touch, pair by pair, into as many numbers; zeros
    /// for those that do not.
    pub fn write(&self, model: &Model, numbers: &mut [T]) {
        numbers.fill(T::zero());
        let known = self.bodies.iter().flat_map(Impulses::known);
        for &(pair, feature, impulse) in known {
            let first = first_number(model, pair) + 3 * feature;
            numbers[first..first + 3].copy_from_slice(&impulse);
        }
    }

    /// The inverse of [`Self::write`].
    pub fn read(&mut self, model: &Model, numbers: &[T]) {
        self.bodies.resize_with(model.bodies.len(), Impulses::default);
        self.bodies.iter_mut().for_each(Impulses::clear);
        let mut rest = numbers.chunks_exact(3);
        for (index, pair) in model.pairs.iter().enumerate() {
            let points = model.bodies[pair.body].shape.contact_points();
            for (feature, x) in rest.by_ref().take(points).enumerate() {
                self.bodies[pair.body].remember(index, feature, [x[0], x[1], x[2]]);
            }
        }
    }

    /// The values, without derivatives.
    pub fn value(&self) -> StepMemory<f64> {
        StepMemory { bodies: self.bodies.iter().map(Impulses::value).collect() }
    }
}

impl StepMemory<f64> {
    /// The same memory as constants of another scalar.
    pub fn cast<T: Real>(&self) -> StepMemory<T> {
        StepMemory { bodies: self.bodies.iter().map(Impulses::cast).collect() }
    }
}

/// Where the impulses of a pair start.
fn first_number(model: &Model, pair: usize) -> usize {
    let before = &model.pairs[..pair];
    before.iter().map(|pair| 3 * model.bodies[pair.body].shape.contact_points()).sum()
}

/// Scratch memory of a step. Results do not depend on what it held before.
pub struct Workspace<T: Real> {
    bodies: Vec<BodyContacts<T>>,
}

impl<T: Real> Default for Workspace<T> {
    fn default() -> Self {
        Workspace { bodies: Vec::new() }
    }
}

impl<T: Real> Workspace<T> {
    /// The contacts of the last step, body by body.
    pub fn contacts(&self) -> impl Iterator<Item = &ContactRecord> {
        self.bodies.iter().flat_map(|body| &body.records)
    }

    /// What the touching contacts of the last step did. Two states between which this differs are
    /// separated by a kink of the step.
    pub fn modes(&self) -> impl Iterator<Item = (usize, usize, Mode, crate::contact::Target)> {
        self.contacts()
            .filter(|contact| contact.mode != Mode::Break)
            .map(|contact| (contact.pair, contact.feature, contact.mode, contact.target))
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
    /// How many steps there were.
    pub steps: usize,
}

impl Default for StepReport {
    fn default() -> Self {
        let worst = Report { margin: f64::INFINITY, ..Report::default() };
        StepReport { worst, unsolved: 0, steps: 0 }
    }
}

impl StepReport {
    /// Adds one problem.
    fn add(&mut self, report: Report) {
        let unsolved = usize::from(!report.status.is_solved());
        self.merge(&StepReport { worst: report, unsolved, steps: 0 });
    }

    /// Adds the steps of another report.
    pub fn merge(&mut self, other: &StepReport) {
        self.unsolved += other.unsolved;
        self.steps += other.steps;
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
    let dt = system.settings.time_step;
    let bodies = state.bodies();
    workspace.bodies.resize_with(bodies, BodyContacts::default);
    memory.bodies.resize_with(bodies, Impulses::default);
    next.q.resize(state.q.len(), T::zero());
    next.v.resize(state.v.len(), T::zero());
    let mut report = StepReport { steps: 1, ..StepReport::default() };
    for body in 0..bodies {
        let wrench = &wrenches[NV * body..NV * (body + 1)];
        let free = FreeBody::new(system.parameters, state, body, wrench, dt);
        let contacts = &mut workspace.bodies[body];
        let (velocity, solve) = contacts.resolve(system, &free, body, &mut memory.bodies[body]);
        free.advance(&velocity, dt, body, next);
        report.add(solve);
        if !free.admissible {
            let residual = f64::INFINITY;
            report.add(Report { status: Status::InvalidInput, residual, ..Report::default() });
        } else if !free.converged {
            report.add(Report { status: Status::IterationLimit, ..solve });
        }
    }
    report
}
