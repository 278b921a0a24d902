//! Motion over time: trajectories and their files.

mod columns;
mod files;
mod trajectory;

pub use crate::model::{ContactSolver, Settings};
pub use files::expand;
pub use trajectory::Trajectory;
