//! Tasks: throws, starts, parameters and motor signals that bring bodies where they are wanted (`Geilinger20` 6.2).
//!
//! A [`Task`] names a scene, of rigid or of soft bodies, variables with bounds, and objectives, each of which is a sum of
//! squares. [`optimize`] makes their sum small: by Gauss-Newton on forward sensitivities, whole steps first and Levenberg-Marquardt's
//! after them, or by L-BFGS-B or Adam on reverse-mode gradients, perhaps by continuation, on softer contact first, from one start or ([`optimize_from_starts`]) several. [`landscape`] evaluates a task over two
//! of its variables.

mod evaluated;
mod landscape;
mod objective;
mod optimum;
mod rigid_task;
mod soft_task;
mod starts;
mod task;
mod task_evaluation;
mod task_file;

pub use evaluated::Evaluated;
pub use landscape::{Landscape, landscape};
pub use objective::{BodyPoint, Goal, Objective, Period};
pub use optimum::{Optimum, TaskStage, WatchTask, optimize};
pub use starts::{StartEnd, StartsOptimum, WatchStarts, optimize_from_starts};
pub use task::{Task, TaskScene, TaskVariable};
