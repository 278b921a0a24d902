//! Where the bodies are and how they move.
//!
//! All spatial vectors are along the axes of the world, about one point for each tree: the origin of its
//! first body at this instant, at rest (the *origin* of the tree). Then nothing has to be
//! transformed from body to body, inertias of subtrees are plain sums, and the digits do not get
//! lost far from the origin of the world. What is computed from them does not depend on the point.

use nalgebra::{Matrix3, Vector3};

use super::links::{Links, NONE};
use crate::ad::Real;
use crate::model::{JointKind, Model, Parameters, Screw};
use crate::spatial::{Force, Inertia, Motion, Symmetric, rotation_matrix};
use crate::state::State;

/// A body in motion.
#[derive(Clone, Copy, Debug)]
pub struct BodyKinematics<T> {
    /// Rotation from body to world, R.
    pub rotation: Matrix3<T>,
    /// Position of the body's origin in the world, m.
    pub position: Vector3<T>,
    /// Origin of the tree in the world, m.
    pub origin: Vector3<T>,
    /// Velocity, in the world about `origin`.
    pub velocity: Motion<T>,
    /// Acceleration without gravity where all joint accelerations are zero, in the world about
    /// `origin`: the sum of dS/dt v along the path.
    pub bias_acceleration: Motion<T>,
    /// Inertia, in the world about `origin`.
    pub inertia: Inertia<T>,
}

impl<T: Real> BodyKinematics<T> {
    /// The force that gives the body the acceleration `a`: I a + V x* I V.
    #[inline]
    pub(super) fn inertia_force(&self, a: &Motion<T>) -> Force<T> {
        self.inertia * *a + self.velocity.cross_force(&(self.inertia * self.velocity))
    }
}

/// How one velocity moves its body and all that hang on it.
#[derive(Clone, Copy, Debug)]
pub struct Axis<T> {
    /// S: the spatial velocity per unit of the velocity, in the world about the origin of the tree.
    pub motion: Motion<T>,
    /// dS/dt.
    pub rate: Motion<T>,
}

/// Poses, velocities and inertias of all bodies, from [`Kinematics::update`].
#[derive(Debug, Default)]
pub struct Kinematics<T> {
    /// Each body.
    pub bodies: Vec<BodyKinematics<T>>,
    /// Each velocity.
    pub axes: Vec<Axis<T>>,
    /// The velocities of the joints themselves.
    pub(super) velocity: Vec<T>,
    pub(super) links: Links,
}

// By hand: the derived `clone_from` drops the memory it has.
impl<T: Clone> Clone for Kinematics<T> {
    fn clone(&self) -> Self {
        Kinematics {
            bodies: self.bodies.clone(),
            axes: self.axes.clone(),
            velocity: self.velocity.clone(),
            links: self.links.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.bodies.clone_from(&other.bodies);
        self.axes.clone_from(&other.axes);
        self.velocity.clone_from(&other.velocity);
        if self.links != other.links {
            self.links = other.links.clone();
        }
    }
}

impl<T: Real> Kinematics<T> {
    /// The kinematics of the bodies of `model` in `state`. This allocates; in a loop keep the value and call
    /// [`update`](Self::update).
    pub fn new(model: &Model, parameters: &Parameters<T>, state: &State<T>) -> Self {
        let mut kinematics = Self::default();
        kinematics.update(model, parameters, state);
        kinematics
    }

    /// Computes everything for another state.
    pub fn update(&mut self, model: &Model, parameters: &Parameters<T>, state: &State<T>) {
        self.links.fit(model);
        self.bodies.clear();
        self.axes.clear();
        self.velocity.clear();
        self.velocity.extend_from_slice(&state.v);
        for index in 0..model.bodies.len() {
            let body = self.place(model, parameters, state, index);
            self.bodies.push(body);
        }
    }

