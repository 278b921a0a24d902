//! Vertices of soft bodies at half-spaces.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::contact::contact_frame;

/// A vertex, as a sphere about it or a point, at a half-space. Nothing differentiates in where the half-space is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexContact<T = f64> {
    /// The node.
    pub node: usize,
    /// The unit normal of the half-space, out of it.
    pub normal: [f64; 3],
    /// Where the vertex touches: the place of the half-space along its normal, and the radius of the vertex (m).
    pub offset: f64,
    /// The coefficient of friction.
    pub friction: T,
    /// kn, the force by depth (N/m) of [penalties](super::VertexLaw); exact contact has none.
    pub stiffness: T,
    /// kd, the force by approach (N s/m) of [penalties](super::VertexLaw); exact contact has none.
    pub damping: T,
}

impl<T: Real> VertexContact<T> {
    /// How far the vertex is from the half-space where its node is at `x` (m).
    pub fn gap(&self, x: &[T; 3]) -> T {
        let [a, b, c] = self.normal;
        x[0] * a + x[1] * b + x[2] * c - T::constant(self.offset)
    }
}

impl VertexContact {
    /// The rows of its contact problem: the normal and two tangents.
    pub fn frame(&self) -> [[f64; 3]; 3] {
        let [first, second] = contact_frame(Vector3::from(self.normal));
        [self.normal, first.into(), second.into()]
    }

    /// Whether its numbers are those of a contact.
    pub fn is_admissible(&self, nodes: usize) -> bool {
        let length = self.normal.iter().map(|n| n * n).sum::<f64>().sqrt();
        let numbers = [self.friction, self.stiffness, self.damping];
        self.node < nodes
            && (length - 1.0).abs() < 1e-9
            && self.offset.is_finite()
            && numbers.iter().all(|x| *x >= 0.0 && x.is_finite())
    }
}
