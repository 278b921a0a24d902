//! A sphere against a box: one point, where the box is nearest to the centre of the sphere.
//!
//! Which face, edge or corner that is follows from how far the centre lies outside of the slab of each
//! axis. A centre inside of the box leaves it through the nearest face, of equally near ones the first
//! in the order x, y, z; where it is midway between two opposite faces, through the upper one.

use nalgebra::Vector3;

use super::{Pose, Witness};
use crate::ad::Real;
use crate::linalg::norm;

/// A centre less than this fraction of the half extent outside of a slab counts as inside. Distances
/// from edges and corners then stay so large that the normal, a quotient, has finite derivatives; the
/// gap changes by less than rounding does.
const OUTSIDE: f64 = 1e-9;

/// Pushes the contact of a sphere, the first, and a box if they are within `reach` (m) of each other.
///
/// The feature is the sum of 3^axis times 0, 1 or 2 (lower side, between, upper side): a face differs
/// from 13 in one digit, an edge in two, a corner in three.
pub fn sphere_box<T: Real>(
    sphere: &Pose<T>,
    radius: T,
    cuboid: &Pose<T>,
    half_extents: Vector3<T>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let center = cuboid.rotation.transpose() * (sphere.position - cuboid.position);
    let excess: [f64; 3] =
        std::array::from_fn(|k| center[k].value().abs() - half_extents[k].value());
    let mut outside = std::array::from_fn(|k| excess[k] > OUTSIDE * half_extents[k].value());
    if outside == [false; 3] {
        let nearest = (1..3).fold(0, |best, k| if excess[k] > excess[best] { k } else { best });
        outside[nearest] = true;
    }

    // From the box to the centre of the sphere; not 0 on the axes outside.
    let mut offset = Vector3::zeros();
    let mut feature = 13;
    let mut place = 1;
    let mut last = 0;
    for k in 0..3 {
        if outside[k] {
            let upper = center[k].value() >= 0.0;
            let side = if upper { half_extents[k] } else { -half_extents[k] };
            offset[k] = center[k] - side;
            feature = if upper { feature + place } else { feature - place };
            last = k;
        }
        place *= 3;
    }
    let face = outside.iter().filter(|&&out| out).count() == 1;
    // Out of the box. Through a face the normal is constant and the distance signed.
    let (distance, normal) = if face {
        let side = if center[last].value() >= 0.0 { T::one() } else { -T::one() };
        let mut normal = Vector3::zeros();
        normal[last] = side;
        (offset[last] * side, normal)
    } else {
        let distance = norm(offset.as_slice());
        (distance, offset / distance)
    };
    let gap = distance - radius;
    if gap.value() > reach {
        return;
    }
    let normal = -(cuboid.rotation * normal);
    out.push(Witness::single(feature, gap, normal, sphere.position + normal * radius));
}
