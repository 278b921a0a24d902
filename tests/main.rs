//! The integration tests: one binary, one module a subject.

mod contact_node;
mod projections;
mod random;
mod reference;
mod scene;
mod shared;
mod trajectory;
