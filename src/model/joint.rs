//! How a body moves against its parent.

use nalgebra::Vector3;

use crate::state::Coordinates;

/// The kind of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JointKind {
    /// Does not move.
    Fixed,
    /// Moves freely; the parent is the world.
    #[default]
    Free,
    /// Turns about a point.
    Ball,
    /// Turns about an axis, with limits or without (a continuous joint).
    Revolute,
    /// Slides along an axis.
    Prismatic,
}

impl JointKind {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            JointKind::Fixed => "fixed",
            JointKind::Free => "free",
            JointKind::Ball => "ball",
            JointKind::Revolute => "revolute",
            JointKind::Prismatic => "prismatic",
        }
    }

    /// How its numbers in the state move; nothing if it has none.
    pub fn coordinates(self) -> Option<Coordinates> {
        match self {
            JointKind::Fixed => None,
            JointKind::Free => Some(Coordinates::Pose),
            JointKind::Ball => Some(Coordinates::Rotation),
            JointKind::Revolute | JointKind::Prismatic => Some(Coordinates::Number),
        }
    }

    /// How many numbers of a configuration it has.
    pub fn nq(self) -> usize {
        self.coordinates().map_or(0, Coordinates::nq)
    }

    /// How many velocities it has.
    pub fn nv(self) -> usize {
        self.coordinates().map_or(0, Coordinates::nv)
    }

    /// Whether it has one coordinate along or about an axis.
    pub fn has_axis(self) -> bool {
        matches!(self, JointKind::Revolute | JointKind::Prismatic)
    }
}

/// The joint between a body and its parent.
///
/// With `position` p0 and `anchor` a among the [parameters](super::Parameters), the pose of the body in its
/// parent is R = R0 Rj(q), p = p0 + R0 (a + d) - R a: Rj turns about the axis by q, or is the
/// quaternion q of a ball joint, and d = axis q of a prismatic joint. A free joint has the pose
/// itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Its kind.
    pub kind: JointKind,
    /// Its name in the file it comes from; empty if it has none.
    pub name: String,
    /// Unit vector in the body, of revolute and prismatic joints.
    pub axis: Vector3<f64>,
    /// Quaternion w, x, y, z of the body in its parent at q = 0, R0.
    pub orientation: [f64; 4],
    /// Whether it has a lower and an upper limit.
    pub limited: bool,
    /// Where its numbers start in [`State::q`](crate::state::State::q).
    pub q: usize,
    /// Where its numbers start in [`State::v`](crate::state::State::v).
    pub v: usize,
}

impl Joint {
    /// A free joint whose numbers start at `q` and `v`.
    pub fn free(q: usize, v: usize) -> Joint {
        Joint {
            kind: JointKind::Free,
            name: String::new(),
            axis: Vector3::z(),
            orientation: [1.0, 0.0, 0.0, 0.0],
            limited: false,
            q,
            v,
        }
    }
}
