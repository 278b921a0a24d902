//! Optimisation problems as [nodes](crate::ad::Node). Knows no body and no time.

mod admm;
mod block_gauss_seidel;
mod block_rows;
mod contact_data;
mod contact_modes;
mod coupled_contact;
mod coupled_residual;
mod disk;
mod disk_qcqp;
mod feasible_set;
mod implicit;
mod interior_point;
mod least_norm;
mod low_rank;
mod natural_map;
mod nonnegative_qp;
mod projected_newton;
mod projection;
mod quadratic;
mod reduced_hessian;
mod semismooth_newton;
mod status;
mod woodbury;

pub use block_rows::{BlockRows, RowBlock};
pub(crate) use contact_data::ContactData;
pub use contact_modes::Mode;
pub use coupled_contact::{ContactFactor, CoupledContact};
pub use disk_qcqp::{DiskMode, DiskQcqp, DiskSolution};
pub use implicit::ProjectionFactor;
pub use nonnegative_qp::{BoundMode, BoundSolution, NonnegativeQp};
pub use projection::{ProjectionMethod, ProjectionSettings, ProjectionWorkspace};
pub use semismooth_newton::{ContactSolution, ContactWorkspace};
pub use status::{Report, Status};
