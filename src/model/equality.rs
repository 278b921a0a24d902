//! Closed loops, and other conditions that hold at all times.

/// What an equality constraint demands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EqualityKind {
    /// A point of each body coincide.
    Connect,
    /// As `Connect`, and the bodies do not turn against each other.
    Weld,
    /// As `Connect`, and the bodies turn against each other about one axis alone. `Geilinger20` (24)
    Hinge,
    /// A point of each body stay at a distance.
    Distance,
    /// q1 = offset + ratio q2, of the joints of the bodies (a mimic joint).
    Joint,
}

impl EqualityKind {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            EqualityKind::Connect => "connect",
            EqualityKind::Weld => "weld",
            EqualityKind::Hinge => "hinge",
            EqualityKind::Distance => "distance",
            EqualityKind::Joint => "joint",
        }
    }

    /// How many conditions it is.
    pub fn rows(self) -> usize {
        match self {
            EqualityKind::Connect => 3,
            EqualityKind::Weld => 6,
            EqualityKind::Hinge => 5,
            EqualityKind::Distance | EqualityKind::Joint => 1,
        }
    }
}

/// A condition on two bodies. Its points, distance, offset and ratio, and how stiff it is, are
/// [parameters](super::Parameters).
#[derive(Clone, Debug, PartialEq)]
pub struct Equality {
    /// Its name.
    pub name: String,
    /// What it demands.
    pub kind: EqualityKind,
    /// The bodies; nothing is the world.
    pub bodies: [Option<usize>; 2],
    /// Of a weld, and of a hinge at some angle: quaternion w, x, y, z of the second body in the first.
    pub orientation: [f64; 4],
    /// Of a hinge: the unit vector along its axis, in the first body.
    pub axis: [f64; 3],
    /// Whether it gives way as a spring and a damper do, whose numbers are parameters; else it is met exactly.
    pub yields: bool,
}
