//! Trees backwards but for their constraints: from the adjoints of the state at the end to those of the velocities there,
//! and from the weights of the momenta to what these come from. The transpose of `tree_derivative`.

use nalgebra::Vector3;

use super::parts::{Adjoints, Before};
use crate::dynamics::{
    AppliedForceDerivatives, FreeBodyAdjoint, FreeMotion, Gradient, RneaAdjoint,
    applied_forces_vjp, inverse_dynamics_vjp,
};
use crate::model::{Joint, System, Tree};
use crate::spatial::{exp, left_jacobian, rotation_matrix};
use crate::state::{Coordinates, State};

/// A step that was taken.
#[derive(Clone, Copy)]
pub(super) struct StepOf<'a> {
    pub system: &'a System<'a, f64>,
    pub state: &'a State<f64>,
    pub inputs: &'a [f64],
    pub motion: &'a FreeMotion<f64>,
    /// Velocities at the end, in the coordinates of the contact problems.
    pub velocities: &'a [f64],
    /// Of each tree what differentiates its motion without contact; nothing where all is by hand.
    pub before: &'a [Before],
    /// Whether it closes loops: see [`Point`](crate::linearize::displacement::Point).
    pub closes: bool,
}

impl StepOf<'_> {
    /// What differentiates the motion of a tree without contact.
    pub fn before(&self, tree: usize) -> Before {
        self.before.get(tree).copied().unwrap_or_default()
    }
}

/// Scratch memory.
#[derive(Default)]
pub(super) struct TreeAdjoint {
    /// Of each tree of the model; nothing of those that are no lone bodies.
    pub lone: Vec<FreeBodyAdjoint<f64>>,
    forces: AppliedForceDerivatives<f64>,
    acceleration: Vec<f64>,
    /// Of each velocity of the articulated trees the weight of its momentum times dt.
    weights: Vec<f64>,
    by_acceleration: Vec<f64>,
    /// Of trees whose motion without contact is recorded: of lone bodies the adjoint of their velocities there, of others the
    /// weights of their momenta.
    pub before: Vec<f64>,
    rnea: RneaAdjoint<f64>,
}

impl TreeAdjoint {
    pub fn start(&mut self, of: &StepOf) {
        let nv = of.system.model.nv();
        self.lone.clear();
        self.lone.resize(of.motion.trees(), FreeBodyAdjoint::default());
        let TreeAdjoint { acceleration, weights, by_acceleration, before, .. } = self;
        for numbers in [acceleration, weights, by_acceleration, before] {
            numbers.clear();
            numbers.resize(nv, 0.0);
        }
    }

    /// From the adjoints of the `end` of the step (`[q; v]`, a tangent vector) those of the velocities of a tree there, in
    /// the coordinates of the contact problem; adds what the state at the start does to the end besides. False if a free
    /// rotation has no derivative.
    #[must_use]
    pub fn end(
        &mut self,
        of: &StepOf,
        tree: usize,
        end: &[f64],
        velocities: &mut [f64],
        adjoints: &mut Adjoints,
    ) -> bool {
        let model = of.system.model;
        let entry = &model.trees[tree];
        if of.before(tree) == Before::Alone {
            velocities.fill(0.0);
            return true;
        }
        let (to_q, to_v) = end.split_at(model.nv());
        let (to_q, to_v) = (&to_q[entry.v.clone()], &to_v[entry.v.clone()]);
        let velocity = &of.velocities[entry.v.clone()];
        let vector = |numbers: &[f64], k: usize| Vector3::from_column_slice(&numbers[k..k + 3]);
        if let Some(free) = of.motion.lone_of(tree) {
            let end = [vector(to_q, 0), vector(to_q, 3), vector(to_v, 0), vector(to_v, 3)];
            let own = &mut self.lone[tree];
            let inertia = own.inertia;
            let Some([v, w]) = free.end_vjp(velocity, end, own) else { return false };
            if of.closes {
                // A displacement turns about one axis, whatever the inertia.
                own.inertia = inertia;
            }
            velocities[..3].copy_from_slice(v.as_slice());
            velocities[3..].copy_from_slice(w.as_slice());
            return true;
        }
        let dt = of.motion.duration(tree);
        let start = &mut adjoints.state[entry.v.clone()];
        for (k, velocity) in velocities.iter_mut().enumerate() {
            *velocity = dt * to_q[k] + to_v[k];
            start[k] += to_q[k];
        }
        for &body in &entry.bodies {
            let Joint { kind, v, .. } = model.bodies[body].joint;
            let Some((_, k)) = kind.coordinates().and_then(Coordinates::quaternion) else {
                continue;
            };
            let local = v + k - entry.v.start;
            let turn = vector(velocity, local) * dt;
            let turned = vector(to_q, local);
            let back = rotation_matrix(exp(turn)) * turned - turned;
            let rate = left_jacobian(-turn).tr_mul(&turned) * dt - turned * dt;
            for i in 0..3 {
                start[local + i] += back[i];
                velocities[local + i] += rate[i];
            }
        }
        true
    }

