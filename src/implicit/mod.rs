//! Implicit steps of soft bodies and their statics: backward differentiation formulas (`Geilinger20` 3.1), Newton's method on
//! sparse matrices, exact contact of vertices, and the derivative of a step.
//!
//! With a = dt, x̄ = x, v̄ = v (BDF1) or a = 2 dt/3, x̄ = (4 x - x_old)/3, v̄ likewise (BDF2) a step finds
//!
//! ```text
//! M (v+ - v̄) = a (f(x̄ + a v+, v+) + M g) + J' p,    x+ = x̄ + a v+
//! ```
//!
//! where the impulses p (N s) of vertices at half-spaces and shapes and the velocities J v+ obey Coulomb's law with the
//! exact cone, and no vertex is below a half-space at x+, or the plane that touches a shape nearest to where the step begins. Lengths are in m, all else in SI units too.

mod bdf;
mod cable;
mod condensation;
mod condensed_body;
mod condensed_contact;
mod contact_step;
mod convergence;
mod held_node;
mod hosted_body;
mod momentum;
mod newton;
mod penalty;
mod sequential_quadratic;
mod step_change;
mod step_derivative;
mod step_solver;
mod vertex_contact;
mod vertex_law;
mod vertex_newton;

pub use bdf::{Bdf, History, Predicted};
pub use cable::{Cable, CableKind, CablePoint};
pub use condensed_contact::CondensedContact;
pub use contact_step::ContactStep;
pub use held_node::HeldNode;
pub(crate) use hosted_body::HostedBody;
pub use momentum::{Momentum, SolidParameters};
pub use newton::{Newton, NewtonSettings};
pub use penalty::Penalty;
pub use step_change::StepChange;
pub(crate) use step_derivative::turned_frame;
pub use step_derivative::{DerivativeMemory, StepDerivative};
pub use step_solver::StepSolver;
pub use vertex_contact::{Carrier, Turning, VertexContact};
pub use vertex_law::VertexLaw;
