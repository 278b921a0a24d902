//! Optimisation problems as [nodes](crate::ad::Node). Knows no body and no time.

mod block_gauss_seidel;
mod contact_data;
mod contact_modes;
mod coupled_contact;
mod semismooth_newton;
mod status;

pub use contact_modes::Mode;
pub use coupled_contact::{ContactFactor, CoupledContact};
pub use semismooth_newton::{ContactSolution, ContactWorkspace};
pub use status::{Report, Status};
