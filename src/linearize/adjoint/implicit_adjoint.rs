//! The linearly implicit step without contact backwards: the transpose of [`free_velocity`](crate::linearize::free_velocity).
//!
//! With a = (v_p - v) / dt and S a = tau - h - D v, S = M + dt D + dt dh/dv, what M dv_p counts by weights w is M w on v and
//! dt b = dt S^-T M w on the change of tau - h - D v - M a - dt D a - dt (dh/dv) a at fixed a.

use super::parts::{Adjoints, StepOf};
use crate::ad::{Dual, LANES, Real};
use crate::dynamics::{
    AppliedForceDerivatives, Gradient, InverseDynamicsDerivatives, Kinematics, RneaAdjoint,
    applied_forces_vjp, damping_vjp, inverse_dynamics_derivatives, inverse_dynamics_vjp,
};
use crate::linalg::{Lu, dot, times_lower_transpose};
use crate::model::{Parameters, System};
use crate::state::State;

type Lanes = Dual<f64, LANES>;

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
    /// What the inverse dynamics are at a, and how they change while v goes along a.
    parameters: Parameters<Lanes>,
    state: State<Lanes>,
    kinematics: Kinematics<Lanes>,
    acceleration: Vec<Lanes>,
    weights: Vec<Lanes>,
    adjoint: RneaAdjoint<Lanes>,
    /// In q, v, a and parameters.
    gradient: [Vec<Lanes>; 4],
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
        for numbers in [&mut self.momenta, &mut self.b, &mut self.numbers] {
            numbers.clear();
            numbers.resize(nv, 0.0);
        }
        self.acceleration.clear();
        self.acceleration.resize(nv, Lanes::constant(0.0));
        self.weights.clear();
        self.weights.resize(nv, Lanes::constant(0.0));
        parameters.cast_into(&mut self.parameters);
        of.state.cast_into(&mut self.state);
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
                self.acceleration[k] = Lanes::constant(a);
                self.state.v[k].tangent[0] = a;
                self.weights[k] = Lanes::constant(-b[i]);
                self.weights[k].tangent[0] = w[k];
            }
        }
        let Adjoints { state, inputs, parameters: to_parameters } = &mut *adjoints;
        let (to_q, to_v) = state.split_at_mut(nv);
        self.forces.update(model, parameters, of.state, of.inputs);
        let (system, at) = ((model, parameters), (of.state, of.inputs));
        let to = [&mut *to_q, &mut *to_v, inputs, &mut *to_parameters];
        applied_forces_vjp(system, at, &self.forces, &self.b, to);
        damping_vjp(system, at, false, &self.numbers, to_parameters);
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

    /// The inverse dynamics at a and how they change while v goes along a, backwards in one pass of duals.
    fn pull_back_inverse(&mut self, of: &StepOf, adjoints: &mut Adjoints) {
        let model = of.system.model;
        let Self { parameters, state, kinematics, acceleration, weights, adjoint, .. } = self;
        kinematics.update(model, parameters, state);
        let sizes = [model.nv(), model.nv(), model.nv(), model.parameter_count()];
        for (numbers, size) in self.gradient.iter_mut().zip(sizes) {
            numbers.clear();
            numbers.resize(size, Lanes::constant(0.0));
        }
        let [q, v, a, of_parameters] = &mut self.gradient;
        let gradient = Gradient { q, v, a, parameters: of_parameters };
        let at = (&*acceleration, &*weights);
        inverse_dynamics_vjp(model, parameters, kinematics, at.0, at.1, adjoint, gradient);
        let dt = model.trees.iter().position(|tree| !tree.lone);
        let dt = dt.map_or(0.0, |tree| of.motion.duration(tree));
        let [q, v, _, of_parameters] = &self.gradient;
        let Adjoints { state, parameters, .. } = adjoints;
        let found = q.iter().chain(v).chain(of_parameters);
        for (to, x) in state.iter_mut().chain(parameters).zip(found) {
            *to += x.value + dt * x.tangent[0];
        }
    }
}
