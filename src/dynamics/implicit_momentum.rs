//! The balance of momentum of trees of joints in an implicit step, `Geilinger20` (6), (7):
//!
//! ```text
//! R(v+) = a (ID(q+, v+, (v+ - v̄) / a) - tau(q+, v+)) = J' lambda,    q+ = q̄ (+) a v+
//! ```
//!
//! ID are inverse dynamics and tau all forces but contact. A step by BDF1 starts from the state, (q̄, v̄) = (q, v), and takes a = dt; one by
//! BDF2 is the same step from what the state and the one before extrapolate to, over a = 2 dt / 3.

use super::applied_forces::applied_forces;
use super::{Kinematics, Rnea, StateForces, inverse_dynamics};
use crate::ad::Real;
use crate::model::System;
use crate::state::State;

/// R at some velocities, and what it is made of. Reused, it allocates nothing.
pub(crate) struct ImplicitMomentum<T: Real> {
    /// q+ and v+.
    pub(super) end: State<T>,
    pub(super) kinematics: Kinematics<T>,
    /// (v+ - v̄) / a
    pub(super) acceleration: Vec<T>,
    rnea: Rnea<T>,
    displacement: Vec<T>,
    forces: Vec<T>,
    of_state: StateForces<T>,
    residual: Vec<T>,
}

impl<T: Real> Default for ImplicitMomentum<T> {
    fn default() -> Self {
        ImplicitMomentum {
            end: State::default(),
            kinematics: Kinematics::default(),
            acceleration: Vec::new(),
            rnea: Rnea::default(),
            displacement: Vec::new(),
            forces: Vec::new(),
            of_state: StateForces::default(),
            residual: Vec::new(),
        }
    }
}

impl<T: Real> ImplicitMomentum<T> {
    /// Evaluates R (N s, N m s) at the velocities v+ of a step of `rate` seconds from `start` under `inputs`. Of lone bodies it says nothing.
    pub fn update(
        &mut self,
        system: &System<T>,
        (start, inputs, rate): (&State<T>, &[T], T),
        velocity: &[T],
    ) {
        let System { model, parameters, .. } = *system;
        self.end.q.clone_from(&start.q);
        self.end.v.clear();
        self.end.v.extend_from_slice(velocity);
        self.displacement.clear();
        self.displacement.extend(velocity.iter().map(|&v| v * rate));
        for body in &model.bodies {
            let joint = &body.joint;
            let Some(coordinates) = joint.kind.coordinates() else { continue };
            let q = &mut self.end.q[joint.q..joint.q + coordinates.nq()];
            coordinates.advance(q, &self.displacement[joint.v..joint.v + coordinates.nv()]);
        }
        self.kinematics.update(model, parameters, &self.end);
        self.acceleration.clear();
        let change = velocity.iter().zip(&start.v).map(|(&v, &before)| (v - before) / rate);
        self.acceleration.extend(change);
        self.forces.resize(velocity.len(), T::zero());
        applied_forces(model, parameters, &self.end, inputs, &mut self.forces);
        if model.has_state_forces() {
            self.of_state.update(model, parameters, &self.end, inputs, T::zero());
            self.of_state.act(&mut self.forces);
            for ((force, &damping), &v) in
                self.forces.iter_mut().zip(&self.of_state.damping).zip(velocity)
            {
                *force -= damping * v;
            }
        }
        self.residual.resize(velocity.len(), T::zero());
        let (kinematics, acceleration) = (&self.kinematics, &self.acceleration);
        let (rnea, residual) = (&mut self.rnea, &mut self.residual);
        inverse_dynamics(model, parameters, kinematics, acceleration, rnea, residual);
        for (r, &force) in residual.iter_mut().zip(&self.forces) {
            *r = (*r - force) * rate;
        }
    }

    /// tau, as it was evaluated last.
    pub fn forces(&self) -> &[T] {
        &self.forces
    }

    /// R, as it was evaluated last.
    pub fn residual(&self) -> &[T] {
        &self.residual
    }
}
