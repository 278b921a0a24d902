//! The lowest point of a sphere against a half-space.

use super::ContactPoint;
use crate::ad::Real;
use crate::dynamics::FreeBody;
use crate::model::{HalfSpace, Parameters};

pub(super) fn points<T: Real>(
    parameters: &Parameters<T>,
    free: &FreeBody<T>,
    body: usize,
    plane: &HalfSpace,
    pair: usize,
    points: &mut Vec<ContactPoint<T>>,
) {
    let radius = parameters.radius(body);
    let normal = plane.normal.map(T::constant);
    let gap = normal.dot(&free.position) - plane.offset - radius;
    let arm = free.rotation.transpose() * normal * (-radius) - free.center_of_mass;
    points.push(ContactPoint::of_body((pair, body, 0), plane, gap, arm));
}
