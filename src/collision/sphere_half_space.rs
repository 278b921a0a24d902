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
    let height = normal.dot(&free.position) - plane.offset;
    points.push(ContactPoint {
        pair,
        feature: 0,
        gap: height - radius,
        // On the plane, straight below the centre.
        arm: free.rotation.transpose() * normal * (-height) - free.center_of_mass,
    });
}
