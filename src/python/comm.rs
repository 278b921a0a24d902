//! Processes of Python that work together: communicators of mpi4py, or what answers like them.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::exceptions::Error;
use crate::identify::Peers;

/// A communicator.
pub(super) struct Comm {
    own: Py<PyAny>,
    rank: usize,
    count: usize,
}

impl Comm {
    /// What answers to `Get_rank`, `Get_size` and `allgather`.
    ///
    /// # Errors
    /// If it does not.
    pub fn new(given: &Bound<PyAny>) -> PyResult<Comm> {
        for method in ["Get_rank", "Get_size", "allgather"] {
            if !given.getattr(method).is_ok_and(|found| found.is_callable()) {
                return Err(Error::new_err(format!(
                    "comm: must have the methods Get_rank, Get_size and allgather, as mpi4py's communicators have, found {} \
                     without {method}",
                    given.get_type()
                )));
            }
        }
        let number = |method: &str| -> PyResult<usize> {
            given.call_method0(method)?.extract().map_err(|error| {
                Error::new_err(format!("comm: {method}() must be a whole number: {error}"))
            })
        };
        let (rank, count) = (number("Get_rank")?, number("Get_size")?);
        if rank >= count {
            let message =
                format!("comm: Get_rank() is {rank}, which is not below Get_size(), {count}");
            return Err(Error::new_err(message));
        }
        Ok(Comm { own: given.clone().unbind(), rank, count })
    }
}

impl Peers for Comm {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        Python::attach(|py| {
            let given = PyBytes::new(py, own);
            let all = self.own.bind(py).call_method1("allgather", (given,))?;
            let all: Vec<Bound<PyBytes>> = all.extract()?;
            Ok(all.iter().map(|part| part.as_bytes().to_vec()).collect())
        })
        .map_err(|error: PyErr| format!("comm.allgather: {error}"))
    }
}
