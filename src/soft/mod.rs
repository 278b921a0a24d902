//! Scenes of soft bodies on half-spaces and other shapes, and their simulation: `[[soft]]` of a scene file, by
//! [implicit steps](crate::implicit) with exact contact.
//!
//! Cables and springs go through their nodes, some of which are held and led. Vertices touch what is where it is told to be: not each
//! other or rigid bodies, of which a scene has one sort or the other.

mod schedule;
mod soft_cable;
mod soft_drive;
mod soft_hold;
mod soft_obstacle;
mod soft_parameter;
mod soft_rollout;
mod soft_scene;
mod soft_sensitivity;
mod soft_start;
mod soft_time;
mod solved_soft_step;
mod unstructured_grid;

pub use soft_cable::SoftCable;
pub use soft_drive::SoftDrive;
pub use soft_hold::{HoldNumber, SoftHold};
pub use soft_obstacle::{NearestMemory, SoftObstacle};
pub use soft_parameter::{SoftNumber, SoftParameter};
pub use soft_rollout::{SoftRollout, SoftState, SoftStepReport};
pub use soft_scene::{Marker, SoftBody, SoftContact, SoftGround, SoftScene};
pub use soft_sensitivity::{NoDerivative, SoftRecord, SoftTangents, Weigh};
pub use soft_start::SoftStart;
pub use soft_time::SoftTime;
pub use solved_soft_step::SolvedSoftStep;
pub use unstructured_grid::{collection, unstructured_grid};
