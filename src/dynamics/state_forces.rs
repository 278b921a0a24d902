//! Forces that are functions of the state: what learned terms do, their viscous friction, pushes, drag, and tendons.

use nalgebra::Vector3;

use super::Kinematics;
use super::tendon_pull::pull_tendons;
use crate::ad::Real;
use crate::linalg::norm;
use crate::model::{Drag, Feature, LearnedKind, LearnedTerm, Model, Parameters};
use crate::network::Pass;
use crate::spatial::{conjugate, product};
use crate::state::State;

/// The generalised forces of all learned terms, pushes, drags and tendons in a state. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct StateForces<T> {
    /// Of each term, since they have layers of their own.
    passes: Vec<Pass<T>>,
    inputs: Vec<T>,
    /// Of scenes with pushes, drags or tendons.
    kinematics: Kinematics<T>,
    slopes: Vec<(usize, T)>,
    /// Along each velocity; empty where there are none.
    pub forces: Vec<T>,
    /// Of each velocity how its force falls with it.
    pub damping: Vec<T>,
}

impl<T: Real> StateForces<T> {
    /// Evaluates all terms in a state, and pushes as far as they act by the `inputs` of a step; drag as it acts over
    /// `duration`, 0 for what it is at the moment.
    pub fn update(
        &mut self,
        model: &Model,
        parameters: &Parameters<T>,
        state: &State<T>,
        inputs: &[T],
        duration: T,
    ) {
        self.forces.clear();
        self.damping.clear();
        if !model.has_state_forces() {
            return;
        }
        self.forces.resize(model.nv(), T::zero());
        if model.has_geometric_forces() {
            self.kinematics.update(model, parameters, state);
        }
        if !model.tendons.is_empty() {
            let Self { kinematics, slopes, forces, .. } = self;
            pull_tendons(model, parameters, (kinematics, state), inputs, slopes, forces);
        }
        self.push(model, parameters, inputs);
        self.brake(model, parameters, state, duration);
        if !model.learned.is_empty() {
            self.learned(model, parameters, state);
        }
        // What is prescribed goes as it does whatever pulls at it.
        for tree in (0..model.trees.len()).filter(|&tree| model.is_prescribed_tree(tree)) {
            self.forces[model.trees[tree].v.clone()].fill(T::zero());
        }
    }

    /// Adds the learned terms.
    fn learned(&mut self, model: &Model, parameters: &Parameters<T>, state: &State<T>) {
        self.damping.resize(model.nv(), T::zero());
        let mut passes = std::mem::take(&mut self.passes);
        passes.resize_with(model.learned.len(), Pass::default);
        for (index, (term, pass)) in model.learned.iter().zip(&mut passes).enumerate() {
            if term.kind != LearnedKind::Friction {
                self.add(term, parameters.weights(model, index), state, pass);
            }
        }
        self.passes = passes;
    }

    /// Adds the pushes: J' f of the points they act on.
    fn push(&mut self, model: &Model, parameters: &Parameters<T>, inputs: &[T]) {
        let acting = &inputs[model.nv() + model.actuators.len()..];
        if acting.iter().all(|share| share.vanishes()) {
            return;
        }
        for (index, (push, &share)) in model.pushes.iter().zip(acting).enumerate() {
            let [point, force] = parameters.push(model, index);
            let point = self.kinematics.point(push.body, &point);
            for &k in self.kinematics.path(push.body) {
                let along = self.kinematics.column(push.body, k, &point).linear;
                self.forces[k] += along.dot(&force) * share;
            }
        }
    }

    /// Adds the drag of bodies in still air at their centres of mass: no more than what would stop a body by itself within
    /// the step, so that the air turns nothing round, however light it is.
    fn brake(&mut self, model: &Model, parameters: &Parameters<T>, state: &State<T>, duration: T) {
        if model.drags.is_empty() {
            return;
        }
        for (index, &Drag { body }) in model.drags.iter().enumerate() {
            let center = self.kinematics.point(body, &parameters.center_of_mass(model, body));
            let mut velocity = Vector3::zeros();
            for &k in self.kinematics.path(body) {
                velocity += self.kinematics.column(body, k, &center).linear * state.v[k];
            }
            let [linear, quadratic] = parameters.drag(model, index);
            let rate = linear + quadratic * norm(velocity.as_slice());
            let mass = parameters.mass(model, body);
            let stops = mass.value() > 0.0 && (rate * duration).value() > mass.value();
            let force = velocity * -(if stops { mass / duration } else { rate });
            for &k in self.kinematics.path(body) {
                let along = self.kinematics.column(body, k, &center).linear;
                self.forces[k] += along.dot(&force);
            }
        }
    }

    /// Adds a term.
    fn add(&mut self, term: &LearnedTerm, weights: &[T], state: &State<T>, pass: &mut Pass<T>) {
        self.inputs.clear();
        self.inputs.extend(term.features.iter().map(|&feature| value(feature, state)));
        pass.forward(&term.network, weights, &self.inputs);
        let outputs = term.velocities.iter().zip(&pass.output);
        match term.kind {
            LearnedKind::Force => {
                outputs.for_each(|(&v, &y)| self.forces[v] += y * term.amplitude);
            }
            LearnedKind::Dissipation => {
                outputs.for_each(|(&v, &y)| self.damping[v] += y * y * term.amplitude);
            }
            LearnedKind::Potential => {
                pass.backward(&term.network, weights);
                for (k, &feature) in term.features.iter().enumerate() {
                    let slope = pass.gradients[0][k] * term.amplitude;
                    pull(feature, state, slope, &mut self.forces);
                }
            }
            LearnedKind::Friction => {}
        }
    }

    /// Adds the forces, without viscous friction.
    pub(crate) fn act(&self, forces: &mut [T]) {
        forces.iter_mut().zip(&self.forces).for_each(|(force, &own)| *force += own);
    }
}

/// What a feature is in a state.
fn value<T: Real>(feature: Feature, state: &State<T>) -> T {
    match feature {
        Feature::Coordinate { q, .. } => state.q[q],
        Feature::Sine { q, .. } => state.q[q].sin(),
        Feature::Cosine { q, .. } => state.q[q].cos(),
        Feature::Quaternion { q, component, .. } => state.q[q + component],
        Feature::Velocity { v } => state.v[v],
        // Only friction has places.
        Feature::Place { .. } => T::zero(),
    }
}

/// Adds the forces of an energy that grows with a feature by `slope`.
fn pull<T: Real>(feature: Feature, state: &State<T>, slope: T, forces: &mut [T]) {
    match feature {
        Feature::Coordinate { v, .. } => forces[v] -= slope,
        Feature::Sine { q, v } => forces[v] -= slope * state.q[q].cos(),
        Feature::Cosine { q, v } => forces[v] += slope * state.q[q].sin(),
        Feature::Quaternion { q, v, component } => {
            // dq = q o [0, turn] / 2
            let mut along = [T::zero(); 4];
            along[component] = slope;
            let turn = std::array::from_fn(|k| state.q[q + k]);
            let [_, moments @ ..] = product(conjugate(turn), along);
            for (force, moment) in forces[v..v + 3].iter_mut().zip(moments) {
                *force -= moment * 0.5;
            }
        }
        Feature::Velocity { .. } | Feature::Place { .. } => {}
    }
}
