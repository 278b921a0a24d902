//! A capsule against a polyhedron.
//!
//! Lying on a face it touches in two points, the ends of the part of its segment over the face; along an
//! edge too. Else it touches where segment and polyhedron are nearest, rounded as it is, also at
//! corners. Where the segment itself is in the polyhedron, it leaves through the face, or over the
//! edge, that is nearest.

use nalgebra::Vector3;

use super::capsule_capsule::capsule;
use super::hull::Hull;
use super::lowest::{LEVEL, lowest_gap};
use super::nearest::TOUCHING;
use super::rod::{Part, Rod, nearest_parts, nearest_points, rods};
use super::{Pose, Witness};
use crate::ad::Real;

/// A direction nearer to the normal of a face than this angle (rad) is that of the face, whose points it
/// has too.
const FLAT: f64 = 0.05;

/// How much better an edge must be than a face, as a fraction of the thickness.
const MARGIN: f64 = 1e-3;

/// Tilted against a face by more than this (sine of the angle), a capsule touches it with its lower end
/// only.
const TILTED: f64 = 0.1;

/// An edge and an axis at a smaller angle than this (rad) make no direction.
const PARALLEL: f64 = 1e-2;

/// An end of the segment beside a face by less than this fraction of the thickness is over it.
const BESIDE: f64 = 1e-4;

/// What a capsule touches of a polyhedron.
enum Site {
    Face(usize),
    /// Parts of the capsule and of an edge.
    Edge(usize, [Part; 2]),
}

/// Pushes the contacts of a polyhedron, the first, and a capsule within `reach` (m) of each other.
///
/// Feature: that of the polyhedron (vertices, edges, faces) times 3, plus the part of the capsule (0, 1
/// an end, 2 the side). Returns whether the contact is that of a face.
pub(super) fn convex_capsule<T: Real>(
    hull: &Hull<T>,
    pose: &Pose<T>,
    other: &Pose<T>,
    size: Vector3<T>,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) -> bool {
    let capsule = capsule(&pose.relative(other), &size);
    let (values, rod) = (hull.value(), capsule.value());
    let start = out.len();
    let Some((face, site, outward)) = site(&values, &rod, reach) else { return false };
    let normal = values.plane(face).normal;
    let lies = rod.line.direction.dot(&normal).abs() <= TILTED;
    let flat = match site {
        Site::Face(_) => true,
        Site::Edge(..) => lies && outward.cross(&normal).norm() <= FLAT,
    };
    let over = flat && over_face(hull, &capsule, face, reach, out);
    if !over {
        match site {
            Site::Edge(edge, parts) => {
                along_edge(hull, &capsule, (edge, parts, outward), reach, out)
            }
            // Beside the face by rounding: the lower end all the same.
            Site::Face(face) => {
                let plane = hull.plane(face);
                let upper = rod.line.direction.dot(&values.plane(face).normal) < 0.0;
                let gap = plane.height(&capsule.end(upper)) - capsule.radius;
                let foot = capsule.end(upper) - plane.normal * (gap + capsule.radius);
                let feature = 3 * hull.feature_of_face(face) + Part::End(upper).feature();
                if gap.value() <= reach {
                    out.push(Witness::single(feature, gap, plane.normal, foot));
                }
            }
        }
    }
    for witness in &mut out[start..] {
        *witness = witness.moved(pose);
    }
    over || matches!(site, Site::Face(_))
}

/// The best face, what is touched, and the direction outward; nothing if all is out of reach.
fn site(hull: &Hull<f64>, rod: &Rod<f64>, reach: f64) -> Option<(usize, Site, Vector3<f64>)> {
    let ends = [rod.end(false), rod.end(true)];
    let mut face = (0, f64::NEG_INFINITY);
    for index in 0..hull.polyhedron.faces().len() {
        let plane = hull.plane(index);
        let height = plane.height(&ends[0]).min(plane.height(&ends[1]));
        if height - rod.radius > reach {
            return None;
        }
        if height > face.1 {
            face = (index, height);
        }
    }
    let (face, height) = face;
    let normal = hull.plane(face).normal;
    let mut edge = (0, f64::NEG_INFINITY, normal);
    for index in 0..hull.polyhedron.edges().len() {
        let Some((outward, distance)) = over_edge(hull, rod, index) else { continue };
        if distance > edge.1 {
            edge = (index, distance, outward);
        }
    }
    let thickness = hull.thickness();
    if height.max(edge.1) > TOUCHING * (rod.radius + thickness) {
        return Some(apart(hull, rod, (face, normal)));
    }
    if edge.1 > height + MARGIN * thickness {
        return Some((face, Site::Edge(edge.0, [Part::Side; 2]), edge.2));
    }
    Some((face, Site::Face(face), normal))
}

/// The direction across an edge and a rod in which the edge is outermost, and the height of the rod
/// over the edge.
fn over_edge(hull: &Hull<f64>, rod: &Rod<f64>, index: usize) -> Option<(Vector3<f64>, f64)> {
    let edge = &hull.polyhedron.edges()[index];
    let along = hull.along(index);
    let cross = along.cross(&rod.line.direction);
    let length = cross.norm();
    if length <= PARALLEL * along.norm() {
        return None;
    }
    // Outermost if no way in the faces beside leads further out.
    let [left, right] = edge.faces.map(|face| hull.direction(face).0);
    let ways = [cross.dot(&left.cross(&along)), -cross.dot(&right.cross(&along))];
    let normal = if ways[0] <= 0.0 && ways[1] <= 0.0 {
        cross / length
    } else if ways[0] >= 0.0 && ways[1] >= 0.0 {
        -cross / length
    } else {
        return None;
    };
    Some((normal, normal.dot(&(rod.line.origin - hull.vertex(edge.ends[0])))))
}

