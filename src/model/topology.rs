//! What does not change during a rollout: which bodies there are and what touches what.

use nalgebra::Vector3;

use super::Shape;
use super::parameters::{BODY, GRAVITY, PAIR};
use crate::state::{NQ, NV};

/// Names and topology of a scene. All names differ and contain no `/`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The bodies, all free to move; the index is the id of a body.
    pub bodies: Vec<Body>,
    /// The fixed grounds and walls.
    pub half_spaces: Vec<HalfSpace>,
    /// What can touch what.
    pub pairs: Vec<Pair>,
}

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// Its form.
    pub shape: Shape,
}

/// A fixed half-space, solid where normal . x < offset.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfSpace {
    /// Its name.
    pub name: String,
    /// Unit normal out of the ground, world frame.
    pub normal: Vector3<f64>,
    /// Distance of the surface from the origin of the world along the normal, m.
    pub offset: f64,
}

/// A half-space and a body that can touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The names of both, joined by `-`: `floor-cube`.
    pub name: String,
    /// Index of the half-space.
    pub half_space: usize,
    /// Index of the body.
    pub body: usize,
}

impl Model {
    /// The length of a configuration.
    pub fn nq(&self) -> usize {
        NQ * self.bodies.len()
    }

    /// The length of a velocity.
    pub fn nv(&self) -> usize {
        NV * self.bodies.len()
    }

    /// The length of [`Parameters::values`](super::Parameters).
    pub fn parameter_count(&self) -> usize {
        GRAVITY + BODY * self.bodies.len() + PAIR * self.pairs.len()
    }
}
