//! Automatic differentiation: one scalar trait, forward and reverse.
//!
//! Numerical code is written once, generic over [`Real`], and run on `f64`, on [`Dual`] (forward)
//! or on [`Var`] (reverse, a thread-local tape). What is solved rather than computed is a [`Node`],
//! in its short form [`Implicit`].
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
//!
//! # With other crates
//! - **`num_traits`**: [`Dual`] and [`Var`] are [`Float`](num_traits::Float) with all it asks for, so
//!   code generic over `F: Float` runs on them. Import either [`Real`] or `Float` where scalars are
//!   concrete: they share names of methods, and with both in scope `x.sin()` is ambiguous. Code
//!   generic over one of them sees that one only. On ties and zeros `Float` has the conventions above,
//!   and `abs_sub` is a constant 0 where it is 0, `%` keeps its integer quotient constant,
//!   `max` and `min` take the other operand if one is not a number (as on `f64`), `clamp` with borders
//!   in the wrong order is `high` instead of a panic, `mul_add` rounds twice. What goes through
//!   `f64` loses its derivative: `to_f64` and its like, and so
//!   [`NumCast::from`](num_traits::NumCast::from) a scalar.
//! - **`ndarray`**: drivers on arrays are in [`arrays`].
//! - **`nalgebra`**: matrices hold our scalars and calculate with them. Its factorisations and rotations
//!   want `RealField`, which is behind the Cargo feature `real_field`.
#![cfg_attr(feature = "real_field", doc = "  What it loses is listed in [`real_field`].")]
//! - **`serde`**: a [`Dual`] is `{value, tangent}`; a [`Var`] is written as its value and read as a
//!   constant. JSON has no NaN and no infinity: they are written as `null`, which is refused when read.

pub mod guide {
    #![doc = include_str!("guide.md")]
}

mod arena;
pub mod arrays;
mod binomial;
mod checkpoint;
mod cursor;
mod dual;
mod dual_arithmetic;
mod elementary;
mod error;
mod float;
mod forward;
mod function;
mod implicit;
#[doc(hidden)]
pub mod instance;
#[doc(hidden)]
pub mod instanced;
mod lanes;
mod least_norm;
mod linearization;
mod node_rule;
mod operators;
mod push;
mod real;
#[cfg(feature = "real_field")]
pub mod real_field;
mod recording;
mod reverse;
mod second_order;
mod serial;
pub mod sparse;
mod super_node;
mod tape;
mod tapes;
mod thread_local;
mod var;
mod var_arithmetic;

pub use binomial::least_advances;
pub use checkpoint::{Accumulation, CheckpointReport, Checkpointing, Steps, StepsGradient};
pub use dual::Dual;
pub use error::Error;
pub use forward::{jacobian, jvp, jvp_many};
pub use function::Function;
pub use implicit::Implicit;
pub use lanes::LANES;
#[doc(hidden)]
pub use linearization::Carry;
pub use linearization::Linearization;
pub use node_rule::{DualWorkspace, NodeRule, with_node_rule};
pub use real::{Node, Real};
pub use recording::{Mark, Recording, diagnose};
pub use reverse::{gradient, gradient_into, jacobian_by_rows, vjp};
pub use second_order::{hessian, hessian_times, hessian_vector};
pub use tape::Tape;
pub use tapes::TapeScalar;
pub use var::Var;
pub use var_arithmetic::VarWorkspace;

/// What tests look at beyond the interface.
#[doc(hidden)]
pub mod internals {
    pub use crate::least_norm::least_norm_inverse;
    pub use crate::linearization::Sum;
}
