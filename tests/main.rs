//! The integration tests: one binary, one module a subject.

mod contact_node;
mod physics;
mod random;
mod scene;
mod trajectory;
