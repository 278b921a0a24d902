//! Optimisation problems as [nodes](crate::ad::Node). Knows no body and no time.

mod admm;
mod disk;
mod disk_qcqp;
mod feasible_set;
mod implicit;
mod nonnegative_qp;
mod projected_newton;
mod projection;
mod quadratic;
mod reduced_hessian;
mod status;

pub use disk_qcqp::{DiskMode, DiskQcqp, DiskSolution};
pub use implicit::ProjectionFactor;
pub use nonnegative_qp::{BoundMode, BoundSolution, NonnegativeQp};
pub use projection::{ProjectionSettings, ProjectionWorkspace};
pub use status::{Report, Status};
