//! NumPy arrays in and out.

use ndarray::{Array1, ArrayD};
use numpy::{AllowTypeChange, IntoPyArray, PyArrayDyn, PyArrayLikeDyn};
use pyo3::prelude::*;

use super::Error;

/// An array as an argument: its last axes are its own, those before them count cases.
pub(super) struct Argument {
    name: &'static str,
    values: ArrayD<f64>,
    own: usize,
}

impl Argument {
    /// Anything that NumPy makes numbers of, of the `expected` shape. A single number stands for one of length 1.
    pub fn new(name: &'static str, given: &Bound<PyAny>, expected: &[usize]) -> PyResult<Self> {
        let array: PyArrayLikeDyn<f64, AllowTypeChange> = given.extract()?;
        let mut values = array.as_array().to_owned();
        if values.ndim() == 0 && expected == [1] {
            values = values.insert_axis(ndarray::Axis(0));
        }
        let argument = Argument { name, values, own: expected.len() };
        if !argument.values.shape().ends_with(expected) {
            return Err(argument.misshapen(&format!("(..., {})", shape_text(expected))));
        }
        Ok(argument)
    }

    /// A sequence of vectors of `width` numbers, of any length.
    pub fn sequence(name: &'static str, given: &Bound<PyAny>, width: usize) -> PyResult<Self> {
        let array: PyArrayLikeDyn<f64, AllowTypeChange> = given.extract()?;
        let argument = Argument { name, values: array.as_array().to_owned(), own: 2 };
        let shape = argument.values.shape();
        if shape.len() < 2 || !shape.ends_with(&[width]) {
            return Err(argument.misshapen(&format!("(..., N, {width})")));
        }
        Ok(argument)
    }

    /// The same vector in all cases.
    pub fn constant(name: &'static str, values: Vec<f64>) -> Self {
        Argument { name, values: Array1::from(values).into_dyn(), own: 1 }
    }

    /// The lengths of its own axes.
    pub fn own(&self) -> &[usize] {
        &self.values.shape()[self.leading().len()..]
    }

    /// All vectors of it, with the same numbers in another order if it is not C-contiguous.
    pub fn vectors(&self) -> impl Iterator<Item = ndarray::ArrayView1<'_, f64>> {
        self.values.lanes(ndarray::Axis(self.values.ndim() - 1)).into_iter()
    }

    fn leading(&self) -> &[usize] {
        &self.values.shape()[..self.values.ndim() - self.own]
    }

    /// The argument of each case.
    fn rows(&self, shape: &[usize]) -> Rows {
        let whole: Vec<usize> = shape.iter().chain(self.own()).copied().collect();
        let values = self.values.broadcast(whole).map(|all| all.iter().copied().collect());
        Rows { values: values.unwrap_or_default(), each: self.own().iter().product() }
    }

    fn misshapen(&self, expected: &str) -> PyErr {
        let found = shape_text(self.values.shape());
        Error::new_err(format!("{}: must have shape {expected}, found ({found})", self.name))
    }
}

fn shape_text(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// An argument of all cases, one after the other.
struct Rows {
    values: Vec<f64>,
    each: usize,
}

impl Rows {
    fn row(&self, case: usize) -> &[f64] {
        &self.values[case * self.each..][..self.each]
    }
}

/// Cases that arguments make together, by NumPy's rules for shapes of different lengths.
pub(super) struct Cases<const N: usize> {
    /// The leading axes.
    pub shape: Vec<usize>,
    rows: [Rows; N],
    parameters: Rows,
}

impl<const N: usize> Cases<N> {
    /// Of some arguments and the values of p.
    pub fn new(arguments: [Argument; N], parameters: Argument) -> PyResult<Self> {
        let all: Vec<&Argument> = arguments.iter().chain([&parameters]).collect();
        let mut shape: Vec<usize> = Vec::new();
        for argument in &all {
            let leading = argument.leading();
            let longer = leading.len().saturating_sub(shape.len());
            shape.splice(0..0, std::iter::repeat_n(1, longer));
            let skipped = shape.len() - leading.len();
            for (common, &own) in shape[skipped..].iter_mut().zip(leading) {
                if *common == 1 {
                    *common = own;
                } else if own != 1 && own != *common {
                    let text =
                        |a: &&Argument| format!("{} ({})", a.name, shape_text(a.values.shape()));
                    let shapes: Vec<String> = all.iter().map(text).collect();
                    let message = format!("the leading axes do not match: {}", shapes.join(", "));
                    return Err(Error::new_err(message));
                }
            }
        }
        let rows = arguments.map(|argument| argument.rows(&shape));
        Ok(Cases { rows, parameters: parameters.rows(&shape), shape })
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// The arguments of a case.
    pub fn arguments(&self, case: usize) -> [&[f64]; N] {
        self.rows.each_ref().map(|rows| rows.row(case))
    }

    /// The values of p in a case.
    pub fn parameters(&self, case: usize) -> &[f64] {
        self.parameters.row(case)
    }
}

/// The numbers of all cases, not copied if there is one.
pub(super) fn joined(cases: Vec<Vec<f64>>) -> Vec<f64> {
    <[Vec<f64>; 1]>::try_from(cases).map_or_else(|cases| cases.concat(), |[only]| only)
}

/// A result of all cases as one array, C-contiguous: the leading axes, then the `own` ones.
pub(super) fn output<'py>(
    py: Python<'py>,
    leading: &[usize],
    own: &[usize],
    values: Vec<f64>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let shape: Vec<usize> = leading.iter().chain(own).copied().collect();
    let array = ArrayD::from_shape_vec(shape, values)
        .map_err(|error| Error::new_err(format!("a result of unexpected length: {error}")))?;
    Ok(array.into_pyarray(py))
}
