//! Small dense kernels, generic over [`Real`](crate::ad::Real).
//!
//! Matrices are row-major slices. Pivots and ranks are decided on values, in `f64`.

mod cholesky;
mod lu;
mod norm;
mod pivoted_cholesky;
mod power_iteration;
mod range;
mod wide_dot;

pub use cholesky::{cholesky, solve_lower, solve_lower_transpose};
pub use lu::Lu;
pub use norm::{dot, norm};
pub use pivoted_cholesky::PivotedCholesky;
pub use power_iteration::largest_eigenvalue;
pub use range::Range;
pub use wide_dot::{add_scaled, wide_dot};
