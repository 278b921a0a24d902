//! Pairs of features, numbered.

use crate::ad::Real;
use crate::collision::hull::Hull;

/// The number of a pair of features.
pub(super) fn feature<T: Real>(hulls: [&Hull<T>; 2], first: usize, second: usize) -> usize {
    first + hulls[0].polyhedron.features() * second
}
