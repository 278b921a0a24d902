//! Parameters from recordings: what is found, how it is searched for, and how far it can be trusted.

mod absent_terms;
#[cfg(feature = "cli")]
mod command;
#[cfg(feature = "cli")]
mod competing_models;
mod conclusion;
mod coverage;
mod elbow;
#[cfg(feature = "cli")]
mod evaluated;
mod fit;
mod joint_questions;
mod mass_over_inertia;
mod measurements;
#[cfg(all(feature = "cli", unix))]
mod mpi;
mod parameters;
mod peers;
mod questions;
#[cfg(feature = "cli")]
mod resume;
mod score_tests;
mod search;
#[path = "../../examples/slides/simulator.rs"]
pub mod simulator;
#[path = "../../examples/slides/slides.rs"]
mod slides;
mod statistics;
mod trust;
#[cfg(feature = "cli")]
mod trust_command;
mod wrong_models;
