//! A face of one polyhedron, the reference, and what of the other is over it: the face that looks at it,
//! the incident one, clipped to the prism over the reference.
//!
//! The corners of the intersection are corners of the incident face, corners of the reference, and
//! crossings of the edges of the one with the sides of the other. All are taken as points of the incident
//! face; their gap is the height over the reference. Those that coincide within a tolerance are one, of
//! the kind named first. Of more than nine, the lowest is kept, and those furthest out in eight directions.

use nalgebra::Vector3;

use super::super::hull::{Hull, Plane};
use super::axes::Face;
use super::feature::feature;
use crate::ad::Real;
use crate::collision::lowest::{LEVEL, NEGLIGIBLE, lowest_gap};
use crate::collision::{Pose, Witness};
use crate::linalg::norm;
use crate::model::{Patch, PatchSearch};

/// Points nearer to each other than this fraction of the thickness are one, and a corner this much beside
/// a face is over it. More than rounding, so that faces of one size keep their points when one slides or
/// turns a little on the other.
const MERGE: f64 = 1e-4;

/// The incident face is the one against the normal among those with the lowest vertex; of those within this the first.
const TIE: f64 = 1e-3;

/// Room for the corners of the clipped face. Beyond it the higher ones are left out.
const CANDIDATES: usize = 72;

/// Directions about the normal in which corners are kept.
const AROUND: usize = 8;

/// A corner of the clipped face, seen along the normal.
#[derive(Clone, Copy)]
enum Corner {
    /// A vertex of the incident face.
    Incident(usize),
    /// A vertex of the reference.
    Reference(usize),
    /// An edge of the incident polyhedron, and the side of the reference it crosses.
    Crossing(usize, usize),
}

/// Both polyhedra in the frame of the reference.
struct Faces<'a, T> {
    reference: Hull<'a, T>,
    incident: Hull<'a, T>,
    /// The incident one as the reference sees it.
    pose: Pose<T>,
    /// The faces of both.
    faces: [usize; 2],
    /// The plane of the reference.
    plane: Plane<T>,
}

/// Pushes the points of the incident face over the reference, in the frame of the first. False if nothing
/// of it is.
///
/// `limits`: nothing lies lower than the first over the reference, m, but by the tolerance beside it. If
/// nothing lies lower than the second, something else touches.
pub(super) fn manifold<T: Real>(
    hulls: [&Hull<T>; 2],
    relative: &Pose<T>,
    reference: Face,
    [floor, above]: [f64; 2],
    reach: f64,
    out: &mut Vec<Witness<T>>,
) -> bool {
    let values = Faces::new(hulls.map(Hull::value), relative.value(), reference);
    let values = values.facing();
    let mut kept = values.clip(floor);
    let least = kept.least();
    if kept.count == 0 || least > above {
        return false;
    }
    if least > reach {
        return true;
    }
    kept.thin(&values.plane.normal);

    // What is neither in reach nor bears on the lowest gap is not evaluated.
    let sizes = hulls.map(|hull| {
        let half = hull.polyhedron.half_extents().map(T::constant).component_mul(&hull.scale);
        norm(half.as_slice())
    });
    let width = sizes[0].min(sizes[1]) * LEVEL;
    let bears = least + NEGLIGIBLE * width.value();

    let mut faces = Faces::new(hulls.map(|hull| *hull), *relative, reference);
    faces.faces = values.faces;
    let start = out.len();
    let mut gaps = [T::zero(); CANDIDATES];
    let mut evaluated = 0;
    for k in 0..kept.count {
        let (corner, height) = (kept.corners[k], kept.heights[k]);
        if height > reach.max(bears) {
            continue;
        }
        let place = faces.place(corner);
        let gap = faces.plane.height(&place);
        gaps[evaluated] = gap;
        evaluated += 1;
        if height <= reach {
            out.push(faces.witness(hulls, relative, reference, corner, (place, gap)));
        }
    }
    let lowest = lowest_gap(gaps[..evaluated].iter().copied(), width);
    for witness in &mut out[start..] {
        witness.lowest = lowest;
    }
    true
}

