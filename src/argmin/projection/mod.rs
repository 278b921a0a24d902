//! Projections on half-lines and disks: the two problems the staggered method of [LeLidec21] alternates, (5) and (6).
//!
//! A file a method over one `FeasibleSet`: sweeps and `projected_newton`, `primal_dual`, `admm`; P of low rank goes
//! through its factor (`low_rank`, `woodbury`).

mod admm;
mod derivative;
mod disk;
mod disk_qcqp;
mod face_hessian;
mod feasible_set;
mod low_rank;
mod nonnegative_qp;
mod primal_dual;
mod projected_newton;
mod quadratic;
mod solve;
mod woodbury;

pub use derivative::ProjectionFactor;
pub use disk_qcqp::{DiskMode, DiskQcqp, DiskSolution};
pub use nonnegative_qp::{BoundMode, BoundSolution, NonnegativeQp};
pub use solve::{ProjectionMethod, ProjectionSettings, ProjectionWorkspace};
