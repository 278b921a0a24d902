//! The prism that stands for a cylinder against polyhedra and capsules.
//!
//! Where a flat face or an edge of the other shape meets the round side or a rim, the prism is turned about
//! its axis until one of its edges lies in the direction of the contact: there the contact is that of
//! the cylinder, and rolling has no effect on it. Elsewhere, where a vertex or the end of a capsule meets
//! the side, and for the outline of the caps, the prism is up to 0.5 % of the radius too small.

use nalgebra::{Matrix3, Vector3};

use super::Pose;
use crate::ad::Real;
use crate::linalg::norm;

/// Contacts nearer than this (rad) to the axis are those of a cap, which has no direction to turn to.
const UPRIGHT: f64 = 1e-3;

/// The pose of a prism that has its first edge towards `normal`, which is in the world and away from the
/// cylinder.
pub(super) fn facing<T: Real>(pose: &Pose<T>, normal: &Vector3<T>) -> Option<Pose<T>> {
    let seen = pose.rotation.transpose() * normal;
    let sine = norm(&[seen.x, seen.y]);
    if sine.value() <= UPRIGHT {
        return None;
    }
    let (zero, one) = (T::zero(), T::one());
    let (x, y) = (seen.x / sine, seen.y / sine);
    let turn = Matrix3::new(x, -y, zero, y, x, zero, zero, zero, one);
    Some(Pose { rotation: pose.rotation * turn, position: pose.position })
}
