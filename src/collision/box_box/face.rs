//! A face of one box, the reference, and what of the other box is over it: the face that looks at it,
//! the incident one, clipped to the prism over the reference.
//!
//! Seen along the normal both are convex quadrilaterals. The corners of their intersection are corners
//! of the incident face, corners of the reference, and crossings of the edges of the one with the
//! sides of the other. All are taken as points of the incident face; their gap is the height over the
//! reference. Those that coincide within a tolerance are one, of the kind named first.

use nalgebra::{Matrix3, Vector3};

use super::axes::Face;
use super::corners_and_edges::{feature_of, signed};
use crate::ad::Real;
use crate::collision::lowest::{LEVEL, NEGLIGIBLE, lowest_gap};
use crate::collision::{Pose, Witness};
use crate::linalg::norm;

/// Points nearer to each other than this fraction of the least half extent are one, and a corner this
/// much beside a face is over it. More than rounding, so that faces of one size keep four points when one
/// slides or turns a little on the other.
const MERGE: f64 = 1e-4;

/// The incident face is that with the largest cosine with the normal, but a later axis must beat an
/// earlier by this.
const TIE: f64 = 1e-3;

/// The first feature of crossings, after 12 reference faces with 8 corners.
const CROSSING: usize = 12 * 8;
/// The first feature of corners of the reference, after 12 faces with 12 edges and 4 sides.
const UNDER: usize = CROSSING + 12 * 12 * 4;

/// All points there can be: 4 corners of each face, 4 edges with 4 sides. Usually up to 8 are.
const CANDIDATES: usize = 24;

/// A corner of the clipped face, seen along the normal.
#[derive(Clone, Copy)]
enum Corner {
    /// A corner of the incident box.
    Incident([bool; 3]),
    /// A corner of the reference.
    Reference([bool; 3]),
    /// An edge of the incident box along `edge`, and a side of the reference.
    Crossing { edge: usize, sides: [bool; 3], axis: usize, upper: bool },
}

/// The two boxes in the frame of the reference.
struct Boxes<T> {
    half: [Vector3<T>; 2],
    rotation: Matrix3<T>,
    center: Vector3<T>,
    /// Axis and side of the reference and of the incident face.
    faces: [(usize, bool); 2],
}

/// Pushes the points of the incident face over the reference. False if nothing of it is.
///
/// `floor`: nothing lies lower than this over the reference, m, but by the tolerance beside it.
pub(super) fn manifold<T: Real>(
    poses: [&Pose<T>; 2],
    half_extents: [Vector3<T>; 2],
    relative: &Pose<f64>,
    reference: Face,
    floor: f64,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) -> bool {
    let (base, other) = (reference.body, 1 - reference.body);
    let half = [half_extents[base], half_extents[other]];
    let relative = if base == 0 { *relative } else { relative.inverse() };
    let incident = incident(&relative.rotation, reference);
    let faces = [(reference.axis, reference.upper), incident];
    let values = Boxes::new(relative, half.map(|half| half.map(|x| x.value())), faces);
    let kept = values.clip(floor);
    let (corners, heights) = (&kept.corners[..kept.count], &kept.heights[..kept.count]);
    let least = heights.iter().copied().fold(f64::INFINITY, f64::min);
    if least > reach || corners.is_empty() {
        return !corners.is_empty();
    }

    // What is neither in reach nor bears on the lowest gap is not evaluated.
    let diagonals = half.map(|half| norm(half.as_slice()));
    let width = diagonals[0].min(diagonals[1]) * LEVEL;
    let bears = least + NEGLIGIBLE * width.value();

    let boxes = Boxes::new(poses[base].relative(poses[other]), half, faces);
    let Pose { rotation, position } = poses[base];
    let outward = rotation.column(reference.axis) * signed(reference.upper, T::one());
    let start = out.len();
    let mut gaps = [T::zero(); CANDIDATES];
    let mut evaluated = 0;
    for (&corner, &height) in corners.iter().zip(heights) {
        if height > reach.max(bears) {
            continue;
        }
        let mut place = boxes.place(corner);
        let gap = boxes.gap(&place);
        gaps[evaluated] = gap;
        evaluated += 1;
        if height > reach {
            continue;
        }
        place[reference.axis] = signed(reference.upper, half[0][reference.axis]);
        let feature = feature(reference, incident, corner);
        let foot = position + rotation * place;
        let witness = Witness::single(feature, gap, outward, foot);
        out.push(if base == 0 { witness } else { witness.flipped() });
    }
    let lowest = lowest_gap(gaps[..evaluated].iter().copied(), width);
    for witness in &mut out[start..] {
        witness.lowest = lowest;
    }
    true
}

/// Axis and side of the incident face, given how the reference sees the box.
fn incident(rotation: &Matrix3<f64>, reference: Face) -> (usize, bool) {
    let cosines = rotation.row(reference.axis);
    let mut axis = 0;
    for k in 1..3 {
        if cosines[k].abs() > cosines[axis].abs() + TIE {
            axis = k;
        }
    }
    (axis, (cosines[axis] < 0.0) == reference.upper)
}

/// The number of a corner, below [`FEATURES`](crate::collision::FEATURES).
fn feature(reference: Face, incident: (usize, bool), corner: Corner) -> usize {
    let Face { body, axis: normal, upper } = reference;
    let face = 6 * body + 2 * normal + usize::from(upper);
    match corner {
        Corner::Incident(sides) => 8 * face + feature_of(3, sides),
        Corner::Crossing { edge, sides, axis, upper } => {
            let side = 2 * usize::from(axis == (normal + 1) % 3) + usize::from(upper);
            CROSSING + 48 * face + 4 * feature_of(edge, sides) + side
        }
        Corner::Reference(sides) => {
            let incident = 2 * incident.0 + usize::from(incident.1);
            UNDER + 24 * face + 4 * incident + feature_of(normal, sides) % 4
        }
    }
}

