//! The same function differentiated in several ways, and compared.
//!
//! The function is written once, generic in its scalar, and its Jacobian is computed
//!
//! | by | which shares with the tape |
//! |---|---|
//! | the tape ([`Node::vjp`](crate::ad::Node::vjp)) | |
//! | duals ([`Node::jvp`](crate::ad::Node::jvp)) | solution, factorisation |
//! | duals through the residual of each node | solution, modes |
//! | duals through the solver's own iterations | modes |
//! | differences | nothing but the function on `f64` |
//!
//! [`check`] does that to any [`Function`](crate::ad::Function). It knows nothing of what is inside:
//! where differences do not converge it looks for a kink, and says where that is and whether the
//! derivative is a generalised one there.
//!
//! [`Gradcheck`] does it to one step, or a few, from a state: a function of all named parameters, of the initial
//! state and of the inputs ([`StepProgram`]). That knows its kinks: differences count only on sides that keep the
//! modes of all contacts and joints. Where one side does, its difference is that of the derivative at the kink; where
//! none does, the derivative is skipped. Both are counted, and the kinks named. Where
//! friction is at its limit and holds, slip below 1e-11 of the velocities that impulses change counts as none:
//! differences that are smaller than what is slipped so are no evidence.
//!
//! [`SoftStepProgram`] is a step of a soft body, likewise: by its adjoint, forward, by dual numbers through the balance of
//! momentum, and by differences. [`MixedStepProgram`] is one of soft and rigid bodies together: by its adjoint, forward and by differences.
//!
//! [`plausible`] is about values: whether a step did what bodies can do.

mod check;
mod derivatives;
mod differences;
mod errors;
mod findings;
mod gradcheck;
mod kink;
mod ladder;
mod limit;
mod mixed_step_program;
mod program;
mod soft_fields;
mod soft_step;
mod subject;
mod ways;

pub use crate::simulation::{Implausible, Oddity, Plausibility, plausible};
pub use check::{Options, check, check_second_order, check_with};
pub use derivatives::Derivatives;
pub use differences::{Difference, Piece};
pub use errors::Errors;
pub use findings::{Agreement, Apart, Check, Entry, Findings, Kink, Place, Verdict};
pub use gradcheck::{Gradcheck, Row};
pub use kink::Kind;
pub use mixed_step_program::{MixedModes, MixedStepProgram};
pub use program::{ContactModes, StepProgram};
pub use soft_step::{SoftStepProgram, VertexModes};
