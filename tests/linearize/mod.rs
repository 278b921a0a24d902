//! Jacobians of steps: against differences and closed forms, of each other, in files.

pub mod adjoint;
mod conventions;
#[cfg(feature = "cli")]
mod files;
pub mod integrators;
mod kinks;
mod loops;
mod products;
pub mod redundant;
mod reference;
pub mod scenes;
mod splits;
pub mod state_forces;
mod steps;
