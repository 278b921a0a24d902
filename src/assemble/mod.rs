//! A scene as words and plain numbers ([`Description`]), what makes a scene of it, and back.
//!
//! What reads a file writes a description; names become indices and numbers are checked here, once for all files.

mod build;
mod camera;
mod checks;
mod coupled_trees;
mod describe;
mod description;
mod equipment;
mod fault;
mod friction_direction;
mod immovable;
mod learned;
mod numbers;
mod overlap;
mod pairs;
mod pushes;
mod separation;
mod start;
mod tendons;

pub use crate::model::Filter;
pub use description::{
    ActuatorDescription, BodyDescription, CameraDescription, ColliderDescription,
    ContactDescription, Description, Driven, EqualityDescription, GrainDescription,
    HalfSpaceDescription, JointDescription, LearnedDescription, Material, NamedMaterial, OnGround,
    PushDescription, StatedDrive, TendonDescription, TendonPathDescription,
};
pub use equipment::{BaseHeight, Equipment, Motors};
pub(crate) use fault::Owner;
