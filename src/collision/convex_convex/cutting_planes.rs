//! What bounds the separation of two polyhedra along axes that are not looked at: cutting planes (`Kelley60`).

use nalgebra::Vector3;

use super::super::hull::{Hull, Plane, scaled_height};
use crate::collision::Pose;
use crate::model::{Edge, Patch};

/// By how much a later face of the same polyhedron must separate more: its faces are not parallel, but may be
/// nearly so in fine meshes.
pub(super) const TIE: f64 = 1e-9;

/// How far below the best an axis may be that is looked at all the same: more than [`TIE`] of the thickness, than rounding of
/// what `second`, as the first sees it, is away, and than what faces are no planes by.
pub(super) fn slack(hulls: [&Hull<f64>; 2], second: &Pose<f64>) -> f64 {
    let scale = |hull: &Hull<f64>| hull.scale.max();
    let uneven = |hull: &Hull<f64>| hull.polyhedron.unevenness() * scale(hull);
    let radius = |hull: &Hull<f64>| hull.polyhedron.radius() * scale(hull);
    let thickness = hulls.map(Hull::thickness);
    4.0 * (TIE * thickness[0].max(thickness[1]) + uneven(hulls[0]) + uneven(hulls[1]))
        + 16.0 * f64::EPSILON * (second.position.norm() + radius(hulls[0]) + radius(hulls[1]))
}

/// By which part heights between two faces may be more than computed.
const ROUNDING: f64 = 1e-12;

/// Vertices that bound separations, at most.
pub(super) const VERTICES: usize = 4;

/// Instead of the number of a face, an edge or a vertex.
pub(super) const NONE: u32 = u32::MAX;

/// Some vertices of a polyhedron, and perhaps another point of it, as another one sees them: its cutting planes (`Kelley60`). Along an axis it begins at the
/// lowest of all its vertices, and so not above any of these: what bounds the separation along axes that need not be
/// looked at.
pub(super) struct Cuts<'a> {
    pub hull: &'a Hull<'a, f64>,
    other: &'a Hull<'a, f64>,
    /// The other as the hull sees it.
    seen: &'a Pose<f64>,
    /// The last one first, with their places without the scale of the hull.
    vertices: [(u32, Vector3<f64>); VERTICES],
    /// Another point of it.
    point: Option<Vector3<f64>>,
    /// The least and the largest scale of the hull.
    scale: [f64; 2],
}

impl<'a> Cuts<'a> {
    /// Of vertices that were [kept](Self::keep), or of that nearest to the hull by the middles of both.
    pub fn new(
        hull: &'a Hull<'a, f64>,
        other: &'a Hull<'a, f64>,
        seen: &'a Pose<f64>,
        kept: &[u32; VERTICES],
    ) -> Self {
        let scale = [hull.scale.min(), hull.scale.max()];
        let vertices = [(NONE, Vector3::zeros()); VERTICES];
        let mut cuts = Cuts { hull, other, seen, vertices, point: None, scale };
        let known = |vertex: u32| (vertex as usize) < other.polyhedron.vertices().len();
        let kept = if kept.iter().all(|&vertex| known(vertex)) {
            *kept
        } else {
            [cuts.nearest(); VERTICES]
        };
        cuts.vertices = kept.map(|vertex| cuts.placed(vertex));
        cuts
    }

    pub fn keep(&self) -> [u32; VERTICES] {
        self.vertices.map(|(vertex, _)| vertex)
    }

    /// Takes another point of the other polyhedron, as the hull sees it.
    pub fn bound_by(&mut self, point: Vector3<f64>) {
        self.point = Some(point.component_div(&self.hull.scale));
    }

    /// The vertex nearest to the hull, by the middles of both.
    fn nearest(&self) -> u32 {
        let middle = |hull: &Hull<f64>| hull.polyhedron.middle().component_mul(&hull.scale);
        let other = self.seen.position + self.seen.rotation * middle(self.other);
        let way = other - middle(self.hull);
        self.other.lowest(&self.seen.rotation.tr_mul(&way)).0 as u32
    }

    fn placed(&self, vertex: u32) -> (u32, Vector3<f64>) {
        let point = self.seen.position + self.seen.rotation * self.other.vertex(vertex as usize);
        (vertex, point.component_div(&self.hull.scale))
    }

    /// How far the lowest vertex of the other is along a direction from its origin; it is taken instead of the oldest.
    fn cut(&mut self, direction: &Vector3<f64>) -> f64 {
        let (vertex, lowest) = self.other.lowest(&self.seen.rotation.tr_mul(direction));
        let vertex = vertex as u32;
        let known = self.vertices.iter().position(|&(own, _)| own == vertex);
        let place = known.unwrap_or(VERTICES - 1);
        if known.is_none() {
            self.vertices[place] = self.placed(vertex);
        }
        self.vertices[..=place].rotate_right(1);
        lowest
    }

