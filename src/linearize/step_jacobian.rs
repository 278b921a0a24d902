//! The Jacobians of one step.

use nalgebra::DMatrix;

use super::column_lanes::{ColumnLanes, Hosted};
use super::conditions::Conditions;
use super::displacement::Point;
use super::loop_closure::LoopClosure;
use super::selection::Selection;
use super::state_force_response::StateForceResponse;
use super::structured::Structured;
use crate::ad::Real;
use crate::argmin::Mode;
use crate::contact::ContactRecord;
use crate::model::System;
use crate::simulation::{StepMemory, StepReport, Workspace, step};
use crate::state::State;

/// What a step does to small changes of the state x, the inputs u and the parameters p:
/// `dx+ = A dx + B du + C dp`.
///
/// With nv velocities (6 a free body), dx = `[dq (nv); dv (nv)]` is a tangent vector as in
/// [`State::moved`], dq being translations in the world (m) and rotation vectors in the body frame
/// (rad): at the start x moved by dx, at the end the [difference](State::difference) from the
/// nominal x+. At a kink it is one of the one-sided derivatives, the one of `modes`.
#[derive(Clone, Debug)]
pub struct StepJacobian {
    /// dx+/dx, 2 nv x 2 nv.
    pub a: DMatrix<f64>,
    /// dx+/du, 2 nv x the number of [inputs](Selection::inputs) asked for.
    pub b: DMatrix<f64>,
    /// dx+/dp, 2 nv x the number of parameters asked for.
    pub c: DMatrix<f64>,
    /// The nominal state after the step.
    pub next: State<f64>,
    /// How the contact problems were solved.
    pub report: StepReport,
    /// How many whole steps on duals it took besides the nominal one: none where all columns come from its solution.
    pub dual_steps: usize,
    /// How many columns of A, B and C had what comes before the contact problems, or all of the step, on duals.
    pub dual_columns: usize,
    /// The touching contacts: what each did, which is what the derivatives hold for.
    pub modes: Vec<ContactRecord>,
}

impl Default for StepJacobian {
    fn default() -> Self {
        let empty = || DMatrix::zeros(0, 0);
        StepJacobian {
            a: empty(),
            b: empty(),
            c: empty(),
            next: State::default(),
            report: StepReport::default(),
            dual_steps: 0,
            dual_columns: 0,
            modes: Vec::new(),
        }
    }
}

impl StepJacobian {
    /// Whether all derivatives are numbers. They are NaN where the conditions of the contacts do not
    /// determine them, which happens where the contact problem was not solved.
    pub fn is_determined(&self) -> bool {
        let matrices = [&self.a, &self.b, &self.c];
        matrices.into_iter().flat_map(|matrix| matrix.iter()).all(|x| x.is_finite())
    }

    /// Gives the matrices their shapes, all zero.
    fn fit(&mut self, nv: usize, selection: Selection) {
        let shapes = [2 * nv, selection.inputs.len(), selection.parameters.len()];
        for (matrix, columns) in [&mut self.a, &mut self.b, &mut self.c].into_iter().zip(shapes) {
            if matrix.shape() != (2 * nv, columns) {
                *matrix = DMatrix::zeros(2 * nv, columns);
            } else {
                matrix.as_mut_slice().fill(0.0);
            }
        }
    }
}

/// Scratch memory of [`step_jacobian`]. Results do not depend on what it held before.
#[derive(Default)]
pub struct JacobianWorkspace {
    nominal: Workspace<f64>,
    conditions: Conditions,
    structured: Structured,
    closing: LoopClosure,
    /// Conditions of what closed loops.
    loops: Conditions,
    lanes: ColumnLanes,
    of_state: StateForceResponse,
    inputs: Vec<usize>,
    before: StepMemory<f64>,
}

/// Linearises the step from `state` under `inputs` (those of [`step`]) with respect to the state and what
/// is selected. `memory` is what the step before left (a new one if there was none), and becomes what
/// this step leaves.
///
/// All columns come from the solved step, with one factorisation of each of its contact problems: A and B from the structure
/// of the step, and of the displacements that close its loops; C by duals through all but the solution, as A and B where
/// contact is smoothed or by penalty, an equality is a hinge or yields, the step was split at an impact (which is made again on duals, at the time that is known), something
/// has terms of contact beyond friction and restitution, or, by Runge and Kutta, forces depend on the state or loops are
/// closed, by `bdf1` forces depend on the state, or by `bdf2`, whose state before is held. Where the contacts determine no derivative (rigid contacts that are redundant and slide, problems that
/// were not solved) it is NaN. Only where it is to be that of the passes of the staggered solver, and at a kink that rounding
/// decides otherwise, the whole step runs on duals (whose modes are those of impulses of least norm, also with
/// `keep_impulses`); [`step_jacobian_by_lanes`] always does that.
///
/// # Panics
/// If state, inputs or what is selected are not those of the model.
pub fn step_jacobian(
    system: &System<f64>,
    state: &State<f64>,
    inputs: &[f64],
    selection: Selection,
    memory: &mut StepMemory<f64>,
    workspace: &mut JacobianWorkspace,
    result: &mut StepJacobian,
) {
    // Forces that depend on the state act as inputs do.
    let mut all = std::mem::take(&mut workspace.inputs);
    all.clear();
    all.extend_from_slice(selection.inputs);
    workspace.of_state.start(system.model, &mut all);
    let Selection { inputs: asked, parameters } = selection;
    let selection = Selection { inputs: &all, parameters };
    columns(system, state, inputs, selection, memory, workspace, result);
    if all.len() > asked.len() {
        if result.dual_columns > parameters.len() {
            result.dual_columns -= all.len() - asked.len();
        }
        result.b = result.b.columns(0, asked.len()).into_owned();
    }
    workspace.inputs = all;
}

