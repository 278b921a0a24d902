//! The library for C as a crate that uses this one: with the feature `c_interface` its functions are
//! exported from there.

pub use stiction::c_interface;
