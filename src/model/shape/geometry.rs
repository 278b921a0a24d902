//! What is asked of a shape, whatever it touches.

use nalgebra::{Matrix3, Vector3};

use super::triangulation::Triangulation;
use crate::model::Polyhedron;

/// Volume, centre and inertia of a solid of uniform density, in the frame of its shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UniformSolid {
    /// Volume, m³.
    pub volume: f64,
    /// Centre of mass, m.
    pub center_of_mass: Vector3<f64>,
    /// Inertia about the centre of mass, of each kg of mass, m².
    pub inertia: Matrix3<f64>,
}

impl UniformSolid {
    /// About the origin, from the volume and the integrals of x², y² and z² over it, of each unit of it.
    pub(super) fn about_origin(volume: f64, [x, y, z]: [f64; 3]) -> UniformSolid {
        UniformSolid {
            volume,
            center_of_mass: Vector3::zeros(),
            inertia: Matrix3::from_diagonal(&Vector3::new(y + z, x + z, x + y)),
        }
    }
}

/// What [`Shape`](super::Shape) answers by the method of the same name, of one form. Each form is a file of its own,
/// but for those that are a scaled [`Polyhedron`]: its answers are theirs.
pub(super) trait Geometry {
    fn uniform_solid(&self, size: [f64; 3]) -> UniformSolid;

    /// xx, yy, zz, xy, xz, yz
    fn uniform_inertia(&self, mass: f64, size: [f64; 3]) -> [f64; 6] {
        let i = self.uniform_solid(size).inertia * mass;
        [i.m11, i.m22, i.m33, i.m12, i.m13, i.m23]
    }

    fn contact_points(&self) -> usize;

    fn reach(&self, size: [f64; 3], normal: Vector3<f64>) -> f64;

    fn thickness(&self, size: [f64; 3]) -> f64;

    fn bounding_radius(&self, size: [f64; 3]) -> f64;

    fn bounds(
        &self,
        size: Vector3<f64>,
        rotation: &Matrix3<f64>,
        position: &Vector3<f64>,
    ) -> [Vector3<f64>; 2];

    fn polyhedron(&self) -> Option<&Polyhedron> {
        None
    }

    /// By index, the sizes that scale the polyhedron along x, y and z.
    fn polyhedron_scale(&self) -> [usize; 3] {
        [0, 1, 2]
    }

    fn surface(&self, size: Vector3<f64>, sides: usize) -> Triangulation;

    fn is_round(&self) -> bool {
        false
    }

    fn is_solid(&self) -> bool {
        true
    }
}

/// The centre and the half extents of the box along the axes about points.
pub(super) fn bounds_of_points(points: impl Iterator<Item = Vector3<f64>>) -> [Vector3<f64>; 2] {
    let start = (Vector3::repeat(f64::INFINITY), Vector3::repeat(f64::NEG_INFINITY));
    let (low, high) = points.fold(start, |(low, high), p| (low.inf(&p), high.sup(&p)));
    [(low + high) * 0.5, (high - low) * 0.5]
}
