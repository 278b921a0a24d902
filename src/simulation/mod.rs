//! Motion over time: the step, rollouts, trajectories and their files.

mod closure;
mod column_map;
mod columns;
mod controls;
mod files;
mod flight;
mod impacts;
mod joint_feedback;
mod recorded;
mod rollout;
mod rollout_steps;
mod rows;
mod side_columns;
mod step;
mod step_memory;
mod trajectory;

pub use crate::model::{ContactSolver, Settings};
pub use column_map::ColumnMap;
pub use columns::ColumnSelection;
pub use controls::Controls;
pub use files::expand;
pub use joint_feedback::JointFeedback;
pub use recorded::{Known, Recorded};
pub use rollout::Rollout;
pub use rollout_steps::{RolloutLoss, RolloutSteps, RolloutWorkspace};
pub use side_columns::load_columns;
pub use step::{StepReport, Workspace, step};
pub use step_memory::StepMemory;
pub use trajectory::Trajectory;