/// What is nearest of a polyhedron and a segment outside, given the best face.
fn apart(
    hull: &Hull<f64>,
    rod: &Rod<f64>,
    (face, normal): (usize, Vector3<f64>),
) -> (usize, Site, Vector3<f64>) {
    let mut best = (face, Site::Face(face), normal);
    let mut least = f64::INFINITY;
    for index in 0..hull.polyhedron.faces().len() {
        let plane = hull.plane(index);
        for upper in [false, true] {
            let end = rod.end(upper);
            let height = plane.height(&end);
            if height > 0.0 && height < least && hull.is_over(index, &plane.normal, &end) {
                least = height;
                best = (index, Site::Face(index), plane.normal);
            }
        }
    }
    for index in 0..hull.polyhedron.edges().len() {
        let edge = hull.rod(index);
        let (parts, distance) = nearest_parts(&edge, rod);
        if distance < least * (1.0 - TOUCHING) {
            least = distance;
            let outward = rod.line.origin - edge.line.origin;
            let cross = edge.line.direction.cross(&rod.line.direction);
            let near = nearest_points([&edge, rod], parts, &(cross * cross.dot(&outward)));
            best = (face, Site::Edge(index, parts), near.normal);
        }
    }
    best
}

/// Pushes the contact with an edge, two where it is along the capsule.
fn along_edge<T: Real>(
    hull: &Hull<T>,
    capsule: &Rod<T>,
    (index, parts, outward): (usize, [Part; 2], Vector3<f64>),
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let edge = hull.rod(index);
    let ends = hull.polyhedron.edges()[index].ends;
    let feature = |[own, other]: [Part; 2]| {
        let own = match own {
            Part::Side => hull.feature_of_edge(index),
            Part::End(upper) => hull.feature_of_vertex(ends[usize::from(upper)]),
        };
        3 * own + other.feature()
    };
    if parts == [Part::Side; 2] {
        let near = nearest_points([&edge, capsule], parts, &outward);
        let witness = near.witness(feature(parts), [edge.radius, capsule.radius]);
        let along = edge.line.direction.cross(&capsule.line.direction).map(|x| x.value());
        if along.norm() > FLAT {
            if witness.gap.value() <= reach {
                out.push(witness);
            }
            return;
        }
    }
    rods([&edge, capsule], feature, reach, out);
}

/// Where the part of a segment over a face ends: at its own end, or at a side of the face.
#[derive(Clone, Copy)]
enum Limit {
    End(bool),
    Side(usize),
}

/// Pushes the ends of what of a capsule is over a face; false if nothing is.
fn over_face<T: Real>(
    hull: &Hull<T>,
    capsule: &Rod<T>,
    face: usize,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) -> bool {
    let (values, rod) = (hull.value(), capsule.value());
    let normal = values.plane(face).normal;
    let tolerance = BESIDE * values.thickness().min(rod.half + rod.radius);
    let mut places = [-rod.half, rod.half];
    let mut limits = [Limit::End(false), Limit::End(true)];
    for side in 0..values.polyhedron.corners(face).len() {
        let plane = values.side(face, &normal, side);
        let length = plane.normal.norm();
        let slope = plane.normal.dot(&rod.line.direction);
        let excess = plane.height(&rod.line.origin);
        for (k, upper) in [false, true].into_iter().enumerate() {
            // Outside at this limit by more than the tolerance, and on the way in from there.
            let outside = excess + slope * places[k] > tolerance * length;
            if outside && (slope > 0.0) == upper && slope != 0.0 {
                places[k] = -excess / slope;
                limits[k] = Limit::Side(side);
            } else if outside && slope.abs() * rod.half <= tolerance * length {
                return false;
            }
        }
    }
    if places[0] > places[1] {
        return false;
    }

    let plane = hull.plane(face);
    let place = |limit: Limit| match limit {
        Limit::End(upper) => capsule.end_place(upper),
        Limit::Side(side) => {
            let side = hull.side(face, &plane.normal, side);
            -side.height(&capsule.line.origin) / side.normal.dot(&capsule.line.direction)
        }
    };
    let places = limits.map(place);
    let heights = places.map(|place| plane.height(&capsule.at(place)));
    let gaps = heights.map(|height| height - capsule.radius);
    let width = (capsule.half + capsule.radius) * LEVEL;
    let lower = usize::from(gaps[1].value() < gaps[0].value());
    let steep = plane.normal.dot(&capsule.line.direction).value().abs() > TILTED;
    let single = steep || (places[1] - places[0]).value() <= tolerance;
    let lowest = if single { gaps[lower] } else { lowest_gap(gaps.into_iter(), width) };
    for k in 0..2 {
        if gaps[k].value() > reach || single && k != lower {
            continue;
        }
        let (own, part) = match limits[k] {
            Limit::End(upper) => (hull.feature_of_face(face), Part::End(upper)),
            Limit::Side(side) => {
                (hull.feature_of_edge(hull.polyhedron.sides(face)[side]), Part::Side)
            }
        };
        let foot = capsule.at(places[k]) - plane.normal * heights[k];
        let feature = 3 * own + part.feature();
        out.push(Witness { lowest, ..Witness::single(feature, gaps[k], plane.normal, foot) });
    }
    true
}
