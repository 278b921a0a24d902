//! Automatic differentiation: one scalar trait, forward and reverse.
//!
//! Numerical code is written once, generic over [`Real`], and run on `f64`, on [`Dual`] (forward)
//! or on [`Var`] (reverse, a thread-local tape). What is solved rather than computed is a [`Node`].
//!
//! # Conventions at kinks
//! Where a function has no derivative, a fixed element of its generalised derivative is taken, the
//! same in every scalar, so that a derivative is always a number and always the same one:
//!
//! | function | at | derivative |
//! |---|---|---|
//! | `abs` | 0 | 0 (not +1 or -1: symmetric, and the least of the subgradients) |
//! | `sqrt` | 0 | 0 (not infinity: a norm of a zero vector has derivative 0) |
//! | `max`, `min` | a tie | that of the first operand |
//! | `powi(x, 0)`, `powf(x, 0.0)` | any x, 0 too | 0 |
//! | `powi(x, 1)` | 0 | 1 |
//! | `pow(x, a)` | x = 0 | in x that of `powf`, and 0 at a = 0; in a 0 |
//! | `atan2`, `hypot` | the origin | 0 |
//! | `clamp` | a border | 1 in the number, 0 in the border |
//! | `copysign` | 0 | 1 if the signs of both are the same, zeros included, else -1 |
//! | `signum`, `floor`, `ceil`, `round`, `trunc` | everywhere | 0 (constants) |
//! | `cbrt` | 0 | infinity |
//! | `asin`, `acos`, `acosh`, `atanh` | 1 (and -1) | infinity, with its sign |
//! | `norm` (in `linalg`) | 0 | 0 |
//!
//! Where a function has no value (`ln` of a negative number), the derivative is not a number either.
//!
//! Where a slope is infinite nothing flows through a zero, tangent or adjoint, so that it harms no
//! variable it does not depend on, in first and in second derivatives. Where an infinite tangent
//! meets a slope of 0, or an infinite adjoint does, the derivative is undetermined and may be NaN, in
//! one mode or the other. Nor are products guarded, for their speed: with an infinite
//! factor, duals have NaN in the directions in which the other one does not move.

mod arena;
mod dual;
mod elementary;
mod error;
mod forward;
mod function;
mod lanes;
mod node;
mod node_rule;
mod operators;
mod real;
mod recording;
mod reverse;
mod second_order;
mod super_node;
mod tape;
mod var;

pub use dual::Dual;
pub use error::Error;
pub use forward::{jacobian, jvp};
pub use function::Function;
pub use node::Node;
pub use node_rule::{ByResidual, ByTwin, DualWorkspace, NodeRule, Unrolled};
pub use real::Real;
pub use recording::{Mark, Recording, diagnose};
pub use reverse::{gradient, gradient_into, jacobian_by_rows, vjp};
pub use second_order::{hessian, hessian_vector};
pub use tape::{Tape, TapeScalar};
pub use var::{Var, VarWorkspace};
