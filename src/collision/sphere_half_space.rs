//! The lowest point of a sphere against a half-space.

use super::{Pose, SurfacePoint};
use crate::ad::Real;
use crate::model::HalfSpace;

pub(super) fn points<T: Real>(
    pose: &Pose<T>,
    radius: T,
    plane: &HalfSpace,
    points: &mut Vec<SurfacePoint<T>>,
) {
    let normal = plane.normal.map(T::constant);
    let gap = normal.dot(&pose.position) - plane.offset - radius;
    let at = pose.rotation.transpose() * normal * (-radius);
    points.push(SurfacePoint { feature: 0, gap, at, lowest: gap });
}
