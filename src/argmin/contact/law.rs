//! What the rows of a block demand of their impulses and velocities, and what a contact does.

/// The law of a block of rows. With u the velocity along the rows, lambda the impulse, c the compliance
/// and w = u - target + c lambda along the first row:
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Law {
    /// One row: w = 0, lambda of either sign (a closed loop).
    Equality,
    /// One row: 0 <= lambda perpendicular to w >= 0 (a joint limit, a contact without friction).
    NonNegative,
    /// One row: |lambda| <= limit, and w = 0 inside, opposed to lambda at the limit (dry friction of a
    /// joint, a motor of limited strength).
    Interval,
    /// Three rows [normal, tangent 1, tangent 2]: 0 <= lambda_n perpendicular to w >= 0, |lambda_t| <=
    /// mu lambda_n, with lambda_t opposed to u_t and on the cone where u_t != 0: Coulomb's law with
    /// the exact cone. `LeLidec21` (3), (4)
    #[default]
    Coulomb,
    /// The same with |lambda_k| <= mu lambda_n along each tangent by itself, a four-sided pyramid whose
    /// friction depends on direction, by up to sqrt 2. `LeLidec21` Fig. 5
    Pyramid,
    /// The convex relaxation: lambda minimises the quadratic over the friction cone, so that a
    /// contact that slips also separates, by mu |u_t|. `Zhong21` (5)
    Relaxed,
}

impl Law {
    /// How many rows a block has.
    pub fn rows(self) -> usize {
        match self {
            Law::Equality | Law::NonNegative | Law::Interval => 1,
            Law::Coulomb | Law::Pyramid | Law::Relaxed => 3,
        }
    }

    /// Whether the first row only pushes.
    pub(super) fn is_one_sided(self) -> bool {
        !matches!(self, Law::Equality | Law::Interval)
    }
}

/// What a contact does in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Apart: no impulse.
    #[default]
    Break,
    /// Touches, does not slip; the impulse is inside the friction cone.
    Stick,
    /// Touches and slips; the impulse is on the cone, opposed to the slip.
    Slide,
    /// Touches and does not slip, because others hold it; the impulse is on the cone.
    Clamp,
}

impl Mode {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Break => "break",
            Mode::Stick => "stick",
            Mode::Slide => "slide",
            Mode::Clamp => "clamp",
        }
    }
}