    /// How far the other is above a plane of the hull.
    pub fn separation(&mut self, plane: &Plane<f64>) -> f64 {
        self.cut(&plane.normal) + plane.height(&self.seen.position)
    }

    /// No face nor edge of a patch separates by more.
    pub fn above(&self, patch: &Patch) -> f64 {
        let second = self.point.as_ref().unwrap_or(&self.vertices[1].1);
        let [first, second] = [&self.vertices[0].1, second].map(|point| patch.height(point));
        scaled_height(first.min(second), self.scale)
    }

    /// How high a point is above a face at most.
    pub fn face_height(&self, face: usize, point: &Vector3<f64>) -> f64 {
        let face = &self.hull.polyhedron.faces()[face];
        scaled_height(face.normal.dot(point) - face.offset, self.scale)
    }

    /// Whether a face may separate by no less than `enough`.
    pub fn face_may_separate(&self, face: usize, enough: f64) -> bool {
        self.vertices.iter().all(|(_, vertex)| self.face_height(face, vertex) >= enough)
    }

    /// What bounds faces and edges best.
    pub fn sharpest(&self) -> &Vector3<f64> {
        self.point.as_ref().unwrap_or(&self.vertices[0].1)
    }

    /// How high a point is above the higher of the two faces of an edge, without the scale of the hull.
    pub fn edge_height(&self, edge: usize, point: &Vector3<f64>) -> f64 {
        let polyhedron = self.hull.polyhedron;
        let Edge { ends, faces: [first, other] } = polyhedron.edges()[edge];
        let way = point - polyhedron.vertices()[ends[0]];
        let faces = polyhedron.faces();
        faces[first].normal.dot(&way).max(faces[other].normal.dot(&way))
    }

    /// No edge of less [height](Self::edge_height) may separate by `enough`; where that is positive, of less than this times the cosine
    /// of half the turn at the edge.
    pub fn unscaled_low(&self, enough: f64) -> f64 {
        if enough > 0.0 {
            enough / self.scale[1] * (1.0 - ROUNDING)
        } else {
            enough / self.scale[0]
        }
    }

    /// Whether an axis of an edge may separate by more than `enough`, as far as a point says: one between the
    /// normals of its faces.
    fn edge_may(&self, edge: usize, point: &Vector3<f64>, enough: f64) -> bool {
        let polyhedron = self.hull.polyhedron;
        let Edge { ends, faces } = polyhedron.edges()[edge];
        let way = point - polyhedron.vertices()[ends[0]];
        let [first, other] = faces.map(|face| &polyhedron.faces()[face].normal);
        let [low, high] = [first.dot(&way), other.dot(&way)];
        let mut height = low.max(high);
        // Within the arc the point's part in its plane is longer than along both ends.
        let cos = first.dot(other);
        if low > cos * high && high > cos * low {
            let across = (high - cos * low).powi(2) / (1.0 - cos * cos);
            height = height.max((low * low + across).sqrt() * (1.0 + ROUNDING));
        }
        scaled_height(height, self.scale) > enough
    }

    /// Whether an axis of an edge may separate by more than `enough`. What may is looked at in the middle of its axes.
    pub fn edge_may_separate(&mut self, edge: usize, enough: f64) -> bool {
        let may = |point: &Vector3<f64>| self.edge_may(edge, point, enough);
        if !self.point.as_ref().is_none_or(may) || !self.vertices.iter().all(|(_, at)| may(at)) {
            return false;
        }
        let polyhedron = self.hull.polyhedron;
        let [first, other] =
            polyhedron.edges()[edge].faces.map(|face| polyhedron.faces()[face].normal);
        self.cut(&(first + other).component_div(&self.hull.scale));
        self.edge_may(edge, &self.vertices[0].1, enough)
    }
}

/// Numbers of what passes a first test, in which nothing is guessed that mostly is guessed wrong.
#[derive(Default)]
pub(super) struct Batch {
    numbers: [u32; 16],
    count: usize,
}

impl Batch {
    /// Takes a number if it passes; true if there is no more place.
    pub fn add(&mut self, number: usize, passes: bool) -> bool {
        self.numbers[self.count] = number as u32;
        self.count += usize::from(passes);
        self.count == self.numbers.len()
    }

    pub fn drain(&mut self) -> impl Iterator<Item = usize> + use<> {
        let (numbers, count) = (self.numbers, self.count);
        self.count = 0;
        (0..count).map(move |k| numbers[k] as usize)
    }
}
