//! Boxes, by their half extents.

use nalgebra::{Matrix3, Vector3};

use super::geometry::{Geometry, UniformSolid};
use super::triangulation::Triangulation;
use crate::model::Polyhedron;

pub(super) struct Cuboid;

impl Geometry for Cuboid {
    fn uniform_solid(&self, [a, b, c]: [f64; 3]) -> UniformSolid {
        // h²/3, half extents h
        UniformSolid::about_origin(8.0 * a * b * c, [a * a / 3.0, b * b / 3.0, c * c / 3.0])
    }

    fn uniform_inertia(&self, mass: f64, size: [f64; 3]) -> [f64; 6] {
        // I_xx = m (h_y² + h_z²) / 3, half extents h
        let [a, b, c] = size.map(|h| h * h);
        let [xx, yy, zz] = [b + c, a + c, a + b].map(|sum| mass * sum / 3.0);
        [xx, yy, zz, 0.0, 0.0, 0.0]
    }

    fn contact_points(&self) -> usize {
        8
    }

    fn reach(&self, size: [f64; 3], normal: Vector3<f64>) -> f64 {
        normal.component_mul(&Vector3::from(size)).abs().sum()
    }

    fn thickness(&self, size: [f64; 3]) -> f64 {
        Vector3::from(size).min()
    }

    fn bounding_radius(&self, size: [f64; 3]) -> f64 {
        Vector3::from(size).norm()
    }

    fn bounds(
        &self,
        size: Vector3<f64>,
        rotation: &Matrix3<f64>,
        position: &Vector3<f64>,
    ) -> [Vector3<f64>; 2] {
        [*position, rotation.abs() * size]
    }

    fn polyhedron(&self) -> Option<&Polyhedron> {
        Some(Polyhedron::cube())
    }

    fn surface(&self, size: Vector3<f64>, _: usize) -> Triangulation {
        Triangulation::of_polyhedron(Polyhedron::cube(), size)
    }
}
