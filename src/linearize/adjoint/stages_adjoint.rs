//! The stages of Runge and Kutta backwards, from the last to the first: the transpose of
//! [`runge_kutta_stages`](crate::linearize::runge_kutta_stages).

use nalgebra::Vector3;

use super::parts::{Adjoints, StepOf};
use crate::dynamics::runge_kutta::STAGES;
use crate::dynamics::{
    AppliedForceDerivatives, Gradient, RneaAdjoint, applied_forces_vjp, damping_vjp,
    inverse_dynamics_vjp,
};
use crate::linalg::{add_scaled, solve_lower, solve_lower_transpose};
use crate::linearize::pose_lanes::Lanes;
use crate::linearize::runge_kutta_stages::turns;
use crate::linearize::stage_motions::{StageMotion, StageMotions};
use crate::linearize::state_force_response::pull_back_forces;
use crate::model::{Model, System};
use crate::spatial::{exp, left_jacobian, rotation_matrix, rotation_vector_rate};

/// Scratch memory.
#[derive(Default)]
pub(super) struct StagesAdjoint {
    motions: StageMotions,
    forces: AppliedForceDerivatives<f64>,
    rnea: RneaAdjoint<f64>,
    /// Of a stage in place (a tangent vector there), velocity, acceleration, offset and rate.
    q: Vec<f64>,
    v: Vec<f64>,
    acceleration: Vec<f64>,
    offset: Vec<f64>,
    rate: Vec<f64>,
    /// Of the means of rates and accelerations, over dt.
    mean_rate: Vec<f64>,
    mean_acceleration: Vec<f64>,
    damped: Vec<f64>,
    unused: Vec<f64>,
}

impl StagesAdjoint {
    /// Adds what the adjoints of the velocities without contact of all trees make of the start of the step, and those of the
    /// places where it ends, of trees that nothing touches. False if it is not to be had.
    #[must_use]
    pub fn add(
        &mut self,
        of: &StepOf,
        [places, velocities]: [&[f64]; 2],
        adjoints: &mut Adjoints,
    ) -> bool {
        let model = of.system.model;
        let nv = model.nv();
        let articulated = model.trees.iter().position(|tree| !tree.lone);
        let dt = articulated.map_or(0.0, |tree| of.motion.duration(tree));
        if !self.motions.update(of.system, of.state, of.inputs, dt) {
            return false;
        }
        for numbers in [&mut self.offset, &mut self.rate, &mut self.acceleration, &mut self.v] {
            numbers.clear();
            numbers.resize(nv, 0.0);
        }
        self.mean_rate.clear();
        self.mean_rate.extend_from_slice(places);
        let to_q = &mut adjoints.state[..nv];
        place_transposed(model, &self.motions.end, &mut self.mean_rate, to_q);
        self.mean_acceleration.clear();
        self.mean_acceleration.extend_from_slice(velocities);
        add_scaled(&mut adjoints.state[nv..], 1.0, velocities);
        for (k, (weight, ahead)) in STAGES.into_iter().enumerate().rev() {
            // What the next stage says of this one: it is h ahead.
            let h = dt * ahead;
            if k + 1 < STAGES.len() {
                add_scaled(&mut adjoints.state[nv..], 1.0, &self.v);
            }
            for (own, next, mean) in [
                (&mut self.acceleration, &self.v, &self.mean_acceleration),
                (&mut self.rate, &self.offset, &self.mean_rate),
            ] {
                own.fill(0.0);
                add_scaled(own, h, next);
                add_scaled(own, dt * weight, mean);
            }
            if !self.accelerate(of, k, adjoints) {
                return false;
            }
            let StageMotion { state, offset, .. } = &self.motions.stages[k];
            if k == 0 {
                add_scaled(&mut adjoints.state[nv..], 1.0, &self.v);
                add_scaled(&mut adjoints.state[nv..], 1.0, &self.rate);
                add_scaled(&mut adjoints.state[..nv], 1.0, &self.q);
                break;
            }
            let to_q = &mut adjoints.state[..nv];
            self.offset.clone_from(&self.q);
            place_transposed(model, offset, &mut self.offset, to_q);
            let to = [&mut self.offset[..], &mut self.v];
            rate_transposed(model, [offset, &state.v], &self.rate, to);
        }
        true
    }

