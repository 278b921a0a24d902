//! Any two shapes.

use nalgebra::Vector3;

use super::{Pose, Witness, box_box, sphere_box, sphere_sphere};
use crate::ad::Real;
use crate::model::Shape;

/// Pushes the possible contacts of two shapes that are at most `reach` (m) wide, normals from the
/// first to the second. Nothing is pushed if the shapes are further apart than that.
///
/// `sizes`: half extents of a box, or radius and two numbers that are not read, m.
pub fn witnesses<T: Real>(
    shapes: [&Shape; 2],
    poses: [&Pose<T>; 2],
    sizes: [Vector3<T>; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let [first, second] = poses;
    match shapes {
        [Shape::Sphere, Shape::Sphere] => {
            sphere_sphere(poses, [sizes[0].x, sizes[1].x], reach, out);
        }
        [Shape::Sphere, Shape::Box] => {
            sphere_box(first, sizes[0].x, second, sizes[1], reach, out);
        }
        [Shape::Box, Shape::Sphere] => {
            let start = out.len();
            sphere_box(second, sizes[1].x, first, sizes[0], reach, out);
            for witness in &mut out[start..] {
                *witness = witness.flipped();
            }
        }
        [Shape::Box, Shape::Box] => box_box(poses, sizes, reach, out),
    }
}
