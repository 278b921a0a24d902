//! Spheres, by their radius.

use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::{Matrix3, Vector3};

use super::geometry::{Geometry, UniformSolid};
use super::triangulation::{Triangulation, arc};

pub(super) struct Ball;

impl Geometry for Ball {
    fn uniform_solid(&self, [r, ..]: [f64; 3]) -> UniformSolid {
        UniformSolid::about_origin(4.0 / 3.0 * PI * r * r * r, [r * r / 5.0; 3])
    }

    fn uniform_inertia(&self, mass: f64, [r, ..]: [f64; 3]) -> [f64; 6] {
        // I = 2/5 m r²
        let i = 0.4 * mass * (r * r);
        [i, i, i, 0.0, 0.0, 0.0]
    }

    fn contact_points(&self) -> usize {
        1
    }

    fn reach(&self, [r, ..]: [f64; 3], _normal: Vector3<f64>) -> f64 {
        r
    }

    fn thickness(&self, [r, ..]: [f64; 3]) -> f64 {
        r
    }

    fn bounding_radius(&self, [r, ..]: [f64; 3]) -> f64 {
        r
    }

    fn bounds(
        &self,
        size: Vector3<f64>,
        _rotation: &Matrix3<f64>,
        position: &Vector3<f64>,
    ) -> [Vector3<f64>; 2] {
        [*position, Vector3::repeat(size.x)]
    }

    fn surface(&self, size: Vector3<f64>, sides: usize) -> Triangulation {
        let [lower, upper] = [-FRAC_PI_2, 0.0].map(|from| arc(size.x, 0.0, from, sides));
        Triangulation::turned(lower.chain(upper.skip(1)), sides)
    }

    fn is_round(&self) -> bool {
        true
    }
}
