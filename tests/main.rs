//! The integration tests: one binary, one module a subject.

mod allocations;
mod contact_node;
mod layers;
mod physics;
mod random;
mod scalars;
mod scene;
mod trajectory;
