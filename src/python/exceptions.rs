//! What Python gets for an error and for what was not solved.

use pyo3::create_exception;
use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;

use crate::Error as InputError;

create_exception!(
    stiction,
    Error,
    PyValueError,
    "What cannot be used, a file, a name, an array or a number: the message says where and what to try."
);
create_exception!(
    stiction,
    UnsolvedWarning,
    PyUserWarning,
    "Contact problems were not solved to the tolerance: results are the best found, not to be trusted there."
);
create_exception!(
    stiction,
    ImplausibleWarning,
    PyUserWarning,
    "Steps were simulated that no body makes: energy or speed out of nothing, depths beyond what is thick."
);

impl From<InputError> for PyErr {
    fn from(error: InputError) -> PyErr {
        Error::new_err(error.to_string())
    }
}
