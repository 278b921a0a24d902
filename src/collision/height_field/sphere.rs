//! A ball on uneven ground.

use nalgebra::Vector3;

use super::terrain::{Edge, STEPS, Terrain, Triangle};
use crate::ad::Real;
use crate::collision::nearest::{Nearest, TOUCHING};
use crate::collision::rod::Part;
use crate::collision::{Pose, Witness};

/// Points nearer to each other than this fraction of the spacing are one.
const MERGE: f64 = 1e-6;

/// Pushes the contacts of a height field, the first, and a sphere within `reach` (m) of each other.
///
/// Feature: that of the height field: nodes, triangles, edges.
pub(in crate::collision) fn field_sphere<T: Real>(
    terrain: &Terrain<T>,
    pose: &Pose<T>,
    sphere: &Pose<T>,
    radius: T,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let center = pose.relative(sphere).position;
    let start = out.len();
    ball(terrain, center, radius, |feature, _| Some(feature), reach, out);
    for witness in &mut out[start..] {
        *witness = witness.moved(pose);
    }
}

/// Pushes the contacts of a ball, in the frame of the field. `feature` numbers those that count, by the
/// feature of the field and the normal.
pub(super) fn ball<T: Real>(
    terrain: &Terrain<T>,
    center: Vector3<T>,
    radius: T,
    feature: impl Fn(usize, &Vector3<f64>) -> Option<usize>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let values = terrain.value();
    let at = center.map(|x| x.value());
    let far = radius.value() + reach;
    let start = out.len();
    let apart = MERGE * values.spacing();
    let push = |number: usize, near: Nearest<T>, out: &mut Vec<Witness<T>>| {
        let normal = near.normal.map(|x| x.value());
        let Some(number) = feature(number, &normal) else { return };
        let witness = near.witness(number, [T::zero(), radius]);
        let point = witness.points[0].map(|x| x.value());
        let same = |w: &Witness<T>| (w.points[0].map(|x| x.value()) - point).amax() <= apart;
        if witness.gap.value() <= reach && !out[start..].iter().any(same) {
            out.push(witness);
        }
    };

    let reaches = Vector3::repeat(far);
    let [rows, columns] = values.nodes_about(&(at - reaches), &(at + reaches));
    let nodes = || rows.clone().flat_map(|row| columns.clone().map(move |column| [row, column]));
    let below = values.triangle_at(&at);
    for cell in nodes().filter(|&node| values.has_cell(node)) {
        for triangle in [false, true].map(|upper| Triangle { cell, upper }) {
            let plane = values.plane(triangle);
            let height = plane.height(&at);
            // Above, where the foot is in the triangle; below, on the one straight above.
            let foot = if height > 0.0 {
                values.triangle_at(&(at - plane.normal * height))
            } else {
                below
            };
            if height <= far && foot == Some(triangle) {
                let plane = terrain.plane(triangle);
                let distance = plane.height(&center);
                let first = center - plane.normal * distance;
                let near = Nearest { distance, normal: plane.normal, first };
                push(terrain.feature_of_triangle(triangle), near, out);
            }
        }
    }
    // Below the surface only the triangle counts.
    if below.is_some_and(|triangle| values.plane(triangle).height(&at) < 0.0) {
        return;
    }
    let touching = TOUCHING * values.spacing();
    let up = Vector3::new(T::zero(), T::zero(), T::one());
    for node in nodes() {
        for edge in (0..STEPS.len()).map(|step| Edge { node, step }) {
            if !values.has_edge(edge) {
                continue;
            }
            let rod = values.rod(edge);
            let (Part::Side, distance) = rod.nearest(&at) else { continue };
            let way = (at - rod.line.foot(&at)) / distance;
            if distance > touching && distance <= far && values.is_outermost_edge(edge, &way) {
                let near =
                    Nearest::of_line_and_point(&terrain.rod(edge).line, center, up, touching);
                push(terrain.feature_of_edge(edge), near, out);
            }
        }
        let offset = at - values.node(node);
        let distance = offset.norm();
        let way = offset / distance;
        if distance > touching && distance <= far && values.is_outermost_node(node, &way) {
            let near = Nearest::of_points(terrain.node(node), center, up, touching);
            push(terrain.feature_of_node(node), near, out);
        }
    }
}
