//! Two polyhedra: the axis that separates them the most, and the points where they may touch along it.
//!
//! The same steps as for [two boxes](super::box_box()), and the same answer to corners that are nearest
//! to each other: no contact, where nothing is over a face. Every contact is of a feature of each: face
//! and vertex, vertex and face, edge and edge.
//!
//! 1. `axes` measures, in `f64`, how far the polyhedra are apart along the normals of faces and along the
//!    products of edges that can be outermost together: those whose arcs on the Gauss map cross (`Gregorius13`).
//! 2. A face is a reference: `face` clips the face that looks at it to the prism over it.
//! 3. A pair of edges gives the point where their lines are nearest.
//!
//! Along an axis a polyhedron begins not above any of its vertices, so that a few of them bound what the faces and edges of
//! whole patches of the other could separate. A search that begins with the best of the last step (a [`WarmStart`]) looks
//! at little else. It finds the same from anywhere: of those within a tie of the best the first.

mod axes;
mod cutting_planes;
mod edge_pairs;
mod face;
mod feature;
mod gilbert_johnson_keerthi;

use nalgebra::Vector3;

use super::hull::Hull;
use super::nearest::Nearest;
use super::{Pose, Witness};
use crate::ad::Real;
use axes::Edges;
pub use axes::WarmStart;
use feature::feature;

/// How far beyond the end of an edge its point may be by rounding, as a fraction of its half length.
const BEYOND: f64 = 1e-6;

/// By how much the gap of a point may be less than what separates the polyhedra, as a fraction of the thickness: points count that are
/// beside a face by a hundredth of that, or further at acute corners.
const BESIDE: f64 = 1e-2;

/// Pushes the points where two polyhedra may touch, those with gaps of at most `reach` (m), up to nine; none if the polyhedra are
/// more than `near` apart (m, at most `reach`).
///
/// Feature: that of the first (vertices, edges, faces) plus that of the second times the number of
/// features of the first.
///
/// Returns the body whose face is the reference, if one is; or, if there are none, how large all gaps are at least: the polyhedra are
/// more than `near` apart.
pub(super) fn convex_convex<T: Real>(
    hulls: [&Hull<T>; 2],
    poses: [&Pose<T>; 2],
    [near, reach]: [f64; 2],
    warm: &mut WarmStart,
    out: &mut Vec<Witness<T>>,
) -> Result<Option<usize>, f64> {
    let values = hulls.map(Hull::value);
    let relative = poses[0].relative(poses[1]);
    let beside = BESIDE * values[0].thickness().min(values[1].thickness());
    let axes = axes::separating(&values, &relative.value(), near + beside, warm)
        .map_err(|apart| (apart - beside).max(0.0))?;
    let start = out.len();
    let (reference, most) = (axes.face, axes.most);
    let face = |above, out: &mut _| {
        face::manifold(hulls, &relative, reference, [axes.floor, above], reach, out)
    };
    let edge = |edges: &_, out: &mut _| point(hulls, &relative, edges, reach, out);
    // Each says whether it has a point; within reach or not.
    let by_edges = match axes.edges {
        Some(edges) if edges.flat => !face(most, out) && edge(&edges, out),
        Some(edges) => edge(&edges, out),
        None => false,
    };
    if !by_edges && out.len() == start {
        // In each other they have a point as deep as they are, whatever a tolerance has preferred.
        let overlap = axes.floor == f64::NEG_INFINITY;
        let above = if overlap { most } else { f64::INFINITY };
        if !face(above, out) && overlap {
            face::deepest(hulls, &relative, reference, reach, out);
        }
    }
    for witness in &mut out[start..] {
        *witness = witness.moved(poses[0]);
    }
    Ok((!by_edges).then_some(reference.body))
}

/// Pushes the point of two edges, in the frame of the first. False if the nearest points of their lines
/// are not on the edges: then the polyhedra are apart, and something else is nearest.
fn point<T: Real>(
    hulls: [&Hull<T>; 2],
    relative: &Pose<T>,
    edges: &Edges,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) -> bool {
    let [i, j] = edges.edges;
    let [first, mut second] = [hulls[0].rod(i), hulls[1].rod(j)];
    second.line.origin = relative.position + relative.rotation * second.line.origin;
    second.line.direction = relative.rotation * second.line.direction;
    let near = Nearest::of_lines(&first.line, &second.line, &edges.normal);
    let on = |at: Vector3<T>, rod: &super::rod::Rod<T>| {
        let along = rod.line.direction.dot(&(at - rod.line.origin)).value();
        along.abs() <= rod.half.value() * (1.0 + BEYOND)
    };
    if !on(near.first, &first) || !on(near.first + near.normal * near.distance, &second) {
        return false;
    }
    if near.distance.value() <= reach {
        let number = feature(hulls, hulls[0].feature_of_edge(i), hulls[1].feature_of_edge(j));
        out.push(near.witness(number, [T::zero(); 2]));
    }
    true
}
