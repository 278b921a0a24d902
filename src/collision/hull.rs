//! A polyhedron with its scale, in the frame of its shape.

use nalgebra::Vector3;

use super::rod::Rod;
use crate::ad::Real;
use crate::linalg::norm;
use crate::model::Polyhedron;

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
        let scaled = direction.component_mul(&self.scale);
        let mut lowest = (0, f64::INFINITY);
        for (vertex, point) in self.polyhedron.vertices().iter().enumerate() {
            let height = scaled.dot(point);
            if height < lowest.1 {
                lowest = (vertex, height);
            }
        }
        lowest
    }

    /// Whether the foot of a point on the plane of a face is in it.
    pub fn is_over(&self, face: usize, normal: &Vector3<f64>, point: &Vector3<f64>) -> bool {
        let sides = self.polyhedron.corners(face).len();
        (0..sides).all(|side| self.side(face, normal, side).height(point) <= 0.0)
    }

    /// The face that a point is furthest above of.
    pub fn highest(&self, point: &Vector3<f64>) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for face in 0..self.polyhedron.faces().len() {
            let height = self.plane(face).height(point);
            if height > best.1 {
                best = (face, height);
            }
        }
        best
    }
}
