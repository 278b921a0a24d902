//! The module `stiction` of Python (PyO3, NumPy): [`Transition`](crate::transition::Transition) and
//! [`fit`](crate::identify::fit) on arrays. Its Python part, `stiction/`, wraps them for other libraries.

mod arguments;
mod arrays;
mod calls;
mod identification;
mod jacobian;
mod scene;

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

impl From<InputError> for PyErr {
    fn from(error: InputError) -> PyErr {
        Error::new_err(error.to_string())
    }
}

#[pymodule]
mod _stiction {
    #[pymodule_export]
    use crate::python::identification::{Identification, identify};
    #[pymodule_export]
    use crate::python::jacobian::Jacobian;
    #[pymodule_export]
    use crate::python::scene::{Scene, load, parse};
    #[pymodule_export]
    use crate::python::{Error, UnsolvedWarning};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