impl<T: Real> Boxes<T> {
    fn new(relative: Pose<T>, half: [Vector3<T>; 2], faces: [(usize, bool); 2]) -> Self {
        Boxes { half, rotation: relative.rotation, center: relative.position, faces }
    }

    /// The height of a point over the reference.
    fn gap(&self, place: &Vector3<T>) -> T {
        let (axis, upper) = self.faces[0];
        signed(upper, place[axis]) - self.half[0][axis]
    }

    /// The middle of an edge of the incident box along `axis`; with 3 for the axis, a corner.
    fn middle(&self, axis: usize, sides: [bool; 3]) -> Vector3<T> {
        let mut place = self.center;
        for k in (0..3).filter(|&k| k != axis) {
            place += self.rotation.column(k) * signed(sides[k], self.half[1][k]);
        }
        place
    }

    /// The point of the incident face, in the frame of the reference.
    fn place(&self, corner: Corner) -> Vector3<T> {
        match corner {
            Corner::Incident(sides) => self.middle(3, sides),
            Corner::Crossing { edge, sides, axis, upper } => {
                let middle = self.middle(edge, sides);
                let along = self.rotation.column(edge);
                let way = (signed(upper, self.half[0][axis]) - middle[axis]) / along[axis];
                middle + along * way
            }
            Corner::Reference(sides) => {
                let mut place = Vector3::from_fn(|k, _| signed(sides[k], self.half[0][k]));
                // Along the normal of the reference r to where m . (x - c) = h, m that of the face.
                let (r, (incident, upper)) = (self.faces[0].0, self.faces[1]);
                let m = self.rotation.column(incident);
                let offset = place - self.center;
                let height = signed(upper, self.half[1][incident]) - m.dot(&offset);
                place[r] += height / m[r];
                place
            }
        }
    }
}

impl Boxes<f64> {
    /// The corners of the incident face clipped to the prism over the reference, above `floor`.
    fn clip(&self, floor: f64) -> Kept {
        let [(r, upper), (i, incident_upper)] = self.faces;
        let [half, size] = self.half;
        let tangents = [(r + 1) % 3, (r + 2) % 3];
        let edges = [(i + 1) % 3, (i + 2) % 3];
        let tolerance = MERGE * half.min().min(size.min());
        let excess = |place: &Vector3<f64>, k: usize| place[k].abs() - half[k];

        let mut kept = Kept {
            corners: [Corner::Incident([false; 3]); CANDIDATES],
            places: [[0.0; 2]; CANDIDATES],
            heights: [0.0; CANDIDATES],
            count: 0,
            tolerance,
        };
        let mut keep = |corner: Corner, place: &Vector3<f64>| {
            let height = self.gap(place);
            if height >= floor {
                kept.add(corner, tangents.map(|k| place[k]), height);
            }
        };

        let incident = corners(i, incident_upper);
        let ends = incident.map(|sides| self.place(Corner::Incident(sides)));
        for (&sides, place) in incident.iter().zip(&ends) {
            if tangents.iter().all(|&k| excess(place, k) <= tolerance) {
                keep(Corner::Incident(sides), place);
            }
        }
        for sides in corners(r, upper) {
            let corner = Corner::Reference(sides);
            let place = self.place(corner);
            let within = self.rotation.tr_mul(&(place - self.center));
            if edges.iter().all(|&k| within[k].abs() <= size[k] + tolerance) {
                keep(corner, &place);
            }
        }
        for (bit, edge) in edges.into_iter().enumerate() {
            for low in (0..4).filter(|low| low >> bit & 1 == 0) {
                let (sides, ends) = (incident[low], [ends[low], ends[low | 1 << bit]]);
                for (k, &axis) in tangents.iter().enumerate() {
                    for upper in [false, true] {
                        // From one side to the other by more than the tolerance: an end that is as
                        // good as on the side is listed itself.
                        let [a, b] = ends.map(|end| signed(upper, end[axis]) - half[axis]);
                        if a.min(b) >= -tolerance || a.max(b) <= tolerance {
                            continue;
                        }
                        let corner = Corner::Crossing { edge, sides, axis, upper };
                        let place = self.place(corner);
                        if excess(&place, tangents[1 - k]) <= tolerance {
                            keep(corner, &place);
                        }
                    }
                }
            }
        }
        kept
    }
}

/// The corners of the face of a box on one side of `axis`: bits 0 and 1 of their places are the sides
/// of the next two axes.
fn corners(axis: usize, upper: bool) -> [[bool; 3]; 4] {
    std::array::from_fn(|bits| {
        let mut sides = [upper; 3];
        sides[(axis + 1) % 3] = bits & 1 == 1;
        sides[(axis + 2) % 3] = bits & 2 == 2;
        sides
    })
}

/// The corners found so far: where they are seen along the normal, and how high they are.
struct Kept {
    corners: [Corner; CANDIDATES],
    places: [[f64; 2]; CANDIDATES],
    heights: [f64; CANDIDATES],
    count: usize,
    tolerance: f64,
}

impl Kept {
    /// Adds a corner unless there is one at its place.
    fn add(&mut self, corner: Corner, place: [f64; 2], height: f64) {
        let same = |other: &[f64; 2]| (0..2).all(|k| (place[k] - other[k]).abs() <= self.tolerance);
        if !self.places[..self.count].iter().any(same) {
            self.corners[self.count] = corner;
            self.places[self.count] = place;
            self.heights[self.count] = height;
            self.count += 1;
        }
    }
}
