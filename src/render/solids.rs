//! The surfaces of bodies as triangles whose corners are functions of poses and sizes.

use std::collections::HashMap;

use nalgebra::{Matrix3, Vector3};

use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::model::{Collider, Model, Parameters};
use crate::spatial::rotation_matrix;

/// Sides of what is round.
const SIDES: usize = 64;

/// An edge, with the triangles it is part of: whether it runs from its first to its second end in them.
#[derive(Clone, Debug)]
pub(super) struct MeshEdge {
    pub ends: [usize; 2],
    pub faces: Vec<(usize, bool)>,
}

/// The surface of one collider.
#[derive(Clone, Debug)]
pub(super) struct Solid {
    pub collider: usize,
    pub body: usize,
    /// From the shape to the body.
    orientation: Matrix3<f64>,
    /// Of each corner how it moves with the three sizes, in the shape.
    pub corners: Vec<Matrix3<f64>>,
    /// Where its corners begin among those of all.
    pub first: usize,
}

/// The surfaces of some bodies.
#[derive(Clone, Debug)]
pub struct Solids {
    pub(super) solids: Vec<Solid>,
    pub(super) triangles: Vec<[usize; 3]>,
    pub(super) edges: Vec<MeshEdge>,
    /// Whether each triangle is of a surface that has an inside.
    pub(super) closed: Vec<bool>,
    pub(super) corners: usize,
}

/// How far a body and its shapes are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<T> {
    pub rotation: Matrix3<T>,
    pub position: Vector3<T>,
    pub size: Vector3<T>,
    /// Of the shape in the body.
    pub offset: Vector3<T>,
}

impl Solids {
    /// The surfaces of `bodies`, as they look: of meshes that of the file.
    pub fn new(model: &Model, parameters: &Parameters<f64>, bodies: &[usize]) -> Solids {
        let mut all = Solids {
            solids: Vec::new(),
            triangles: Vec::new(),
            edges: Vec::new(),
            closed: Vec::new(),
            corners: 0,
        };
        for (index, collider) in model.colliders.iter().enumerate() {
            if let Some(body) = collider.body.filter(|body| bodies.contains(body)) {
                all.add(index, body, collider, parameters.size(model, index));
            }
        }
        all
    }

    fn add(&mut self, index: usize, body: usize, collider: &Collider, size: Vector3<f64>) {
        // Corners are linear in the sizes.
        let surface = |size: Vector3<f64>| match &collider.visual {
            Some(visual) => visual.scaled(&size),
            None => collider.shape.surface_of_sides(size, SIDES),
        };
        let here = surface(size);
        let first = self.corners;
        let mut corners = vec![Matrix3::zeros(); here.vertices.len()];
        for k in 0..3 {
            let step = if size[k] > 0.0 { size[k] } else { 1.0 };
            let moved = surface(size + Vector3::ith(k, step));
            for ((corner, from), to) in corners.iter_mut().zip(&here.vertices).zip(&moved.vertices)
            {
                corner.set_column(k, &((to - from) / step));
            }
        }
        let mut edges: HashMap<[usize; 2], usize> = HashMap::new();
        let first_edge = self.edges.len();
        let first_triangle = self.triangles.len();
        for triangle in &here.triangles {
            let corners = triangle.map(|corner| first + corner);
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let along = a < b;
                let ends = if along { [a, b] } else { [b, a] };
                let edge = *edges.entry(ends).or_insert_with(|| {
                    self.edges.push(MeshEdge { ends, faces: Vec::new() });
                    self.edges.len() - 1
                });
                self.edges[edge].faces.push((self.triangles.len(), along));
            }
            self.triangles.push(corners);
        }
        let paired = |edge: &MeshEdge| edge.faces.len() == 2 && edge.faces[0].1 != edge.faces[1].1;
        let closed = self.edges[first_edge..].iter().all(paired);
        self.closed.resize(first_triangle + here.triangles.len(), closed);
        self.corners += corners.len();
        let orientation = rotation_matrix(collider.orientation);
        self.solids.push(Solid { collider: index, body, orientation, corners, first });
    }

    /// Whether there is anything to see.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// The bodies, each once, in their order.
    pub(super) fn bodies(&self) -> Vec<usize> {
        let mut bodies: Vec<usize> = self.solids.iter().map(|solid| solid.body).collect();
        bodies.dedup();
        bodies
    }

    /// Where the solids are.
    pub(super) fn place<T: Real>(
        &self,
        model: &Model,
        parameters: &Parameters<T>,
        kinematics: &Kinematics<T>,
    ) -> Vec<Placed<T>> {
        let place = |solid: &Solid| {
            let body = &kinematics.bodies[solid.body];
            Placed {
                rotation: body.rotation,
                position: body.position,
                size: parameters.size(model, solid.collider),
                offset: parameters.collider_position(model, solid.collider),
            }
        };
        self.solids.iter().map(place).collect()
    }

    /// The corners in the world.
    pub(super) fn corners<T: Real>(&self, placed: &[Placed<T>], corners: &mut Vec<Vector3<T>>) {
        corners.clear();
        for (solid, at) in self.solids.iter().zip(placed) {
            corners.extend(solid.corners.iter().map(|corner| {
                let local = solid.local(corner, &at.size) + at.offset;
                at.position + at.rotation * local
            }));
        }
    }
}

impl Solid {
    /// A corner in the frame of the body, from the centre of the shape.
    pub fn local<T: Real>(&self, corner: &Matrix3<f64>, size: &Vector3<T>) -> Vector3<T> {
        let map = self.along(corner).map(T::constant);
        map * size
    }

    /// How a corner moves with the sizes in the frame of the body.
    pub fn along(&self, corner: &Matrix3<f64>) -> Matrix3<f64> {
        self.orientation * corner
    }
}
