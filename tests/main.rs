//! All integration tests, in one binary.

mod scene;
mod trajectory;
