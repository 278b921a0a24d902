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
    /// What can touch what, in the order of (`first`, `second`).
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

/// What a body can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Solid {
    /// A half-space, by its index.
    HalfSpace(usize),
    /// A body, by its index.
    Body(usize),
}

/// A half-space and a body, or two bodies, that can touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The names of both, joined by `-`: `floor-cube`.
    pub name: String,
    /// The half-space, or the body of lower index. Contact normals point away from it.
    pub first: Solid,
    /// Index of the body, or of the second one. Contact impulses are those on it.
    pub second: usize,
    /// Whether contacts at rest have a coefficient of friction of their own.
    pub two_regimes: bool,
}

impl Model {
    /// The pair of two solids, if they can touch.
    pub fn pair(&self, first: Solid, second: usize) -> Option<usize> {
        self.pairs.binary_search_by_key(&(first, second), |pair| (pair.first, pair.second)).ok()
    }

    /// How many impulses a pair is remembered with from step to step: see
    /// [`StepMemory`](crate::simulation::StepMemory).
    pub fn remembered_points(&self, pair: usize) -> usize {
        let Pair { first, second, .. } = self.pairs[pair];
        let points = |body: usize| self.bodies[body].shape.contact_points();
        match first {
            Solid::HalfSpace(_) => points(second),
            Solid::Body(first) => points(first).min(points(second)),
        }
    }

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
