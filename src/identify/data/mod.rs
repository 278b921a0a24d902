//! Recordings, cut into windows.

mod builtin;
mod dataset;
mod driven;
mod held;
mod holdout;
mod introduction;
mod led;
mod loading;
mod questions;

pub use dataset::{Dataset, Window};
pub use driven::DrivenInput;
pub use holdout::hold_out;
pub(crate) use introduction::{compare, introduce};
pub use questions::questions;
