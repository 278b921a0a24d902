//! What Python looks up by a name.

use pyo3::prelude::*;

use super::exceptions::exception;
use crate::Error as InputError;

/// The exception for a name that is none of those that are `known`, of what is called `what`, such as "keyframe": mappings of
/// the module raise it.
#[pyfunction]
pub fn _unknown_name(file: String, what: &str, name: &str, known: Vec<String>) -> PyErr {
    let complaint = format!("there is no {what} {name:?}");
    exception(&InputError::unknown_name(file, what, complaint, (name, &known)))
}
