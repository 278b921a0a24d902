//! Differentiable simulation of rigid contact with friction.

pub mod ad;
pub mod argmin;
#[cfg(feature = "cli")]
pub mod cli;
pub mod collision;
pub mod contact;
pub mod dynamics;
pub mod error;
pub mod identify;
pub mod linalg;
pub mod linearize;
pub mod model;
pub mod simulation;
pub mod spatial;
pub mod state;
mod table;
pub mod verify;
pub mod view;

pub use error::{Error, ErrorKind};
