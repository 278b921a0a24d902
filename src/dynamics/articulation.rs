//! A tree of bodies over one step, without contact.

use nalgebra::Vector3;

use super::{BodyPose, TreeMotion};
use crate::ad::Real;
use crate::model::{Model, System};
use crate::state::State;

/// A tree of bodies at the start of a step, and its velocities at the end if nothing touches it. Reused,
/// it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Articulation<T> {
    velocity: Vec<T>,
    free_velocity: Vec<T>,
    mass_factor: Vec<T>,
    duration: Option<T>,
    /// Whether the mass matrix is positive definite.
    pub admissible: bool,
}

impl<T: Real> Articulation<T> {
    pub(super) fn start(&mut self, _: &System<T>, _: &State<T>, _: usize, _: &[T], duration: T) {
        self.duration = Some(duration);
    }

    pub(super) fn pose(&self, _: usize, tree: usize) -> BodyPose<T> {
        BodyPose {
            rotation: nalgebra::Matrix3::identity(),
            position: Vector3::zeros(),
            center_of_mass: Vector3::zeros(),
            tree: Some(tree),
            linear_speed: 0.0,
            angular_speed: 0.0,
        }
    }

    pub(super) fn motion(&self) -> TreeMotion<'_, T> {
        TreeMotion {
            velocity: &self.velocity,
            free_velocity: &self.free_velocity,
            mass_factor: &self.mass_factor,
            duration: self.duration.unwrap_or(T::zero()),
        }
    }

    pub(super) fn add_row(&self, _: usize, _: Vector3<T>, _: Vector3<T>, _: f64, _: &mut [T]) {}

    pub(super) fn add_turn(&self, _: usize, _: Vector3<T>, _: f64, _: &mut [T]) {}

    pub(super) fn rest(&mut self) {}

    pub(super) fn advance(
        &self,
        _: &Model,
        _: &State<T>,
        _: usize,
        _: &[T],
        _: bool,
        _: &mut State<T>,
    ) {
    }
}
