//! Which algorithm finds the contacts of which shapes: the one place of this room that names them.

use nalgebra::{Matrix3, Vector3};

use super::capsule_convex::convex_capsule;
use super::convex_convex::{WarmStart, convex_convex};
use super::cylinder::{facing, is_along, shortfall, towards_capsule};
use super::half_space::{self, Ground};
use super::height_field::{Terrain, field_capsule, field_convex, field_sphere};
use super::hull::Hull;
use super::round_edges::corners_and_edges;
use super::sphere_convex::convex_sphere;
use super::sphere_cylinder::cylinder_sphere;
use super::{
    FEATURES, Pose, SurfacePoint, Witness, box_box, capsule_capsule, sphere_box, sphere_capsule,
    sphere_sphere,
};
use crate::ad::Real;
use crate::model::{Plane, Polyhedron, Shape};

/// Pushes the points of a shape that may touch a half-space.
///
/// Vertices of polyhedra and of height fields are pushed if they are at most `reach` (m) above the
/// half-space, points of other shapes always. `size`: what [`Shape`] says of each.
///
/// Feature, below [`Shape::contact_points`]: of a box a corner (bits 0, 1, 2: the upper side in x, y, z);
/// of a capsule the lower or the upper end; of a cylinder four points of the lower rim (0 to 3), four of the
/// upper, and the lowest point of each (8, 9); of a polyhedron a vertex, of a height field a node.
pub fn half_space_points<T: Real>(
    shape: &Shape,
    size: Vector3<T>,
    pose: &Pose<T>,
    plane: &Plane<T>,
    reach: f64,
    out: &mut Vec<SurfacePoint<T>>,
) {
    let ground = Ground::seen_from(pose, plane);
    match shape {
        Shape::Box => half_space::corners(size, &ground, out),
        Shape::Sphere => half_space::ball(size.x, &ground, out),
        Shape::Capsule => half_space::ends(size, &ground, out),
        Shape::Cylinder => half_space::rims(size, &ground, out),
        Shape::Wedge => half_space::vertices(Polyhedron::wedge(), size, &ground, reach, out),
        Shape::Convex(polyhedron) => half_space::vertices(polyhedron, size, &ground, reach, out),
        Shape::HeightField(field) => half_space::nodes(field, size, &ground, reach, out),
    }
}

