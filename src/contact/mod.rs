//! From contact points to impulses: which constraint a contact poses, which bodies contacts tie
//! together, and the problems that are solved for them.

mod body_orientation;
mod conflict;
mod constraint;
mod contact_problem;
mod contacts;
mod couple;
mod delassus;
mod friction_field;
mod guests;
mod impulses;
mod island_report;
mod islands;
mod joint_constraints;
mod kelvin_voigt;
mod parallel_islands;
mod point_action;
mod poisson;
mod problems;
mod rebound;
mod records;
mod relative_velocity;
mod staggered_projections;
mod tendon_rows;

pub use conflict::Conflict;
pub use constraint::{Decisions, Regime, Target, contact_frame};
pub(crate) use constraint::{closing, closing_share, contact_frame_vjp, friction_heights};
pub(crate) use contact_problem::ContactProblem;
pub(crate) use contacts::Constraint;
pub use contacts::Contacts;
pub use couple::{CoupleKind, CoupleRecord};
pub(crate) use guests::{Guest, GuestContact, Guests, point_velocity};
pub use impulses::Impulses;
pub use island_report::IslandReport;
pub use islands::Island;
pub(crate) use joint_constraints::{TendonRow, equality_row, row_of_tendon, tendon_trees};
pub use joint_constraints::{joint_condition_name, joint_conditions, joint_owner};
pub(crate) use kelvin_voigt::YieldSlopes;
pub(crate) use point_action::{PointAction, Twist, point_action};
pub(crate) use rebound::{ReboundSlopes, rebound_speed};
pub use records::{ContactRecord, JointRecord};
