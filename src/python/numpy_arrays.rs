//! NumPy arrays in and out.

use ndarray::{Array1, ArrayD, Axis};
use numpy::{IntoPyArray, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

use super::exceptions::Error;
use super::free_memory::{free_memory, in_words};

/// Results of so many bytes are made without asking how much there is.
const SMALL: u128 = 1 << 26;
/// More axes than these nobody has; NumPy 1 knows 32, and results have up to two of their own.
const AXES: usize = 30;

/// An array as an argument: its last axes are its own, those before them count cases.
pub(super) struct Argument {
    name: &'static str,
    /// C-contiguous.
    values: ArrayD<f64>,
    own: usize,
}

impl Argument {
    /// Anything that NumPy makes real numbers of, of the `expected` shape. A single number stands for one of length 1.
    pub fn new(name: &'static str, given: &Bound<PyAny>, expected: &[usize]) -> PyResult<Self> {
        let mut values = numbers(name, given)?;
        if values.ndim() == 0 && expected == [1] {
            values = values.insert_axis(Axis(0));
        }
        let argument = Argument { name, values, own: expected.len() };
        if !argument.values.shape().ends_with(expected) {
            return Err(argument.misshapen(&format!("(..., {})", shape_text(expected))));
        }
        Ok(argument)
    }

    /// A sequence of vectors of `width` numbers, of any length.
    pub fn sequence(name: &'static str, given: &Bound<PyAny>, width: usize) -> PyResult<Self> {
        let argument = Argument { name, values: numbers(name, given)?, own: 2 };
        let shape = argument.values.shape();
        if shape.len() < 2 || !shape.ends_with(&[width]) {
            return Err(argument.misshapen(&format!("(..., N, {width})")));
        }
        Ok(argument)
    }

    /// Arrays of the `expected` shape along one axis more, of any length.
    pub fn series(name: &'static str, given: &Bound<PyAny>, expected: &[usize]) -> PyResult<Self> {
        let values = numbers(name, given)?;
        let argument = Argument { name, values, own: expected.len() + 1 };
        let shape = argument.values.shape();
        if shape.len() != expected.len() + 1 || !shape.ends_with(expected) {
            return Err(argument.misshapen(&format!("(N, {})", shape_text(expected))));
        }
        Ok(argument)
    }

    /// A vector that is the same in all cases.
    pub fn constant(name: &'static str, values: Vec<f64>) -> Self {
        Argument { name, values: Array1::from(values).into_dyn(), own: 1 }
    }

    /// The lengths of its own axes.
    pub fn own(&self) -> &[usize] {
        &self.values.shape()[self.leading().len()..]
    }

    /// The numbers, of which there is one case.
    pub fn only(&self) -> PyResult<&[f64]> {
        match (self.leading(), self.values.as_slice()) {
            ([], Some(values)) => Ok(values),
            _ => Err(self.misshapen(&format!("({})", shape_text(self.own())))),
        }
    }

    fn leading(&self) -> &[usize] {
        &self.values.shape()[..self.values.ndim() - self.own]
    }

    /// The numbers of a case, of those that the leading axes `shape` count.
    fn case(&self, mut case: usize, shape: &[usize]) -> &[f64] {
        let own = self.leading();
        let (mut at, mut stride): (usize, usize) = (0, self.own().iter().product());
        let each = stride;
        for (axis, &length) in shape.iter().enumerate().rev() {
            let place = case % length;
            case /= length;
            // What is missing in front, or has length 1, is the same all along the axis.
            if let Some(axis) = (axis + own.len()).checked_sub(shape.len())
                && own[axis] > 1
            {
                at += place * stride;
                stride *= own[axis];
            }
        }
        self.values.as_slice().map_or(&[], |values| &values[at..at + each])
    }

    fn misshapen(&self, expected: &str) -> PyErr {
        let found = shape_text(self.values.shape());
        Error::new_err(format!("{}: must have shape {expected}, found ({found})", self.name))
    }
}

fn shape_text(shape: &[usize]) -> String {
    shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

/// The numbers of anything, C-contiguous.
fn numbers(name: &'static str, given: &Bound<PyAny>) -> PyResult<ArrayD<f64>> {
    if let Ok(array) = given.cast::<PyArrayDyn<f64>>()
        && is_regular(array)
    {
        return copy(name, array);
    }
    let unusable = |error: PyErr| {
        let py = given.py();
        if !error.is_instance_of::<PyException>(py) {
            return error;
        }
        let text = error.value(py);
        let named = Error::new_err(format!("{name}: cannot be made an array of numbers: {text}"));
        named.set_cause(py, Some(error));
        named
    };
    let numpy = given.py().import("numpy")?;
    let array = numpy.call_method1("asarray", (given,)).map_err(unusable)?;
    let dtype = array.getattr("dtype")?;
    if !matches!(dtype.getattr("kind")?.extract::<String>()?.as_str(), "b" | "i" | "u" | "f") {
        let message = format!("{name}: must be real numbers, found an array of {dtype}");
        return Err(Error::new_err(message));
    }
    let array = numpy.call_method1("require", (array, "float64", "CA")).map_err(unusable)?;
    copy(name, array.cast::<PyArrayDyn<f64>>()?)
}

/// Whether an array lies in memory as Rust wants it: a field of packed records need not.
fn is_regular(array: &Bound<PyArrayDyn<f64>>) -> bool {
    let whole = |&stride: &isize| stride % size_of::<f64>() as isize == 0;
    array.data().is_aligned() && array.strides().iter().all(whole)
}

fn copy(name: &'static str, array: &Bound<PyArrayDyn<f64>>) -> PyResult<ArrayD<f64>> {
    if array.ndim() > AXES {
        let message = format!("{name}: must have at most {AXES} axes, found {}", array.ndim());
        return Err(Error::new_err(message));
    }
    let array = array.try_readonly()?;
    let view = array.as_array();
    let mut values = room(name, view.len())?;
    values.extend(view.iter());
    shaped(view.shape(), values)
}

/// An empty vector for so many numbers.
fn room(what: &str, count: usize) -> PyResult<Vec<f64>> {
    let mut values = Vec::new();
    let message = |_| Error::new_err(format!("{what}: no memory for {count} numbers"));
    values.try_reserve_exact(count).map_err(message)?;
    Ok(values)
}

fn shaped(shape: &[usize], values: Vec<f64>) -> PyResult<ArrayD<f64>> {
    ArrayD::from_shape_vec(shape, values)
        .map_err(|error| Error::new_err(format!("an array of unexpected length: {error}")))
}

/// Cases that arguments make together, by NumPy's rules for shapes of different lengths.
pub(super) struct Cases<const N: usize> {
    /// The leading axes.
    pub shape: Vec<usize>,
    count: usize,
    arguments: [Argument; N],
    parameters: Argument,
}

impl<const N: usize> Cases<N> {
    /// The cases of some arguments and the values of p.
    pub fn new(arguments: [Argument; N], parameters: Argument) -> PyResult<Self> {
        let all: Vec<&Argument> = arguments.iter().chain([&parameters]).collect();
        let shapes = || {
            let text = |a: &&Argument| format!("{} ({})", a.name, shape_text(a.values.shape()));
            all.iter().map(text).collect::<Vec<_>>().join(", ")
        };
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
                    let message = format!("the leading axes do not match: {}", shapes());
                    return Err(Error::new_err(message));
                }
            }
        }
        let product = |count: usize, &length: &usize| count.checked_mul(length);
        let count = match shape.contains(&0) {
            true => Some(0),
            false => shape.iter().try_fold(1, product),
        };
        let too_many = || Error::new_err(format!("too many cases: {}", shapes()));
        let count = count.ok_or_else(too_many)?;
        Ok(Cases { shape, count, arguments, parameters })
    }

    /// How many.
    pub fn count(&self) -> usize {
        self.count
    }

    /// An error if there is clearly no memory for results of `each` numbers a case, of so many steps.
    pub fn demand_room(&self, each: Option<usize>, steps: usize) -> PyResult<()> {
        // Several are joined in the end, and until then each is a vector with a report.
        let copies = if self.count > 1 { 2 } else { 1 };
        let bytes = |numbers: u128| (8 * numbers).saturating_mul(self.count.max(1) as u128);
        let needed = each.map(|each| bytes(copies * each as u128 + 64));
        if needed.is_some_and(|needed| needed <= SMALL) {
            return Ok(());
        }
        // What the system promises it may not have.
        let free = free_memory().map_or(u128::MAX, u128::from);
        let numbers = needed.and_then(|needed| usize::try_from(needed / 8).ok());
        let fits = needed.is_some_and(|needed| needed <= free);
        if fits && numbers.is_some_and(|numbers| room("", numbers).is_ok()) {
            return Ok(());
        }
        let what = match (self.count, steps) {
            (0 | 1, steps) => format!("{steps} steps"),
            (count, 0 | 1) => format!("{count} cases"),
            (count, steps) => format!("{count} cases of {steps} steps"),
        };
        let size = needed.map_or(String::new(), |needed| {
            let free = match free {
                u128::MAX => String::new(),
                free => format!(", {} are free", in_words(free)),
            };
            format!(": they take {}{free}; make fewer at once", in_words(needed))
        });
        Err(Error::new_err(format!("no memory for {what}{size}")))
    }

    /// The arguments of a case.
    pub fn arguments(&self, case: usize) -> [&[f64]; N] {
        self.arguments.each_ref().map(|argument| argument.case(case, &self.shape))
    }

    /// The values of p in a case.
    pub fn parameters(&self, case: usize) -> &[f64] {
        self.parameters.case(case, &self.shape)
    }
}

/// The numbers of all cases, not copied if there is one.
pub(super) fn joined(cases: Vec<Vec<f64>>) -> PyResult<Vec<f64>> {
    match <[Vec<f64>; 1]>::try_from(cases) {
        Ok([only]) => Ok(only),
        Err(cases) => concatenated(cases.iter().map(Vec::as_slice)),
    }
}

/// The numbers of parts, one after the other.
pub(super) fn concatenated<'a>(
    parts: impl Iterator<Item = &'a [f64]> + Clone,
) -> PyResult<Vec<f64>> {
    let mut all = room("the result", parts.clone().map(<[f64]>::len).sum())?;
    parts.for_each(|part| all.extend_from_slice(part));
    Ok(all)
}

/// A result of all cases as one array, C-contiguous: the leading axes, then the `own` ones.
pub(super) fn output<'py>(
    py: Python<'py>,
    leading: &[usize],
    own: &[usize],
    values: Vec<f64>,
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    let shape: Vec<usize> = leading.iter().chain(own).copied().collect();
    Ok(shaped(&shape, values)?.into_pyarray(py))
}
