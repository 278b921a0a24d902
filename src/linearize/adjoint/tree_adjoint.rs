//! Trees backwards but for their constraints: from the adjoints of the state at the end to those of the velocities there,
//! and from the weights of the momenta to what these come from. The transpose of `tree_derivative`.

use nalgebra::Vector3;

use super::implicit_adjoint::ImplicitAdjoint;
use super::parts::{Adjoints, Before, StepOf};
use super::stages_adjoint::StagesAdjoint;
use crate::dynamics::{
    AppliedForceDerivatives, FreeBodyAdjoint, Gradient, Kinematics, RneaAdjoint, add_motor_damping,
    applied_forces_vjp, damping_vjp, inverse_dynamics_vjp, motor_damping_vjp,
};
use crate::linalg::{dot, times_lower_transpose};
use crate::linearize::end_of_step::EndOfStep;
use crate::model::{Integrator, Joint, System};
use crate::spatial::{exp, left_jacobian, rotation_matrix};
use crate::state::Coordinates;

/// Scratch memory.
#[derive(Default)]
pub(super) struct TreeAdjoint {
    /// Of each tree of the model; nothing of those that are no lone bodies.
    pub lone: Vec<FreeBodyAdjoint<f64>>,
    forces: AppliedForceDerivatives<f64>,
    /// Of each velocity of the articulated trees (v+ - v) / dt, and the weight of its momentum, times dt and as it is.
    acceleration: Vec<f64>,
    weights: Vec<f64>,
    momenta: Vec<f64>,
    by_acceleration: Vec<f64>,
    by_damping: Vec<f64>,
    /// Of lone bodies whose motion without contact is recorded the adjoint of their velocities there.
    pub before: Vec<f64>,
    rnea: RneaAdjoint<f64>,
    implicit: ImplicitAdjoint,
    ending: EndOfStep,
    stages: StagesAdjoint,
    /// Of places and velocities without contact.
    free: [Vec<f64>; 2],
}

