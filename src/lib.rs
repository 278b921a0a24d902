//! Differentiable simulation of rigid contact with friction.

pub mod ad;
pub mod argmin;
pub mod collision;
pub mod contact;
pub mod dynamics;
pub mod error;
pub mod linalg;
pub mod model;
pub mod simulation;
pub mod spatial;
pub mod state;
mod table;

pub use error::{Error, ErrorKind};
