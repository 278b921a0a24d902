//! Poses as descriptions have them, position and quaternion w, x, y, z, and as they are multiplied.

use nalgebra::{Isometry3, Quaternion, UnitQuaternion};

/// w, x, y, z.
pub(super) fn wxyz(rotation: &UnitQuaternion<f64>) -> [f64; 4] {
    [rotation.w, rotation.i, rotation.j, rotation.k]
}

/// A position and a unit quaternion.
pub(super) fn isometry(position: [f64; 3], [w, x, y, z]: [f64; 4]) -> Isometry3<f64> {
    let rotation = UnitQuaternion::new_unchecked(Quaternion::new(w, x, y, z));
    Isometry3::from_parts(position.into(), rotation)
}
