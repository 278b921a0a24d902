//! Recordings, cut into windows.

mod builtin;
mod dataset;
mod holdout;

pub use dataset::{Dataset, Window};
pub use holdout::hold_out;