    /// Pushes the axes of a body's joint and finds its motion.
    #[inline]
    fn place(
        &mut self,
        model: &Model,
        parameters: &Parameters<T>,
        state: &State<T>,
        index: usize,
    ) -> BodyKinematics<T> {
        let body = &model.bodies[index];
        let joint = &body.joint;
        let link = self.links.bodies[index];
        let (q, v) = (&state.q[joint.q..], &state.v[joint.v..]);
        let screw = joint.kind.screw();

        let (mut rotation, mut position);
        // A point of the joint's axis, in the world.
        let mut pivot;
        if joint.kind == JointKind::Free {
            rotation = rotation_matrix([q[3], q[4], q[5], q[6]]);
            position = Vector3::new(q[0], q[1], q[2]);
            pivot = position;
        } else {
            // p = p0 + R0 (a + axis q) - R a
            let place = parameters.position(model, index);
            (rotation, position) = match body.parent {
                Some(parent) => {
                    let parent = &self.bodies[parent];
                    let rotation = rotated_by_constant(&parent.rotation, joint.orientation);
                    (rotation, parent.position + parent.rotation * place)
                }
                None => (rotation_matrix(joint.orientation.map(T::constant)), place),
            };
            pivot = position;
            let anchor = parameters.anchor(model, index);
            let at_origin = anchor.iter().all(|a| a.vanishes());
            if !at_origin {
                pivot += rotation * anchor;
            }
            if joint.kind == JointKind::Ball {
                rotation *= rotation_matrix([q[0], q[1], q[2], q[3]]);
            }
            if let Some(Screw { turns, advance }) = screw {
                if turns {
                    turn(&mut rotation, &joint.axis, q[0]);
                }
                if advance != 0.0 {
                    let way = if advance == 1.0 { q[0] } else { q[0] * advance };
                    let shift = times_constant(&rotation, &joint.axis) * way;
                    pivot += shift;
                    position += shift;
                }
            }
            if !at_origin {
                position = pivot - rotation * anchor;
            }
        }

        let (origin, mut velocity, mut bias) = match link.parent {
            NONE => (position, Motion::zero(), Motion::zero()),
            parent => {
                let parent = &self.bodies[parent];
                (parent.origin, parent.velocity, parent.bias_acceleration)
            }
        };
        pivot -= origin;
        match screw {
            Some(Screw { turns, advance }) => {
                let axis = times_constant(&rotation, &joint.axis);
                let mut motion = match turns {
                    true => Motion::rotation(axis, &pivot),
                    false => Motion::translation(axis),
                };
                if turns && advance != 0.0 {
                    motion.linear += axis * T::constant(advance);
                }
                // The axis moves with the parent; dS/dt = V x S.
                let rate = velocity.cross(&motion);
                velocity += motion * v[0];
                bias += rate * v[0];
                self.axes.push(Axis { motion, rate });
            }
            None if joint.kind == JointKind::Fixed => {}
            None => {
                let translations = link.fixed_axes;
                for k in 0..translations {
                    let mut unit = Vector3::zeros();
                    unit[k] = T::one();
                    let motion = Motion::translation(unit);
                    velocity += motion * v[k];
                    self.axes.push(Axis { motion, rate: Motion::zero() });
                }
                let turns: [Motion<T>; 3] = std::array::from_fn(|k| {
                    Motion::rotation(rotation.column(k).into_owned(), &pivot)
                });
                for k in 0..3 {
                    velocity += turns[k] * v[translations + k];
                }
                for k in 0..3 {
                    let rate = velocity.cross(&turns[k]);
                    bias += rate * v[translations + k];
                    self.axes.push(Axis { motion: turns[k], rate });
                }
            }
        }

        let arm = position - origin;
        let mass = parameters.mass(model, index);
        let center = arm + rotation * parameters.center_of_mass(model, index);
        let own = Symmetric::from_lower(&parameters.inertia(model, index));
        let inertia = Inertia::about_origin(mass, &center, own.rotated(&rotation));
        BodyKinematics { rotation, position, origin, velocity, bias_acceleration: bias, inertia }
    }

    /// The velocities that move a body, from its own joint towards the root of its tree.
    pub fn path(&self, body: usize) -> &[usize] {
        match self.links.bodies[body].last {
            NONE => &[],
            last => self.links.path(last),
        }
    }

    /// A point of a body (m, in its frame) in the world, m.
    pub fn point(&self, body: usize, local: &Vector3<T>) -> Vector3<T> {
        let body = &self.bodies[body];
        body.position + body.rotation * local
    }

    /// Velocity of the point of a body that is at `point` (world, m), in the world, m/s.
    pub fn point_velocity(&self, body: usize, point: &Vector3<T>) -> Vector3<T> {
        let body = &self.bodies[body];
        body.velocity.at(&(point - body.origin))
    }

