//! The same program differentiated in several ways, and compared.
//!
//! The program is one step, or a few, from a state: a function of all named parameters, of the
//! initial state and of the applied wrenches ([`StepProgram`]). It is written once, generic in its
//! scalar, and its Jacobian is taken
//!
//! | by | which shares with the tape |
//! |---|---|
//! | the tape ([`Node::vjp`](crate::ad::Node::vjp)) | |
//! | duals ([`Node::jvp`](crate::ad::Node::jvp)) | solution, factorisation |
//! | duals through the residual of each node | solution, modes |
//! | duals through the solver's own iterations | modes |
//! | central differences | nothing but the step on `f64` |
//!
//! Differences count only where both sides keep the modes of all contacts; where they do not, the
//! state is at a kink for that direction, and what is skipped is counted.

mod derivatives;
mod differences;
mod gradcheck;
mod program;

pub use derivatives::Derivatives;
pub use gradcheck::{Errors, Gradcheck, Row};
pub use program::{Regime, StepProgram};