/// Pushes the vertex furthest below a face, wherever its foot is.
pub(super) fn deepest<T: Real>(
    hulls: [&Hull<T>; 2],
    relative: &Pose<T>,
    reference: Face,
    reach: f64,
    out: &mut Vec<Witness<T>>,
) {
    let values = Faces::new(hulls.map(Hull::value), relative.value(), reference);
    let direction = values.pose.rotation.tr_mul(&values.plane.normal);
    let (vertex, _) = values.incident.lowest(&direction);
    let height = values.plane.height(&values.end(vertex));
    if height <= reach {
        let faces = Faces::new(hulls.map(|hull| *hull), *relative, reference);
        let corner = Corner::Incident(vertex);
        let place = faces.place(corner);
        let at = (place, faces.plane.height(&place));
        out.push(faces.witness(hulls, relative, reference, corner, at));
    }
}

impl<'a, T: Real> Faces<'a, T> {
    /// The incident face is not known yet.
    fn new(hulls: [Hull<'a, T>; 2], relative: Pose<T>, reference: Face) -> Self {
        let Face { body, face } = reference;
        let pose = if body == 0 { relative } else { relative.inverse() };
        let (reference, incident) = (hulls[body], hulls[1 - body]);
        Faces { reference, incident, pose, faces: [face, 0], plane: reference.plane(face) }
    }

    /// A point of the incident one, in the frame of the reference.
    fn seen(&self, point: &Vector3<T>) -> Vector3<T> {
        self.pose.position + self.pose.rotation * point
    }

    fn end(&self, vertex: usize) -> Vector3<T> {
        self.seen(&self.incident.vertex(vertex))
    }

    /// The side of the reference from a corner to the next.
    fn side(&self, side: usize) -> Plane<T> {
        self.reference.side(self.faces[0], &self.plane.normal, side)
    }

    /// The plane of the incident face.
    fn incident_plane(&self) -> Plane<T> {
        let plane = self.incident.plane(self.faces[1]);
        let normal = self.pose.rotation * plane.normal;
        Plane { normal, offset: plane.offset + normal.dot(&self.pose.position) }
    }

    /// The point of the incident face, in the frame of the reference.
    fn place(&self, corner: Corner) -> Vector3<T> {
        match corner {
            Corner::Incident(vertex) => self.end(vertex),
            Corner::Crossing(edge, side) => {
                let ends = self.incident.polyhedron.edges()[edge].ends;
                let (a, b) = (self.end(ends[0]), self.end(ends[1]));
                let side = self.side(side);
                let along = b - a;
                a - along * (side.height(&a) / side.normal.dot(&along))
            }
            Corner::Reference(vertex) => {
                // Along the normal to the plane of the incident face.
                let place = self.reference.vertex(vertex);
                let plane = self.incident_plane();
                let n = self.plane.normal;
                place - n * (plane.height(&place) / plane.normal.dot(&n))
            }
        }
    }

    /// The contact at a corner, whose place and gap are known, in the frame of the first.
    fn witness(
        &self,
        hulls: [&Hull<T>; 2],
        relative: &Pose<T>,
        reference: Face,
        corner: Corner,
        (place, gap): (Vector3<T>, T),
    ) -> Witness<T> {
        let (own, other) = match corner {
            Corner::Incident(vertex) => {
                let face = self.reference.feature_of_face(self.faces[0]);
                (face, self.incident.feature_of_vertex(vertex))
            }
            Corner::Reference(vertex) => {
                let face = self.incident.feature_of_face(self.faces[1]);
                (self.reference.feature_of_vertex(vertex), face)
            }
            Corner::Crossing(edge, side) => {
                let side = self.reference.polyhedron.sides(self.faces[0])[side];
                (self.reference.feature_of_edge(side), self.incident.feature_of_edge(edge))
            }
        };
        let foot = place - self.plane.normal * gap;
        let single = |number| Witness::single(number, gap, self.plane.normal, foot);
        match reference.body {
            0 => single(feature(hulls, own, other)),
            _ => single(feature(hulls, other, own)).moved(relative).flipped(),
        }
    }
}

impl Faces<'_, f64> {
    /// Finds the incident face.
    fn facing(mut self) -> Self {
        let direction = self.pose.rotation.tr_mul(&self.plane.normal);
        let low = self.incident.lowest(&direction).1 + MERGE * self.incident.thickness();
        let mut search = Facing::new(&self.incident, direction, low);
        let polyhedron = self.incident.polyhedron;
        polyhedron.search(&mut search);
        search.enough = search.least + TIE;
        polyhedron.search(&mut search);
        self.faces[1] = if search.first == usize::MAX { 0 } else { search.first };
        self
    }

