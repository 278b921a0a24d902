//! All bodies at the start of a step, and how they would move without contact.

use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::{
    Articulation, BodyPose, BodySpeed, FreeBody, ImplicitTangent, StateForces, TreeMotion,
};
use crate::ad::Real;
use crate::linalg::{cholesky, norm};
use crate::model::{Integrator, Model, Settings, System};
use crate::spatial::rotation_matrix;
use crate::state::{NV, State};

/// All bodies at the start of a step. Reused, it allocates nothing.
pub struct FreeMotion<T: Real> {
    /// Every body.
    pub bodies: Vec<BodyPose<T>>,
    /// The free bodies that nothing hangs on, in the order of their trees.
    pub lone: Vec<FreeBody<T>>,
    /// All other trees.
    pub articulation: Articulation<T>,
    /// The inputs of the step, with the forces of learned terms, pushes and drag at its start.
    pub inputs: Vec<T>,
    state_forces: StateForces<T>,
    /// Of each tree its place among these free bodies, if it is one, and its velocities.
    trees: Vec<(Option<usize>, Range<usize>)>,
}

impl<T: Real> Default for FreeMotion<T> {
    fn default() -> Self {
        FreeMotion {
            bodies: Vec::new(),
            lone: Vec::new(),
            articulation: Articulation::default(),
            inputs: Vec::new(),
            state_forces: StateForces::default(),
            trees: Vec::new(),
        }
    }
}

impl<T: Real> FreeMotion<T> {
    /// Everything at `state`, over a step of `duration` under `inputs` (see
    /// [`step`](crate::simulation::step)).
    pub fn start(&mut self, system: &System<T>, state: &State<T>, inputs: &[T], duration: T) {
        let System { model, parameters, .. } = *system;
        self.bodies.clear();
        self.lone.clear();
        self.trees.clear();
        self.inputs.clear();
        self.inputs.extend_from_slice(inputs);
        self.state_forces.update(model, parameters, state, inputs, duration);
        for (input, &force) in self.inputs.iter_mut().zip(&self.state_forces.forces) {
            *input += force;
        }
        let mut articulated = false;
        for tree in &model.trees {
            let place = if tree.lone {
                let body = tree.bodies[0];
                let wrench = &self.inputs[tree.v.clone()];
                let driven = (wrench, self.damping(tree.v.clone()));
                self.lone.push(FreeBody::new(model, parameters, state, body, driven, duration));
                Some(self.lone.len() - 1)
            } else {
                articulated = true;
                None
            };
            self.trees.push((place, tree.v.clone()));
        }
        if articulated {
            let inputs = match system.settings.integrator {
                // Its stages evaluate such forces themselves.
                Integrator::RungeKutta => inputs,
                _ => &self.inputs,
            };
            self.articulation.start(system, state, inputs, duration, &mut self.state_forces);
        }
        for (index, body) in model.bodies.iter().enumerate() {
            let pose = match body.tree {
                None => self.fixed(system, index),
                Some(tree) => match self.trees[tree].0 {
                    Some(place) => lone_pose(&self.lone[place], tree),
                    None => self.articulation.pose(system, index, tree),
                },
            };
            self.bodies.push(pose);
        }
    }

    /// Learned viscous friction of some velocities; empty where there is none.
    pub fn damping(&self, velocities: Range<usize>) -> &[T] {
        self.state_forces.damping.get(velocities).unwrap_or_default()
    }

    /// Puts a free body in the place of its tree's.
    pub fn replace(&mut self, model: &Model, body: usize, free: FreeBody<T>) {
        let Some(tree) = model.bodies[body].tree else { return };
        if let Some(place) = self.trees[tree].0 {
            self.bodies[body] = lone_pose(&free, tree);
            self.lone[place] = free;
        }
    }

    /// Follows an implicit step to where it stands: `velocity` and the momentum R there, of all trees, with `tangent` on values. Lone
    /// bodies, which are prescribed then, go as they did.
    pub(crate) fn follow(
        &mut self,
        model: &Model,
        tangent: &ImplicitTangent,
        momentum: (&[T], &[T]),
    ) {
        if self.lone.len() < self.trees.len() {
            self.articulation.follow(model, tangent, momentum);
        }
    }

    /// The free body that a tree is, if it is one.
    pub fn lone_of(&self, tree: usize) -> Option<&FreeBody<T>> {
        self.trees[tree].0.map(|place| &self.lone[place])
    }

