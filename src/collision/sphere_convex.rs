//! A sphere against a polyhedron: one point, where the polyhedron is nearest to the centre.
//!
//! A centre inside leaves through the nearest face.

use nalgebra::Vector3;

use super::hull::Hull;
use super::nearest::{Nearest, TOUCHING};
use super::rod::Part;
use super::{Pose, Witness};
use crate::ad::Real;

/// What of a polyhedron is nearest to a point outside.
enum Site {
    Face(usize),
    Edge(usize),
    Vertex(usize),
}

/// Pushes the contact of a polyhedron, the first, and a sphere if they are within `reach` (m) of each
/// other.
///
/// Feature: that of the polyhedron, its vertices first, then edges, then faces.
pub(super) fn convex_sphere<T: Real>(
    hull: &Hull<T>,
    pose: &Pose<T>,
    sphere: &Pose<T>,
    radius: T,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let center = pose.rotation.transpose() * (sphere.position - pose.position);
    let (values, at) = (hull.value(), center.map(|x| x.value()));
    let touching = TOUCHING * (radius.value() + values.thickness());
    let (face, height) = values.highest(&at);
    if height - radius.value() > reach {
        return;
    }
    let site = if height <= touching { Site::Face(face) } else { nearest(&values, &at) };
    let plane = hull.plane(face);
    let (near, feature) = match site {
        Site::Face(face) => {
            let plane = hull.plane(face);
            let distance = plane.height(&center);
            let first = center - plane.normal * distance;
            (Nearest { distance, normal: plane.normal, first }, hull.feature_of_face(face))
        }
        Site::Edge(edge) => {
            let line = hull.rod(edge).line;
            let near = Nearest::of_line_and_point(&line, center, plane.normal, touching);
            (near, hull.feature_of_edge(edge))
        }
        Site::Vertex(vertex) => {
            let near = Nearest::of_points(hull.vertex(vertex), center, plane.normal, touching);
            (near, hull.feature_of_vertex(vertex))
        }
    };
    if near.distance.value() - radius.value() <= reach {
        let radii = [T::zero(), radius];
        out.push(near.witness(feature, radii).moved(pose));
    }
}

/// What is nearest to a point outside of the hull.
fn nearest(hull: &Hull<f64>, point: &Vector3<f64>) -> Site {
    let mut best = (Site::Face(0), f64::INFINITY);
    for face in 0..hull.polyhedron.faces().len() {
        let plane = hull.plane(face);
        let height = plane.height(point);
        if height > 0.0 && height < best.1 && hull.is_over(face, &plane.normal, point) {
            best = (Site::Face(face), height);
        }
    }
    for (index, edge) in hull.polyhedron.edges().iter().enumerate() {
        let (part, distance) = hull.rod(index).nearest(point);
        if distance < best.1 {
            best = match part {
                Part::Side => (Site::Edge(index), distance),
                Part::End(upper) => (Site::Vertex(edge.ends[usize::from(upper)]), distance),
            };
        }
    }
    best.0
}
