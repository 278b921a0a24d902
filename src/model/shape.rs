//! The solids a body can be.

use nalgebra::Vector3;

/// The form of a body; its sizes are [parameters](super::Parameters). The origin of the body is the
/// centre of the shape.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box along the body axes, with three half extents.
    Box,
    /// A ball with one radius.
    Sphere,
}

impl Shape {
    /// Principal moments of inertia about the centre of a solid of uniform density, kg m².
    ///
    /// `size`: half extents x, y, z of a box, or radius, 0, 0 of a sphere, m; `mass` in kg.
    pub fn uniform_inertia(&self, mass: f64, size: [f64; 3]) -> [f64; 3] {
        let [a, b, c] = size.map(|h| h * h);
        match self {
            // I_xx = m (h_y² + h_z²) / 3, half extents h
            Shape::Box => [b + c, a + c, a + b].map(|sum| mass * sum / 3.0),
            // I = 2/5 m r²
            Shape::Sphere => [0.4 * mass * a; 3],
        }
    }

    /// How many points of it can touch a half-space.
    pub fn contact_points(&self) -> usize {
        match self {
            Shape::Box => 8,
            Shape::Sphere => 1,
        }
    }

    /// The radius of a ball about its centre that holds it, m.
    pub fn bounding_radius(&self, size: [f64; 3]) -> f64 {
        match self {
            Shape::Box => Vector3::from(size).norm(),
            Shape::Sphere => size[0],
        }
    }

    /// The sizes that this shape uses, m: three half extents, or one radius.
    pub(super) fn sizes<'a>(&self, size: &'a [f64; 3]) -> &'a [f64] {
        match self {
            Shape::Box => size,
            Shape::Sphere => &size[..1],
        }
    }

    /// How far the shape reaches from its centre against a unit vector in the body frame, m.
    pub(super) fn reach(&self, size: [f64; 3], normal: Vector3<f64>) -> f64 {
        match self {
            Shape::Box => normal.abs().dot(&Vector3::from(size)),
            Shape::Sphere => size[0],
        }
    }
}
