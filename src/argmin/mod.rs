//! Optimisation problems as [nodes](crate::ad::Node). Knows no body and no time.

mod status;

pub use status::{Report, Status};
