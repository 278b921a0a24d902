//! Motion of bodies without contact.

mod articulation;
mod free_body;
mod free_motion;

pub use articulation::Articulation;
pub use free_body::FreeBody;
pub use free_motion::{BodyPose, FreeMotion, TreeMotion};
