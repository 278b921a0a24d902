//! A sphere against a cylinder: one point, where the cylinder is nearest to the centre of the sphere.
//!
//! A centre inside leaves through the nearest cap or the side. One on the axis that is nearest to the
//! side leaves along x of the cylinder.

use nalgebra::Vector3;

use super::nearest::{Nearest, TOUCHING};
use super::{Pose, Witness};
use crate::ad::Real;
use crate::linalg::norm;

/// Pushes the contact of a cylinder, the first, and a sphere if they are within `reach` (m) of each
/// other. Size of the cylinder: radius and half length, m.
///
/// Feature: 0, 1 the lower and the upper cap, 2 the side, 3, 4 the lower and the upper rim.
pub(super) fn cylinder_sphere<T: Real>(
    pose: &Pose<T>,
    size: Vector3<T>,
    sphere: &Pose<T>,
    radius: T,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let [around, half] = [size.x, size.y];
    let center = pose.rotation.transpose() * (sphere.position - pose.position);
    let (zero, one) = (T::zero(), T::one());
    let axial = norm(&[center.x, center.y]);
    let excess = [(axial - around).value(), center.z.value().abs() - half.value()];
    let touching = TOUCHING * around.value().min(half.value());
    if excess[0].max(excess[1]) - radius.value() > reach {
        return;
    }

    let upper = center.z.value() >= 0.0;
    let (end, up) = if upper { (half, one) } else { (-half, -one) };
    // From the axis outward.
    let radial = if axial.value() > touching {
        Vector3::new(center.x / axial, center.y / axial, zero)
    } else {
        Vector3::new(one, zero, zero)
    };
    let (near, feature) = if excess[0] > touching && excess[1] > touching {
        let rim = radial * around + Vector3::new(zero, zero, end);
        (Nearest::of_points(rim, center, radial, touching), 3 + usize::from(upper))
    } else if excess[0] > excess[1] {
        let foot = Vector3::new(zero, zero, center.z) + radial * around;
        (Nearest { distance: axial - around, normal: radial, first: foot }, 2)
    } else {
        let normal = Vector3::new(zero, zero, up);
        let foot = Vector3::new(center.x, center.y, end);
        (Nearest { distance: (center.z - end) * up, normal, first: foot }, usize::from(upper))
    };
    if near.distance.value() - radius.value() <= reach {
        out.push(near.witness(feature, [zero, radius]).moved(pose));
    }
}
