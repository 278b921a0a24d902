//! The surfaces of bodies as triangles whose corners are functions of poses and sizes.

use std::collections::HashMap;
use std::ops::Range;

use nalgebra::{Matrix3, Vector3};

use super::picture::to_linear;
use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::model::{Collider, Color, Model, Parameters, Plane, SeenMesh, Triangulation};
use crate::spatial::rotation_matrix;

/// Sides of what is round.
const SIDES: usize = 64;

/// How far half-spaces are seen from where they are nearest to the origin, m.
const HORIZON: f64 = 1e4;

/// Colours of bodies and of the ground that have none, as screens have them.
const USUAL: [Color; 6] = [
    [0.90, 0.55, 0.24, 1.0],
    [0.29, 0.53, 0.80, 1.0],
    [0.40, 0.68, 0.36, 1.0],
    [0.78, 0.36, 0.40, 1.0],
    [0.55, 0.45, 0.72, 1.0],
    [0.36, 0.67, 0.69, 1.0],
];
const OF_THE_WORLD: Color = [0.62, 0.62, 0.60, 1.0];
const GROUND: Color = [0.80, 0.80, 0.78, 1.0];

/// What a surface is of, and how it is there.
struct Place {
    source: Source,
    body: Option<usize>,
    orientation: Matrix3<f64>,
    colour: [f64; 3],
}

/// A colour where none is said.
fn usual(body: Option<usize>) -> [f64; 3] {
    linear(body.map_or(OF_THE_WORLD, |body| USUAL[body % USUAL.len()]))
}

/// What a screen shows as light, from 0 to 1.
pub(super) fn linear([r, g, b, _]: Color) -> [f64; 3] {
    [r, g, b].map(to_linear)
}

/// A square in the plane of x and y.
fn square(size: &Vector3<f64>) -> Triangulation {
    let corner = |(x, y): (f64, f64)| Vector3::new(x, y, 0.0).component_mul(size);
    let vertices = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(corner).to_vec();
    Triangulation { vertices, triangles: vec![[0, 1, 2], [0, 2, 3]] }
}

/// An edge, with the triangles it is part of: whether it runs from its first to its second end in them.
#[derive(Clone, Debug)]
pub(super) struct MeshEdge {
    pub ends: [usize; 2],
    pub faces: Vec<(usize, bool)>,
}

/// What a surface is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Collider(usize),
    HalfSpace(usize),
    /// Seen, and touches nothing.
    Look,
}

