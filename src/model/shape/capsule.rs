//! Capsules, by their radius and half the length of their segment.

use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::{Matrix3, Vector3};

use super::geometry::{Geometry, UniformSolid};
use super::triangulation::{Triangulation, arc};

pub(super) struct Capsule;

impl Geometry for Capsule {
    fn uniform_solid(&self, [a, b, _]: [f64; 3]) -> UniformSolid {
        // A cylinder and two half balls, whose centres are 3/8 r beyond its ends:
        // ∫z² over them is that about the ends, r²/5, and h² + 3/4 h r.
        let (rod, ball) = (2.0 * PI * a * a * b, 4.0 / 3.0 * PI * a * a * a);
        let volume = rod + ball;
        let across = (rod * a * a / 4.0 + ball * a * a / 5.0) / volume;
        let ends = a * a / 5.0 + b * b + 0.75 * a * b;
        let along = (rod * b * b / 3.0 + ball * ends) / volume;
        let spread = if volume > 0.0 { [across, across, along] } else { [0.0; 3] };
        UniformSolid::about_origin(volume, spread)
    }

    fn contact_points(&self) -> usize {
        2
    }

    fn reach(&self, [radius, half, _]: [f64; 3], normal: Vector3<f64>) -> f64 {
        radius + normal.z.abs() * half
    }

    fn thickness(&self, [radius, ..]: [f64; 3]) -> f64 {
        radius
    }

    fn bounding_radius(&self, [radius, half, _]: [f64; 3]) -> f64 {
        radius + half
    }

    fn bounds(
        &self,
        size: Vector3<f64>,
        rotation: &Matrix3<f64>,
        position: &Vector3<f64>,
    ) -> [Vector3<f64>; 2] {
        let along = rotation.column(2).abs() * size.y;
        [*position, along.add_scalar(size.x)]
    }

    fn surface(&self, size: Vector3<f64>, sides: usize) -> Triangulation {
        let (radius, half) = (size.x, size.y);
        let ends = [(-half, -FRAC_PI_2), (half, 0.0)];
        let [lower, upper] = ends.map(|(center, from)| arc(radius, center, from, sides));
        Triangulation::turned(lower.chain(upper), sides)
    }

    fn is_round(&self) -> bool {
        true
    }
}
