//! The eight corners of a box against a half-space.

use nalgebra::Vector3;

use super::lowest::{LEVEL, lowest_gap};
use super::{Pose, SurfacePoint};
use crate::ad::Real;
use crate::linalg::norm;
use crate::model::HalfSpace;

pub(super) fn points<T: Real>(
    pose: &Pose<T>,
    half: Vector3<T>,
    plane: &HalfSpace,
    points: &mut Vec<SurfacePoint<T>>,
) {
    // The normal in the box: the gap of every corner is one dot product away.
    let normal = pose.rotation.transpose() * plane.normal.map(T::constant);
    let height = plane.normal.map(T::constant).dot(&pose.position) - plane.offset;
    let first = points.len();
    for feature in 0..8 {
        let side = |axis: usize, x: T| if feature >> axis & 1 == 1 { x } else { -x };
        let at = Vector3::new(side(0, half.x), side(1, half.y), side(2, half.z));
        let gap = height + normal.dot(&at);
        points.push(SurfacePoint { feature, gap, at, lowest: gap });
    }
    let gaps = points[first..].iter().map(|point| point.gap);
    let lowest = lowest_gap(gaps, norm(half.as_slice()) * LEVEL);
    for point in &mut points[first..] {
        point.lowest = lowest;
    }
}