/// The surface of one shape.
#[derive(Clone, Debug)]
pub(super) struct Solid {
    pub source: Source,
    /// The body; nothing is the world.
    pub body: Option<usize>,
    /// From the shape to the body.
    orientation: Matrix3<f64>,
    /// Of each corner how it moves with the three sizes, in the shape.
    pub corners: Vec<Matrix3<f64>>,
    /// Where its corners begin among those of all.
    pub first: usize,
    /// Its triangles among those of all.
    pub triangles: Range<usize>,
    /// Red, green and blue, linear, from 0 to 1.
    pub colour: [f64; 3],
    /// Where it is in its body, of what only is seen, m.
    position: Vector3<f64>,
    /// The normal that tells how bright it is, of half-spaces: they are so without their tilt.
    pub normal: Option<Vector3<f64>>,
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
            if collider.body.is_some_and(|body| bodies.contains(&body)) {
                all.add_collider((index, collider), parameters.size(model, index));
            }
        }
        all
    }

    /// The surfaces of all that a scene has: shapes of bodies and of the world, and half-spaces. Where bodies look otherwise than
    /// what touches, `looks` are seen in its place: a mesh in its body (of nothing in the world), its place there, its orientation
    /// (quaternion w, x, y, z), and its colour.
    pub fn of_scene(model: &Model, parameters: &Parameters<f64>, looks: &[SeenMesh]) -> Solids {
        let mut all = Solids::new(model, parameters, &[]);
        for (index, collider) in model.colliders.iter().enumerate() {
            let hidden = looks.iter().any(|look| look.body == collider.body);
            if collider.drawn || !hidden {
                all.add_collider((index, collider), parameters.size(model, index));
            }
        }
        for look in looks {
            let surface = &look.surface;
            let colour = look.colour.map_or_else(|| usual(look.body), linear);
            let orientation = rotation_matrix(look.orientation);
            let place = Place { source: Source::Look, body: look.body, orientation, colour };
            all.add(place, Vector3::zeros(), |_| Triangulation::clone(surface));
            if let Some(solid) = all.solids.last_mut() {
                // Its corners do not depend on sizes: they are the sum of what moves with each, at one.
                for (corner, at) in solid.corners.iter_mut().zip(&surface.vertices) {
                    *corner = Matrix3::from_diagonal(at);
                }
                solid.position = Vector3::from(look.position);
            }
        }
        for index in 0..model.half_spaces.len() {
            let place = Place {
                source: Source::HalfSpace(index),
                body: None,
                orientation: Matrix3::identity(),
                colour: linear(GROUND),
            };
            all.add(place, Vector3::new(1.0, 1.0, 0.0), |size| square(&size));
            if let Some(solid) = all.solids.last_mut() {
                solid.normal = Some(model.half_spaces[index].normal);
                // Nobody sees it from below.
                all.closed[solid.triangles.clone()].fill(true);
            }
        }
        all
    }

    fn add_collider(&mut self, (index, collider): (usize, &Collider), size: Vector3<f64>) {
        let place = Place {
            source: Source::Collider(index),
            body: collider.body,
            orientation: rotation_matrix(collider.orientation),
            colour: collider.color.map_or_else(|| usual(collider.body), linear),
        };
        // Corners are linear in the sizes.
        self.add(place, size, |size| match &collider.visual {
            Some(visual) => visual.scaled(&size),
            None => collider.shape.surface_of_sides(size, SIDES),
        });
    }

    fn add(
        &mut self,
        place: Place,
        size: Vector3<f64>,
        surface: impl Fn(Vector3<f64>) -> Triangulation,
    ) {
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
        let Place { source, body, orientation, colour } = place;
        let triangles = first_triangle..self.triangles.len();
        let position = Vector3::zeros();
        self.solids.push(Solid {
            source,
            body,
            orientation,
            corners,
            first,
            triangles,
            colour,
            position,
            normal: None,
        });
    }

    /// Red, green and blue of each solid, linear, from 0 to 1.
    pub fn colours<T: Real>(&self) -> Vec<[T; 3]> {
        self.solids.iter().map(|solid| solid.colour.map(T::constant)).collect()
    }

    /// Whether there is anything to see.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// The solid of each corner.
    pub(super) fn owners(&self) -> Vec<usize> {
        let own = |(k, solid): (usize, &Solid)| std::iter::repeat_n(k, solid.corners.len());
        self.solids.iter().enumerate().flat_map(own).collect()
    }

    /// The corners in the world, but for those of half-spaces (m).
    pub fn bounded_corners(
        &self,
        (model, parameters): (&Model, &Parameters<f64>),
        kinematics: &Kinematics<f64>,
    ) -> Vec<Vector3<f64>> {
        let mut corners = Vec::new();
        self.corners(&self.place(model, parameters, kinematics), &mut corners);
        let bounded = self.solids.iter().filter(|solid| !solid.is_boundless());
        bounded.flat_map(|solid| corners[solid.first..][..solid.corners.len()].to_vec()).collect()
    }

    /// What moves as one: of each solid the first one of its body, and itself where its place is no body's.
    pub(super) fn leaders(&self) -> Vec<usize> {
        let leader = |(k, solid): (usize, &Solid)| match solid.body {
            Some(_) => self.solids.iter().position(|other| other.body == solid.body).unwrap_or(k),
            None => k,
        };
        self.solids.iter().enumerate().map(leader).collect()
    }

    /// Where the solids are.
    pub(super) fn place<T: Real>(
        &self,
        model: &Model,
        parameters: &Parameters<T>,
        kinematics: &Kinematics<T>,
    ) -> Vec<Placed<T>> {
        let place = |solid: &Solid| {
            let (rotation, position) = match solid.body {
                Some(body) => (kinematics.bodies[body].rotation, kinematics.bodies[body].position),
                None => (Matrix3::identity(), Vector3::zeros()),
            };
            match solid.source {
                Source::Collider(index) => Placed {
                    rotation,
                    position,
                    size: parameters.size(model, index),
                    offset: parameters.collider_position(model, index),
                },
                Source::Look => Placed {
                    rotation,
                    position,
                    size: Vector3::from_element(T::one()),
                    offset: solid.position.map(T::constant),
                },
                Source::HalfSpace(index) => {
                    let Plane { normal, offset } = parameters.plane(model, index);
                    let [x, _] = model.half_spaces[index].tilt_axes().map(|x| x.map(T::constant));
                    let along = x - normal * normal.dot(&x);
                    let along = along / along.dot(&along).sqrt();
                    Placed {
                        rotation: Matrix3::from_columns(&[along, normal.cross(&along), normal]),
                        position: normal * offset,
                        size: Vector3::new(HORIZON, HORIZON, 0.0).map(T::constant),
                        offset: Vector3::zeros(),
                    }
                }
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
    /// Whether it reaches farther than anything.
    pub fn is_boundless(&self) -> bool {
        matches!(self.source, Source::HalfSpace(_))
    }

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
