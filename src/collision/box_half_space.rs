//! The eight corners of a box against a half-space.

use nalgebra::Vector3;

use super::ContactPoint;
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
        points.push(ContactPoint { pair, feature, gap, lowest: gap, arm });
    }
    let corners = points.len() - 8;
    let lowest = lowest_gap(&points[corners..], norm(half.as_slice()) * LEVEL);
    for point in &mut points[corners..] {
        point.lowest = lowest;
    }
}

/// Corners whose heights differ by less than this fraction of the half diagonal count as level.
const LEVEL: f64 = 1e-2;

/// The gap of the lowest of `points`, as their mean with weights exp(-gap / width): it has a
/// derivative where two are level, and does not depend on which of them are in reach.
fn lowest_gap<T: Real>(points: &[ContactPoint<T>], width: T) -> T {
    let least = points.iter().map(|point| point.gap.value()).fold(f64::INFINITY, f64::min);
    let (mut sum, mut weights) = (T::zero(), T::zero());
    for point in points {
        let above = (point.gap - least) / width;
        // Beyond this the weight is below rounding.
        if above.value() <= 40.0 {
            let weight = (-above).exp();
            sum += point.gap * weight;
            weights += weight;
        }
    }
    sum / weights
}
