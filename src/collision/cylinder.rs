//! The prism that replaces a cylinder against polyhedra and capsules.
//!
//! Where a flat face of the other shape meets the round side or a rim, an edge the side, or a capsule
//! either, the prism is turned about its axis until one of its edges lies in the direction of the contact:
//! there the contact is that of the cylinder, and rolling has no effect on it. Elsewhere, where the vertex
//! of a polyhedron meets the side, an edge a rim, and for the outline of the caps, the prism is up to 0.5 %
//! of the radius too small.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::nearest::Line;
use super::rod::Part;
use super::{Pose, Witness};
use crate::ad::Real;
use crate::linalg::norm;
use crate::model::{CYLINDER_SIDES, Polyhedron};

/// Contacts nearer than this (rad) to the axis are those of a cap, which has no direction to turn to.
const UPRIGHT: f64 = 1e-3;

/// How far the sides of the prism are within a cylinder of a radius, m.
pub(super) fn shortfall(radius: f64) -> f64 {
    (1.0 - (PI / CYLINDER_SIDES as f64).cos()) * radius
}

/// The pose of a prism that has its first edge towards `way`, which is in the world and away from the
/// cylinder.
pub(super) fn facing<T: Real>(pose: &Pose<T>, way: &Vector3<T>) -> Option<Pose<T>> {
    let seen = pose.rotation.transpose() * way;
    let across = norm(&[seen.x, seen.y]);
    if across.value() <= UPRIGHT * norm(seen.as_slice()).value() {
        return None;
    }
    let (zero, one) = (T::zero(), T::one());
    let (x, y) = (seen.x / across, seen.y / across);
    let turn = Matrix3::new(x, -y, zero, y, x, zero, zero, zero, one);
    Some(Pose { rotation: pose.rotation * turn, position: pose.position })
}

/// Whether a feature of the prism is an edge along the cylinder, or one of its sides.
pub(super) fn is_along(feature: usize) -> bool {
    let prism = Polyhedron::cylinder();
    match feature.checked_sub(prism.vertices().len()) {
        None => false,
        // The lower and the upper vertices take turns.
        Some(edge) => match prism.edges().get(edge) {
            Some(edge) => edge.ends[0] % 2 != edge.ends[1] % 2,
            None => true,
        },
    }
}

/// A capsule at a smaller angle than this (rad) to the axis lies along the cylinder.
const PARALLEL: f64 = 0.05;

/// Where a prism looks to a capsule, given their contact: to the centre of the ball at an end, along
/// the normal of two sides that cross, to the middle of a capsule that lies along it, to the point of
/// the rim that is nearest to the side. Nothing where the capsule touches a cap, or its segment is
/// inside.
pub(super) fn towards_capsule<T: Real>(
    witness: &Witness<T>,
    poses: [&Pose<T>; 2],
    sizes: [Vector3<T>; 2],
    face: bool,
) -> Option<Vector3<T>> {
    let [pose, other] = poses;
    let Witness { normal, points, feature, gap, .. } = *witness;
    let axis = pose.rotation.column(2).into_owned();
    let sunk = (gap + sizes[1].x).value() <= 0.0;
    if sunk || face && axis.dot(&normal).value().abs() > 0.5 {
        return None;
    }
    if feature % 3 != Part::Side.feature() {
        return Some(points[1] + normal * sizes[1].x - pose.position);
    }
    if face || is_along(feature / 3) {
        let cross = axis.cross(&other.rotation.column(2));
        let outward = cross.dot(&normal).value() >= 0.0;
        return Some(if norm(cross.as_slice()).value() <= PARALLEL {
            other.position - pose.position
        } else if outward {
            cross
        } else {
            -cross
        });
    }
    let capsule = pose.relative(other);
    let line =
        Line { origin: capsule.position, direction: capsule.rotation.column(2).into_owned() };
    let start = pose.rotation.tr_mul(&(points[0] - pose.position)).map(|x| x.value());
    let z = if start.z < 0.0 { -sizes[0].y } else { sizes[0].y };
    let angle = nearest_of_rim(sizes[0].x, z, &line, start.y.atan2(start.x))?;
    let (sine, cosine) = angle.sin_cos();
    Some(pose.rotation * Vector3::new(cosine, sine, T::zero()))
}

/// Newton's steps on the way to the nearest point of a rim, and the longest one (rad).
const STEPS: usize = 40;
const LONGEST: f64 = 0.2;

/// Where the distance depends on the angle by less than this fraction of the radius, there is no nearest
/// point.
const FLAT: f64 = 1e-6;

/// The angle (rad) of the point of a circle of radius `r` at height `z` that is nearest to a line,
/// from a guess.
fn nearest_of_rim<T: Real>(r: T, z: T, line: &Line<T>, guess: f64) -> Option<T> {
    let (radius, height, values) = (r.value(), z.value(), line.value());
    let mut angle = guess;
    let mut last = f64::INFINITY;
    for _ in 0..STEPS {
        let [slope, curvature] = rim_slopes(radius, height, &values, angle);
        // Downhill also where the curvature is that of a maximum.
        let step = (slope / curvature.abs()).clamp(-LONGEST, LONGEST);
        angle -= step;
        last = step.abs();
        if last <= f64::EPSILON {
            break;
        }
    }
    let [_, curvature] = rim_slopes(radius, height, &values, angle);
    if !(last <= 1e-9 && curvature > FLAT * radius * radius) {
        return None;
    }
    // One more step in T gives each order of derivatives.
    let mut angle = T::constant(angle);
    for _ in 0..T::ORDER {
        let [slope, curvature] = rim_slopes(r, z, line, angle);
        angle -= slope / curvature;
    }
    Some(angle)
}

/// f' and f'' of half the square of the distance f(angle) of the point p(angle) of a circle from a line.
fn rim_slopes<T: Real>(r: T, z: T, line: &Line<T>, angle: T) -> [T; 2] {
    let (sine, cosine) = angle.sin_cos();
    let zero = T::zero();
    // w = p - c, 2 f = w.w - (a.w)²
    let w = Vector3::new(r * cosine, r * sine, z) - line.origin;
    let first = Vector3::new(-r * sine, r * cosine, zero);
    let second = Vector3::new(-r * cosine, -r * sine, zero);
    let a = line.direction;
    let (along, slope) = (a.dot(&w), a.dot(&first));
    [
        w.dot(&first) - along * slope,
        first.dot(&first) + w.dot(&second) - slope * slope - along * a.dot(&second),
    ]
}
