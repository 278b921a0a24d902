//! Motion over time: the step and rollouts of it.

mod beyond_speed;
mod closure;
mod closure_steps;
mod conflicts;
mod flight;
mod impacts;
mod instances;
mod joint_feedback;
mod oddity;
mod plausible;
mod rollout;
mod rollout_steps;
mod simulate;
mod solved_step;
mod splits;
mod step;
mod step_memory;
mod step_report;
mod workspace;

pub use crate::model::{ContactSolver, Settings};
pub use beyond_speed::BeyondSpeed;
pub(crate) use closure_steps::{ClosureStep, ClosureSteps};
pub use conflicts::Conflicts;
pub use joint_feedback::JointFeedback;
pub use oddity::{Implausible, Oddity, Plausibility};
pub use plausible::plausible;
pub use rollout::Rollout;
pub use rollout_steps::{RolloutLoss, RolloutSteps, RolloutWorkspace};
pub use simulate::Simulation;
pub use solved_step::SolvedStep;
pub(crate) use splits::Splits;
pub use step::step;
pub use step_memory::StepMemory;
pub use step_report::StepReport;
pub use workspace::Workspace;