/// Pushes the possible contacts of two shapes that are at most `reach` (m) wide, normals from the
/// first to the second. Nothing is pushed if the shapes are further apart than that.
///
/// `sizes`: what [`Shape`] says of each, m. Pairs that are not [supported](supports) have no contacts.
pub fn witnesses<T: Real>(
    shapes: [&Shape; 2],
    poses: [&Pose<T>; 2],
    sizes: [Vector3<T>; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    witnesses_from(&mut WarmStart::default(), shapes, poses, sizes, reach, out);
}

/// The same, from what an earlier search has found: a hint, which may come from any pair and changes no result. `sizes` and
/// `reach` in m.
pub fn witnesses_from<T: Real>(
    warm: &mut WarmStart,
    shapes: [&Shape; 2],
    poses: [&Pose<T>; 2],
    sizes: [Vector3<T>; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    near_witnesses(warm, shapes, poses, sizes, [reach; 2], out);
}

/// The same, but nothing of polyhedra that have no point with a gap of less than `near` (m, at most `reach`), where that is sooner found.
/// Returns how large gaps are at least then, and else 0.
pub(super) fn near_witnesses<T: Real>(
    warm: &mut WarmStart,
    shapes: [&Shape; 2],
    poses: [&Pose<T>; 2],
    sizes: [Vector3<T>; 2],
    reaches: [f64; 2],
    out: &mut Vec<Witness<T>>,
) -> f64 {
    if let Some(apart) = in_order(warm, shapes, poses, sizes, reaches, out) {
        return apart;
    }
    let start = out.len();
    let ([a, b], [p, q], [s, t]) = (shapes, poses, sizes);
    let apart = in_order(warm, [b, a], [q, p], [t, s], reaches, out);
    for witness in &mut out[start..] {
        *witness = witness.flipped();
    }
    apart.unwrap_or(0.0)
}

/// Pushes the contact of a shape, the first, and a point within `reach` (m) of it; a height field may have several. `size`: what
/// [`Shape`] says of it, m.
pub fn point_witnesses<T: Real>(
    shape: &Shape,
    pose: &Pose<T>,
    size: Vector3<T>,
    point: Vector3<T>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let at = Pose { rotation: Matrix3::identity(), position: point };
    witnesses([shape, &Shape::Sphere], [pose, &at], [size, Vector3::zeros()], reach, out);
}

/// Pushes the contacts if there is an algorithm for the shapes in this order, and says how far they are apart, as
/// [`near_witnesses`] does; nothing if there is none.
#[inline(never)]
fn in_order<T: Real>(
    warm: &mut WarmStart,
    shapes: [&Shape; 2],
    poses: [&Pose<T>; 2],
    sizes: [Vector3<T>; 2],
    [near, reach]: [f64; 2],
    out: &mut Vec<Witness<T>>,
) -> Option<f64> {
    let [first, second] = poses;
    match shapes {
        [Shape::Sphere, Shape::Sphere] => {
            sphere_sphere(poses, [sizes[0].x, sizes[1].x], reach, out);
        }
        [Shape::Sphere, Shape::Box] => {
            sphere_box(first, sizes[0].x, second, sizes[1], reach, out);
        }
        [Shape::Sphere, Shape::Capsule] => {
            sphere_capsule(first, sizes[0].x, second, sizes[1], reach, out);
        }
        [Shape::Cylinder, Shape::Sphere] => {
            cylinder_sphere(first, sizes[0], second, sizes[1].x, reach, out);
        }
        [Shape::Capsule, Shape::Capsule] => capsule_capsule(poses, sizes, reach, out),
        [Shape::Box, Shape::Box] => box_box(poses, sizes, reach, out),
        [Shape::HeightField(field), other] => {
            let ground = Terrain { field, scale: sizes[0] };
            match (other, hull(other, sizes[1])) {
                (Shape::Sphere, _) => {
                    field_sphere(&ground, first, second, sizes[1].x, reach, out);
                }
                (Shape::Capsule, _) => field_capsule(&ground, first, second, sizes[1], reach, out),
                (_, Some(hull)) => field_convex(&ground, first, &hull, second, reach, out),
                _ => {}
            }
        }
        [Shape::Box, Shape::Sphere] => return None,
        [one, other] => match (hull(one, sizes[0]), other, hull(other, sizes[1])) {
            (Some(a), _, Some(b)) => {
                let start = out.len();
                // A prism that is not turned to the contact yet falls short of it.
                let short = |body: usize| match shapes[body] {
                    Shape::Cylinder => shortfall(sizes[body].x.value()),
                    _ => 0.0,
                };
                let short = short(0) + short(1);
                let reaches = if short > 0.0 { [reach + short; 2] } else { [near, reach] };
                let reference = match convex_convex([&a, &b], poses, reaches, warm, out) {
                    Ok(reference) => reference,
                    Err(_) if short > 0.0 => return Some(0.0),
                    Err(apart) => return Some(apart),
                };
                let Some(&Witness { normal, feature, .. }) = out.get(start) else {
                    return Some(0.0);
                };
                let count = a.polyhedron.features();
                let turned = |body: usize, outward: Vector3<T>| {
                    let own = if body == 0 { feature % count } else { feature / count };
                    let exact = reference == Some(1 - body) || reference.is_none() && is_along(own);
                    let round = *shapes[body] == Shape::Cylinder && exact;
                    if round { facing(poses[body], &outward) } else { None }
                };
                let turned = [turned(0, normal), turned(1, -normal)];
                if turned.iter().any(Option::is_some) {
                    out.truncate(start);
                    let pose = |body: usize| turned[body].as_ref().unwrap_or(poses[body]);
                    let _apart = convex_convex([&a, &b], [pose(0), pose(1)], [reach; 2], warm, out);
                } else if short > 0.0 {
                    let mut end = start;
                    for k in start..out.len() {
                        if out[k].gap.value() <= reach {
                            out[end] = out[k];
                            end += 1;
                        }
                    }
                    out.truncate(end);
                }
            }
            (Some(a), Shape::Sphere, _) => {
                convex_sphere(&a, first, second, sizes[1].x, reach, out);
            }
            (Some(a), Shape::Capsule, _) => {
                let start = out.len();
                let face = convex_capsule(&a, first, second, sizes[1], reach, out);
                let (Shape::Cylinder, Some(witness)) = (one, out.get(start)) else {
                    return Some(0.0);
                };
                let towards = towards_capsule(witness, poses, sizes, face);
                if let Some(turned) = towards.and_then(|way| facing(first, &way)) {
                    out.truncate(start);
                    convex_capsule(&a, &turned, second, sizes[1], reach, out);
                }
            }
            _ => return None,
        },
    }
    Some(0.0)
}

/// Pushes also the contacts of round edges and corners of two shapes with nothing over a face beside
/// all those that [`witnesses`] has found of their cores: see [`round_edges`](super::round_edges). `sizes` and `reach` in m.
pub(crate) fn round_witnesses<T: Real>(
    shapes: [&Shape; 2],
    poses: [&Pose<T>; 2],
    sizes: [Vector3<T>; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let [Some(a), Some(b)] = [hull(shapes[0], sizes[0]), hull(shapes[1], sizes[1])] else { return };
    let start = out.len();
    corners_and_edges([&a, &b], poses, reach, out);
    if let [Shape::Box, Shape::Box] = shapes {
        out[start..].iter_mut().for_each(|witness| witness.feature += FEATURES);
    }
}

/// Whether contacts of two shapes are found: all but those of two height fields.
pub fn supports(shapes: [&Shape; 2]) -> bool {
    !matches!(shapes, [Shape::HeightField(_), Shape::HeightField(_)])
}

/// Every [`Witness::feature`] of two shapes is below.
pub fn features(shapes: [&Shape; 2]) -> usize {
    let own = |shape: &Shape| match (shape, shape.polyhedron()) {
        (_, Some((polyhedron, _))) => polyhedron.features(),
        (Shape::HeightField(field), _) => Terrain::<f64>::features(field),
        (Shape::Capsule, _) => 3,
        _ => 1,
    };
    match shapes {
        // Where edges are round, those of two hulls come behind.
        [first @ Shape::Box, second @ Shape::Box] => FEATURES + own(first) * own(second),
        [Shape::Sphere, Shape::Box] | [Shape::Box, Shape::Sphere] => 27,
        [first, second] => own(first).saturating_mul(own(second)),
    }
}

/// The polyhedron that replaces a shape, if there is one.
fn hull<T: Real>(shape: &Shape, size: Vector3<T>) -> Option<Hull<'_, T>> {
    let (polyhedron, scale) = shape.polyhedron()?;
    Some(Hull { polyhedron, scale: Vector3::from(scale.map(|k| size[k])) })
}
