//! The separating axis test, in `f64`: along which direction two polyhedra are furthest apart.

use nalgebra::Vector3;

use super::super::hull::{Hull, Plane};
use crate::collision::Pose;

/// By how much the faces of the second, and edges, must be better than what came before, as a fraction of
/// the thickness and of the separation, so that faces that are parallel but for rounding or a slight tilt
/// are chosen in one way on every step.
const MARGIN: f64 = 1e-3;

/// By how much a later face of the same polyhedron must separate more: its faces are not parallel, but may be
/// nearly so in fine meshes.
const TIE: f64 = 1e-9;

/// Faces times vertices from which on it is worth the while to bound separations first.
const MANY: usize = 4000;

/// How far below the best a face may be that is looked at all the same, as a fraction of the thickness: far more than
/// [`TIE`].
const SLACK: f64 = 1e-6;

/// Vertices that bound separations, at most.
const VERTICES: usize = 6;

/// Edges of the first polyhedron that are kept in mind, at most; where there are more, all are looked at.
const NEAR: usize = 256;

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
    let mut found = [Lowest::default(); 2];
    let [first, other] = [(0, *second), (1, second.inverse())]
        .map(|(body, relative)| best_face(hulls, body, &relative, reach, &mut found[body]));
    let (first, other) = (first?, other?);
    let (face, best) = if other.1 > first.1 + margin(first.1) {
        (Face { body: 1, face: other.0 }, other.1)
    } else {
        (Face { body: 0, face: first.0 }, first.1)
    };
    let own = hulls[face.body].plane(face.face).normal;
    let normal = if face.body == 0 { own } else { second.rotation * own };

    let enough = best + margin(best);
    let pair = best_edges(hulls, second, reach, enough, &found)?;
    let better = pair.1 > enough;
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

/// The face of a body that the other one, seen from it, is furthest above of. `found` gets vertices of the other.
fn best_face(
    hulls: &[Hull<f64>; 2],
    body: usize,
    other: &Pose<f64>,
    reach: f64,
    found: &mut Lowest,
) -> Option<(usize, f64)> {
    let (hull, seen) = (&hulls[body], &hulls[1 - body]);
    let faces = hull.polyhedron.faces().len();
    let separation = |face: usize| {
        let plane = hull.plane(face);
        let direction = other.rotation.tr_mul(&plane.normal);
        let (vertex, lowest) = seen.lowest(&direction);
        (vertex, lowest + plane.height(&other.position))
    };
    let point = |vertex: usize| other.position + other.rotation * seen.vertex(vertex);
    let mut least = f64::NEG_INFINITY;
    if faces * seen.polyhedron.vertices().len() > MANY {
        // Cutting planes (`Kelley60`): the face that may be the best, as far as the vertices found say.
        let slack = SLACK * hull.thickness();
        let mut face = hull.highest(&other.position).0;
        for _ in 0..found.points.len() {
            let (vertex, exact) = separation(face);
            if exact > reach {
                return None;
            }
            least = least.max(exact - slack);
            found.add(point(vertex));
            let (next, bound) = found.best_of(hull);
            if bound <= least + 2.0 * slack || next == face {
                break;
            }
            face = next;
        }
    }
    let tie = TIE * hull.thickness();
    let (mut best, mut lowest) = ((0, f64::NEG_INFINITY), 0);
    for face in 0..faces {
        if least > f64::NEG_INFINITY && found.bound(&hull.plane(face)) < least {
            continue;
        }
        let (vertex, separation) = separation(face);
        if separation > reach {
            return None;
        }
        if separation > best.1 + tie {
            (best, lowest) = ((face, separation), vertex);
        }
    }
    found.add(point(lowest));
    Some(best)
}

/// Some vertices of a polyhedron, as another one sees them. Along an axis it begins at the lowest of all its vertices, and
/// so not above any of these: what bounds the separation along axes that need not be looked at.
#[derive(Clone, Copy, Debug, Default)]
struct Lowest {
    points: [Vector3<f64>; VERTICES],
    count: usize,
}

impl Lowest {
    /// Takes one more, instead of the last if there is no place.
    fn add(&mut self, point: Vector3<f64>) {
        let place = self.count.min(VERTICES - 1);
        self.points[place] = point;
        self.count = place + 1;
    }

    /// No face separates by more.
    fn bound(&self, plane: &Plane<f64>) -> f64 {
        let heights = self.points[..self.count].iter().map(|point| plane.height(point));
        heights.fold(f64::INFINITY, f64::min)
    }

    /// The face with the largest bound, and it.
    fn best_of(&self, hull: &Hull<f64>) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for face in 0..hull.polyhedron.faces().len() {
            let bound = self.bound(&hull.plane(face));
            if bound > best.1 {
                best = (face, bound);
            }
        }
        best
    }

    /// Whether an axis of this edge may separate by more than `enough`: one between the normals of its faces, a sum of
    /// both over its length.
    fn may_separate(&self, hull: &Hull<f64>, edge: usize, enough: f64) -> bool {
        let edge = &hull.polyhedron.edges()[edge];
        let [first, other] = edge.faces.map(|face| hull.plane(face).normal);
        let start = hull.vertex(edge.ends[0]);
        let longest = || (2.0 / (1.0 + first.dot(&other))).sqrt();
        self.points[..self.count].iter().all(|point| {
            let way = point - start;
            let most = first.dot(&way).max(other.dot(&way));
            enough < if most > 0.0 { most * longest() } else { most }
        })
    }
}

type Pair = ([usize; 2], f64, Vector3<f64>);

/// The pair of edges along whose product the polyhedra are furthest apart, how far, and the normal; those that cannot
/// separate by more than `enough` are left out.
fn best_edges(
    hulls: &[Hull<f64>; 2],
    second: &Pose<f64>,
    reach: f64,
    enough: f64,
    found: &[Lowest; 2],
) -> Option<Pair> {
    let [first, other] = hulls;
    let enough = enough.min(reach);
    // Those of the first that may, as long as there is place for them.
    let all = first.polyhedron.edges().len();
    let (mut near, mut count) = ([0; NEAR], 0);
    for i in (0..all).filter(|&i| found[0].may_separate(first, i, enough)) {
        if let Some(place) = near.get_mut(count) {
            *place = i;
        }
        count += 1;
    }
    let near = near.get(..count);
    let tie = TIE * first.thickness();
    let mut best = ([0; 2], f64::NEG_INFINITY, Vector3::zeros());
    for (j, edge) in other.polyhedron.edges().iter().enumerate() {
        if !found[1].may_separate(other, j, enough) {
            continue;
        }
        let b = second.rotation * other.along(j);
        let [b1, b2] = edge.faces.map(|face| second.rotation * other.direction(face).0);
        let start = second.position + second.rotation * other.vertex(edge.ends[0]);
        for k in 0..near.map_or(all, <[usize]>::len) {
            let i = near.map_or(k, |near| near[k]);
            let edge = &first.polyhedron.edges()[i];
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
