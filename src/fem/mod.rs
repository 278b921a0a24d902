//! Finite elements of soft bodies: linear tetrahedra of a compressible neo-Hookean solid with viscosity (`Geilinger20`
//! 5.1). Knows no time and no contact.
//!
//! Numbers are in SI units. Nodes are points and vectors of three numbers; those of all nodes stand in one slice of
//! arrays. The closed forms are written once, in [`Operand`]s: every [`Real`](crate::ad::Real) is one. (Four `f64` side by side
//! are another; without AVX they took twice as long as four elements one after the other.)
//!
//! Linear tetrahedra bend too stiffly, and lock where Poisson's ratio comes near 1/2.

mod assembly;
mod elements;
mod green_viscosity;
mod kernel;
mod mass;
mod material;
mod neo_hookean;
mod operand;
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
