//! Springs, cables and strings between bodies, and tendons that pull several joints.

/// A tendon: a line through points of bodies, or a sum of coordinates of joints, of which the length counts. It pulls with
/// stiffness (L - rest) + damping L', may be limited, may have dry friction, and motors may pull it. Its numbers are
/// [parameters](super::Parameters).
#[derive(Clone, Debug, PartialEq)]
pub struct Tendon {
    /// Its name.
    pub name: String,
    /// What its length is.
    pub path: TendonPath,
    /// Whether its length is limited.
    pub limited: bool,
    /// Whether its range has no width: the length is held, as that of an equality.
    pub held: bool,
    /// Whether it is limited or has dry friction, which are conditions on how its length changes.
    pub has_conditions: bool,
    /// Whether its spring and its damper only pull, as those of a cable: not while it is shorter than at rest.
    pub pulls_only: bool,
}

/// What the length of a tendon is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TendonPath {
    /// A sum of coordinates of joints with one each (of these bodies), each times a coefficient: m, or rad.
    Joints(Vec<usize>),
    /// That of the line through points of these bodies (nothing is the world), from one to the next, m.
    Points(Vec<Option<usize>>),
}

impl TendonPath {
    /// The bodies that it pulls, each time it does.
    pub fn bodies(&self) -> impl Iterator<Item = usize> {
        let (joints, points) = match self {
            TendonPath::Joints(bodies) => (&bodies[..], &[][..]),
            TendonPath::Points(bodies) => (&[][..], &bodies[..]),
        };
        joints.iter().copied().chain(points.iter().copied().flatten())
    }

    /// How many [parameters](super::Parameters) it has: coefficients, or coordinates of points.
    pub fn numbers(&self) -> usize {
        match self {
            TendonPath::Joints(bodies) => bodies.len(),
            TendonPath::Points(bodies) => 3 * bodies.len(),
        }
    }
}

/// Places among the [parameters](super::Parameters) of the numbers of a tendon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TendonSlots {
    /// Stiffness.
    pub stiffness: usize,
    /// Damping.
    pub damping: usize,
    /// The length at rest.
    pub rest: usize,
    /// How much longer it may be without a pull.
    pub slack: usize,
    /// Least length.
    pub lower: usize,
    /// Largest length.
    pub upper: usize,
    /// Dry friction.
    pub friction: usize,
    /// The first of the numbers of its path.
    pub path: usize,
}
