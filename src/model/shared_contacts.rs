//! What says which shapes touch, and the numbers that they share: only data, see [`touching`](super::touching).

use super::SurfaceTerms;

/// Which shapes touch: those of which the `contype` of one has a bit of the `conaffinity` of the other
/// (MuJoCo's rule).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// What it is, in bits.
    pub contype: u32,
    /// What it touches, in bits.
    pub conaffinity: u32,
}

impl Default for Filter {
    fn default() -> Self {
        Filter { contype: 1, conaffinity: 1 }
    }
}

impl Filter {
    /// Whether two shapes touch.
    pub fn admits(self, other: Filter) -> bool {
        self.contype & other.conaffinity != 0 || other.contype & self.conaffinity != 0
    }
}

/// So many pairs of colliders that no `[[contact]]` names have numbers of their own at most.
pub(crate) const MOST_OWN: usize = 2000;

/// Which solids are meant to touch if no pair says otherwise.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filters {
    pub half_spaces: Vec<Filter>,
    pub colliders: Vec<Filter>,
    /// Bodies that never touch, the lower index first, in ascending order.
    pub excluded: Vec<[usize; 2]>,
    /// Whether a body may touch the one it hangs on by a joint.
    pub touch_parents: bool,
}

/// What a surface with numbers is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SurfaceKind {
    /// Everything that is made of a material.
    Material,
    /// One collider.
    Own,
    /// All colliders that do not say what they are made of.
    Default,
}

/// How colliders touch that are no pair of their own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SharedContacts {
    pub filters: Filters,
    /// Colliders that pass through each other all the same, the lower index first, in ascending order.
    pub passing: Vec<[usize; 2]>,
    /// The material of each half-space that is made of one: a surface.
    pub grounds: Vec<Option<usize>>,
    /// The surface of each collider; two that have none pass through each other.
    pub surface: Vec<Option<usize>>,
    /// The surfaces that have numbers, materials first.
    pub surfaces: Vec<Surface>,
}

/// A surface with numbers of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Surface {
    /// The material or the collider it is of, or `contact`.
    pub name: String,
    /// What it is of.
    pub kind: SurfaceKind,
    /// Whether contacts at rest have a coefficient of friction of their own.
    pub two_regimes: bool,
    /// Which terms it has beyond that.
    pub terms: SurfaceTerms,
}
