//! The eight corners of a box against a half-space.

use nalgebra::Vector3;

use super::ContactPoint;
use super::lowest::{LEVEL, lowest_gap};
use crate::ad::Real;
use crate::dynamics::FreeBody;
use crate::linalg::norm;
use crate::model::{HalfSpace, Parameters};

pub(super) fn points<T: Real>(
    parameters: &Parameters<T>,
    free: &FreeBody<T>,
    body: usize,
    plane: &HalfSpace,
    pair: usize,
    points: &mut Vec<ContactPoint<T>>,
) {
    let half = parameters.half_extents(body);
    // The normal in the body: the gap of every corner is one dot product away.
    let normal = free.rotation.transpose() * plane.normal.map(T::constant);
    let height = plane.normal.map(T::constant).dot(&free.position) - plane.offset;
    for feature in 0..8 {
        let side = |axis: usize, x: T| if feature >> axis & 1 == 1 { x } else { -x };
        let corner = Vector3::new(side(0, half.x), side(1, half.y), side(2, half.z));
        let gap = height + normal.dot(&corner);
        let arm = corner - free.center_of_mass;
        points.push(ContactPoint::of_body((pair, body, feature), plane, gap, arm));
    }
    let corners = points.len() - 8;
    let gaps = points[corners..].iter().map(|point| point.gap);
    let lowest = lowest_gap(gaps, norm(half.as_slice()) * LEVEL);
    for point in &mut points[corners..] {
        point.lowest = lowest;
    }
}
