//! The arguments of a scene's methods.

use pyo3::prelude::*;

use super::exceptions::Error;
use super::numpy_arrays::Argument;

/// More are no faster on any machine, and each has memory of its own.
const MOST_THREADS: usize = 256;

/// Anything, if it can be made an array.
pub(super) type Given<'a, 'py> = &'a Bound<'py, PyAny>;

/// How many numbers there are.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub nq: usize,
    pub nv: usize,
    pub nu: usize,
    pub np: usize,
}

impl Sizes {
    /// Length of x.
    pub fn nx(self) -> usize {
        self.nq + self.nv
    }

    /// Length of dx.
    pub fn ndx(self) -> usize {
        2 * self.nv
    }
}

/// What is not given is zero.
pub(super) fn part(name: &'static str, given: Option<Given>, length: usize) -> PyResult<Argument> {
    match given {
        Some(given) => Argument::new(name, given, &[length]),
        None => Ok(Argument::constant(name, vec![0.0; length])),
    }
}

/// A whole number of at least `least`, if one is given.
pub(super) fn count(
    name: &'static str,
    given: Option<Given>,
    least: usize,
) -> PyResult<Option<usize>> {
    let Some(given) = given else { return Ok(None) };
    match given.extract::<usize>() {
        Ok(count) if count >= least => Ok(Some(count)),
        _ => {
            let found = given.repr()?;
            let message =
                format!("{name}: must be a whole number of at least {least}, found {found}");
            Err(Error::new_err(message))
        }
    }
}

/// On how many threads, see [`count`]; if none are given, as many as there are.
pub(super) fn threads(given: Option<Given>) -> PyResult<usize> {
    Ok(count("threads", given, 1)?.unwrap_or_else(available).min(MOST_THREADS))
}

/// As many threads as there are.
fn available() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
