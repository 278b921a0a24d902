//! Motion over time: the step, rollouts, trajectories and their files.

mod closure;
mod columns;
mod files;
mod flight;
mod impacts;
mod rollout;
mod rollout_steps;
mod step;
mod step_memory;
mod trajectory;

pub use crate::model::{ContactSolver, Settings};
pub use files::expand;
pub use rollout::Rollout;
pub use rollout_steps::{RolloutLoss, RolloutSteps, RolloutWorkspace};
pub use step::{StepReport, Workspace, step};
pub use step_memory::StepMemory;
pub use trajectory::Trajectory;
