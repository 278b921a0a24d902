//! The consistent mass of linear tetrahedra: rho V/20 (1 + delta_ab) between nodes a and b.

use super::tetrahedron::Tetrahedron;

/// Masses between the nodes of an element.
pub type ConsistentMass = [[f64; 4]; 4];

/// The consistent mass of an element for density 1 (m³): times the density it is in kg.
pub fn consistent_mass(shape: &Tetrahedron) -> ConsistentMass {
    let off = shape.volume / 20.0;
    [0, 1, 2, 3].map(|a| [0, 1, 2, 3].map(|b| if a == b { 2.0 * off } else { off }))
}
