//! The Jacobians of one step.

use nalgebra::DMatrix;

use crate::ad::{Dual, Real, jacobian};
use crate::argmin::Mode;
use crate::contact::ContactRecord;
use crate::model::{ParameterRef, Parameters, System};
use crate::simulation::{StepMemory, StepReport, Workspace, step};
use crate::state::State;

/// Derivatives in a pass. More lanes save solves of the contact problem, fewer save registers.
const LANES: usize = 8;
type Lanes = Dual<f64, LANES>;

/// What a step does to small changes of the state x, the wrenches u and the parameters p:
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
    /// dx+/du, 2 nv x (nv + nu); u as in [`step`]: forces along the velocities, then controls.
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

impl StepJacobian {
    /// Whether all derivatives are numbers. They are NaN where the conditions of the contacts do not
    /// determine them, which happens where the contact problem was not solved.
    pub fn is_determined(&self) -> bool {
        let matrices = [&self.a, &self.b, &self.c];
        matrices.into_iter().flat_map(|matrix| matrix.iter()).all(|x| x.is_finite())
    }
}

/// Scratch memory of [`step_jacobian`]. Results do not depend on what it held before.
#[derive(Default)]
pub struct JacobianWorkspace {
    nominal: Workspace<f64>,
    displaced: Displaced<Lanes>,
}

/// Linearises the step from `state` under `wrenches` (the inputs of [`step`]), in forward
/// mode. `parameters` are those C is with respect to; a parameter of several slots moves them
/// together. `memory` is what the step before left (a new one if there was none), and becomes what
/// this step leaves.
pub fn step_jacobian(
    system: &System<f64>,
    state: &State<f64>,
    wrenches: &[f64],
    parameters: &[ParameterRef],
    memory: &mut StepMemory<f64>,
    workspace: &mut JacobianWorkspace,
) -> StepJacobian {
    let nv = state.v.len();
    let JacobianWorkspace { nominal, displaced } = workspace;
    let before = memory.clone();
    let mut next = state.clone();
    step(system, state, wrenches, memory, nominal, &mut next);

    let at = Point { system, state, wrenches, parameters, memory: &before, next: &next };
    let mut report = StepReport::default();
    let zero = vec![0.0; 2 * nv + wrenches.len() + parameters.len()];
    let evaluate = |d: &[Lanes]| {
        let (difference, solve) = displaced.step(&at, d);
        report = solve;
        difference
    };
    let (_, j) = jacobian::<LANES>(evaluate, &zero);
    // The modes of the duals, not those of the nominal step: exactly at a kink the rounding of
    // `moved` may decide otherwise, and the Jacobians must be those of the modes they come with.
    let contacts = displaced.workspace.contacts();
    let modes = contacts.filter(|contact| contact.mode != Mode::Break).copied().collect();
    StepJacobian {
        a: j.columns(0, 2 * nv).into_owned(),
        b: j.columns(2 * nv, wrenches.len()).into_owned(),
        c: j.columns(2 * nv + wrenches.len(), parameters.len()).into_owned(),
        next,
        report,
        modes,
    }
}

/// Where a step is linearised.
struct Point<'a> {
    system: &'a System<'a, f64>,
    state: &'a State<f64>,
    wrenches: &'a [f64],
    parameters: &'a [ParameterRef],
    memory: &'a StepMemory<f64>,
    next: &'a State<f64>,
}

/// Memory for steps near a nominal one.
struct Displaced<T: Real> {
    workspace: Workspace<T>,
    parameters: Parameters<T>,
    next: State<T>,
}

impl<T: Real> Default for Displaced<T> {
    fn default() -> Self {
        Displaced {
            workspace: Workspace::default(),
            parameters: Parameters { values: Vec::new() },
            next: State { q: Vec::new(), v: Vec::new() },
        }
    }
}

impl<T: Real> Displaced<T> {
    /// The step with x, u and p displaced by `[dx; du; dp]`: how far it ends from the nominal end.
    fn step(&mut self, at: &Point, displacement: &[T]) -> (Vec<T>, StepReport) {
        let nv = at.state.v.len();
        let (dx, rest) = displacement.split_at(2 * nv);
        let (du, dp) = rest.split_at(at.wrenches.len());
        let state = at.state.cast::<T>().moved(at.system.model.coordinates(), dx);
        let wrenches: Vec<T> = at.wrenches.iter().zip(du).map(|(&u, &du)| du + u).collect();
        at.system.parameters.cast_into(&mut self.parameters);
        for (parameter, &dp) in at.parameters.iter().zip(dp) {
            for &slot in &parameter.slots {
                self.parameters.values[slot] += dp;
            }
        }
        let System { model, settings, .. } = *at.system;
        let system = System { model, parameters: &self.parameters, settings };
        let mut memory = at.memory.cast::<T>();
        let (workspace, next) = (&mut self.workspace, &mut self.next);
        let report = step(&system, &state, &wrenches, &mut memory, workspace, next);
        (self.next.difference(model.coordinates(), &at.next.cast()), report)
    }
}
