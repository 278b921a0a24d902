//! Recordings, cut into windows.

mod builtin;
mod dataset;
mod holdout;
mod questions;

pub use dataset::{Dataset, Window};
pub use holdout::hold_out;
pub use questions::questions;
