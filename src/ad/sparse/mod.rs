//! Sparse Jacobians and Hessians: a pattern, a colouring of it, and as few directions as there are
//! colours.
//!
//! Columns of a Jacobian that share no row may be seeded together: their sum is a vector in which
//! each entry belongs to one of them, known by the pattern (`Curtis74`). Which columns go together is
//! a colouring of their intersection graph (`Coleman83`; `Gebremedhin05` for Jacobians and Hessians
//! in one language). The number of colours follows the rows' lengths, not the number of variables:
//! the Jacobian of a trajectory costs as many evaluations for a thousand steps as for ten.
//!
//! A pattern is given ([`Pattern::from_triplets`], [`Pattern::block_tridiagonal`]) or detected by a
//! scalar that knows what it depends on ([`jacobian_pattern`], [`hessian_pattern`]). It is coloured
//! once; values are then taken at any number of points, in the order of the pattern's entries.
//!
//! ```
//! use stiction::ad::sparse::{Pattern, SparseJacobian, jacobian_pattern};
//! use stiction::ad::{Function, Real};
//!
//! /// The implicit Euler steps of a decay: x[k + 1] (1 + h) - x[k].
//! struct Steps;
//! impl Function for Steps {
//!     fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T> {
//!         x.windows(2).map(|x| x[1] * 1.1 - x[0]).collect()
//!     }
//! }
//! let x = [1.0; 500];
//! let pattern = jacobian_pattern(|x| Steps.evaluate(x), &x)?;
//! let jacobian = SparseJacobian::new(pattern);
//! assert_eq!(jacobian.colors(), 2);
//! let mut values = vec![0.0; jacobian.pattern().nnz()];
//! jacobian.evaluate(&Steps, &x, &mut values)?;
//! assert_eq!(values[..4], [-1.0, 1.1, -1.0, 1.1]);
//! # Ok::<(), stiction::ad::Error>(())
//! ```

mod check;
mod coloring;
mod dependence;
mod hessian;
mod jacobian;
mod pattern;

pub use coloring::Coloring;
pub use dependence::{Dependence, DependenceWorkspace, hessian_pattern, jacobian_pattern};
pub use hessian::SparseHessian;
pub use jacobian::{Compression, SparseJacobian};
pub use pattern::Pattern;