    /// The corners of the incident face clipped to the prism over the reference, above `floor`.
    fn clip(&self, floor: f64) -> Kept {
        let [own, facing] = [
            self.reference.polyhedron.corners(self.faces[0]),
            self.incident.polyhedron.corners(self.faces[1]),
        ];
        let tolerance = MERGE * self.reference.thickness().min(self.incident.thickness());
        let mut kept = Kept {
            corners: [Corner::Incident(0); CANDIDATES],
            places: [Vector3::zeros(); CANDIDATES],
            heights: [0.0; CANDIDATES],
            count: 0,
            tolerance,
        };
        let mut keep = |corner: Corner, place: &Vector3<f64>| {
            let height = self.plane.height(place);
            if height >= floor {
                kept.add(corner, place - self.plane.normal * height, height);
            }
        };
        let sides = Sides::new(own.len(), |side| self.side(side));
        let excess = |place: &Vector3<f64>, side: usize| {
            let (plane, length) = sides.get(side, |side| self.side(side));
            plane.height(place) / length
        };
        for &vertex in facing {
            let place = self.end(vertex);
            if (0..own.len()).all(|side| excess(&place, side) <= tolerance) {
                keep(Corner::Incident(vertex), &place);
            }
        }
        // A face on edge has nothing under it but its outline.
        let plane = self.incident_plane();
        if plane.normal.dot(&self.plane.normal).abs() > TIE {
            let back = self.pose.inverse();
            let normal = back.rotation * self.plane.normal;
            // Along the normal of the reference, which is against that of the face.
            let side_of = |side: usize| self.incident.side(self.faces[1], &-normal, side);
            let sides = Sides::new(facing.len(), side_of);
            for &vertex in own {
                let corner = Corner::Reference(vertex);
                let place = self.place(corner);
                let point = back.position + back.rotation * place;
                let under = (0..facing.len()).all(|side| {
                    let (plane, length) = sides.get(side, side_of);
                    plane.height(&point) <= tolerance * length
                });
                if under {
                    keep(corner, &place);
                }
            }
        }
        for (k, &edge) in self.incident.polyhedron.sides(self.faces[1]).iter().enumerate() {
            let ends = [facing[k], facing[(k + 1) % facing.len()]].map(|vertex| self.end(vertex));
            for side in 0..own.len() {
                // From one side to the other by more than the tolerance: an end that is as good as on
                // the side is listed itself.
                let [a, b] = ends.map(|end| excess(&end, side));
                if a.min(b) >= -tolerance || a.max(b) <= tolerance {
                    continue;
                }
                let corner = Corner::Crossing(edge, side);
                let place = self.place(corner);
                let mut others = (0..own.len()).filter(|&other| other != side);
                if others.all(|other| excess(&place, other) <= tolerance) {
                    keep(corner, &place);
                }
            }
        }
        kept
    }
}

/// Sides of a face that are kept, at most; others are made again each time.
const SIDES: usize = 48;

/// The sides of a face as planes, each with the length of its normal.
struct Sides {
    planes: [(Plane<f64>, f64); SIDES],
    count: usize,
}

impl Sides {
    fn new(count: usize, side: impl Fn(usize) -> Plane<f64>) -> Self {
        let none = Plane { normal: Vector3::zeros(), offset: 0.0 };
        let (mut planes, count) = ([(none, 0.0); SIDES], count.min(SIDES));
        for (k, place) in planes[..count].iter_mut().enumerate() {
            let plane = side(k);
            *place = (plane, plane.normal.norm());
        }
        Sides { planes, count }
    }

