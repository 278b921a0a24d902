//! The Jacobians of one step.

use std::ops::Range;

use nalgebra::DMatrix;

use super::displacement::{Displaced, Point};
use super::structured::{self, Structured};
use crate::ad::{Dual, Real};
use crate::argmin::Mode;
use crate::contact::ContactRecord;
use crate::model::{ParameterRef, System};
use crate::simulation::{StepMemory, StepReport, Workspace, step};
use crate::state::State;

/// Derivatives in a pass. More lanes save solves of the contact problem, fewer save registers.
const LANES: usize = 8;
type Lanes = Dual<f64, LANES>;

/// What a step is differentiated with respect to, besides the state.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection<'a> {
    /// Which inputs of [`step`] are u: indices into generalised forces (nv), then controls.
    pub inputs: &'a [usize],
    /// Which parameters are p. One of several slots moves them together.
    pub parameters: &'a [ParameterRef],
}

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
    structured: Structured,
    displaced: DisplacedLanes,
    before: StepMemory<f64>,
}

/// Linearises the step from `state` under `inputs` (those of [`step`]) with respect to the state and what
/// is selected. `memory` is what the step before left (a new one if there was none), and becomes what
/// this step leaves.
///
/// A and B follow from the structure of the step where it has one: the coupled solver (with either law of
/// friction) without smoothing, no closed loops, the semi-implicit integrator where bodies are joined, no impact at which
/// the step was split, no redundant contacts that slide with a compliance of 0. Elsewhere, and for C, the whole
/// step runs on duals (whose modes are those of impulses of least norm, also with `keep_impulses`);
/// [`step_jacobian_by_lanes`] always does that.
pub fn step_jacobian(
    system: &System<f64>,
    state: &State<f64>,
    inputs: &[f64],
    selection: Selection,
    memory: &mut StepMemory<f64>,
    workspace: &mut JacobianWorkspace,
    result: &mut StepJacobian,
) {
    start(system, state, inputs, selection, memory, workspace, result);
    if structured::applies(system) {
        let JacobianWorkspace { nominal, structured, displaced, before } = workspace;
        let StepJacobian { a, b, c, next, modes, .. } = &mut *result;
        let at = Point { system, state, inputs, selection, memory: before, next };
        if structured.linearize(&at, nominal, (a, b)) {
            take_modes(nominal, modes);
            let parameters = a.ncols() + b.ncols()..at.dimension();
            displaced.columns(&at, parameters, [a, b, c]);
            return;
        }
    }
    finish_by_lanes(system, state, inputs, selection, workspace, result);
}

/// As [`step_jacobian`], by duals through the whole step: slower, whatever the step is made of, and its oracle.
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
    let JacobianWorkspace { displaced, before, .. } = workspace;
    let StepJacobian { a, b, c, next, modes, report } = result;
    let at = Point { system, state, inputs, selection, memory: before, next };
    *report = displaced.columns(&at, 0..at.dimension(), [a, b, c]).unwrap_or(*report);
    // The modes of the duals, not those of the nominal step: exactly at a kink the rounding of
    // the displacement may decide otherwise, and the Jacobians must be those of the modes they come with.
    take_modes(&displaced.step.workspace, modes);
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

/// Columns of Jacobians by duals through the whole step.
#[derive(Default)]
struct DisplacedLanes {
    step: Displaced<Lanes>,
    displacement: Vec<Lanes>,
}

impl DisplacedLanes {
    /// Writes the columns `range` of `[A B C]`; returns the report of the last pass, if there was one.
    fn columns(
        &mut self,
        at: &Point,
        range: Range<usize>,
        matrices: [&mut DMatrix<f64>; 3],
    ) -> Option<StepReport> {
        let mut last = None;
        let [a, b, c] = matrices;
        for first in range.clone().step_by(LANES) {
            self.displacement.clear();
            self.displacement.extend((0..at.dimension()).map(|k| {
                let lane = k.checked_sub(first).filter(|&lane| lane < LANES && range.contains(&k));
                lane.map_or(Lanes::constant(0.0), |lane| Lanes::variable(0.0, lane))
            }));
            let (difference, report) = self.step.step(at, &self.displacement);
            last = Some(report);
            for (lane, k) in (first..range.end).take(LANES).enumerate() {
                let (matrix, column) = match k.checked_sub(a.ncols()) {
                    None => (&mut *a, k),
                    Some(k) => match k.checked_sub(b.ncols()) {
                        None => (&mut *b, k),
                        Some(k) => (&mut *c, k),
                    },
                };
                for (i, difference) in difference.iter().enumerate() {
                    matrix[(i, column)] = difference.tangent[lane];
                }
            }
        }
        last
    }
}
