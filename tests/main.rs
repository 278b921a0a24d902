//! All integration tests, in one binary.

mod projections;
mod reference;
mod shared;