    fn get(&self, k: usize, side: impl Fn(usize) -> Plane<f64>) -> (Plane<f64>, f64) {
        if k < self.count {
            return self.planes[k];
        }
        let plane = side(k);
        (plane, plane.normal.norm())
    }
}

/// Looks among the faces that reach down to a height for that against a direction.
struct Facing<'a> {
    hull: &'a Hull<'a, f64>,
    direction: Vector3<f64>,
    low: f64,
    /// Against the direction without the scale of the hull, and its length.
    against: (Vector3<f64>, f64),
    least: f64,
    /// The first face with a cosine of at most `enough`.
    first: usize,
    enough: f64,
}

impl<'a> Facing<'a> {
    fn new(hull: &'a Hull<'a, f64>, direction: Vector3<f64>, low: f64) -> Self {
        let against = -direction.component_mul(&hull.scale);
        let against = (against, against.norm());
        let (first, enough) = (usize::MAX, f64::NEG_INFINITY);
        Facing { hull, direction, low, against, least: f64::INFINITY, first, enough }
    }
}

impl PatchSearch for Facing<'_> {
    fn bound(&self, patch: &Patch) -> f64 {
        patch.furthest(&self.against.0, self.against.1)
    }

    fn enough(&self) -> f64 {
        -self.low
    }

    fn look(&mut self, vertices: &[usize]) -> bool {
        let Facing { hull, direction, low, .. } = *self;
        let polyhedron = hull.polyhedron;
        for &vertex in vertices.iter().filter(|&&k| direction.dot(&hull.vertex(k)) <= low) {
            for &face in polyhedron.faces_about(vertex) {
                let cosine = direction.dot(&hull.plane(face).normal);
                self.least = self.least.min(cosine);
                if cosine <= self.enough && face < self.first {
                    self.first = face;
                }
            }
        }
        true
    }
}

/// The corners found so far: where their feet are, and how high they are.
struct Kept {
    corners: [Corner; CANDIDATES],
    places: [Vector3<f64>; CANDIDATES],
    heights: [f64; CANDIDATES],
    count: usize,
    tolerance: f64,
}

impl Kept {
    /// Adds a corner unless there is one at its place.
    fn add(&mut self, corner: Corner, place: Vector3<f64>, height: f64) {
        let same = |other: &Vector3<f64>| (place - other).amax() <= self.tolerance;
        if self.places[..self.count].iter().any(same) {
            return;
        }
        let mut slot = self.count;
        if slot == CANDIDATES {
            let higher =
                |best: usize, k| if self.heights[k] > self.heights[best] { k } else { best };
            slot = (1..CANDIDATES).fold(0, higher);
            if height >= self.heights[slot] {
                return;
            }
        } else {
            self.count += 1;
        }
        self.corners[slot] = corner;
        self.places[slot] = place;
        self.heights[slot] = height;
    }

    fn least(&self) -> f64 {
        self.heights[..self.count].iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Leaves the lowest and the outermost if there are too many.
    fn thin(&mut self, normal: &Vector3<f64>) {
        if self.count <= AROUND + 1 {
            return;
        }
        // Directions that do not depend on where the other polyhedron is.
        let x = super::super::nearest::perpendicular(normal);
        let y = normal.cross(&x);
        let mut wanted = [false; CANDIDATES];
        let best = |measure: &dyn Fn(usize) -> f64| {
            let larger = |best: usize, k| {
                if measure(k) > measure(best) + self.tolerance { k } else { best }
            };
            (1..self.count).fold(0, larger)
        };
        wanted[best(&|k| -self.heights[k])] = true;
        for k in 0..AROUND {
            let angle = std::f64::consts::TAU * k as f64 / AROUND as f64;
            let direction = x * angle.cos() + y * angle.sin();
            wanted[best(&|k| direction.dot(&self.places[k]))] = true;
        }
        let mut count = 0;
        for (k, &wanted) in wanted[..self.count].iter().enumerate() {
            if wanted {
                self.corners[count] = self.corners[k];
                self.places[count] = self.places[k];
                self.heights[count] = self.heights[k];
                count += 1;
            }
        }
        self.count = count;
    }
}