    /// The acceleration of a stage backwards: the adjoints of its place and its velocity from that, and those of all else.
    fn accelerate(&mut self, of: &StepOf, stage: usize, adjoints: &mut Adjoints) -> bool {
        let System { model, parameters, .. } = *of.system;
        let motion = &self.motions.stages[stage];
        for numbers in [&mut self.q, &mut self.v, &mut self.unused, &mut self.damped] {
            numbers.clear();
            numbers.resize(model.nv(), 0.0);
        }
        let (weights, mut start) = (&mut self.acceleration, 0);
        for tree in &model.trees {
            let (own, n) = (&mut weights[tree.v.clone()], tree.v.len());
            let factor = &motion.factor[start..start + n * n];
            start += n * n;
            solve_lower(factor, n, own);
            solve_lower_transpose(factor, n, own);
        }
        let Adjoints { inputs, parameters: to_parameters, .. } = adjoints;
        let (system, at) = ((model, parameters), (&motion.state, of.inputs));
        self.forces.update(model, parameters, at.0, at.1);
        let to = [&mut self.q[..], &mut self.v, inputs, &mut *to_parameters];
        applied_forces_vjp(system, at, &self.forces, weights, to);
        for (index, body) in model.bodies.iter().enumerate() {
            let damping = parameters.damping(model, index);
            for (k, weight) in
                weights.iter().enumerate().skip(body.joint.v).take(body.joint.kind.nv())
            {
                self.v[k] -= weight * damping;
                self.damped[k] = -weight * motion.state.v[k];
            }
        }
        damping_vjp(model, &self.damped, to_parameters);
        if model.has_state_forces() {
            let mut moved = vec![0.0; 2 * model.nv()];
            let to = [&mut moved[..], inputs, &mut *to_parameters];
            if pull_back_forces(of.system, (at.0, at.1, 0.0), weights, to).is_err() {
                return false;
            }
            let (q, v) = moved.split_at(model.nv());
            add_scaled(&mut self.q, 1.0, q);
            add_scaled(&mut self.v, 1.0, v);
        }
        weights.iter_mut().for_each(|weight| *weight = -*weight);
        let gradient = Gradient {
            q: &mut self.q,
            v: &mut self.v,
            a: &mut self.unused,
            parameters: to_parameters,
        };
        let (kinematics, acceleration) = (&motion.kinematics, &motion.acceleration);
        let scratch = &mut self.rnea;
        inverse_dynamics_vjp(
            model,
            parameters,
            kinematics,
            acceleration,
            weights,
            scratch,
            gradient,
        );
        true
    }
}

/// `moved`, the adjoint of a place at `offset` in the chart about the start, becomes that of the offset; adds what it is of the start.
fn place_transposed(model: &Model, offset: &[f64], moved: &mut [f64], to_q: &mut [f64]) {
    for (tree, entry) in model.trees.iter().enumerate() {
        let own = entry.v.clone();
        add_scaled(&mut to_q[own.clone()], 1.0, &moved[own]);
        for k in turns(model, tree) {
            let x = Vector3::from_column_slice(&offset[k..k + 3]);
            let turn = Vector3::from_column_slice(&moved[k..k + 3]);
            let back = rotation_matrix(exp(-x)).tr_mul(&turn) - turn;
            let by_offset = left_jacobian(-x).tr_mul(&turn);
            for i in 0..3 {
                to_q[k + i] += back[i];
                moved[k + i] = by_offset[i];
            }
        }
    }
}

/// Adds the adjoints of offset and velocity of what `rate` is the adjoint of.
fn rate_transposed(
    model: &Model,
    [offset, velocity]: [&[f64]; 2],
    rate: &[f64],
    [to_offset, to_velocity]: [&mut [f64]; 2],
) {
    for (tree, entry) in model.trees.iter().enumerate() {
        let own = entry.v.clone();
        add_scaled(&mut to_velocity[own.clone()], 1.0, &rate[own]);
        for k in turns(model, tree) {
            let lanes = |x: &[f64], lane: usize| {
                Vector3::from_fn(|i, _| Lanes::variable(x[k + i], lane + i))
            };
            let turned = rotation_vector_rate(lanes(offset, 0), lanes(velocity, 3));
            let turn = Vector3::from_column_slice(&rate[k..k + 3]);
            for i in 0..3 {
                let along = |lane: usize| (0..3).map(|r| turned[r].tangent[lane] * turn[r]).sum();
                let (by_offset, by_velocity): (f64, f64) = (along(i), along(3 + i));
                to_offset[k + i] += by_offset;
                to_velocity[k + i] += by_velocity - turn[i];
            }
        }
    }
}
