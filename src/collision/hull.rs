//! A polyhedron with its scale, in the frame of its shape.

use nalgebra::Vector3;

use super::rod::Rod;
use crate::ad::Real;
use crate::linalg::norm;
use crate::model::{Patch, PatchSearch, Polyhedron};

/// By which fraction of a height, and of the thickness, a bound of heights may be wrong.
const ROUNDING: f64 = 1e-12;

/// A polyhedron of certain sizes. Boxes are cubes, scaled by their half extents.
#[derive(Clone, Copy)]
pub(super) struct Hull<'a, T> {
    pub polyhedron: &'a Polyhedron,
    pub scale: Vector3<T>,
}

/// Where normal . x = offset, the unit normal outward.
#[derive(Clone, Copy)]
pub(super) struct Plane<T> {
    pub normal: Vector3<T>,
    pub offset: T,
}

impl<T: Real> Plane<T> {
    pub fn height(&self, point: &Vector3<T>) -> T {
        self.normal.dot(point) - self.offset
    }
}

impl<'a, T: Real> Hull<'a, T> {
    pub fn value(&self) -> Hull<'a, f64> {
        Hull { polyhedron: self.polyhedron, scale: self.scale.map(|x| x.value()) }
    }

    pub fn vertex(&self, vertex: usize) -> Vector3<T> {
        let Vector3 { data, .. } = self.polyhedron.vertices()[vertex];
        let [x, y, z] = data.0[0];
        Vector3::new(self.scale.x * x, self.scale.y * y, self.scale.z * z)
    }

    /// The normal of a face, outward, not of length 1; points of the face have this product with it.
    pub fn direction(&self, face: usize) -> (Vector3<T>, f64) {
        // n . x = d and X = S x: (S⁻¹ n) . X = d
        let face = &self.polyhedron.faces()[face];
        let n = face.normal;
        let along = |n: f64, scale: T| T::constant(n) / scale;
        let normal = Vector3::new(
            along(n.x, self.scale.x),
            along(n.y, self.scale.y),
            along(n.z, self.scale.z),
        );
        (normal, face.offset)
    }

    pub fn plane(&self, face: usize) -> Plane<T> {
        let (normal, offset) = self.direction(face);
        let length = norm(normal.as_slice());
        Plane { normal: normal / length, offset: T::constant(offset) / length }
    }

    /// From the first end of an edge to the second.
    pub fn along(&self, edge: usize) -> Vector3<T> {
        let [a, b] = self.polyhedron.edges()[edge].ends;
        self.vertex(b) - self.vertex(a)
    }

    /// The edge as a segment without a radius, from its first end to the second.
    pub fn rod(&self, edge: usize) -> Rod<T> {
        Rod::between(self.polyhedron.edges()[edge].ends.map(|end| self.vertex(end)))
    }

    /// The side of a face from a corner to the next, as a plane along its normal, outward; not of
    /// length 1.
    pub fn side(&self, face: usize, normal: &Vector3<T>, side: usize) -> Plane<T> {
        let corners = self.polyhedron.corners(face);
        let next = corners[(side + 1) % corners.len()];
        let (a, b) = (self.vertex(corners[side]), self.vertex(next));
        let normal = (b - a).cross(normal);
        Plane { normal, offset: normal.dot(&a) }
    }

    /// The number of a vertex, an edge or a face among all features.
    pub fn feature_of_vertex(&self, vertex: usize) -> usize {
        vertex
    }

    pub fn feature_of_edge(&self, edge: usize) -> usize {
        self.polyhedron.vertices().len() + edge
    }

    pub fn feature_of_face(&self, face: usize) -> usize {
        self.polyhedron.vertices().len() + self.polyhedron.edges().len() + face
    }
}

impl Hull<'_, f64> {
    /// The least half extent along the axes, m.
    pub fn thickness(&self) -> f64 {
        self.polyhedron.half_extents().component_mul(&self.scale).min()
    }

    /// The lowest of the vertices along a direction, and its height.
    pub fn lowest(&self, direction: &Vector3<f64>) -> (usize, f64) {
        self.polyhedron.lowest(&direction.component_mul(&self.scale))
    }

    /// Whether the foot of a point on the plane of a face is in it.
    pub fn is_over(&self, face: usize, normal: &Vector3<f64>, point: &Vector3<f64>) -> bool {
        let sides = self.polyhedron.corners(face).len();
        (0..sides).all(|side| self.side(face, normal, side).height(point) <= 0.0)
    }

    /// The face that a point is furthest above of, the first of several, and its height.
    pub fn highest(&self, point: &Vector3<f64>) -> (usize, f64) {
        let unscaled = point.component_div(&self.scale);
        let scale = [self.scale.min(), self.scale.max()];
        let best = (0, f64::NEG_INFINITY);
        let mut search = Highest { hull: self, point, unscaled, scale, best };
        self.polyhedron.search(&mut search);
        search.best
    }
}

/// With X = S x the distance from a plane of normal n grows by 1 / |S⁻¹ n|: at most this much, given the least and the
/// largest scale.
pub(super) fn scaled_height(height: f64, [least, most]: [f64; 2]) -> f64 {
    height * if height > 0.0 { most } else { least }
}

/// Looks for the face that a point is furthest above of.
struct Highest<'a> {
    hull: &'a Hull<'a, f64>,
    point: &'a Vector3<f64>,
    unscaled: Vector3<f64>,
    scale: [f64; 2],
    best: (usize, f64),
}

impl PatchSearch for Highest<'_> {
    fn bound(&self, patch: &Patch) -> f64 {
        scaled_height(patch.height(&self.unscaled), self.scale)
    }

    fn enough(&self) -> f64 {
        self.best.1 - ROUNDING * (self.best.1.abs() + self.hull.thickness())
    }

    fn look(&mut self, vertices: &[usize]) -> bool {
        for face in vertices.iter().flat_map(|&vertex| self.hull.polyhedron.own_faces(vertex)) {
            let height = self.hull.plane(face).height(self.point);
            let (first, most) = self.best;
            if height > most || height == most && face < first {
                self.best = (face, height);
            }
        }
        true
    }
}
