//! The integration tests: one binary, one module a subject.

mod contact_node;
mod gradients;
mod linearize;
mod linearize_files;
mod projections;
mod random;
mod reference;
mod scene;
mod shared;
mod simulate;
mod trajectory;
