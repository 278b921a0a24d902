//! Motion over time: the step, rollouts, trajectories and their files.

mod columns;
mod files;
mod rollout;
mod rollout_steps;
mod step;
mod trajectory;

pub use crate::model::{ContactSolver, Settings};
pub use files::expand;
pub use rollout::Rollout;
pub use rollout_steps::{RolloutLoss, RolloutSteps, RolloutWorkspace};
pub use step::{StepMemory, StepReport, Workspace, step};
pub use trajectory::Trajectory;
