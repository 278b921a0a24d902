//! How a body moves against its parent.

use nalgebra::Vector3;

use crate::state::Coordinates;

/// The kind of a joint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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
    /// Turns about an axis and slides along it as it turns: the nut of a lead screw. Its coordinate is the angle.
    Helical {
        /// How far it slides along the axis, m for each radian: the lead of the thread over 2π, negative of a
        /// left-handed one.
        pitch: f64,
    },
}

/// What a joint with one coordinate does along and about its axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screw {
    /// Whether it turns by the coordinate, which is an angle then; otherwise it is a length.
    pub turns: bool,
    /// How far it slides, m for each unit of the coordinate.
    pub advance: f64,
}

impl JointKind {
    /// The kinds that have no numbers of their own.
    pub const PLAIN: [JointKind; 5] = [
        JointKind::Free,
        JointKind::Fixed,
        JointKind::Ball,
        JointKind::Revolute,
        JointKind::Prismatic,
    ];

    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            JointKind::Fixed => "fixed",
            JointKind::Free => "free",
            JointKind::Ball => "ball",
            JointKind::Revolute => "revolute",
            JointKind::Prismatic => "prismatic",
            JointKind::Helical { .. } => "helical",
        }
    }

    /// How it moves, if it has one coordinate along or about an axis.
    #[inline]
    pub fn screw(self) -> Option<Screw> {
        match self {
            JointKind::Fixed | JointKind::Free | JointKind::Ball => None,
            JointKind::Revolute => Some(Screw { turns: true, advance: 0.0 }),
            JointKind::Prismatic => Some(Screw { turns: false, advance: 1.0 }),
            JointKind::Helical { pitch } => Some(Screw { turns: true, advance: pitch }),
        }
    }

    /// How its numbers in the state move; nothing if it has none.
    pub fn coordinates(self) -> Option<Coordinates> {
        match self {
            JointKind::Fixed => None,
            JointKind::Free => Some(Coordinates::Pose),
            JointKind::Ball => Some(Coordinates::Rotation),
            _ => Some(Coordinates::Number),
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
        self.screw().is_some()
    }

    /// How many of its velocities are in m/s, the first ones; the others are in rad/s.
    pub fn translations(self) -> usize {
        match self {
            JointKind::Free => 3,
            _ => usize::from(self.screw().is_some_and(|screw| !screw.turns)),
        }
    }

    /// Whether it moves and all its coordinates are lengths.
    pub fn slides(self) -> bool {
        self.nv() > 0 && self.translations() == self.nv()
    }

    /// Whether it moves and all its coordinates are turns, about a point of the body: the anchor.
    pub fn turns(self) -> bool {
        self.nv() > 0 && self.translations() == 0
    }

    /// Whether a whole turn leads back to the same pose, so that it can be told up to whole turns only.
    pub fn comes_round(self) -> bool {
        self.screw() == Some(Screw { turns: true, advance: 0.0 })
    }
}

/// The joint between a body and its parent.
///
/// With `position` p0 and `anchor` a among the [parameters](super::Parameters), the pose of the body in its
/// parent is R = R0 Rj(q), p = p0 + R0 (a + d) - R a: Rj turns about the axis by q, or is the
/// quaternion q of a ball joint, and d = axis q of a prismatic joint, axis pitch q of a helical one. A free
/// joint has the pose itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Its kind.
    pub kind: JointKind,
    /// Its name in the file it comes from; empty if it has none.
    pub name: String,
    /// Unit vector in the body, of joints with one coordinate.
    pub axis: Vector3<f64>,
    /// Quaternion w, x, y, z of the body in its parent at q = 0, R0.
    pub orientation: [f64; 4],
    /// Whether it has a lower and an upper limit.
    pub limited: bool,
    /// Whether its velocity is what the inputs of a step say, whatever acts on the body: of a free joint on which nothing
    /// else hangs. Mocap bodies, hands and shaking tables are such.
    pub prescribed: bool,
    /// The largest speed that it is made for, of joints with one coordinate, rad/s or m/s. Nothing keeps it there: motions that
    /// are faster are told of.
    pub max_speed: Option<f64>,
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
            prescribed: false,
            max_speed: None,
            q,
            v,
        }
    }
}
