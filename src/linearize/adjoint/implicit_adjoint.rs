//! The linearly implicit step without contact backwards: the transpose of [`free_velocity`](crate::linearize::free_velocity).
//!
//! With a = (v_p - v) / dt and S a = tau - h - D v, S = M + dt D + dt dh/dv, what M dv_p counts by weights w is M w on v and
//! dt b = dt S^-T M w on the change of tau - h - D v - M a - dt D a - (h(v + dt a) - h(v - dt a)) / 2 at fixed a.

use super::parts::{Adjoints, StepOf};
use crate::dynamics::{
    AppliedForceDerivatives, Gradient, InverseDynamicsDerivatives, Kinematics, RneaAdjoint,
    applied_forces_vjp, damping_vjp, inverse_dynamics_derivatives, inverse_dynamics_vjp,
};
use crate::linalg::{Lu, add_scaled, dot, times_lower_transpose};
use crate::model::System;
use crate::state::State;

/// Scratch memory.
#[derive(Default)]
pub(super) struct ImplicitAdjoint {
    inverse: InverseDynamicsDerivatives<f64>,
    forces: AppliedForceDerivatives<f64>,
    lu: Lu<f64>,
    transposed: Vec<f64>,
    /// M w, b and numbers of all velocities.
    momenta: Vec<f64>,
    b: Vec<f64>,
    numbers: Vec<f64>,
    state: State<f64>,
    kinematics: Kinematics<f64>,
    acceleration: Vec<f64>,
    still: Vec<f64>,
    weights: Vec<f64>,
    rnea: RneaAdjoint<f64>,
    unused: Vec<f64>,
}

impl ImplicitAdjoint {
    /// Adds what the weights w of all trees make of M dv_p, and of dM v_p: with what [`TreeAdjoint`](super::tree_adjoint::TreeAdjoint)
    /// adds at v+ that is -dM (v+ - v_p). `by_damping` takes the adjoint of D. False if S is singular.
    #[must_use]
    pub fn add(
        &mut self,
        of: &StepOf,
        w: &[f64],
        by_damping: &mut [f64],
        adjoints: &mut Adjoints,
    ) -> bool {
        let System { model, parameters, .. } = *of.system;
        let nv = model.nv();
        let kinematics = &of.motion.articulation.kinematics;
        let Self { momenta, b, numbers, acceleration, still, weights, unused, .. } = self;
        for numbers in [momenta, b, numbers, acceleration, still, weights, unused] {
            numbers.clear();
            numbers.resize(nv, 0.0);
        }
        // At any accelerations.
        inverse_dynamics_derivatives(model, parameters, kinematics, w, &mut self.inverse);
        let trees = || model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone);
        for (tree, entry) in trees() {
            let (dt, own, n) = (of.motion.duration(tree), entry.v.clone(), entry.v.len());
            let motion = of.motion.tree(tree);
            let factor = motion.mass_factor;
            self.transposed.clear();
            self.transposed.resize(n * n, 0.0);
            let rates = self.inverse.dv.block(tree).1;
            for i in 0..n {
                for j in 0..n {
                    // M + dt D = L L'
                    let both = i.min(j) + 1;
                    let mass = dot(&factor[i * n..][..both], &factor[j * n..][..both]);
                    self.transposed[j * n + i] = mass + dt * rates[i * n + j];
                }
            }
            if !self.lu.factor(&self.transposed, n) {
                return false;
            }
            let half = &mut self.numbers[own.clone()];
            times_lower_transpose(factor, n, &w[own.clone()], half);
            for (i, momentum) in self.momenta[own.clone()].iter_mut().enumerate() {
                *momentum = dot(&factor[i * n..=i * n + i], &half[..=i]);
            }
            let b = &mut self.b[own.clone()];
            b.copy_from_slice(&self.momenta[own.clone()]);
            self.lu.solve_rows(1, b);
            for (i, k) in own.enumerate() {
                let a = (motion.free_velocity[i] - of.state.v[k]) / dt;
                by_damping[k] += dt * (w[k] * motion.free_velocity[i] - dt * b[i] * a);
                b[i] *= dt;
                self.numbers[k] = -b[i] * of.state.v[k];
                self.acceleration[k] = a;
                self.weights[k] = dt * w[k] - b[i];
            }
        }
        let Adjoints { state, inputs, parameters: to_parameters, .. } = &mut *adjoints;
        let (to_q, to_v) = state.split_at_mut(nv);
        self.forces.update(model, parameters, of.state, of.inputs);
        let (system, at) = ((model, parameters), (of.state, of.inputs));
        let to = [&mut *to_q, &mut *to_v, inputs, &mut *to_parameters];
        applied_forces_vjp(system, at, &self.forces, &self.b, to);
        damping_vjp(model, &self.numbers, to_parameters);
        for (index, body) in model.bodies.iter().enumerate() {
            let damping = parameters.damping(model, index);
            for (k, to) in to_v.iter_mut().enumerate().skip(body.joint.v).take(body.joint.kind.nv())
            {
                *to += self.momenta[k] - self.b[k] * damping;
            }
        }
        self.pull_back_inverse(of, adjoints);
        true
    }

    /// The inverse dynamics backwards: with dt (w - b) at v and a, and with half of -dt b and dt b at v + dt a and v - dt a.
    fn pull_back_inverse(&mut self, of: &StepOf, adjoints: &mut Adjoints) {
        let System { model, parameters, .. } = *of.system;
        let Adjoints { state, parameters: to_parameters, .. } = adjoints;
        let (to_q, to_v) = state.split_at_mut(model.nv());
        let dt = model.trees.iter().position(|tree| !tree.lone);
        let dt = dt.map_or(0.0, |tree| of.motion.duration(tree));
        let mut add = |kinematics: &Kinematics<f64>, acceleration: &[f64], weights: &[f64]| {
            let (q, v, a) = (&mut *to_q, &mut *to_v, &mut self.unused[..]);
            let gradient = Gradient { q, v, a, parameters: &mut *to_parameters };
            let (scratch, a) = (&mut self.rnea, acceleration);
            inverse_dynamics_vjp(model, parameters, kinematics, a, weights, scratch, gradient);
        };
        add(&of.motion.articulation.kinematics, &self.acceleration, &self.weights);
        of.state.cast_into(&mut self.state);
        for (dt, half) in [(dt, -0.5), (-dt, 0.5)] {
            self.state.v.clone_from(&of.state.v);
            add_scaled(&mut self.state.v, dt, &self.acceleration);
            self.kinematics.update(model, parameters, &self.state);
            self.weights.clear();
            self.weights.extend(self.b.iter().map(|b| half * b));
            add(&self.kinematics, &self.still, &self.weights);
        }
    }
}
