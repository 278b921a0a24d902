//! Derivatives of steps, as Python sees them.

use numpy::PyArrayDyn;
use pyo3::prelude::*;

use super::arguments::Sizes;
use super::numpy_arrays::{joined, output};
use super::reduced::{Reduced, reduced_to_fields};
use crate::contact::ContactRecord;
use crate::linearize::StepJacobian;
use crate::model::Model;

/// Derivatives of steps: dx+ = A dx + B du + C dp, on tangent vectors [dq; dv] of 2 nv numbers.
///
/// The arrays of a batch have its leading axes; `modes` and `status` are lists in its order.
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

#[pymethods]
impl Jacobian {
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let fields = ["A", "B", "C", "x_next", "modes", "margin", "status"];
        reduced_to_fields(slf, "_restored_jacobian", &fields)
    }
}

/// The derivatives of one step.
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
        let StepJacobian { a, b, c, next, report, modes, .. } = jacobian;
        let mode = |contact: &ContactRecord| {
            (model.pair_name(contact.pair), contact.feature, contact.mode.name())
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
    /// The derivatives of all cases of a batch of this shape.
    pub(super) fn new(
        py: Python,
        shape: &[usize],
        cases: Vec<Linearized>,
        sizes: Sizes,
    ) -> PyResult<Self> {
        let count = cases.len();
        let mut numbers = [const { Vec::new() }; 5];
        let (mut modes, mut status) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for case in cases {
            let [a, b, c] = case.matrices;
            for (all, own) in numbers.iter_mut().zip([a, b, c, case.next, vec![case.margin]]) {
                all.push(own);
            }
            modes.push(case.modes);
            status.push(case.status);
        }
        let ndx = sizes.ndx();
        let array =
            |own: &[usize], cases| PyResult::Ok(output(py, shape, own, joined(cases)?)?.unbind());
        // A single step has values, not lists of one.
        let single = |list: Bound<PyAny>| {
            PyResult::Ok(if shape.is_empty() { list.get_item(0)?.unbind() } else { list.unbind() })
        };
        let [a, b, c, next, margin] = numbers;
        Ok(Jacobian {
            a: array(&[ndx, ndx], a)?,
            b: array(&[ndx, sizes.nu], b)?,
            c: array(&[ndx, sizes.np], c)?,
            x_next: array(&[sizes.nx()], next)?,
            modes: single(modes.into_pyobject(py)?)?,
            margin: array(&[], margin)?,
            status: single(status.into_pyobject(py)?)?,
        })
    }
}
