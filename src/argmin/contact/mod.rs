//! The coupled contact problem: non-penetration and Coulomb friction of all contacts at once.
//!
//! Given blocks of rows J, M = L L', the velocity v_p without contact, find impulses lambda and
//! v+ = v_p + M^-1 J' lambda such that each block obeys its [law](Law). For a contact by Coulomb's law, with
//! u = J v+,
//!
//! ```text
//! 0 <= lambda_n  perpendicular to  u_n - target + c lambda_n >= 0     [LeLidec21] (3)
//! |lambda_t| <= mu lambda_n,   lambda_t opposed to u_t and on the cone where u_t != 0     (4)
//! ```
//!
//! Restitution is a matter of the target: e times the speed of approach.
//!
//! The derivative is that of these conditions, taken together, at the modes of the solution, and
//! not that of any alternation that solves them.
//!
//! # Where impulses are not unique
//! One rule, the same in solver, residual, jvp and vjp: a small compliance c in the normal
//! direction makes normal impulses unique; tangential impulses of contacts that do not slip are
//! those of least norm (a tangential compliance would creep). With c = 0 the normal impulses join
//! them, and the least norm is that of both. Where that is not admissible (it would pull, or leave the
//! friction cone), the null-space part of the impulses is held. A contact that is held by
//! others with its friction at the limit (`Mode::Clamp`) stays at the limit and turns its friction so
//! that it does not slip across it.
//!
//! # Where nothing determines the derivative
//! If the conditions are singular all the same (a problem that was not solved), `jvp` and `vjp` give
//! NaN, which callers check for: `identify` stops, `linearize` marks the step.
//!
//! # Kinks and degenerate points
//! At the border between two modes the derivative is that of the mode the solver names, and the report's
//! margin is 0 there:
//!
//! | point | mode | derivative |
//! |---|---|---|
//! | lambda_n = 0 and u_n = target (just touching, hence R = 0) | `Break` | without the contact |
//! | mu = 0, slips | `Slide` | in mu one-sided: friction grows against the slip |
//! | mu = 0, at rest | `Clamp` | none in mu |
//! | no slip, friction inside the cone | `Stick` | holds |
//! | no slip, friction on the cone (weakly active) | `Clamp`, or `Stick` if rounding leaves it inside | along the cone |
//! | at a limit, at rest, with dry friction along it | friction carries what it can: it `Stick`s and the limit is `Break`, or it is at its own limit (`Slide`) and the joint's carries the rest | of these |
//! | contacts that are redundant | as if each carried its least-norm share | of that share; velocities do not depend on it |
//! | a direction in which nothing can move | no impulse | none |
//! | nothing moves or presses (b = 0) | `Break` | without contact |
//!
//! Residuals are velocities relative to the largest contact velocity without impulses, and to no less than
//! 1e-4 of what the impulse of a contact does by itself: where a light body carries a million times its
//! weight, velocities are not known any better.
//!
//! # Rows that are nearly dependent
//! Feet of one body at heights that differ by a tilt have tangential rows that are dependent but for the tilt, 1e-9 to
//! 1e-4. What such a row would hold takes an impulse of the order of 1 / tilt, beyond the friction cones, or is less
//! than the tolerance of a solver can tell. Rows shorter than 1e-7 of the longest, less what the others have, count as
//! dependent. If the rule then leads out of the cones, so do those shorter than 1e-5, and than 1e-3. The part that was
//! enough is handed down in the [solution](ContactSolution); residual and derivative take the same rows as dependent.
//! Of their conditions those along the range of the rows hold, and the null-space part of the impulses follows the rule.

mod block_response;
mod compliant_rows;
mod contradiction;
mod kkt;
mod kkt_matrix;
pub(crate) mod law;
mod natural_residual;
mod node;
mod node_residual;
mod problem;
mod reaction;
mod regularized_friction;
mod residuals_of;
mod response;
mod rule;
mod sharing;
mod smoothed;
mod solution;
mod solve;

pub(crate) use contradiction::contradiction;
pub use law::{Law, Mode};
pub use natural_residual::ContactResiduals;
pub(crate) use natural_residual::SLIP_TOLERANCE;
pub use node::ContactFactor;
pub(crate) use problem::ContactData;
pub use problem::{ContactMethod, CoupledContact};
pub use regularized_friction::RegularizedFriction;
pub(crate) use response::{ContactResponse, Perturbation};
pub use sharing::Sharing;
pub use smoothed::{Relaxation, SmoothedContact, SmoothedSolution};
pub use solution::ContactSolution;
pub use solve::cascade::ContactWorkspace;
