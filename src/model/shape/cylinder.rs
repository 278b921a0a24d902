//! Cylinders, by their radius and half their length.

use std::f64::consts::PI;

use nalgebra::{Matrix3, Vector3};

use super::geometry::{Geometry, UniformSolid};
use super::triangulation::Triangulation;
use crate::model::Polyhedron;

pub(super) struct Cylinder;

impl Geometry for Cylinder {
    fn uniform_solid(&self, [a, b, _]: [f64; 3]) -> UniformSolid {
        let spread = [a * a / 4.0, a * a / 4.0, b * b / 3.0];
        UniformSolid::about_origin(2.0 * PI * a * a * b, spread)
    }

    fn contact_points(&self) -> usize {
        10
    }

    fn reach(&self, [radius, half, _]: [f64; 3], normal: Vector3<f64>) -> f64 {
        normal.xy().norm() * radius + normal.z.abs() * half
    }

    fn thickness(&self, [radius, half, _]: [f64; 3]) -> f64 {
        radius.min(half)
    }

    fn bounding_radius(&self, [radius, half, _]: [f64; 3]) -> f64 {
        radius.hypot(half)
    }

    fn bounds(
        &self,
        size: Vector3<f64>,
        rotation: &Matrix3<f64>,
        position: &Vector3<f64>,
    ) -> [Vector3<f64>; 2] {
        // Of a circle with unit normal n along x: r sqrt(1 - n_x²)
        let axis = rotation.column(2);
        let half = axis.map(|n| (1.0 - n * n).max(0.0).sqrt() * size.x + n.abs() * size.y);
        [*position, half]
    }

    fn polyhedron(&self) -> Option<&Polyhedron> {
        Some(Polyhedron::cylinder())
    }

    fn polyhedron_scale(&self) -> [usize; 3] {
        [0, 0, 1]
    }

    fn surface(&self, size: Vector3<f64>, sides: usize) -> Triangulation {
        let (radius, half) = (size.x, size.y);
        let profile = [[0.0, -half], [radius, -half], [radius, half], [0.0, half]];
        Triangulation::turned(profile.into_iter(), sides)
    }

    fn is_round(&self) -> bool {
        true
    }
}