    /// Adds L with M = L L' of a tree to `factor`, row-major and lower triangular, in the velocities of its [motion](Self::tree):
    /// what an impact feels, in which nothing is damped. Zeros where M is not positive definite.
    pub fn push_inertia_factor(&self, system: &System<T>, tree: usize, factor: &mut Vec<T>) {
        let System { model, parameters, .. } = *system;
        let start = factor.len();
        let n = model.trees[tree].v.len();
        if model.is_prescribed_tree(tree) {
            factor.extend_from_slice(self.tree(tree).mass_factor);
            return;
        }
        if model.trees[tree].lone {
            let body = model.trees[tree].bodies[0];
            let (mass, inertia) = (parameters.mass(model, body), parameters.inertia(model, body));
            factor.resize(start + n * n, T::zero());
            for i in 0..3 {
                factor[start + i * (n + 1)] = mass;
                for k in 0..=i {
                    factor[start + (3 + i) * n + 3 + k] = inertia[(i, k)];
                }
            }
        } else {
            self.articulation.push_inertia(tree, factor);
        }
        let own = &mut factor[start..];
        (0..n).for_each(|i| own[i * n + i + 1..(i + 1) * n].fill(T::zero()));
        if !cholesky(own, n) {
            // No problem is posed with this, and that is told.
            own.fill(T::zero());
        }
    }

    /// A body that does not move.
    fn fixed(&self, system: &System<T>, index: usize) -> BodyPose<T> {
        let model = system.model;
        let body = &model.bodies[index];
        let turn = rotation_matrix(body.joint.orientation).map(T::constant);
        let at = system.parameters.position(model, index);
        let (rotation, position) = match body.parent {
            None => (turn, at),
            Some(parent) => {
                let BodyPose { rotation, position, .. } = &self.bodies[parent];
                (rotation * turn, position + rotation * at)
            }
        };
        let center_of_mass = system.parameters.center_of_mass(model, index);
        BodyPose { rotation, position, center_of_mass, tree: None, speed: BodySpeed::default() }
    }

    /// How fast a body goes at some velocities of all trees: without contact is in its [pose](BodyPose).
    pub fn speed(&self, system: &System<T>, body: usize, velocities: &[T]) -> BodySpeed {
        let Some(tree) = self.bodies[body].tree else { return BodySpeed::default() };
        match &self.trees[tree] {
            (Some(_), range) => lone_speed(&velocities[range.clone()]),
            (None, _) => self.articulation.speed_of(system, body, velocities),
        }
    }

    /// Adds the adjoints of the positions of bodies that do not move, `body` and those that it hangs on, where
    /// displacements of it in the world count by `displacement`.
    pub(crate) fn add_fixed_places(
        &self,
        model: &Model,
        mut body: Option<usize>,
        displacement: &Vector3<T>,
        to_parameters: &mut [T],
    ) {
        while let Some(index) = body {
            body = model.bodies[index].parent;
            let Some(slots) = model.joint_slots(index) else { continue };
            let place = match body {
                Some(parent) => self.bodies[parent].rotation.tr_mul(displacement),
                None => *displacement,
            };
            for k in 0..3 {
                to_parameters[slots.position + k] += place[k];
            }
        }
    }

    /// How many trees there are.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// The velocities of a tree, among those of all.
    pub fn velocities(&self, tree: usize) -> Range<usize> {
        self.trees[tree].1.clone()
    }

    /// By what impulses are multiplied to be those of forces over a step: those of BDF2 act over a.
    pub(crate) fn share_of_step(&self, settings: &Settings) -> f64 {
        match settings.integrator {
            Integrator::Bdf2 if self.trees() > 0 => settings.time_step / self.duration(0).value(),
            _ => 1.0,
        }
    }

    /// How long the step is for a tree, s.
    pub fn duration(&self, tree: usize) -> T {
        self.tree(tree).duration
    }

