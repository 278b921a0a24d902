//! Two spheres: one point, on the line of the centres.

use nalgebra::Vector3;

use super::{Pose, Witness};
use crate::ad::Real;
use crate::linalg::norm;

/// Pushes the contact of two spheres if they are within `reach` (m) of each other.
///
/// Where the centres coincide the normal is z, with derivative 0.
pub fn sphere_sphere<T: Real>(
    poses: [&Pose<T>; 2],
    radii: [T; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let offset = poses[1].position - poses[0].position;
    let distance = norm(offset.as_slice());
    let gap = distance - radii[0] - radii[1];
    if gap.value() > reach {
        return;
    }
    let normal = if distance.value() > 0.0 {
        offset / distance
    } else {
        Vector3::new(T::zero(), T::zero(), T::one())
    };
    out.push(Witness::single(0, gap, normal, poses[0].position + normal * radii[0]));
}
