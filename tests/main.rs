//! The integration tests: one binary, one module a subject.

mod contact_node;
mod linearize;
#[cfg(feature = "cli")]
mod linearize_files;
mod random;
mod scene;
#[cfg(feature = "cli")]
mod simulate;
mod trajectory;
