//! Recordings, cut into windows.

mod builtin;
mod dataset;
mod driven;
mod held;
mod holdout;
mod loading;
mod questions;

pub use dataset::{Dataset, Window};
pub use driven::DrivenInput;
pub use holdout::hold_out;
pub use questions::questions;
