//! Systems of points in Cartesian ("maximal") coordinates with constraints and impacts, as `Zhong21` simulates and learns
//! them.
//!
//! | what | equation | file |
//! |---|---|---|
//! | extended bodies: a centre and the ends of unit vectors along its axes; their mass matrix is constant | App. B | `point_inertia` |
//! | rods, tethers, ball joints: Phi(x) = 0, J_E v = 0 | (S.1) | `point_constraint` |
//! | motion between impacts, constrained Lagrangian or Hamiltonian | (S.2), (S.7) | `constrained_motion` |
//! | the adjoint of these rates, by hand | | `motion_adjoint` |
//! | one step of it, Kutta's 3/8 rule | | `kutta` |
//! | which contacts there are, their gaps and Jacobians J_C | (S.8) | `contact` |
//! | the velocity v* that undoes penetration | (S.22)-(S.24) | `target_velocity` |
//! | impulses of compression and restitution | (3)-(7), (S.9)-(S.15) | `impact` |
//! | one step of everything | Algorithm 1 | `step` |
//!
//! Numbers are in SI units. A vector of the system has `dimension` numbers a point, point after point. What potential the
//! points move in is the caller's: its gradient is handed to [`ConstrainedMotion`], so that a network may stand for it; [`Potential`] is
//! gravity and springs.
//!
//! Scenes of rigid bodies in generalised coordinates, with Coulomb's law, are [`simulation`](crate::simulation)'s; here
//! impacts are those of the paper, whose cones are convex: what slides separates at mu times its slip.

mod constrained_motion;
mod contact;
mod impact;
mod kutta;
mod motion_adjoint;
mod point_constraint;
mod point_inertia;
mod point_layout;
mod point_parameters;
mod point_rows;
mod point_scene;
mod point_start;
mod point_system;
mod potential;
mod step;
mod target_velocity;

pub use constrained_motion::{ConstrainedMotion, Formulation, Rates};
pub use contact::{Geometry, PointContact, Wall};
pub use impact::{ImpactRule, PointImpact};
pub use kutta::{STAGES, end, stage};
pub(crate) use kutta::{end_transpose, stage_transpose};
pub use motion_adjoint::MotionAdjoint;
pub use point_constraint::PointConstraint;
pub use point_inertia::PointInertia;
pub use point_layout::{ExtendedBody, PointLayout};
pub use point_parameters::PointParameters;
pub use point_rows::PointRows;
pub use point_scene::PointScene;
pub use point_start::PointStart;
pub use point_system::{PointSystem, SystemError};
pub use potential::{ConservativeForce, Potential, Spring};
pub use step::{PointReport, PointStep};