/// All columns, of inputs that forces of the state act as, too.
fn columns(
    system: &System<f64>,
    state: &State<f64>,
    inputs: &[f64],
    selection: Selection,
    memory: &mut StepMemory<f64>,
    workspace: &mut JacobianWorkspace,
    result: &mut StepJacobian,
) {
    start(system, state, inputs, selection, memory, workspace, result);
    let JacobianWorkspace {
        nominal,
        conditions,
        structured,
        closing,
        loops,
        lanes,
        of_state,
        before,
        ..
    } = &mut *workspace;
    if conditions.factor(system, nominal) {
        let StepJacobian { a, b, c, next, modes, .. } = &mut *result;
        let at = Point { system, state, inputs, selection, memory: before, next, closes: false };
        let (motion, contacts) = nominal.parts();
        let mut known = 0;
        // An impact at which the step was split comes before its contact problems.
        if !nominal.was_split() && structured.linearize(&at, (motion, contacts, conditions), (a, b))
        {
            closing.find(system, state, nominal.parts());
            if structured.close(&at, (closing, loops), (a, b)) {
                of_state.add(&at, a, b);
                known = a.ncols() + b.ncols();
            }
        }
        let parts = (nominal.known(), conditions);
        let nobody = &mut |_: &_, _: &_, _: Hosted| false;
        if lanes.posed(&at, known..at.dimension(), parts, [a, b, c], nobody) {
            take_modes(nominal, modes);
            (result.dual_steps, result.dual_columns) = (0, at.dimension() - known);
            return;
        }
    }
    finish_by_lanes(system, state, inputs, selection, workspace, result);
}

/// As [`step_jacobian`], by duals through the whole step: slower, whatever the step is made of, and its oracle.
///
/// # Panics
/// As there.
pub fn step_jacobian_by_lanes(
    system: &System<f64>,
    state: &State<f64>,
    inputs: &[f64],
    selection: Selection,
    memory: &mut StepMemory<f64>,
    workspace: &mut JacobianWorkspace,
    result: &mut StepJacobian,
) {
    start(system, state, inputs, selection, memory, workspace, result);
    finish_by_lanes(system, state, inputs, selection, workspace, result);
}

/// Writes all columns by duals.
fn finish_by_lanes(
    system: &System<f64>,
    state: &State<f64>,
    inputs: &[f64],
    selection: Selection,
    workspace: &mut JacobianWorkspace,
    result: &mut StepJacobian,
) {
    let JacobianWorkspace { nominal, lanes, before, .. } = workspace;
    let StepJacobian { a, b, c, next, modes, report, dual_steps, dual_columns } = result;
    let at = Point { system, state, inputs, selection, memory: before, next, closes: false };
    *dual_columns = at.dimension();
    let Some(last) = lanes.whole(&at, [a, b, c]) else {
        *dual_steps = 0;
        return take_modes(nominal, modes);
    };
    (*dual_steps, *report) = last;
    // The modes of the duals, not those of the nominal step: exactly at a kink the rounding of
    // the displacement may decide otherwise, and the Jacobians must be those of the modes they come with.
    take_modes(&lanes.displaced.workspace, modes);
}

/// The nominal step.
fn start(
    system: &System<f64>,
    state: &State<f64>,
    inputs: &[f64],
    selection: Selection,
    memory: &mut StepMemory<f64>,
    workspace: &mut JacobianWorkspace,
    result: &mut StepJacobian,
) {
    workspace.before.clone_from(memory);
    result.fit(state.v.len(), selection);
    let next = &mut result.next;
    result.report = step(system, state, inputs, memory, &mut workspace.nominal, next);
}

fn take_modes<T: Real>(workspace: &Workspace<T>, modes: &mut Vec<ContactRecord>) {
    modes.clear();
    modes.extend(workspace.contacts().filter(|contact| contact.mode != Mode::Break));
}
