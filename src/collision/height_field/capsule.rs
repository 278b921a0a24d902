//! A capsule on uneven ground.

use nalgebra::Vector3;

use super::sphere::ball;
use super::terrain::{Edge, STEPS, Terrain};
use crate::ad::Real;
use crate::collision::capsule_capsule::capsule;
use crate::collision::nearest::{Line, Nearest, TOUCHING};
use crate::collision::rod::{Part, Rod};
use crate::collision::{Pose, Witness};

/// An end touches with its ball up to this much (sine of the angle) beyond the middle of it: lying on
/// level ground a capsule has both ends.
const TILTED: f64 = 0.1;

/// Edges at a smaller angle than this (rad) to the axis are touched by the ends.
const PARALLEL: f64 = 0.05;

/// Pushes the contacts of a height field, the first, and a capsule within `reach` (m) of each other.
///
/// Feature: that of the height field times 3, plus the part of the capsule (0, 1 an end, 2 the side).
pub(in crate::collision) fn field_capsule<T: Real>(
    terrain: &Terrain<T>,
    pose: &Pose<T>,
    other: &Pose<T>,
    size: Vector3<T>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let capsule = capsule(&pose.relative(other), &size);
    let axis = capsule.line.direction.map(|x| x.value());
    let start = out.len();
    for upper in [false, true] {
        let outward = if upper { axis } else { -axis };
        let feature = |feature: usize, normal: &Vector3<f64>| {
            (outward.dot(normal) <= TILTED).then_some(3 * feature + Part::End(upper).feature())
        };
        ball(terrain, capsule.end(upper), capsule.radius, feature, reach, out);
    }
    side(terrain, &capsule, reach, out);
    for witness in &mut out[start..] {
        *witness = witness.moved(pose);
    }
}

/// Pushes the contacts of the side with edges and nodes.
fn side<T: Real>(terrain: &Terrain<T>, capsule: &Rod<T>, reach: f64, out: &mut Vec<Witness<T>>) {
    let (values, rod) = (terrain.value(), capsule.value());
    let ends = [rod.end(false), rod.end(true)];
    let far = Vector3::repeat(rod.radius + reach);
    let (low, high) = (ends[0].inf(&ends[1]) - far, ends[0].sup(&ends[1]) + far);
    let touching = TOUCHING * values.spacing();
    let radii = [T::zero(), capsule.radius];
    let number = |feature: usize| 3 * feature + Part::Side.feature();
    let [rows, columns] = values.nodes_about(&low, &high);
    for node in rows.flat_map(|row| columns.clone().map(move |column| [row, column])) {
        for edge in (0..STEPS.len()).map(|step| Edge { node, step }) {
            if !values.has_edge(edge) {
                continue;
            }
            let ridge = values.rod(edge);
            let Some(normal) = crossing(&ridge, &rod) else { continue };
            if !values.is_outermost_edge(edge, &normal) {
                continue;
            }
            let near = Nearest::of_lines(&terrain.rod(edge).line, &capsule.line, &normal);
            let witness = near.witness(number(terrain.feature_of_edge(edge)), radii);
            if witness.gap.value() <= reach {
                out.push(witness);
            }
        }
        let top = values.node(node);
        let (Part::Side, _) = rod.nearest(&top) else { continue };
        // Upward, also of a segment that has sunk in.
        let foot = rod.line.foot(&top);
        let way = foot - top;
        let distance = way.norm();
        let sunk = way.z < 0.0;
        // What is lower than a node far away is not in the ground for that.
        if sunk && !values.is_in_ground(&foot) {
            continue;
        }
        let normal = if sunk { -way } else { way };
        if distance <= touching || !values.is_outermost_node(node, &(normal / distance)) {
            continue;
        }
        let mut near = from_node(terrain.node(node), &capsule.line, touching);
        if sunk {
            (near.normal, near.distance) = (-near.normal, -near.distance);
        }
        let witness = near.witness(number(terrain.feature_of_node(node)), radii);
        if witness.gap.value() <= reach {
            out.push(witness);
        }
    }
}

fn from_node<T: Real>(node: Vector3<T>, line: &Line<T>, touching: f64) -> Nearest<T> {
    let up = Vector3::new(T::zero(), T::zero(), T::one());
    Nearest::of_point_and_line(node, line, up, touching)
}

/// The upward normal of two segments, if their lines are nearest between their ends.
fn crossing(ridge: &Rod<f64>, rod: &Rod<f64>) -> Option<Vector3<f64>> {
    let cross = ridge.line.direction.cross(&rod.line.direction);
    let sine = cross.norm();
    if sine <= PARALLEL {
        return None;
    }
    let normal = if cross.z < 0.0 { -cross / sine } else { cross / sine };
    let near = Nearest::of_lines(&ridge.line, &rod.line, &normal);
    let on = |point: Vector3<f64>, rod: &Rod<f64>| rod.nearest(&point).0 == Part::Side;
    let other = near.first + near.normal * near.distance;
    (on(near.first, ridge) && on(other, rod)).then_some(normal)
}
