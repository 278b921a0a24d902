//! Directions at right angles to a normal.

use crate::ad::Real;

/// The normal turned by a right angle in the plane.
pub(super) fn turned<T: Real>(e: [T; 3]) -> [T; 3] {
    [-e[1], e[0], T::zero()]
}

/// The tangents of the normal `e`, as many as the dimension leaves: cones are round, so that any will do in space.
pub(super) fn tangents<T: Real>(e: [T; 3], dimension: usize) -> ([[T; 3]; 2], usize) {
    if dimension == 2 {
        return ([turned(e), [T::zero(); 3]], 1);
    }
    // Across the axis that the normal is farthest from.
    let size = e.map(|e| e.value().abs());
    let k = (0..3).fold(0, |best, k| if size[k] < size[best] { k } else { best });
    let mut axis = [T::zero(); 3];
    axis[k] = T::constant(1.0);
    let along = e[k];
    let across: [T; 3] = std::array::from_fn(|i| axis[i] - e[i] * along);
    let length = (across[0] * across[0] + across[1] * across[1] + across[2] * across[2]).sqrt();
    let first = across.map(|a| a / length);
    let second = [
        e[1] * first[2] - e[2] * first[1],
        e[2] * first[0] - e[0] * first[2],
        e[0] * first[1] - e[1] * first[0],
    ];
    ([first, second], 2)
}
