//! Derivatives of steps, as Python sees them.

use numpy::PyArrayDyn;
use pyo3::prelude::*;

use super::arrays::output;
use crate::contact::ContactRecord;
use crate::linearize::StepJacobian;
use crate::model::Model;

/// Derivatives of steps: dx+ = A dx + B du + C dp, on tangent vectors [dq; dv] of 2 nv numbers.
///
/// Of a batch, arrays have its leading axes; `modes` and `status` are lists in its order.
#[pyclass(frozen, get_all, module = "stiction")]
pub struct Jacobian {
    /// dx+/dx, (..., 2 nv, 2 nv).
    #[pyo3(name = "A")]
    pub a: Py<PyArrayDyn<f64>>,
    /// dx+/du, (..., 2 nv, nu).
    #[pyo3(name = "B")]
    pub b: Py<PyArrayDyn<f64>>,
    /// dx+/dp, (..., 2 nv, np).
    #[pyo3(name = "C")]
    pub c: Py<PyArrayDyn<f64>>,
    /// The state after the step, (..., nq + nv).
    pub x_next: Py<PyArrayDyn<f64>>,
    /// What each touching contact does, which the derivatives hold for: (pair, point, mode); modes are "stick",
    /// "slide" and "clamp" (held at the limit of friction).
    pub modes: Py<PyAny>,
    /// How far each step is from the nearest change of a mode, (...); infinite without contacts.
    pub margin: Py<PyArrayDyn<f64>>,
    /// "solved", or how the contact problem was left.
    pub status: Py<PyAny>,
}

/// Of one step.
pub(super) struct Linearized {
    matrices: [Vec<f64>; 3],
    next: Vec<f64>,
    modes: Vec<(String, usize, &'static str)>,
    margin: f64,
    status: &'static str,
}

impl Linearized {
    /// With matrices row by row.
    pub fn new(model: &Model, jacobian: &StepJacobian) -> Self {
        let StepJacobian { a, b, c, next, report, modes } = jacobian;
        let mode = |contact: &ContactRecord| {
            (model.pairs[contact.pair].name.clone(), contact.feature, contact.mode.name())
        };
        Linearized {
            matrices: [a, b, c].map(|matrix| matrix.transpose().as_slice().to_vec()),
            next: next.q.iter().chain(&next.v).copied().collect(),
            modes: modes.iter().map(mode).collect(),
            margin: report.worst.margin,
            status: report.worst.status.name(),
        }
    }
}

impl Jacobian {
    /// Of all cases of a batch of this shape; `columns`: of A, B and C.
    pub(super) fn new(
        py: Python,
        shape: &[usize],
        cases: &[Linearized],
        columns: [usize; 3],
    ) -> PyResult<Self> {
        let rows = columns[0];
        let matrix = |k: usize| {
            let all: Vec<&[f64]> = cases.iter().map(|case| case.matrices[k].as_slice()).collect();
            PyResult::Ok(output(py, shape, &[rows, columns[k]], all.concat())?.unbind())
        };
        let next: Vec<&[f64]> = cases.iter().map(|case| case.next.as_slice()).collect();
        let nx = next.first().map_or(0, |next| next.len());
        let margins = cases.iter().map(|case| case.margin).collect();
        let modes: Vec<_> = cases.iter().map(|case| case.modes.clone()).collect();
        let status: Vec<_> = cases.iter().map(|case| case.status).collect();
        // Of one step, not lists of one.
        let single = |list: Bound<PyAny>| {
            PyResult::Ok(if shape.is_empty() { list.get_item(0)?.unbind() } else { list.unbind() })
        };
        Ok(Jacobian {
            a: matrix(0)?,
            b: matrix(1)?,
            c: matrix(2)?,
            x_next: output(py, shape, &[nx], next.concat())?.unbind(),
            modes: single(modes.into_pyobject(py)?)?,
            margin: output(py, shape, &[], margins)?.unbind(),
            status: single(status.into_pyobject(py)?)?,
        })
    }
}
