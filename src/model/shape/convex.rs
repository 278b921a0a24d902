//! Convex polyhedra, by their scale along x, y and z.

use nalgebra::{Matrix3, Vector3};

use super::geometry::{Geometry, UniformSolid};
use super::triangulation::Triangulation;
use crate::model::Polyhedron;

impl Geometry for Polyhedron {
    fn uniform_solid(&self, size: [f64; 3]) -> UniformSolid {
        let [a, b, c] = size;
        let scale = Matrix3::from_diagonal(&Vector3::from(size));
        let (volume, first, second) = self.moments();
        let center_of_mass = scale * first / volume;
        // ∫x x' of each unit of volume, about the centre
        let spread =
            scale * (second / volume) * scale - center_of_mass * center_of_mass.transpose();
        let inertia = Matrix3::identity() * spread.trace() - spread;
        UniformSolid { volume: volume * (a * b * c).abs(), center_of_mass, inertia }
    }

    fn contact_points(&self) -> usize {
        self.vertices().len()
    }

    fn reach(&self, size: [f64; 3], normal: Vector3<f64>) -> f64 {
        -self.lowest(&normal.component_mul(&Vector3::from(size))).1
    }

    fn thickness(&self, size: [f64; 3]) -> f64 {
        self.half_extents().component_mul(&Vector3::from(size)).min()
    }

    fn bounding_radius(&self, size: [f64; 3]) -> f64 {
        let scale = Vector3::from(size);
        if scale.min() == scale.max() {
            return scale.x * self.radius();
        }
        let far = self.vertices().iter().map(|v| v.component_mul(&scale).norm());
        far.fold(0.0, f64::max)
    }

    fn bounds(
        &self,
        size: Vector3<f64>,
        rotation: &Matrix3<f64>,
        position: &Vector3<f64>,
    ) -> [Vector3<f64>; 2] {
        let along = |axis: usize| rotation.row(axis).transpose().component_mul(&size);
        let low = Vector3::from_fn(|axis, _| self.lowest(&along(axis)).1);
        let high = Vector3::from_fn(|axis, _| -self.lowest(&-along(axis)).1);
        [position + (low + high) * 0.5, (high - low) * 0.5]
    }

    fn polyhedron(&self) -> Option<&Polyhedron> {
        Some(self)
    }

    fn surface(&self, size: Vector3<f64>, _: usize) -> Triangulation {
        Triangulation::of_polyhedron(self, size)
    }
}
