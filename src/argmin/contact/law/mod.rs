//! What the rows of a block demand of their impulses and velocities, and what a contact does. All that a law is stands
//! in this folder: the solvers and the derivative ask for its properties and name no law.

mod impulse_set;

pub(super) use impulse_set::{Slope, soften, within};
pub(crate) use impulse_set::{length, margin, mode, project};

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
    /// The same over the pyramid |lambda_k| <= mu lambda_n, a quadratic program: what slips separates by
    /// mu (|u_1| + |u_2|). `Anitescu06`
    RelaxedPyramid,
    /// The friction of a couple at a contact, the [block](crate::argmin::RowBlock::normal) before whose normal impulse it has:
    /// three rows, of which the first moves nothing and has that impulse lambda_n; along the others |lambda_t| <= limit
    /// lambda_n, opposed to u_t and on the disk where u_t != 0. Of one row (torsion) the third moves nothing either.
    Couple,
    /// Friction of a strength that is given: three rows, of which the first moves nothing and has the impulse 1; along the
    /// others |lambda_t| <= limit, opposed to u_t and on the disk where u_t != 0: Tresca's friction.
    Disk,
}

/// What the first row of a block asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Support {
    /// w = 0.
    Bilateral,
    /// 0 <= lambda perpendicular to w >= 0.
    Unilateral,
    /// |lambda| <= a limit of its own, and w = 0 inside.
    Limited,
    /// Nothing: its impulse is that of another block.
    Borrowed,
    /// Nothing: its impulse is 1.
    Given,
}

/// Which conditions hold of a block in a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    /// No impulse.
    Apart,
    /// The impulse is at a limit of its own.
    AtLimit,
    /// w = 0, and what friction does.
    Closed(Tangents),
}

/// What holds along the tangents of a block that is closed; d is the direction of its friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tangents {
    /// There are none.
    None,
    /// No slip along the tangents that are marked, lambda_k = mu lambda_n d_k along the others.
    Axes([bool; 2]),
    /// It slips: lambda_t = mu lambda_n d with d opposed to the slip.
    Arc,
    /// lambda_t = mu lambda_n d, and d such that it does not slip across d; along d others hold it.
    Across,
}

impl Tangents {
    /// Whether the block does not slip along tangent `k`, with an impulse that nothing else decides.
    pub fn hold(self, k: usize) -> bool {
        matches!(self, Tangents::Axes(held) if held[k])
    }
}

impl Law {
    /// How many rows a block has.
    pub fn rows(self) -> usize {
        match self {
            Law::Equality | Law::NonNegative | Law::Interval => 1,
            Law::Coulomb | Law::Pyramid | Law::Relaxed | Law::RelaxedPyramid => 3,
            Law::Couple | Law::Disk => 3,
        }
    }

    /// What the first row asks.
    pub(super) fn support(self) -> Support {
        match self {
            Law::Equality => Support::Bilateral,
            Law::Interval => Support::Limited,
            Law::NonNegative => Support::Unilateral,
            Law::Coulomb | Law::Pyramid | Law::Relaxed | Law::RelaxedPyramid => Support::Unilateral,
            Law::Couple => Support::Borrowed,
            Law::Disk => Support::Given,
        }
    }

    /// That of what is tied along a row.
    pub(crate) fn of_tie() -> Law {
        Law::Equality
    }

    /// That of a contact without friction.
    pub(crate) fn of_normal() -> Law {
        Law::NonNegative
    }

    /// That of the friction of a couple.
    pub(super) fn of_couple() -> Law {
        Law::Couple
    }

    /// That of friction of a given strength.
    pub(super) fn of_disk() -> Law {
        Law::Disk
    }

    /// Whether its impulse is at most so large, whatever moves: it is that of a force.
    pub(crate) fn is_limited(self) -> bool {
        self.support() == Support::Limited
    }

    /// Whether its normal impulse is that of another block.
    pub(crate) fn borrows(self) -> bool {
        self.support() == Support::Borrowed
    }

    /// Whether its normal impulse is 1.
    pub(super) fn is_given(self) -> bool {
        self.support() == Support::Given
    }

    /// Whether the first row moves nothing, as its impulse is known from elsewhere.
    pub(super) fn has_only_friction(self) -> bool {
        matches!(self.support(), Support::Borrowed | Support::Given)
    }

    /// Whether the first row only pushes.
    pub(super) fn is_one_sided(self) -> bool {
        self.support() == Support::Unilateral
    }

    /// Whether the impulse minimises over its set, so that what slips also separates: the condition along the first row
    /// is u . (1, mu d), in the direction that the impulse has.
    pub(super) fn is_associated(self) -> bool {
        matches!(self, Law::Relaxed | Law::RelaxedPyramid)
    }

    /// Whether friction is in a disk, so that its direction turns with the slip. It is data otherwise.
    pub(super) fn turns(self) -> bool {
        matches!(self, Law::Coulomb | Law::Relaxed | Law::Couple | Law::Disk)
    }

    /// Whether a contact that others hold can have its friction anywhere in the disk, and on its edge is a
    /// [clamp](Mode::Clamp): Coulomb's law.
    pub(super) fn clamps(self) -> bool {
        self.turns() && !self.is_associated()
    }

    /// Whether the impulses are a half-line or a second-order cone, which is what the interior point knows.
    pub(super) fn is_second_order(self) -> bool {
        self.is_one_sided() && (self.rows() == 1 || self.turns())
    }

    /// The mode of a block that is in `mode` and does not slip.
    pub(crate) fn at_rest(self, mode: Mode) -> Mode {
        match mode {
            Mode::Slide if self.clamps() => Mode::Clamp,
            Mode::Slide if self.turns() => Mode::Stick,
            _ => mode,
        }
    }

    /// Which conditions hold in `mode`, with friction of direction `d`, or at the sides `d`.
    pub(super) fn face(self, mode: Mode, d: [f64; 2], limit: f64) -> Face {
        let axes = |held| Face::Closed(Tangents::Axes(held));
        match mode {
            Mode::Break => Face::Apart,
            Mode::Slide if self.support() == Support::Limited => Face::AtLimit,
            _ if self.rows() == 1 => Face::Closed(Tangents::None),
            _ if !self.turns() => axes(d.map(|side| side == 0.0)),
            Mode::Stick => axes([true; 2]),
            Mode::Slide => Face::Closed(Tangents::Arc),
            Mode::Clamp if limit > 0.0 => Face::Closed(Tangents::Across),
            // Without friction there is nothing to turn.
            Mode::Clamp => axes([false; 2]),
        }
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
