//! The exported functions. The header describes them; here it says why what they do with pointers is sound.

mod boundary;
mod casadi;
mod data;
mod model;
mod soft_handle;
mod step;

pub use boundary::{Code, Failure, last_message, status};
