//! The integration tests: one binary, one module a subject.

mod contact_node;
mod gradients;
mod linearize;
#[cfg(feature = "cli")]
mod linearize_files;
#[cfg(feature = "plots")]
mod plots;
mod projections;
mod random;
mod reference;
mod scene;
mod shared;
#[cfg(feature = "cli")]
mod simulate;
mod trajectory;
