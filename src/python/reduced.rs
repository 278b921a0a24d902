//! What pickles of this module hold: which function makes it again, the version that wrote it, and parts that are
//! that version's own.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use super::exceptions::Error;

/// That of the program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A function and its arguments, as `__reduce__` gives them.
pub(super) type Reduced<'py> = (Bound<'py, PyAny>, Bound<'py, PyTuple>);

/// What calls `function` of this module with the version and these parts.
pub(super) fn reduced<'py>(
    py: Python<'py>,
    function: &str,
    parts: impl IntoIterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Reduced<'py>> {
    let function = py.import("stiction._stiction")?.getattr(function)?;
    let version = VERSION.into_pyobject(py)?.into_any();
    Ok((function, PyTuple::new(py, [version].into_iter().chain(parts).collect::<Vec<_>>())?))
}

/// The same with one part, the attributes of an object by their names.
pub(super) fn reduced_to_fields<'py>(
    object: &Bound<'py, PyAny>,
    function: &str,
    fields: &[&str],
) -> PyResult<Reduced<'py>> {
    let dict = PyDict::new(object.py());
    for name in fields {
        dict.set_item(name, object.getattr(*name)?)?;
    }
    reduced(object.py(), function, [dict.into_any()])
}

/// An error unless a pickle of a `what` is of this version: another may read the same file in another way.
pub(super) fn demand_version(what: &str, version: &str) -> PyResult<()> {
    if version == VERSION {
        return Ok(());
    }
    let version: String = version.chars().filter(|c| !c.is_control()).take(40).collect();
    Err(Error::new_err(format!(
        "the pickle ({what}) is of stiction {version}, and this is stiction {VERSION}: make it anew here, or have the same version \
         on both sides"
    )))
}

/// What is said of a pickle that cannot be used.
pub(super) fn damaged(what: &str) -> PyErr {
    Error::new_err(format!("the pickle ({what}) is damaged: pickle it anew"))
}

/// The fields that a pickle of a `what` holds.
pub(super) struct Fields<'a, 'py> {
    what: &'static str,
    dict: &'a Bound<'py, PyDict>,
}

impl<'a, 'py> Fields<'a, 'py> {
    /// Of the parts of a pickle, of this version.
    pub fn of_parts(
        what: &'static str,
        version: &str,
        parts: &'a [Bound<'py, PyAny>],
    ) -> PyResult<Self> {
        demand_version(what, version)?;
        let [part] = parts else { return Err(damaged(what)) };
        let dict = part.cast::<PyDict>().map_err(|_| damaged(what))?;
        Ok(Fields { what, dict })
    }

    /// A field.
    pub fn get<T>(&self, name: &str) -> PyResult<T>
    where
        T: for<'b> FromPyObject<'b, 'py>,
    {
        let found = self.dict.get_item(name)?.and_then(|found| found.extract().ok());
        found.ok_or_else(|| self.damaged())
    }

    /// What is said if one cannot be used.
    pub fn damaged(&self) -> PyErr {
        damaged(self.what)
    }

    /// An error if that is not so.
    pub fn demand(&self, sound: bool) -> PyResult<()> {
        if sound { Ok(()) } else { Err(self.damaged()) }
    }
}
