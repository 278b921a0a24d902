//! The surface of a shape as triangles, to be drawn.

use std::collections::HashSet;
use std::f64::consts::{FRAC_PI_2, TAU};

use nalgebra::Vector3;

use crate::model::Polyhedron;

/// A surface of triangles.
#[derive(Clone, Debug, PartialEq)]
pub struct Triangulation {
    /// The corners, m.
    pub vertices: Vec<Vector3<f64>>,
    /// Three corners a triangle, counter-clockwise seen from outside.
    pub triangles: Vec<[usize; 3]>,
}

impl Triangulation {
    /// Whether each edge is one of two triangles, which go along it in opposite directions.
    pub fn is_closed(&self) -> bool {
        let mut along = HashSet::new();
        let mut edges = self.triangles.iter().flat_map(|&[a, b, c]| [(a, b), (b, c), (c, a)]);
        let once = edges.all(|edge| along.insert(edge));
        once && along.iter().all(|&(a, b)| along.contains(&(b, a)))
    }

    /// The same with lengths multiplied along x, y and z by positive numbers.
    pub fn scaled(&self, scale: &Vector3<f64>) -> Triangulation {
        let vertices = self.vertices.iter().map(|v| v.component_mul(scale)).collect();
        Triangulation { vertices, triangles: self.triangles.clone() }
    }

    /// The volume that it encloses, if it is closed.
    pub fn volume(&self) -> f64 {
        let corners = |triangle: &[usize; 3]| triangle.map(|corner| self.vertices[corner]);
        let of = |triangle| {
            let [a, b, c] = corners(triangle);
            a.dot(&b.cross(&c)) / 6.0
        };
        self.triangles.iter().map(of).sum::<f64>().abs()
    }

    /// Each face as a fan.
    pub fn of_polyhedron(polyhedron: &Polyhedron, scale: Vector3<f64>) -> Triangulation {
        let vertices = polyhedron.vertices().iter().map(|v| v.component_mul(&scale)).collect();
        let mut triangles = Vec::new();
        for face in 0..polyhedron.faces().len() {
            let corners = polyhedron.corners(face);
            triangles.extend((2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]]));
        }
        Triangulation { vertices, triangles }
    }

    /// A profile (distance from the axis, height), from below to above, turned about z, with so many sides; m.
    pub(super) fn turned(profile: impl Iterator<Item = [f64; 2]>, sides: usize) -> Triangulation {
        let mut surface = Triangulation { vertices: Vec::new(), triangles: Vec::new() };
        let mut below: Option<Vec<usize>> = None;
        for [across, height] in profile {
            let first = surface.vertices.len();
            let count = if across > 0.0 { sides } else { 1 };
            surface.vertices.extend((0..count).map(|k| {
                let (sin, cos) = (TAU * k as f64 / sides as f64).sin_cos();
                Vector3::new(across * cos, across * sin, height)
            }));
            // A pole is all corners of its ring.
            let ring: Vec<usize> = (0..sides).map(|k| first + k % count).collect();
            if let Some(below) = below {
                for k in 0..sides {
                    let next = (k + 1) % sides;
                    let (a, b, c, d) = (below[k], below[next], ring[next], ring[k]);
                    let halves = [[a, b, c], [a, c, d]];
                    let real = |t: &[usize; 3]| t[0] != t[1] && t[1] != t[2] && t[2] != t[0];
                    surface.triangles.extend(halves.into_iter().filter(real));
                }
            }
            below = Some(ring);
        }
        surface
    }
}

/// A quarter of a circle of so many sides about z = `center`, from the angle `from` on: distances from the axis and heights.
pub(super) fn arc(
    radius: f64,
    center: f64,
    from: f64,
    sides: usize,
) -> impl Iterator<Item = [f64; 2]> {
    let steps = sides / 4;
    (0..=steps).map(move |k| {
        let angle = from + FRAC_PI_2 * k as f64 / steps as f64;
        // The poles are on the axis, exactly.
        let across = if angle.abs() >= FRAC_PI_2 { 0.0 } else { radius * angle.cos() };
        [across, center + radius * angle.sin()]
    })
}
