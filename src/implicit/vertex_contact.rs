//! Vertices of soft bodies at half-spaces.

use nalgebra::Vector3;

use crate::contact::contact_frame;

/// A vertex, as a sphere about it or a point, at a half-space.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VertexContact {
    /// The node.
    pub node: usize,
    /// The unit normal of the half-space, out of it.
    pub normal: [f64; 3],
    /// Where the vertex touches: the place of the half-space along its normal, and the radius of the vertex (m).
    pub offset: f64,
    /// The coefficient of friction.
    pub friction: f64,
}

impl VertexContact {
    /// How far the vertex is from the half-space where its node is at `x` (m).
    pub fn gap(&self, x: &[f64; 3]) -> f64 {
        self.normal.iter().zip(x).map(|(n, x)| n * x).sum::<f64>() - self.offset
    }

    /// The rows of its contact problem: the normal and two tangents.
    pub fn frame(&self) -> [[f64; 3]; 3] {
        let [first, second] = contact_frame(Vector3::from(self.normal));
        [self.normal, first.into(), second.into()]
    }

    /// Whether its numbers are those of a contact.
    pub fn is_admissible(&self, nodes: usize) -> bool {
        let length = self.normal.iter().map(|n| n * n).sum::<f64>().sqrt();
        self.node < nodes
            && (length - 1.0).abs() < 1e-9
            && self.offset.is_finite()
            && self.friction >= 0.0
            && self.friction.is_finite()
    }
}
