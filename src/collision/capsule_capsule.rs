//! Capsules against capsules and spheres.

use nalgebra::Vector3;

use super::nearest::{Line, Nearest, TOUCHING};
use super::rod::{Part, Rod, rods};
use super::{Pose, Witness};
use crate::ad::Real;

/// Pushes the contacts of two capsules within `reach` (m) of each other: two where they lie along
/// each other, else one. Sizes: radius and half length, m.
///
/// Feature: the part of the first (0, 1: ends, 2: side) and 3 times that of the second.
pub fn capsule_capsule<T: Real>(
    poses: [&Pose<T>; 2],
    sizes: [Vector3<T>; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let capsules = [capsule(poses[0], &sizes[0]), capsule(poses[1], &sizes[1])];
    let feature = |[first, second]: [Part; 2]| first.feature() + 3 * second.feature();
    rods([&capsules[0], &capsules[1]], feature, reach, out);
}

/// Pushes the contact of a sphere, the first, and a capsule within `reach` (m) of each other.
///
/// The feature is the part of the capsule: 0, 1 an end, 2 the side. The normal of a sphere centred on
/// the segment is x of the capsule.
pub fn sphere_capsule<T: Real>(
    sphere: &Pose<T>,
    radius: T,
    pose: &Pose<T>,
    size: Vector3<T>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let capsule = capsule(pose, &size);
    let center = sphere.position;
    let (part, distance) = capsule.value().nearest(&center.map(|x| x.value()));
    let radii = [radius, capsule.radius];
    if distance - (radii[0] + radii[1]).value() > reach {
        return;
    }
    let touching = TOUCHING * (radii[0] + radii[1]).value();
    let otherwise = pose.rotation.column(0).into_owned();
    let near = match part {
        Part::Side => Nearest::of_point_and_line(center, &capsule.line, otherwise, touching),
        Part::End(upper) => Nearest::of_points(center, capsule.end(upper), otherwise, touching),
    };
    out.push(near.witness(part.feature(), radii));
}

/// The rod that a capsule is, in the frame its pose is in.
pub(super) fn capsule<T: Real>(pose: &Pose<T>, size: &Vector3<T>) -> Rod<T> {
    let line = Line { origin: pose.position, direction: pose.rotation.column(2).into_owned() };
    Rod { line, half: size.y, radius: size.x }
}
