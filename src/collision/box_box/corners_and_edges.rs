//! Corners and edges of a box, by the sides they are on.

use crate::ad::Real;

/// The index of an edge along `axis`, and of a corner if the axis is 3: the sides of the other axes as
/// bits.
pub(super) fn feature_of(axis: usize, sides: [bool; 3]) -> usize {
    let bit = |k: usize| usize::from(sides[k % 3]);
    match axis {
        3 => bit(0) + 2 * bit(1) + 4 * bit(2),
        _ => 4 * axis + bit(axis + 1) + 2 * bit(axis + 2),
    }
}

/// `x` with the sign of a side.
pub(super) fn signed<T: Real>(upper: bool, x: T) -> T {
    if upper { x } else { -x }
}
