//! The Jacobians of one step.

use nalgebra::DMatrix;

use super::displacement::{Displaced, Point};
use crate::ad::{Dual, jacobian};
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
                matrix.fill(0.0);
            }
        }
    }
}

/// Scratch memory of [`step_jacobian`]. Results do not depend on what it held before.
#[derive(Default)]
pub struct JacobianWorkspace {
    nominal: Workspace<f64>,
    displaced: Displaced<Lanes>,
}

/// Linearises the step from `state` under `inputs` (those of [`step`]) with respect to the state and what
/// is selected. `memory` is what the step before left (a new one if there was none), and becomes what
/// this step leaves.
pub fn step_jacobian(
    system: &System<f64>,
    state: &State<f64>,
    inputs: &[f64],
    selection: Selection,
    memory: &mut StepMemory<f64>,
    workspace: &mut JacobianWorkspace,
    result: &mut StepJacobian,
) {
    let nv = state.v.len();
    let JacobianWorkspace { nominal, displaced } = workspace;
    let before = memory.clone();
    result.fit(nv, selection);
    step(system, state, inputs, memory, nominal, &mut result.next);

    let at = Point { system, state, inputs, selection, memory: &before, next: &result.next };
    let mut report = StepReport::default();
    let zero = vec![0.0; at.dimension()];
    let evaluate = |d: &[Lanes]| {
        let (difference, solve) = displaced.step(&at, d);
        report = solve;
        difference
    };
    let (_, j) = jacobian::<LANES>(evaluate, &zero);
    // The modes of the duals, not those of the nominal step: exactly at a kink the rounding of
    // `moved` may decide otherwise, and the Jacobians must be those of the modes they come with.
    let contacts = displaced.workspace.contacts();
    result.modes.clear();
    result.modes.extend(contacts.filter(|contact| contact.mode != Mode::Break));
    result.report = report;
    let mut first = 0;
    for matrix in [&mut result.a, &mut result.b, &mut result.c] {
        matrix.copy_from(&j.columns(first, matrix.ncols()));
        first += matrix.ncols();
    }
}
