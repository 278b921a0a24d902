//! The drivers on `ndarray`: arrays in, arrays out, and closures over array views of our scalars.
//!
//! Arithmetic of arrays, `dot`, `sum`, `mean`, `mapv` work on them as on `f64`, and an array takes a
//! scalar or an `f64` on its right.
//!
//! ```
//! use ndarray::{Array2, ArrayView, array};
//! use stiction::ad::{Real, Var, arrays};
//!
//! // |tanh(W x)|^2 / 2 in W
//! let x = array![1.0, -2.0];
//! let w = array![[0.1, 0.2], [0.3, 0.4]];
//! let (loss, dw): (f64, Array2<f64>) = arrays::gradient(
//!     |w| {
//!         let y = w.dot(&x.mapv(Var::constant)).mapv(Real::tanh);
//!         (&y * &y).sum() * 0.5
//!     },
//!     w.view(),
//! )?;
//! let y = w.dot(&x).mapv(f64::tanh);
//! assert!((loss - y.dot(&y) / 2.0).abs() < 1e-15);
//! let slope = &y * &(1.0 - &y * &y);
//! for ((i, j), found) in dw.indexed_iter() {
//!     assert!((found - slope[i] * x[j]).abs() < 1e-15);
//! }
//! # Ok::<(), stiction::ad::Error>(())
//! ```

use nalgebra::DMatrix;
use ndarray::{Array, Array1, Array2, ArrayView, ArrayView1, Dimension, ScalarOperand};

use super::{Dual, Error, Real, Recording, TapeScalar, Var};

impl<T: Real, const N: usize> ScalarOperand for Dual<T, N> {}

impl<T: TapeScalar> ScalarOperand for Var<T> {}

/// Outputs of a function, in the shape E, and derivatives with them, in the shape D.
pub type WithDerivatives<E, D> = (Array<f64, E>, Array<f64, D>);

