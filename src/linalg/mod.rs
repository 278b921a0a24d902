//! Small dense kernels, generic over [`Real`](crate::ad::Real).
//!
//! Matrices are row-major slices. Pivots and ranks are decided on values, in `f64`. Linear systems
//! and determinants are also [nodes](crate::ad::Node), the fast way to differentiate them, short to
//! call as [`spd_solve`], [`solve`], [`log_det`] and [`log_abs_det`]. Sparse matrices of 3x3 blocks are a folder of their own:
//! [`BlockMatrix`], factorised by [`SparseFactor`].

pub(crate) mod block_lu;
mod cholesky;
pub(crate) mod elimination;
mod factor_error;
pub(crate) mod front_qr;
mod log_det;
mod lu;
mod mixed_dot;
mod norm;
mod packed_cholesky;
mod pivoted_cholesky;
mod power_iteration;
mod range;
mod refinement;
mod solve;
mod sparse;
mod spd_solve;
mod wide_dot;

pub(crate) use block_lu::BlockLu;
pub use cholesky::{cholesky, solve_lower, solve_lower_transpose};
pub(crate) use cholesky::{solve_lower_rows, solve_lower_transpose_rows, times_lower_transpose};
pub(crate) use elimination::Elimination;
pub use factor_error::FactorError;
pub(crate) use front_qr::FrontQr;
pub use log_det::{InverseFactor, LogAbsDet, LogDet, log_abs_det, log_det};
pub use lu::Lu;
pub use norm::{dot, norm};
pub use packed_cholesky::PackedCholesky;
pub use pivoted_cholesky::PivotedCholesky;
pub use power_iteration::largest_eigenvalue;
pub(crate) use range::CLEARLY;
pub use range::Range;
pub use refinement::Refinement;
pub use solve::{LuSolution, LuWorkspace, Solve, solve};
pub use sparse::{
    Block, BlockMatrix, BlockPattern, Refined, SparseFactor, Symbolic, solve_refined,
};
pub use spd_solve::{SpdSolution, SpdSolve, spd_solve};
pub use wide_dot::{add_combination, add_scaled, wide_dot};
pub(crate) use wide_dot::{add_product, counts, inner, zeros};
