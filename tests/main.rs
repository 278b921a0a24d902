//! The integration tests: one binary, one module a subject.

mod contact_node;
mod gradients;
mod random;
mod scene;
mod trajectory;
