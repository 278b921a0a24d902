//! Motion over time: the step and rollouts of it.

mod closure;
mod flight;
mod impacts;
mod joint_feedback;
mod rollout;
mod rollout_steps;
mod simulate;
mod solved_step;
mod step;
mod step_memory;
mod step_report;

pub use crate::model::{ContactSolver, Settings};
pub use joint_feedback::JointFeedback;
pub use rollout::Rollout;
pub use rollout_steps::{RolloutLoss, RolloutSteps, RolloutWorkspace};
pub use simulate::Simulation;
pub use solved_step::SolvedStep;
pub use step::{Workspace, step};
pub use step_memory::StepMemory;
pub use step_report::StepReport;