    /// Takes the weights `a` of the momenta of a tree.
    pub fn momenta(&mut self, of: &StepOf, tree: usize, a: &[f64]) {
        let System { model, parameters, .. } = *of.system;
        let entry = &model.trees[tree];
        let velocity = &of.velocities[entry.v.clone()];
        if let Some(free) = of.motion.lone_of(tree) {
            if of.before(tree) == Before::Recorded {
                let before = free.change_vjp(velocity, a, &mut self.lone[tree]);
                self.before[entry.v.clone()].copy_from_slice(&before);
                return;
            }
            let inputs = if of.closes { of.inputs } else { &of.motion.inputs };
            let load = &inputs[entry.v.clone()];
            let body = (model, entry.bodies[0]);
            let own = &mut self.lone[tree];
            free.momentum_vjp(body, parameters, (velocity, load), a, own);
            return;
        }
        if of.before(tree) != Before::ByHand {
            self.before[entry.v.clone()].copy_from_slice(a);
            return;
        }
        let dt = of.motion.duration(tree);
        for (i, k) in entry.v.clone().enumerate() {
            self.weights[k] = dt * a[i];
            self.acceleration[k] = (velocity[i] - of.state.v[k]) / dt;
        }
    }

    /// Adds what all trees say.
    pub fn finish(&mut self, of: &StepOf, adjoints: &mut Adjoints) {
        let System { model, parameters, .. } = *of.system;
        let nv = model.nv();
        for (tree, entry) in model.trees.iter().enumerate().filter(|(_, tree)| tree.lone) {
            let own = &self.lone[tree];
            let Adjoints { state, inputs, parameters } = &mut *adjoints;
            own.add_parameters(model, entry.bodies[0], parameters);
            if of.before(tree) == Before::Recorded {
                continue;
            }
            let first = entry.v.start;
            for (start, x) in [(first, own.position), (first + 3, own.turn)] {
                add(&mut state[start..], x);
            }
            for (start, x) in [(first, own.velocity), (first + 3, own.spin)] {
                add(&mut state[nv + start..], x);
            }
            for (start, x) in [(first, own.force), (first + 3, own.torque)] {
                add(&mut inputs[start..], x);
            }
        }
        // The others have one integrator.
        let by_hand =
            |(tree, entry): (usize, &Tree)| !entry.lone && of.before(tree) == Before::ByHand;
        if !model.trees.iter().enumerate().any(by_hand) {
            return;
        }
        // M v+ = M v + dt (forces - inverse dynamics at (v+ - v) / dt - damping v+) + impulses
        let Adjoints { state, inputs, parameters: to_parameters } = adjoints;
        let (to_q, to_v) = state.split_at_mut(nv);
        if !of.closes {
            self.forces.update(model, parameters, of.state, of.inputs);
            applied_forces_vjp(
                (model, parameters),
                (of.state, of.inputs),
                &self.forces,
                &self.weights,
                [to_q, to_v, inputs, to_parameters],
            );
        }
        for (index, body) in model.bodies.iter().enumerate() {
            let (joint, slots) = (&body.joint, model.joint_slots(index));
            let Some(slots) = slots.filter(|_| body.tree.is_some()) else { continue };
            for k in joint.v..joint.v + joint.kind.nv() {
                to_parameters[slots.damping] -= self.weights[k] * of.velocities[k];
            }
        }
        self.weights.iter_mut().for_each(|weight| *weight = -*weight);
        let kinematics = &of.motion.articulation.kinematics;
        let gradient =
            Gradient { q: to_q, v: to_v, a: &mut self.by_acceleration, parameters: to_parameters };
        inverse_dynamics_vjp(
            model,
            parameters,
            kinematics,
            &self.acceleration,
            &self.weights,
            &mut self.rnea,
            gradient,
        );
        for (tree, entry) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone) {
            let dt = of.motion.duration(tree);
            for k in entry.v.clone() {
                adjoints.state[nv + k] -= self.by_acceleration[k] / dt;
            }
        }
    }
}

fn add(to: &mut [f64], x: Vector3<f64>) {
    to.iter_mut().zip(x.iter()).for_each(|(to, x)| *to += x);
}