    /// The spatial velocity of a body in the world about `point` (world, m) per unit of the velocity `k`,
    /// which must be on its [`path`](Self::path).
    #[inline]
    pub fn column(&self, body: usize, k: usize, point: &Vector3<T>) -> Motion<T> {
        let Axis { motion, .. } = self.axes[k];
        Motion { linear: motion.at(&(point - self.bodies[body].origin)), ..motion }
    }

    /// The Jacobian of the point of a body that is at `point` (world, m): six rows, linear velocity of the
    /// point and angular velocity, both in the world; as many columns as there are velocities.
    /// `jacobian` is row-major and overwritten.
    pub fn jacobian(&self, body: usize, point: &Vector3<T>, jacobian: &mut [T]) {
        jacobian.fill(T::zero());
        let n = self.axes.len();
        for &k in self.path(body) {
            let column = self.column(body, k, point);
            for i in 0..3 {
                jacobian[i * n + k] = column.linear[i];
                jacobian[(3 + i) * n + k] = column.angular[i];
            }
        }
    }

    /// The generalised forces of a force (N, world) and a torque (N m, world) on a body, the force at
    /// `point` (world, m), added to `forces`.
    pub fn apply_force(
        &self,
        body: usize,
        point: &Vector3<T>,
        force: &Vector3<T>,
        torque: &Vector3<T>,
        forces: &mut [T],
    ) {
        let mut wrench = Force::at(*force, &(point - self.bodies[body].origin));
        wrench.angular += torque;
        for &k in self.path(body) {
            forces[k] += self.axes[k].motion.dot(&wrench);
        }
    }

    /// Acceleration of the point of a body that is at `point` (world, m), in the world, m/s², if all
    /// accelerations of joints are zero: dJ/dt v.
    pub fn point_bias_acceleration(&self, body: usize, point: &Vector3<T>) -> Vector3<T> {
        let body = &self.bodies[body];
        let arm = point - body.origin;
        let (v, a) = (&body.velocity, &body.bias_acceleration);
        a.at(&arm) + v.angular.cross(&v.at(&arm))
    }

    /// Kinetic energy of all bodies, J; as all sums over bodies without those whose velocity is prescribed, which have no mass.
    pub fn kinetic_energy(&self) -> T {
        let twice = |body: &BodyKinematics<T>| body.velocity.dot(&(body.inertia * body.velocity));
        self.weighing().fold(T::zero(), |sum, body| sum + twice(body)) * 0.5
    }

    /// Energy of the bodies in gravity, J, zero at the origin of the world.
    pub fn potential_energy(&self, parameters: &Parameters<T>) -> T {
        -self.moment().dot(&parameters.gravity())
    }

    /// Mass of all bodies that move, kg.
    pub fn mass(&self) -> T {
        self.weighing().fold(T::zero(), |sum, body| sum + body.inertia.mass)
    }

    /// Centre of mass of all bodies that move, in the world, m. NaN if they have no mass.
    pub fn center_of_mass(&self) -> Vector3<T> {
        self.moment() / self.mass()
    }

    /// Centre of mass of a tree in the world, m. NaN if it has no mass.
    pub fn tree_center_of_mass(&self, model: &Model, tree: usize) -> Vector3<T> {
        let (mut mass, mut moment) = (T::zero(), Vector3::zeros());
        for &body in &model.trees[tree].bodies {
            mass += self.bodies[body].inertia.mass;
            moment += world_moment(&self.bodies[body]);
        }
        moment / mass
    }

    /// Momentum of all bodies, in the world about its origin.
    pub fn momentum(&self) -> Force<T> {
        self.weighing().fold(Force::zero(), |sum, body| {
            sum + (body.inertia * body.velocity).about(&-body.origin)
        })
    }

    /// The Jacobian of the centre of mass of all bodies that move: three rows in the world, as many columns
    /// as there are velocities; row-major and overwritten. NaN if they have no mass.
    pub fn center_of_mass_jacobian(&self, jacobian: &mut [T]) {
        jacobian.fill(T::zero());
        let scale = self.mass().recip();
        for (body, link) in self.links.bodies.iter().enumerate() {
            if link.weighs {
                self.add_momentum(body, scale, jacobian);
            }
        }
    }

