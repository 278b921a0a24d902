//! A polyhedron on uneven ground: its vertices, and nodes that stand out under its faces.

use nalgebra::Vector3;

use super::terrain::Terrain;
use crate::ad::Real;
use crate::collision::hull::Hull;
use crate::collision::{Pose, Witness};

/// A node stands out if an edge goes down from it by more than this (sine of the angle) against the
/// face, and none up by more.
const FLUSH: f64 = 1e-3;

/// Pushes the contacts of a height field, the first, and a polyhedron within `reach` (m) of each other.
///
/// Feature: that of the height field (nodes, triangles, edges), plus the number of all of them times that
/// of the polyhedron (vertices, edges, faces).
pub(in crate::collision) fn field_convex<T: Real>(
    terrain: &Terrain<T>,
    pose: &Pose<T>,
    hull: &Hull<T>,
    other: &Pose<T>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let relative = pose.relative(other);
    let start = out.len();
    vertices(terrain, hull, &relative, reach, out);
    nodes(terrain, hull, &relative, reach, out);
    for witness in &mut out[start..] {
        *witness = witness.moved(pose);
    }
}

fn feature<T: Real>(terrain: &Terrain<T>, own: usize, other: usize) -> usize {
    own + Terrain::<T>::features(terrain.field) * other
}

/// Pushes vertices over the triangles straight below or above them.
fn vertices<T: Real>(
    terrain: &Terrain<T>,
    hull: &Hull<T>,
    relative: &Pose<T>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let (values, seen, place) = (terrain.value(), hull.value(), relative.value());
    for vertex in 0..hull.polyhedron.vertices().len() {
        let at = place.position + place.rotation * seen.vertex(vertex);
        let Some(triangle) = values.triangle_at(&at) else { continue };
        if values.plane(triangle).height(&at) > reach {
            continue;
        }
        let plane = terrain.plane(triangle);
        let at = relative.position + relative.rotation * hull.vertex(vertex);
        let gap = plane.height(&at);
        let number = feature(terrain, terrain.feature_of_triangle(triangle), vertex);
        out.push(Witness::single(number, gap, plane.normal, at - plane.normal * gap));
    }
}

/// Pushes nodes that stand out under faces, or into them.
fn nodes<T: Real>(
    terrain: &Terrain<T>,
    hull: &Hull<T>,
    relative: &Pose<T>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let (values, seen, place) = (terrain.value(), hull.value(), relative.value());
    let vertices = (0..hull.polyhedron.vertices().len())
        .map(|vertex| place.position + place.rotation * seen.vertex(vertex));
    let bounds = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    let (low, high) = vertices.fold(bounds, |(low, high), v| (low.inf(&v), high.sup(&v)));
    let [rows, columns] = values.nodes_about(&low, &high);
    for node in rows.flat_map(|row| columns.clone().map(move |column| [row, column])) {
        let top = place.rotation.tr_mul(&(values.node(node) - place.position));
        let (face, height) = seen.highest(&top);
        let plane = seen.plane(face);
        if height > reach || !seen.is_over(face, &plane.normal, &top) {
            continue;
        }
        // From the field to the polyhedron.
        let normal = -(place.rotation * plane.normal);
        let [up, down] = values.slopes(node, &normal);
        if normal.z <= 0.0 || up > FLUSH || down >= -FLUSH {
            continue;
        }
        let plane = hull.plane(face);
        let node_at = terrain.node(node);
        let top = relative.rotation.transpose() * (node_at - relative.position);
        let gap = plane.height(&top);
        let own = terrain.feature_of_node(node);
        let number = feature(terrain, own, hull.feature_of_face(face));
        out.push(Witness::single(number, gap, -(relative.rotation * plane.normal), node_at));
    }
}