/// The value of `f` at `x` and its gradient, in the shape of `x`, as by [`ad::gradient`](super::gradient()).
///
/// # Errors
/// As [`ad::gradient`](super::gradient()).
pub fn gradient<D: Dimension>(
    f: impl FnOnce(ArrayView<'_, Var, D>) -> Var,
    x: ArrayView<'_, f64, D>,
) -> Result<(f64, Array<f64, D>), Error> {
    let mut recording = Recording::start();
    let variables = x.mapv(|x| recording.variable(x));
    let y = f(variables.view());
    let gradient = adjoints(&mut recording, &[(y, 1.0)], variables.view())?;
    Ok((y.value(), gradient))
}

/// The outputs `y` of `f` at `x` and the adjoints `w' dy/dx`, where `w = weights(y)` has the shape of y
/// and the adjoints that of `x`, as by [`ad::vjp`](super::vjp()).
///
/// # Errors
/// As [`ad::vjp`](super::vjp()).
///
/// ```
/// use ndarray::array;
/// use stiction::ad::arrays;
/// let x = array![[1.0, 2.0], [3.0, 4.0]];
/// let (y, dx) = arrays::vjp(|x| x.row(0).to_owned() * &x.row(1), x.view(), |_| array![1.0, 10.0])?;
/// assert_eq!((y, dx), (array![3.0, 8.0], array![[3.0, 40.0], [1.0, 20.0]]));
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn vjp<D: Dimension, E: Dimension>(
    f: impl FnOnce(ArrayView<'_, Var, D>) -> Array<Var, E>,
    x: ArrayView<'_, f64, D>,
    weights: impl FnOnce(ArrayView<'_, f64, E>) -> Array<f64, E>,
) -> Result<WithDerivatives<E, D>, Error> {
    let mut recording = Recording::start();
    let variables = x.mapv(|x| recording.variable(x));
    let y = f(variables.view());
    let values = y.mapv(Real::value);
    let weights = weights(values.view());
    same_shape(values.shape(), weights.shape())?;
    let seeds: Vec<_> = y.into_iter().zip(weights).collect();
    let adjoints = adjoints(&mut recording, &seeds, variables.view())?;
    Ok((values, adjoints))
}

/// The outputs of `f` at `x` and the directional derivative `dy/dx dx`, as by
/// [`ad::jvp`](super::jvp()).
///
/// # Errors
/// [`Error::Shape`] if `dx` has another shape than `x`.
///
/// ```
/// use ndarray::{arr0, array};
/// use stiction::ad::arrays;
/// let (x, dx) = (array![[1.0, 2.0], [3.0, 4.0]], array![[1.0, 0.0], [0.0, 1.0]]);
/// let (y, dy) = arrays::jvp(|x| arr0(x.product()), x.view(), dx.view())?;
/// assert_eq!((y, dy), (arr0(24.0), arr0(24.0 + 6.0)));
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn jvp<D: Dimension, E: Dimension>(
    f: impl FnOnce(ArrayView<'_, Dual<f64, 1>, D>) -> Array<Dual<f64, 1>, E>,
    x: ArrayView<'_, f64, D>,
    dx: ArrayView<'_, f64, D>,
) -> Result<WithDerivatives<E, E>, Error> {
    same_shape(x.shape(), dx.shape())?;
    let mut seeded: Array<Dual<f64, 1>, D> = x.mapv(Dual::constant);
    seeded.iter_mut().zip(dx).for_each(|(x, &dx)| x.tangent = [dx]);
    let y = f(seeded.view());
    Ok((y.mapv(|y| y.value), y.mapv(|y| y.tangent[0])))
}

/// The outputs of `f` at `x` and its Jacobian (outputs x inputs), by duals of `N` lanes, as by
/// [`ad::jacobian`](super::jacobian()).
///
/// ```
/// use ndarray::array;
/// use stiction::ad::{Real, arrays};
/// let x = array![1.0, 2.0];
/// let a = array![[1.0, 2.0], [3.0, 4.0]];
/// let (_, j) = arrays::jacobian::<2>(|x| a.mapv(Real::constant).dot(&x), x.view());
/// assert_eq!(j, a);
/// ```
pub fn jacobian<const N: usize>(
    mut f: impl FnMut(ArrayView1<'_, Dual<f64, N>>) -> Array1<Dual<f64, N>>,
    x: ArrayView1<'_, f64>,
) -> (Array1<f64>, Array2<f64>) {
    let (y, jacobian) = super::jacobian(|x| f(x.into()).to_vec(), &x.to_vec());
    (y.into(), array(&jacobian))
}

/// The outputs of `f` at `x` and its Jacobian by rows, as by
/// [`ad::jacobian_by_rows`](super::jacobian_by_rows()).
///
/// # Errors
/// As [`ad::gradient`](super::gradient()).
pub fn jacobian_by_rows(
    f: impl FnOnce(ArrayView1<'_, Var>) -> Array1<Var>,
    x: ArrayView1<'_, f64>,
) -> Result<(Array1<f64>, Array2<f64>), Error> {
    let (y, jacobian) = super::jacobian_by_rows(|x| f(x.into()).to_vec(), &x.to_vec())?;
    Ok((y.into(), array(&jacobian)))
}

/// The value of `f` at `x`, its gradient and its Hessian, as by [`ad::hessian`](super::hessian()).
///
/// # Errors
/// As [`ad::gradient`](super::gradient()).
///
/// ```
/// use ndarray::array;
/// use stiction::ad::arrays;
/// let (y, g, h) = arrays::hessian::<2>(|x| x.dot(&x) * x[0], array![3.0, 2.0].view())?;
/// assert_eq!((y, g), (39.0, array![31.0, 12.0]));
/// assert_eq!(h, array![[18.0, 4.0], [4.0, 6.0]]);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn hessian<const N: usize>(
    mut f: impl FnMut(ArrayView1<'_, Var<Dual<f64, N>>>) -> Var<Dual<f64, N>>,
    x: ArrayView1<'_, f64>,
) -> Result<(f64, Array1<f64>, Array2<f64>), Error>
where
    Dual<f64, N>: TapeScalar,
{
    let (y, gradient, hessian) = super::hessian(|x| f(x.into()), &x.to_vec())?;
    Ok((y, gradient.into(), array(&hessian)))
}

/// The value of `f` at `x`, its gradient and the product of its Hessian with `direction`, as by
/// [`ad::hessian_vector`](super::hessian_vector()).
///
/// # Errors
/// As [`ad::hessian_vector`](super::hessian_vector()).
pub fn hessian_vector(
    f: impl FnOnce(ArrayView1<'_, Var<Dual<f64, 1>>>) -> Var<Dual<f64, 1>>,
    x: ArrayView1<'_, f64>,
    direction: ArrayView1<'_, f64>,
) -> Result<(f64, Array1<f64>, Array1<f64>), Error> {
    let (y, gradient, product) =
        super::hessian_vector(|x| f(x.into()), &x.to_vec(), &direction.to_vec())?;
    Ok((y, gradient.into(), product.into()))
}

fn adjoints<D: Dimension>(
    recording: &mut Recording,
    seeds: &[(Var, f64)],
    of: ArrayView<'_, Var, D>,
) -> Result<Array<f64, D>, Error> {
    let variables: Vec<Var> = of.iter().copied().collect();
    let mut found = vec![0.0; variables.len()];
    recording.adjoints(seeds, &variables, &mut found)?;
    let mut adjoints = Array::zeros(of.raw_dim());
    adjoints.iter_mut().zip(found).for_each(|(to, found)| *to = found);
    Ok(adjoints)
}

/// Names the first length that differs, that of the shapes themselves before those of the axes.
fn same_shape(expected: &[usize], found: &[usize]) -> Result<(), Error> {
    let lengths = std::iter::once((expected.len(), found.len()));
    let axes = expected.iter().copied().zip(found.iter().copied());
    match lengths.chain(axes).find(|(expected, found)| expected != found) {
        Some((expected, found)) => Err(Error::Shape { expected, found }),
        None => Ok(()),
    }
}

fn array(matrix: &DMatrix<f64>) -> Array2<f64> {
    Array2::from_shape_fn(matrix.shape(), |at| matrix[at])
}
