//! What Python gets for an error and for what was not solved.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use crate::Error as InputError;
use crate::ErrorKind;

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

/// `stiction.UnknownNameError`: an error that is a `KeyError` too.
pub(super) fn unknown_name_error(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let made = TYPE.get_or_try_init(py, || {
        let bases = (py.get_type::<Error>(), py.get_type::<PyKeyError>()).into_pyobject(py)?;
        let own = PyDict::new(py);
        // That of `KeyError` quotes messages as if they were keys.
        own.set_item("__str__", py.get_type::<PyException>().getattr("__str__")?)?;
        own.set_item("__doc__", "A name that the scene does not have: the message tells those it has, the nearest of many.")?;
        own.set_item("__module__", "stiction")?;
        let made = py.get_type::<PyType>().call1(("UnknownNameError", bases, own))?;
        PyResult::Ok(made.cast_into::<PyType>()?.unbind())
    })?;
    Ok(made.bind(py))
}

/// The exception for what cannot be used, that of names for a name.
pub(super) fn exception(error: &InputError) -> PyErr {
    let message = error.to_string();
    if error.kind() != ErrorKind::Name {
        return Error::new_err(message);
    }
    Python::attach(|py| match unknown_name_error(py) {
        Ok(named) => PyErr::from_type(named.clone(), message),
        Err(error) => error,
    })
}

impl From<InputError> for PyErr {
    fn from(error: InputError) -> PyErr {
        exception(&error)
    }
}
