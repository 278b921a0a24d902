//! The solids a body can be made of.

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use super::{HeightField, Polyhedron};

/// The form of a body; its sizes are [parameters](super::Parameters).
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box along the axes about the origin. Size: three half extents, m.
    Box,
    /// A ball about the origin. Size: the radius, m.
    Sphere,
    /// All points within a radius of a segment along z about the origin. Size: the radius and half the
    /// length of the segment, m.
    Capsule,
    /// A cylinder along z about the origin. Size: the radius and half the length, m.
    Cylinder,
    /// A convex polyhedron. Size: its scale along x, y and z, positive.
    Convex(Arc<Polyhedron>),
    /// Uneven ground, below its surface. Size: its scale along x, y and z, positive.
    HeightField(Arc<HeightField>),
}

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

impl Shape {
    /// Volume, centre of mass and inertia if the density is uniform. A height field is a surface: all of
    /// its numbers are 0.
    ///
    /// `size`: what [`Shape`] says of each, m.
    pub fn uniform_solid(&self, size: [f64; 3]) -> UniformSolid {
        use std::f64::consts::PI;
        let [a, b, c] = size;
        // The integral of x² over the volume, of each unit of it, by axes.
        let about = |volume: f64, [x, y, z]: [f64; 3]| UniformSolid {
            volume,
            center_of_mass: Vector3::zeros(),
            inertia: Matrix3::from_diagonal(&Vector3::new(y + z, x + z, x + y)),
        };
        match self {
            // h²/3, half extents h
            Shape::Box => about(8.0 * a * b * c, [a * a / 3.0, b * b / 3.0, c * c / 3.0]),
            // r²/5
            Shape::Sphere => about(4.0 / 3.0 * PI * a * a * a, [a * a / 5.0; 3]),
            Shape::Cylinder => about(2.0 * PI * a * a * b, [a * a / 4.0, a * a / 4.0, b * b / 3.0]),
            Shape::Capsule => {
                // A cylinder and two half balls, whose centres are 3/8 r beyond its ends:
                // ∫z² over them is that about the ends, r²/5, and h² + 3/4 h r.
                let (rod, ball) = (2.0 * PI * a * a * b, 4.0 / 3.0 * PI * a * a * a);
                let volume = rod + ball;
                let across = (rod * a * a / 4.0 + ball * a * a / 5.0) / volume;
                let ends = a * a / 5.0 + b * b + 0.75 * a * b;
                let along = (rod * b * b / 3.0 + ball * ends) / volume;
                about(volume, if volume > 0.0 { [across, across, along] } else { [0.0; 3] })
            }
            Shape::Convex(polyhedron) => {
                let scale = Matrix3::from_diagonal(&Vector3::from(size));
                let (volume, first, second) = polyhedron.moments();
                let center_of_mass = scale * first / volume;
                // ∫x x' of each unit of volume, about the centre
                let spread =
                    scale * (second / volume) * scale - center_of_mass * center_of_mass.transpose();
                let inertia = Matrix3::identity() * spread.trace() - spread;
                UniformSolid { volume: volume * (a * b * c).abs(), center_of_mass, inertia }
            }
            Shape::HeightField(_) => about(0.0, [0.0; 3]),
        }
    }

    /// Inertia xx, yy, zz, xy, xz, yz about the centre of mass of a solid of uniform density, kg m²; see
    /// [`uniform_solid`](Self::uniform_solid). `mass` in kg.
    pub fn uniform_inertia(&self, mass: f64, size: [f64; 3]) -> [f64; 6] {
        let [a, b, c] = size.map(|h| h * h);
        let [xx, yy, zz] = match self {
            // I_xx = m (h_y² + h_z²) / 3, half extents h
            Shape::Box => [b + c, a + c, a + b].map(|sum| mass * sum / 3.0),
            // I = 2/5 m r²
            Shape::Sphere => [0.4 * mass * a; 3],
            _ => {
                let i = self.uniform_solid(size).inertia * mass;
                return [i.m11, i.m22, i.m33, i.m12, i.m13, i.m23];
            }
        };
        [xx, yy, zz, 0.0, 0.0, 0.0]
    }

    /// How many points of it can touch a half-space.
    pub fn contact_points(&self) -> usize {
        match self {
            Shape::Box => 8,
            Shape::Sphere => 1,
            Shape::Capsule => 2,
            Shape::Cylinder => 10,
            Shape::Convex(polyhedron) => polyhedron.vertices().len(),
            Shape::HeightField(field) => field.heights().len(),
        }
    }

    /// The sizes that this shape uses.
    pub fn sizes<'a>(&self, size: &'a [f64; 3]) -> &'a [f64] {
        let used = match self {
            Shape::Box | Shape::Convex(_) | Shape::HeightField(_) => 3,
            Shape::Capsule | Shape::Cylinder => 2,
            Shape::Sphere => 1,
        };
        &size[..used]
    }

    /// How far the shape reaches from its origin against a unit vector in its frame, m.
    pub fn reach(&self, size: [f64; 3], normal: Vector3<f64>) -> f64 {
        let scaled = normal.component_mul(&Vector3::from(size));
        match self {
            Shape::Box => scaled.abs().sum(),
            Shape::Sphere => size[0],
            Shape::Capsule => size[0] + normal.z.abs() * size[1],
            Shape::Cylinder => normal.xy().norm() * size[0] + normal.z.abs() * size[1],
            Shape::Convex(polyhedron) => {
                let heights = polyhedron.vertices().iter().map(|v| -scaled.dot(v));
                heights.fold(f64::NEG_INFINITY, f64::max)
            }
            Shape::HeightField(field) => {
                let [x, y] = field.half_extents();
                let [low, high] = field.range();
                let z = (-scaled.z * low).max(-scaled.z * high);
                scaled.x.abs() * x + scaled.y.abs() * y + z
            }
        }
    }

    /// The least half extent along its axes, m; of a height field half the least spacing.
    pub fn thickness(&self, size: [f64; 3]) -> f64 {
        match self {
            Shape::Box => Vector3::from(size).min(),
            Shape::Sphere | Shape::Capsule => size[0],
            Shape::Cylinder => size[0].min(size[1]),
            Shape::Convex(polyhedron) => {
                polyhedron.half_extents().component_mul(&Vector3::from(size)).min()
            }
            Shape::HeightField(field) => {
                let [x, y] = field.spacing();
                0.5 * (x * size[0]).min(y * size[1])
            }
        }
    }

    /// The radius of a ball about the origin of the shape that holds it, m.
    pub fn bounding_radius(&self, size: [f64; 3]) -> f64 {
        match self {
            Shape::Box => Vector3::from(size).norm(),
            Shape::Sphere => size[0],
            Shape::Capsule => size[0] + size[1],
            Shape::Cylinder => size[0].hypot(size[1]),
            Shape::Convex(polyhedron) => {
                let scale = Vector3::from(size);
                let far = polyhedron.vertices().iter().map(|v| v.component_mul(&scale).norm());
                far.fold(0.0, f64::max)
            }
            Shape::HeightField(field) => {
                let [x, y] = field.half_extents();
                let [low, high] = field.range();
                let z = low.abs().max(high.abs());
                Vector3::new(x * size[0], y * size[1], z * size[2]).norm()
            }
        }
    }
}
