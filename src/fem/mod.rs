//! Finite elements of soft bodies: linear tetrahedra of a compressible neo-Hookean solid with viscosity (`Geilinger20`
//! 5.1). Knows no time and no contact.
//!
//! Numbers are in SI units. Nodes are points and vectors of three numbers; those of all nodes stand in one slice of
//! arrays. The closed forms are written once, in [`Operand`]s: every [`Real`](crate::ad::Real) is one, and so are four `f64`
//! side by side, by which [`Elements`] evaluates the stiffness of four elements at once.
//!
//! Linear tetrahedra bend too stiffly, and lock where Poisson's ratio comes near 1/2.

mod assembly;
mod elements;
mod green_viscosity;
mod kernel;
mod lanes_of_four;
mod mass;
mod material;
mod neo_hookean;
mod operand;
mod quartet;
mod spd_projection;
mod tetrahedron;

pub use elements::{ElementError, Elements};
pub use green_viscosity::{dissipation, viscous_stress};
pub use kernel::{
    Blocks, damping, deformation_gradient, energy, force, stiffness, tangent, velocity_gradient,
};
pub use mass::{ConsistentMass, consistent_mass};
pub use material::{MaterialError, SolidMaterial};
pub use neo_hookean::{elastic_stress, energy_density};
pub use operand::{Constant, Matrix3, Operand, Vector3};
pub use spd_projection::{energy_hessian, projected_stiffness};
pub use tetrahedron::Tetrahedron;
