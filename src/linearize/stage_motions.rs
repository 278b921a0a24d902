//! The stages of [`runge_kutta`](crate::dynamics::runge_kutta()) over a step: where bodies are in each, how fast they go and how they
//! are accelerated.

use crate::dynamics::runge_kutta::{STAGES, advance, find_rate};
use crate::dynamics::{
    BlockDiagonal, Crba, Kinematics, MassMatrix, Rnea, StateForces, applied_forces, bias,
    mass_matrix,
};
use crate::linalg::{add_scaled, cholesky, solve_lower, solve_lower_transpose};
use crate::model::System;
use crate::state::State;

/// A stage.
#[derive(Default)]
pub(super) struct StageMotion {
    pub state: State<f64>,
    /// Its place in the chart about the start, and how fast it goes there.
    pub offset: Vec<f64>,
    pub rate: Vec<f64>,
    pub acceleration: Vec<f64>,
    pub kinematics: Kinematics<f64>,
    /// L of the mass matrix of each tree, one after the other.
    pub factor: Vec<f64>,
}

/// All stages of a step. Reused, it allocates nothing.
#[derive(Default)]
pub(super) struct StageMotions {
    pub stages: [StageMotion; STAGES.len()],
    /// Where the step ends in the chart about its start, if nothing touches.
    pub end: Vec<f64>,
    forces: StateForces<f64>,
    crba: Crba<f64>,
    mass: MassMatrix<f64>,
    blocks: BlockDiagonal<f64>,
    rnea: Rnea<f64>,
    bias: Vec<f64>,
}

impl StageMotions {
    /// Goes through the stages of a step of `duration` from `state`. False if a tree has velocities without inertia.
    #[must_use]
    pub fn update(
        &mut self,
        system: &System<f64>,
        state: &State<f64>,
        inputs: &[f64],
        duration: f64,
    ) -> bool {
        let (model, nv) = (system.model, system.model.nv());
        let first = &mut self.stages[0];
        state.cast_into(&mut first.state);
        first.rate.clone_from(&state.v);
        first.offset.clear();
        first.offset.resize(nv, 0.0);
        self.end.clear();
        self.end.resize(nv, 0.0);
        for (k, (weight, ahead)) in STAGES.into_iter().enumerate() {
            if !self.accelerate(system, inputs, k) {
                return false;
            }
            add_scaled(&mut self.end, duration * weight, &self.stages[k].rate);
            let (before, after) = self.stages.split_at_mut(k + 1);
            let Some(next) = after.first_mut() else { break };
            let StageMotion { rate, acceleration, .. } = &before[k];
            let (h, offset) = (duration * ahead, &mut next.offset);
            advance(model, state, rate, acceleration, h, offset, &mut next.state);
            next.rate.resize(nv, 0.0);
            find_rate(model, &next.offset, &next.state.v, &mut next.rate);
        }
        true
    }

    /// How a stage is accelerated.
    fn accelerate(&mut self, system: &System<f64>, inputs: &[f64], stage: usize) -> bool {
        let System { model, parameters, .. } = *system;
        let StageMotions { stages, forces, crba, mass, blocks, rnea, bias: h, .. } = self;
        let StageMotion { state, acceleration, kinematics, factor, .. } = &mut stages[stage];
        acceleration.resize(model.nv(), 0.0);
        h.resize(model.nv(), 0.0);
        applied_forces(model, parameters, state, inputs, acceleration);
        forces.update(model, parameters, state, inputs, 0.0);
        forces.act(acceleration);
        kinematics.update(model, parameters, state);
        mass_matrix(model, parameters, kinematics, crba, mass);
        mass.blocks(model, blocks);
        bias(parameters, kinematics, rnea, h);
        factor.clear();
        for (index, tree) in model.trees.iter().enumerate() {
            // Lone bodies too: other trees may be tied to them.
            let own = &mut acceleration[tree.v.clone()];
            let (n, start) = (tree.v.len(), factor.len());
            factor.extend_from_slice(blocks.block(index).1);
            let factor = &mut factor[start..];
            (0..n).for_each(|i| factor[i * n + i + 1..(i + 1) * n].fill(0.0));
            if !cholesky(factor, n) {
                return false;
            }
            own.iter_mut().zip(&h[tree.v.clone()]).for_each(|(a, h)| *a -= h);
            solve_lower(factor, n, own);
            solve_lower_transpose(factor, n, own);
        }
        true
    }
}
