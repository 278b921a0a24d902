//! Scenes of soft bodies on half-spaces and other shapes, and their simulation: `[[soft]]` of a scene file, by
//! [implicit steps](crate::implicit) with exact contact.
//!
//! Cables and springs go through their nodes, some of which are held and led. Vertices touch what is where it is told to be, and rigid bodies,
//! which they move: then one contact problem decides about all. They do not touch each other.

mod input_schedule;
mod mixed_derivative;
mod mixed_geometry;
mod mixed_step;
mod moving_body;
mod rigid_part;
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
mod soft_state;
mod soft_time;
mod solved_soft_step;
mod unstructured_grid;

pub use input_schedule::InputSchedule;
pub(crate) use mixed_derivative::MixedChange;
pub use soft_cable::SoftCable;
pub use soft_drive::SoftDrive;
pub use soft_hold::{HoldNumber, SoftHold};
pub use soft_obstacle::{NearestMemory, SoftObstacle};
pub use soft_parameter::{SoftNumber, SoftParameter};
pub(crate) use soft_rollout::SoftMoment;
pub use soft_rollout::SoftRollout;
pub use soft_scene::{Marker, SoftBody, SoftContact, SoftGround, SoftScene};
pub(crate) use soft_sensitivity::{MixedEnd, MixedEnds};
pub use soft_sensitivity::{NoDerivative, SoftRecord, SoftTangents, Weigh, WeighRigid};
pub use soft_start::SoftStart;
pub use soft_state::{SoftState, SoftStepReport};
pub use soft_time::SoftTime;
pub use solved_soft_step::SolvedSoftStep;
pub use unstructured_grid::{collection, unstructured_grid};
