//! A body, and a tree of bodies, at the start of a step and without contact.

use nalgebra::{Matrix3, Vector3};

/// Where a body is at the start of a step.
#[derive(Clone, Debug)]
pub struct BodyPose<T> {
    /// Rotation from body to world.
    pub rotation: Matrix3<T>,
    /// Position of the origin in the world, m.
    pub position: Vector3<T>,
    /// Centre of mass in the body, m.
    pub center_of_mass: Vector3<T>,
    /// The tree it is part of; nothing if it does not move.
    pub tree: Option<usize>,
    /// How fast it goes without contact.
    pub speed: BodySpeed,
}

/// How fast a body goes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BodySpeed {
    /// Speed of the centre of mass, m/s.
    pub linear: f64,
    /// Angular speed, rad/s.
    pub angular: f64,
    /// Velocity of the centre of mass (m/s) and angular velocity (rad/s) in the world, if they are known and the body is one of a tree
    /// of joints: these go together, and approach each other much more slowly than they move.
    pub velocity: Option<[Vector3<f64>; 2]>,
}

/// A tree over one step, in the coordinates that the contact problem is posed in: of a lone body the velocity
/// of the centre of mass in the world and the angular velocity in the body, of others the
/// velocities of the state.
#[derive(Clone, Copy, Debug)]
pub struct TreeMotion<'a, T> {
    /// Velocities at the start.
    pub velocity: &'a [T],
    /// Velocities at the end without contact, v_p of `LeLidec21`.
    pub free_velocity: &'a [T],
    /// L with M = L L', row-major, lower triangular.
    pub mass_factor: &'a [T],
    /// How long the step is, s.
    pub duration: T,
    /// The same by which compliances are measured: where an implicit step ends elsewhere, of the masses it starts with.
    pub start_factor: &'a [T],
    /// What answers to the velocities v+ at the end beyond L L' (v+ - v_p), by [implicit steps](crate::model::Integrator::Bdf1): S, so
    /// that momenta change by (L L' + S) dv+; row-major, empty where there is no such.
    pub rest: &'a [f64],
}