    /// A tree.
    pub fn tree(&self, tree: usize) -> TreeMotion<'_, T> {
        match &self.trees[tree] {
            (Some(place), _) => {
                let free = &self.lone[*place];
                TreeMotion {
                    velocity: &free.velocity,
                    free_velocity: &free.free_velocity,
                    mass_factor: &free.mass_factor,
                    duration: free.duration,
                    start_factor: &free.mass_factor,
                    rest: &[],
                }
            }
            (None, range) => self.articulation.motion(tree, range.clone()),
        }
    }

    /// Writes how fast a point of a moving body goes along a direction of the world: adds `sign` times the row
    /// of J to `row`, which has as many entries as the tree of the body has velocities. `arm`: from
    /// the centre of mass to the point, in the body, m.
    pub fn add_row(
        &self,
        body: usize,
        arm: Vector3<T>,
        direction: Vector3<T>,
        sign: f64,
        row: &mut [T],
    ) {
        let BodyPose { rotation, tree, .. } = &self.bodies[body];
        let Some(tree) = *tree else { return };
        match self.trees[tree].0 {
            Some(_) => {
                // d . (v + R (w x arm)) = d . v + w . (arm x R'd)
                let turning = arm.cross(&(rotation.transpose() * direction));
                let entries = direction.iter().chain(turning.iter());
                for (entry, &x) in row[..NV].iter_mut().zip(entries) {
                    *entry += if sign < 0.0 { -x } else { x };
                }
            }
            None => {
                let (pose, first) = (&self.bodies[body], self.trees[tree].1.start);
                let point = (arm, direction);
                self.articulation.add_row(pose, body, point, (first, sign), row);
            }
        }
    }

    /// As [`add_row`](Self::add_row), of how fast a body turns about a direction of the world.
    pub fn add_turn(&self, body: usize, direction: Vector3<T>, sign: f64, row: &mut [T]) {
        let BodyPose { rotation, tree, .. } = &self.bodies[body];
        let Some(tree) = *tree else { return };
        match self.trees[tree].0 {
            Some(_) => {
                let turning = rotation.transpose() * direction;
                for (entry, &x) in row[3..NV].iter_mut().zip(turning.iter()) {
                    *entry += if sign < 0.0 { -x } else { x };
                }
            }
            None => {
                let first = self.trees[tree].1.start;
                self.articulation.add_turn(body, direction, (first, sign), row);
            }
        }
    }

    /// Writes the state of a tree at the end of the step from its velocities there; `next` has the
    /// configuration of the start. `untouched`: nothing acted on it in the step but its own forces. False if
    /// its rotation is not found.
    #[must_use]
    pub fn advance(
        &self,
        model: &Model,
        tree: usize,
        velocity: &[T],
        untouched: bool,
        next: &mut State<T>,
    ) -> bool {
        match self.trees[tree].0 {
            Some(place) => {
                let joint = &model.bodies[model.trees[tree].bodies[0]].joint;
                let free = &self.lone[place];
                // To the last bit.
                let velocity = if free.prescribed { &free.free_velocity } else { velocity };
                free.advance(velocity, joint.q, joint.v, next)
            }
            None => {
                self.articulation.advance(model, tree, velocity, untouched, next);
                true
            }
        }
    }

    /// Copies what derivatives of the step need of another motion.
    pub(crate) fn keep(&mut self, other: &FreeMotion<T>) {
        self.bodies.clone_from(&other.bodies);
        self.inputs.clone_from(&other.inputs);
        self.lone.clone_from(&other.lone);
        self.trees.clone_from(&other.trees);
        if self.lone.len() < self.trees.len() {
            self.articulation.keep(&other.articulation);
        }
    }

    /// Says that something else may push bodies that fast (m/s), however fast they go without contact.
    pub(crate) fn hasten(&mut self, speed: f64) {
        for body in self.bodies.iter_mut().filter(|body| body.tree.is_some()) {
            body.speed.linear = body.speed.linear.max(speed);
            // What goes along with others may be pushed alone.
            body.speed.velocity = None;
        }
    }

    /// Says that bodies go as fast as in another motion, whose points of contact are to be found again.
    pub(crate) fn hasten_like(&mut self, other: &FreeMotion<f64>) {
        for (body, other) in self.bodies.iter_mut().zip(&other.bodies) {
            body.speed = other.speed;
        }
    }

    /// Everything stays where it is if nothing touches it.
    pub fn rest(&mut self) {
        for free in &mut self.lone {
            free.free_velocity.fill(T::zero());
            // What turns it is a displacement, about one axis.
            free.inertia = Matrix3::identity();
        }
        self.articulation.rest();
    }

    /// Whether masses are positive definite.
    pub fn is_admissible(&self, tree: usize) -> bool {
        match self.trees[tree].0 {
            Some(place) => self.lone[place].admissible,
            None => self.articulation.is_admissible(tree),
        }
    }
}

/// How fast a free body goes and turns at its velocities.
fn lone_speed<T: Real>(velocities: &[T]) -> BodySpeed {
    let [linear, angular] = [0, 3].map(|k| norm(&[0, 1, 2].map(|i| velocities[k + i].value())));
    BodySpeed { linear, angular, velocity: None }
}

fn lone_pose<T: Real>(free: &FreeBody<T>, tree: usize) -> BodyPose<T> {
    BodyPose {
        rotation: free.rotation,
        position: free.position,
        center_of_mass: free.center_of_mass,
        tree: Some(tree),
        speed: lone_speed(&free.free_velocity),
    }
}
