//! Motion over time: the step and rollouts of it.

mod closure;
mod flight;
mod impacts;
mod joint_feedback;
mod rollout;
mod rollout_steps;
mod solved_step;
mod step;
mod step_memory;

pub use crate::model::{ContactSolver, Settings};
pub use joint_feedback::JointFeedback;
pub use rollout::Rollout;
pub use rollout_steps::{RolloutLoss, RolloutSteps, RolloutWorkspace};
pub use solved_step::SolvedStep;
pub use step::{StepReport, Workspace, step};
pub use step_memory::StepMemory;
