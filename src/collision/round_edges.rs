//! Polyhedra with round edges whose cores are apart: corners and edges that meet with nothing over a face.
//!
//! Sharp polyhedra do not touch there (see [`convex_convex`](super::convex_convex)), but balls do that are about their corners.
//! So each corner of either core is a point whose nearest feature of the other core counts where that is an edge or a corner;
//! edges side by side have their ends, and edges that cross are found as those of sharp ones.

use nalgebra::{Matrix3, Vector3};

use super::hull::Hull;
use super::sphere_convex::convex_sphere;
use super::{Pose, Witness};
use crate::ad::Real;

/// Cosine of the angle from which on a normal is another one than those of the points over faces.
const ALONG: f64 = 0.99;

/// Pushes the points where corners of one of two cores are within `reach` (m) of edges or corners of the other, beside the points
/// there are, which are over faces and in neither core. Features are numbered as those of two polyhedra.
pub(super) fn corners_and_edges<T: Real>(
    hulls: [&Hull<T>; 2],
    poses: [&Pose<T>; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let over_faces = out.len();
    let value = |v: &Vector3<T>| v.map(|x| x.value());
    for side in 0..2 {
        let [own, other] = [hulls[side], hulls[1 - side]];
        let polyhedron = other.polyhedron;
        let edges = polyhedron.vertices().len() + polyhedron.edges().len();
        for vertex in 0..own.polyhedron.vertices().len() {
            let corner = poses[side].position + poses[side].rotation * own.vertex(vertex);
            let at = Pose { rotation: Matrix3::identity(), position: corner };
            let start = out.len();
            convex_sphere(other, poses[1 - side], &at, T::zero(), reach, out);
            if out.len() == start {
                continue;
            }
            let Some(mut witness) = out.pop() else { continue };
            if witness.feature >= edges {
                continue;
            }
            let mut features = [own.feature_of_vertex(vertex), witness.feature];
            if side == 0 {
                witness = witness.flipped();
            } else {
                features.reverse();
            }
            witness.feature = features[0] + hulls[0].polyhedron.features() * features[1];
            let normal = value(&witness.normal);
            let covered =
                out[..over_faces].iter().any(|over| value(&over.normal).dot(&normal) > ALONG);
            let known = out[over_faces..].iter().any(|own| own.feature == witness.feature);
            if !covered && !known {
                out.push(witness);
            }
        }
    }
}