    /// The Jacobian of the centre of mass of a tree: as
    /// [`center_of_mass_jacobian`](Self::center_of_mass_jacobian), zero in the columns of other trees.
    pub fn tree_center_of_mass_jacobian(&self, model: &Model, tree: usize, jacobian: &mut [T]) {
        jacobian.fill(T::zero());
        let bodies = &model.trees[tree].bodies;
        let mass = bodies.iter().fold(T::zero(), |sum, &body| sum + self.bodies[body].inertia.mass);
        for &body in bodies {
            self.add_momentum(body, mass.recip(), jacobian);
        }
    }

    /// Adds the linear momentum of a body per unit of each velocity, times `scale`, to three rows.
    fn add_momentum(&self, body: usize, scale: T, rows: &mut [T]) {
        let n = self.axes.len();
        for &k in self.path(body) {
            let momentum = (self.bodies[body].inertia * self.axes[k].motion).linear * scale;
            for i in 0..3 {
                rows[i * n + k] += momentum[i];
            }
        }
    }

    /// The bodies that move and have a mass.
    fn weighing(&self) -> impl Iterator<Item = &BodyKinematics<T>> {
        self.bodies.iter().zip(&self.links.bodies).filter(|(_, link)| link.weighs).map(|(b, _)| b)
    }

    /// Mass times position of all bodies that move.
    fn moment(&self) -> Vector3<T> {
        self.weighing().fold(Vector3::zeros(), |sum, body| sum + world_moment(body))
    }
}

/// Mass times position of the centre of mass.
fn world_moment<T: Real>(body: &BodyKinematics<T>) -> Vector3<T> {
    body.inertia.moment + body.origin * body.inertia.mass
}

/// R a.
#[inline]
fn times_constant<T: Real>(r: &Matrix3<T>, a: &Vector3<f64>) -> Vector3<T> {
    match coordinate_axis(a) {
        Some((k, positive)) => {
            let column = r.column(k).into_owned();
            if positive { column } else { -column }
        }
        None => Vector3::from_fn(|i, _| r[(i, 0)] * a.x + r[(i, 1)] * a.y + r[(i, 2)] * a.z),
    }
}

/// R times the rotation `q`.
#[inline]
pub(super) fn rotated_by_constant<T: Real>(r: &Matrix3<T>, q: [f64; 4]) -> Matrix3<T> {
    if q == [1.0, 0.0, 0.0, 0.0] {
        return *r;
    }
    let c = rotation_matrix(q);
    Matrix3::from_fn(|i, k| r[(i, 0)] * c[(0, k)] + r[(i, 1)] * c[(1, k)] + r[(i, 2)] * c[(2, k)])
}

/// Which coordinate axis a unit vector is, and whether it points along it.
#[inline]
fn coordinate_axis(a: &Vector3<f64>) -> Option<(usize, bool)> {
    let k = (0..3).find(|&k| a[k].abs() == 1.0)?;
    Some((k, a[k] > 0.0))
}

/// R turned about `axis`, a unit vector in the body, by `angle`.
#[inline]
fn turn<T: Real>(r: &mut Matrix3<T>, axis: &Vector3<f64>, angle: T) {
    let (s, c) = angle.sin_cos();
    if let Some((k, positive)) = coordinate_axis(axis) {
        let s = if positive { s } else { -s };
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        for row in 0..3 {
            let (x, y) = (r[(row, i)], r[(row, j)]);
            r[(row, i)] = x * c + y * s;
            r[(row, j)] = y * c - x * s;
        }
        return;
    }
    // Rodrigues, row by row: r c + r x a s + a (r . a) (1 - c)
    let d = T::one() - c;
    for row in 0..3 {
        let [x, y, z] = [r[(row, 0)], r[(row, 1)], r[(row, 2)]];
        let along = (x * axis.x + y * axis.y + z * axis.z) * d;
        r[(row, 0)] = x * c + (y * axis.z - z * axis.y) * s + along * axis.x;
        r[(row, 1)] = y * c + (z * axis.x - x * axis.z) * s + along * axis.y;
        r[(row, 2)] = z * c + (x * axis.y - y * axis.x) * s + along * axis.z;
    }
}
