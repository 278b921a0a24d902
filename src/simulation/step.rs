//! One step of the time-stepping map.

use super::instances::instances;
use super::plausible::plausible;
use super::step_memory::StepMemory;
use super::step_report::StepReport;
use super::workspace::{Workspace, is_untouched};
use crate::ad::Real;
use crate::argmin::{ContactResiduals, Report, Status};
use crate::model::System;
use crate::state::State;

/// Advances `state` by one time step into `next`: `LeLidec21`, Algorithm 1, with the contact solver
/// of the settings.
///
/// `inputs`: a generalised force for each velocity (of a free body the force on its origin in the world, N,
/// and the torque in its own frame, N m; of other joints N m or N), then a control for each actuator.
/// Nothing is allocated once `workspace`, `memory` and `next` have grown to size (on `f64` and
/// duals; the tape grows).
#[inline]
pub fn step<T: Real>(
    system: &System<T>,
    state: &State<T>,
    inputs: &[T],
    memory: &mut StepMemory<T>,
    workspace: &mut Workspace<T>,
    next: &mut State<T>,
) -> StepReport {
    compiled::<T>()(system, state, inputs, memory, workspace, next)
}

type Step<T> = fn(
    &System<T>,
    &State<T>,
    &[T],
    &mut StepMemory<T>,
    &mut Workspace<T>,
    &mut State<T>,
) -> StepReport;

instances!(compiled, advance: Step);

/// [`step`], as each scalar compiles it.
#[inline(never)]
fn advance<T: Real>(
    system: &System<T>,
    state: &State<T>,
    inputs: &[T],
    memory: &mut StepMemory<T>,
    workspace: &mut Workspace<T>,
    next: &mut State<T>,
) -> StepReport {
    memory.resize(system.model.trees.len());
    let Workspace { motion, contacts, impacts, implicit, .. } = workspace;
    impacts.clear();
    if system.settings.integrator.is_backward() {
        let own = implicit.solve(system, state, inputs, memory, (motion, contacts));
        return finish_implicit(system, own, workspace, next);
    }
    motion.start(system, state, inputs, T::constant(system.settings.time_step));
    if system.settings.split_impacts {
        impacts.split(system, state, motion, None);
    }
    contacts.resolve(system, state, motion, &mut memory.trees);
    finish(system, state, workspace, next)
}

/// Takes an implicit step to `next` that was solved, as `own` says of its momenta.
pub(super) fn finish_implicit<T: Real>(
    system: &System<T>,
    own: Report,
    workspace: &mut Workspace<T>,
    next: &mut State<T>,
) -> StepReport {
    let start = std::mem::take(&mut workspace.implicit.start);
    let mut report = finish(system, &start, workspace, next);
    workspace.implicit.start = start;
    report.add(own, ContactResiduals::default());
    report
}

/// Takes the step from `state` to `next` that was solved.
pub(super) fn finish<T: Real>(
    system: &System<T>,
    state: &State<T>,
    workspace: &mut Workspace<T>,
    next: &mut State<T>,
) -> StepReport {
    let model = system.model;
    next.q.clone_from(&state.q);
    next.v.clone_from(&state.v);
    let mut report = StepReport { steps: 1, ..StepReport::default() };
    let Workspace { motion, contacts, impacts, closure, .. } = &mut *workspace;
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
    for (tree, entry) in model.trees.iter().enumerate() {
        let velocity = &contacts.velocities[entry.v.clone()];
        let untouched = is_untouched(model, motion, contacts, tree);
        let found = motion.advance(model, tree, velocity, untouched, next);
        if untouched {
            impacts.take_back(tree, &mut next.v[entry.v.clone()]);
        }
        if !motion.is_admissible(tree) {
            let (status, residual) = (Status::InvalidInput, f64::INFINITY);
            report.add(Report { status, residual, ..Report::default() }, nothing);
        } else if !found {
            let status = Status::IterationLimit;
            report.add(Report { status, margin, ..Report::default() }, nothing);
        }
    }
    let mut conflict = contacts.reports().find_map(|island| island.conflict);
    if model.has_loops() {
        let open = closure.close(system, next, &mut report);
        conflict = conflict.or(open);
    }
    report.conflicts.add(1, conflict);
    report.plausibility.add(1, plausible(system, next, workspace, &report));
    report
}
