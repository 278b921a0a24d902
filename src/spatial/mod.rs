//! Rotations, rigid motions, forces and inertias.
//!
//! Spatial vectors have the linear part first.

mod articulated_inertia;
mod force;
mod inertia;
mod motion;
mod rotation;
mod symmetric;

pub use articulated_inertia::ArticulatedInertia;
pub use force::Force;
pub use inertia::Inertia;
pub use motion::Motion;
pub use rotation::{
    Quaternion, conjugate, cross_matrix, exp, left_jacobian, log, normalized, product,
    rotation_matrix, rotation_vector_rate,
};
pub use symmetric::Symmetric;
