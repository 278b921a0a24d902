//! The separating axis test, in `f64`: along which direction two polyhedra are furthest apart.

use nalgebra::Vector3;

use super::super::hull::Hull;
use crate::collision::Pose;

/// By how much the faces of the second, and edges, must be better than what came before, as a fraction of
/// the thickness and of the separation, so that faces that are parallel but for rounding or a slight tilt
/// are chosen in one way on every step.
const MARGIN: f64 = 1e-3;

/// By how much a later face of the same polyhedron must separate more: its faces are not parallel, but may be
/// nearly so in fine meshes.
const TIE: f64 = 1e-9;

/// Edges at a smaller angle than this (rad) are parallel: they make no axis.
const PARALLEL: f64 = 1e-2;

/// An axis of edges nearer to the normal of the best face than this angle (rad) gives way to the face,
/// whose manifold has the crossing of the edges too, and the other points about it.
const FLAT: f64 = 0.05;

/// A face of one of two polyhedra.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    pub body: usize,
    pub face: usize,
}

/// An edge of each, and the unit normal from first to second, in the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges {
    pub edges: [usize; 2],
    pub normal: Vector3<f64>,
    /// Whether that is nearly the normal of the best face.
    pub flat: bool,
}

/// Along which axes two polyhedra are the furthest apart.
pub(super) struct Axes {
    /// The best face.
    pub face: Face,
    /// The best pair of edges, if it is better than the face.
    pub edges: Option<Edges>,
    /// The lowest point of what is over a face is not higher than this where it is what touches, m.
    pub most: f64,
    /// No point lies lower than this over a face of the other, m.
    pub floor: f64,
}

/// The axes of largest separation, or nothing if one separates the polyhedra by more than `reach`;
/// `second` is the second as the first one sees it.
pub(super) fn separating(hulls: &[Hull<f64>; 2], second: &Pose<f64>, reach: f64) -> Option<Axes> {
    let thickness = hulls[0].thickness().min(hulls[1].thickness());
    let margin = |best: f64| MARGIN * (thickness + best.abs());
    let [first, other] = [(0, *second), (1, second.inverse())]
        .map(|(body, relative)| best_face(hulls, body, &relative, reach));
    let (first, other) = (first?, other?);
    let (face, best) = if other.1 > first.1 + margin(first.1) {
        (Face { body: 1, face: other.0 }, other.1)
    } else {
        (Face { body: 0, face: first.0 }, first.1)
    };
    let own = hulls[face.body].plane(face.face).normal;
    let normal = if face.body == 0 { own } else { second.rotation * own };

    let pair = best_edges(hulls, second, reach)?;
    let better = pair.1 > best + margin(best);
    let edges = better.then(|| Edges {
        flat: pair.2.cross(&normal).norm() <= FLAT,
        edges: pair.0,
        normal: pair.2,
    });
    // What is apart has no points below a face, but by the margin with which it was chosen.
    let most = if better { pair.1 } else { best };
    let floor = if most > 0.0 { -margin(most) } else { f64::NEG_INFINITY };
    Some(Axes { face, edges, most: most + 2.0 * margin(most), floor })
}

/// The face of a body that the other one, seen from it, is furthest above of.
fn best_face(
    hulls: &[Hull<f64>; 2],
    body: usize,
    other: &Pose<f64>,
    reach: f64,
) -> Option<(usize, f64)> {
    let (hull, seen) = (&hulls[body], &hulls[1 - body]);
    let tie = TIE * hull.thickness();
    let mut best = (0, f64::NEG_INFINITY);
    for face in 0..hull.polyhedron.faces().len() {
        let plane = hull.plane(face);
        let direction = other.rotation.tr_mul(&plane.normal);
        let separation = seen.lowest(&direction) + plane.height(&other.position);
        if separation > reach {
            return None;
        }
        if separation > best.1 + tie {
            best = (face, separation);
        }
    }
    Some(best)
}

type Pair = ([usize; 2], f64, Vector3<f64>);

/// The pair of edges along whose product the polyhedra are furthest apart, how far, and the normal.
fn best_edges(hulls: &[Hull<f64>; 2], second: &Pose<f64>, reach: f64) -> Option<Pair> {
    let [first, other] = hulls;
    let tie = TIE * first.thickness();
    let mut best = ([0; 2], f64::NEG_INFINITY, Vector3::zeros());
    for (j, edge) in other.polyhedron.edges().iter().enumerate() {
        let b = second.rotation * other.along(j);
        let [b1, b2] = edge.faces.map(|face| second.rotation * other.direction(face).0);
        let start = second.position + second.rotation * other.vertex(edge.ends[0]);
        for (i, edge) in first.polyhedron.edges().iter().enumerate() {
            // The arc between the normals of an edge's faces crosses the plane of the other arc, whose
            // normal is the other edge, and the other way round, on the same side of the sphere.
            let a = first.along(i);
            let [low, high] = [b1.dot(&a), b2.dot(&a)];
            if low * high >= 0.0 {
                continue;
            }
            let [a1, a2] = edge.faces.map(|face| first.direction(face).0);
            let [below, above] = [a1.dot(&b), a2.dot(&b)];
            if below * above >= 0.0 || low * above >= 0.0 {
                continue;
            }
            let cross = a.cross(&b);
            let length = cross.norm();
            if length <= PARALLEL * a.norm() * b.norm() {
                continue;
            }
            let upward = a1 / a1.norm() + a2 / a2.norm();
            let normal = cross / if upward.dot(&cross) >= 0.0 { length } else { -length };
            let separation = normal.dot(&(start - first.vertex(edge.ends[0])));
            if separation > reach {
                return None;
            }
            if separation > best.1 + tie {
                best = ([i, j], separation, normal);
            }
        }
    }
    Some(best)
}
