//! Soft bodies, where they start, and what they touch.

use crate::fem::Elements;
use crate::implicit::{Bdf, NewtonSettings, SolidParameters, VertexContact};
use crate::model::TetrahedralMesh;

/// A scene of soft bodies.
#[derive(Clone, Debug, Default)]
pub struct SoftScene {
    /// The file it was read from.
    pub name: String,
    /// s
    pub time_step: f64,
    /// The formula of the steps.
    pub bdf: Bdf,
    /// When a step counts as solved.
    pub newton: NewtonSettings,
    /// The half-spaces.
    pub grounds: Vec<SoftGround>,
    /// The bodies.
    pub bodies: Vec<SoftBody>,
    /// What is not right, but stops nothing.
    pub warnings: Vec<String>,
}

/// A half-space that soft bodies lie on.
#[derive(Clone, Debug, PartialEq)]
pub struct SoftGround {
    /// Its name.
    pub name: String,
    /// The unit normal out of it.
    pub normal: [f64; 3],
    /// Its points have normal . x <= offset (m).
    pub offset: f64,
}

/// A soft body.
#[derive(Clone, Debug)]
pub struct SoftBody {
    /// Its name.
    pub name: String,
    /// The mesh at rest, in its own frame.
    pub mesh: TetrahedralMesh,
    /// Its elements.
    pub elements: Elements,
    /// Material, density and gravity.
    pub parameters: SolidParameters<f64>,
    /// The vertices of the surface with each half-space, by node and in the order of the half-spaces.
    pub contacts: Vec<VertexContact>,
    /// Where the nodes start (m).
    pub position: Vec<[f64; 3]>,
    /// How they start (m/s).
    pub velocity: Vec<[f64; 3]>,
    /// Points that are followed.
    pub markers: Vec<Marker>,
}

/// A node of the surface that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker {
    /// Its name.
    pub name: String,
    /// The node.
    pub node: usize,
}

impl SoftBody {
    /// kg
    pub fn mass(&self) -> f64 {
        self.parameters.density * self.elements.unit_weight().iter().sum::<f64>()
    }

    /// The mean of what stands at the nodes, weighted by the mass they stand for: of places the centre of mass, of
    /// velocities its velocity.
    pub fn mean(&self, x: &[[f64; 3]]) -> [f64; 3] {
        let weights = self.elements.unit_weight();
        let volume: f64 = weights.iter().sum();
        let sum = x
            .iter()
            .zip(weights)
            .fold([0.0; 3], |sum: [f64; 3], (x, weight)| [0, 1, 2].map(|k| sum[k] + x[k] * weight));
        sum.map(|sum| sum / volume)
    }
}
