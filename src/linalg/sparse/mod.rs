//! Sparse matrices of 3x3 blocks with a symmetric pattern, and direct solvers for them without pivoting: for what is positive
//! definite, or near it, as the Newton matrices of solids in small steps are.
//!
//! [`BlockLu`](super::BlockLu) factorises what has blocks of any size in any scalar; with blocks of three it takes tens of times
//! as long, and so do its order and pattern.

mod block_matrix;
mod dense_front;
mod iterative_refinement;
mod ordering;
mod sparse_factor;
mod symbolic;

pub use block_matrix::{Block, BlockMatrix, BlockPattern};
pub use iterative_refinement::{Refined, solve_refined};
pub use sparse_factor::SparseFactor;
pub use symbolic::Symbolic;