impl TreeAdjoint {
    pub fn start(&mut self, of: &StepOf) {
        let nv = of.system.model.nv();
        self.lone.clear();
        self.lone.resize(of.motion.trees(), FreeBodyAdjoint::default());
        let Self { acceleration, weights, momenta, by_acceleration, by_damping, before, .. } = self;
        for numbers in [acceleration, weights, momenta, by_acceleration, by_damping, before] {
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
        if of.before(tree) == Before::Alone {
            return;
        }
        let dt = of.motion.duration(tree);
        for (i, k) in entry.v.clone().enumerate() {
            self.weights[k] = dt * a[i];
            self.momenta[k] = a[i];
            self.acceleration[k] = (velocity[i] - of.state.v[k]) / dt;
        }
    }

    /// Adds what all trees say. `squares` is what the conditions say of the diagonal of their mass matrices, `end` the adjoint of
    /// where the step ends. False if a tree has no derivative.
    #[must_use]
    pub fn finish(
        &mut self,
        of: &StepOf,
        (squares, end): (&[f64], &[f64]),
        adjoints: &mut Adjoints,
    ) -> bool {
        let System { model, parameters, settings } = *of.system;
        let nv = model.nv();
        for (tree, entry) in model.trees.iter().enumerate().filter(|(_, tree)| tree.lone) {
            let own = &self.lone[tree];
            let Adjoints { state, inputs, parameters, .. } = &mut *adjoints;
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
        let Some(first) = model.trees.iter().position(|tree| !tree.lone) else { return true };
        if of.integrator().is_backward() {
            self.finish_at_end(of, squares, adjoints);
            return true;
        }
        // M v+ = M v_p + impulses, M with damping: of what is of M the part that v+ is, -dM v+ (by `SemiImplicit` all there is,
        // but for the forces, as M v_p = M v + dt (forces - inverse dynamics at (v+ - v) / dt - damping v+)).
        let dt = of.motion.duration(first);
        for (k, sum) in self.by_damping.iter_mut().enumerate() {
            *sum = dt * squares[k] - self.weights[k] * of.velocities[k];
        }
        let free = match of.integrator() {
            Integrator::Implicit => {
                let by_damping = &mut self.by_damping;
                self.implicit.add(of, &self.momenta, by_damping, adjoints)
            }
            Integrator::RungeKutta => self.staged(of, end, adjoints),
            _ => {
                self.semi_implicit(of, adjoints);
                true
            }
        };
        let Adjoints { state, parameters: to_parameters, .. } = adjoints;
        let system = (model, parameters);
        // That of Runge and Kutta has no damping.
        if settings.integrator != Integrator::RungeKutta {
            damping_vjp(model, &self.by_damping, to_parameters);
        }
        if settings.integrator.damps_by_motors() {
            let at = (of.state, of.inputs);
            motor_damping_vjp(system, at, &self.by_damping, to_parameters);
        }
        self.weights.iter_mut().for_each(|weight| *weight = -*weight);
        let (to_q, to_v) = state.split_at_mut(nv);
        let accelerations = std::mem::take(&mut self.acceleration);
        let start = (&of.motion.articulation.kinematics, &accelerations[..]);
        self.inverse_dynamics(of, start, [to_q, to_v, to_parameters]);
        self.acceleration = accelerations;
        if matches!(of.integrator(), Integrator::SemiImplicit | Integrator::ImplicitFast) {
            for entry in model.trees.iter().filter(|tree| !tree.lone) {
                for k in entry.v.clone() {
                    to_v[k] -= self.by_acceleration[k] / dt;
                }
            }
        }
        free
    }

    /// Adds what trees say in an implicit step: momenta and forces are those at its end, at fixed v+ and q+ = q̄ (+) a v+; compliances have
    /// the masses of its start.
    fn finish_at_end(&mut self, of: &StepOf, squares: &[f64], adjoints: &mut Adjoints) {
        let System { model, parameters, .. } = *of.system;
        let nv = model.nv();
        let system = (model, parameters);
        let mut ending = std::mem::take(&mut self.ending);
        ending.update(of.system, (of.state, of.motion), of.velocities);
        let EndOfStep { state: end, kinematics } = &ending;
        let Adjoints { state, inputs, parameters: to_parameters, .. } = adjoints;
        let (to_q, to_v) = state.split_at_mut(nv);
        let [mut at_end, mut ignored] = std::mem::take(&mut self.free);
        for numbers in [&mut at_end, &mut ignored] {
            numbers.clear();
            numbers.resize(nv, 0.0);
        }
        self.forces.update(model, parameters, end, of.inputs);
        let to = [&mut at_end[..], &mut ignored[..], inputs, &mut to_parameters[..]];
        applied_forces_vjp(system, (end, of.inputs), &self.forces, &self.weights, to);
        for (k, sum) in self.by_damping.iter_mut().enumerate() {
            *sum = -self.weights[k] * of.velocities[k];
        }
        damping_vjp(model, &self.by_damping, to_parameters);
        for (tree, entry) in model.trees.iter().enumerate() {
            let rate = of.motion.duration(tree);
            entry.v.clone().for_each(|k| self.by_damping[k] = rate * squares[k]);
        }
        damping_vjp(model, &self.by_damping, to_parameters);
        motor_damping_vjp(system, (of.state, of.inputs), &self.by_damping, to_parameters);
        self.weights.iter_mut().for_each(|weight| *weight = -*weight);
        let accelerations = std::mem::take(&mut self.acceleration);
        let to = [&mut at_end[..], &mut ignored[..], &mut to_parameters[..]];
        self.inverse_dynamics(of, (kinematics, &accelerations), to);
        self.acceleration = accelerations;
        for (tree, entry) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone) {
            let rate = of.motion.duration(tree);
            for k in entry.v.clone() {
                to_v[k] -= self.by_acceleration[k] / rate;
            }
            for &body in &entry.bodies {
                let Joint { kind, v, .. } = model.bodies[body].joint;
                let turn = kind.coordinates().and_then(Coordinates::quaternion);
                let Some((_, k)) = turn else { continue };
                let own = &mut at_end[v + k..v + k + 3];
                let turn = Vector3::from_fn(|i, _| end.v[v + k + i]) * rate;
                let back = rotation_matrix(exp(turn)) * Vector3::new(own[0], own[1], own[2]);
                own.copy_from_slice(back.as_slice());
            }
            for k in entry.v.clone() {
                to_q[k] += at_end[k];
            }
        }
        (self.ending, self.free) = (ending, [at_end, ignored]);
    }

    /// Adds the inverse dynamics at these accelerations, backwards.
    fn inverse_dynamics(
        &mut self,
        of: &StepOf,
        (kinematics, accelerations): (&Kinematics<f64>, &[f64]),
        [q, v, to_parameters]: [&mut [f64]; 3],
    ) {
        let System { model, parameters, .. } = *of.system;
        let (weights, scratch) = (&self.weights, &mut self.rnea);
        let gradient = Gradient { q, v, a: &mut self.by_acceleration, parameters: to_parameters };
        inverse_dynamics_vjp(
            model,
            parameters,
            kinematics,
            accelerations,
            weights,
            scratch,
            gradient,
        );
    }

    /// What drives the joints, by the default, and where the same is implicit in the gains of motors.
    fn semi_implicit(&mut self, of: &StepOf, adjoints: &mut Adjoints) {
        if of.closes {
            return;
        }
        let System { model, parameters, .. } = *of.system;
        let Adjoints { state, inputs, parameters: to_parameters, .. } = adjoints;
        let (to_q, to_v) = state.split_at_mut(model.nv());
        self.forces.update(model, parameters, of.state, of.inputs);
        if of.integrator() == Integrator::ImplicitFast {
            // (M + dt D) v_p = M v + dt (tau + D v - h): what motors damp falls out of what drives, D stays.
            let at = (of.state, of.inputs);
            add_motor_damping(model, parameters, at.0, at.1, &mut self.forces.by_v);
            let [damped, _] = &mut self.free;
            damped.clear();
            damped.extend(self.weights.iter().zip(&of.state.v).map(|(w, v)| w * v));
            motor_damping_vjp((model, parameters), at, damped, to_parameters);
        }
        applied_forces_vjp(
            (model, parameters),
            (of.state, of.inputs),
            &self.forces,
            &self.weights,
            [to_q, to_v, inputs, to_parameters],
        );
    }

    /// Runge and Kutta: M dv_p by the stages, and dM v_p.
    fn staged(&mut self, of: &StepOf, end: &[f64], adjoints: &mut Adjoints) -> bool {
        let model = of.system.model;
        let nv = model.nv();
        let [mut places, mut velocities] = std::mem::take(&mut self.free);
        let mut accelerations = std::mem::take(&mut self.by_damping);
        for numbers in [&mut places, &mut velocities, &mut accelerations] {
            numbers.clear();
            numbers.resize(nv, 0.0);
        }
        for (tree, entry) in model.trees.iter().enumerate().filter(|(_, tree)| !tree.lone) {
            let (own, n) = (entry.v.clone(), entry.v.len());
            let motion = of.motion.tree(tree);
            if of.before(tree) == Before::Alone {
                places[own.clone()].copy_from_slice(&end[own.clone()]);
                velocities[own.clone()].copy_from_slice(&end[nv..][own]);
                continue;
            }
            let half = &mut accelerations[own.clone()];
            times_lower_transpose(motion.mass_factor, n, &self.momenta[own.clone()], half);
            for (i, velocity) in velocities[own.clone()].iter_mut().enumerate() {
                *velocity = dot(&motion.mass_factor[i * n..=i * n + i], &half[..=i]);
            }
            for (i, k) in own.enumerate() {
                accelerations[k] = (motion.free_velocity[i] - of.state.v[k]) / motion.duration;
            }
        }
        let done = self.stages.add(of, [&places, &velocities], adjoints);
        let Adjoints { state, parameters: to_parameters, .. } = adjoints;
        let (to_q, to_v) = state.split_at_mut(nv);
        let start = (&of.motion.articulation.kinematics, &accelerations[..]);
        self.inverse_dynamics(of, start, [to_q, to_v, to_parameters]);
        (self.free, self.by_damping) = ([places, velocities], accelerations);
        done
    }
}

fn add(to: &mut [f64], x: Vector3<f64>) {
    to.iter_mut().zip(x.iter()).for_each(|(to, x)| *to += x);
}
