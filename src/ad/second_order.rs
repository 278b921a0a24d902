//! The user's verbs for second derivatives: the adjoint sweep over duals, forward over reverse.

use nalgebra::DMatrix;

use super::reverse::record;
use super::{Dual, Error, Real, TapeScalar, Var};

/// The value of `f` at `x`, its gradient and its Hessian, by recordings over duals of `N` lanes: each
/// gives `N` columns, so with `N` inputs one is enough.
///
/// Nodes are differentiated twice by the same code: their `vjp` runs on duals.
///
/// # Errors
/// As [`gradient`](super::gradient()).
///
/// ```
/// use stiction::ad::hessian;
/// let (y, g, h) = hessian::<2>(|x| x[0] * x[0] * x[1], &[3.0, 2.0])?;
/// assert_eq!((y, g), (18.0, vec![12.0, 9.0]));
/// assert_eq!(h, nalgebra::dmatrix![4.0, 6.0; 6.0, 0.0]);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn hessian<const N: usize>(
    f: impl FnMut(&[Var<Dual<f64, N>>]) -> Var<Dual<f64, N>>,
    x: &[f64],
) -> Result<(f64, Vec<f64>, DMatrix<f64>), Error>
where
    Dual<f64, N>: TapeScalar,
{
    passes(f, x, x.len(), |input, direction| f64::from(u8::from(input == direction)))
}

/// The value of `f` at `x`, its gradient and the products of its Hessian with any number of directions
/// (inputs x directions), by recordings over duals of `N` lanes: one for each `N` directions.
///
/// # Errors
/// As [`gradient`](super::gradient()); [`Error::Shape`] if `directions` has not a row for each input.
///
/// ```
/// use stiction::ad::hessian_times;
/// let directions = nalgebra::dmatrix![1.0, 1.0; 10.0, 0.0];
/// let (_, _, hv) = hessian_times::<2>(|x| x[0] * x[0] * x[1], &[3.0, 2.0], &directions)?;
/// assert_eq!(hv, nalgebra::dmatrix![64.0, 4.0; 6.0, 6.0]);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn hessian_times<const N: usize>(
    f: impl FnMut(&[Var<Dual<f64, N>>]) -> Var<Dual<f64, N>>,
    x: &[f64],
    directions: &DMatrix<f64>,
) -> Result<(f64, Vec<f64>, DMatrix<f64>), Error>
where
    Dual<f64, N>: TapeScalar,
{
    if directions.nrows() != x.len() {
        return Err(Error::Shape { expected: x.len(), found: directions.nrows() });
    }
    passes(f, x, directions.ncols(), |input, direction| directions[(input, direction)])
}

/// Value, gradient, and products of the Hessian with `directions` given by `seed(input, direction)`.
fn passes<const N: usize>(
    mut f: impl FnMut(&[Var<Dual<f64, N>>]) -> Var<Dual<f64, N>>,
    x: &[f64],
    directions: usize,
    seed: impl Fn(usize, usize) -> f64,
) -> Result<(f64, Vec<f64>, DMatrix<f64>), Error>
where
    Dual<f64, N>: TapeScalar,
{
    let mut value = 0.0;
    let mut gradient = vec![0.0; x.len()];
    let mut products = DMatrix::zeros(x.len(), directions);
    let mut adjoints = vec![Dual::constant(0.0); x.len()];
    for first in (0..directions.max(1)).step_by(N) {
        let lanes = N.min(directions - first);
        let lane = |input, k| if k < lanes { seed(input, first + k) } else { 0.0 };
        let seeded = (x.iter().enumerate())
            .map(|(input, &x)| Dual::new(x, std::array::from_fn(|k| lane(input, k))));
        value = record(seeded, &mut f, |recording, x, y| {
            recording.adjoints(&[(y, Dual::constant(1.0))], x, &mut adjoints)?;
            Ok(y.value())
        })?;
        for (i, adjoint) in adjoints.iter().enumerate() {
            gradient[i] = adjoint.value;
            for k in 0..lanes {
                products[(i, first + k)] = adjoint.tangent[k];
            }
        }
    }
    Ok((value, gradient, products))
}

/// The value of `f` at `x`, its gradient and the product of its Hessian with `direction`, by one
/// recording over duals, whatever the number of inputs.
///
/// # Errors
/// As [`gradient`](super::gradient()); [`Error::Shape`] if `direction` has another length than `x`.
///
/// ```
/// use stiction::ad::hessian_vector;
/// let (_, g, hv) = hessian_vector(|x| x[0] * x[0] * x[1], &[3.0, 2.0], &[1.0, 10.0])?;
/// assert_eq!((g, hv), (vec![12.0, 9.0], vec![64.0, 6.0]));
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn hessian_vector(
    f: impl FnOnce(&[Var<Dual<f64, 1>>]) -> Var<Dual<f64, 1>>,
    x: &[f64],
    direction: &[f64],
) -> Result<(f64, Vec<f64>, Vec<f64>), Error> {
    if direction.len() != x.len() {
        return Err(Error::Shape { expected: x.len(), found: direction.len() });
    }
    let seeded = x.iter().zip(direction).map(|(&x, &d)| Dual::new(x, [d]));
    record(seeded, f, |recording, x, y| {
        let mut adjoints = vec![Dual::constant(0.0); x.len()];
        recording.adjoints(&[(y, Dual::constant(1.0))], x, &mut adjoints)?;
        let (gradient, product) = adjoints.iter().map(|a| (a.value, a.tangent[0])).unzip();
        Ok((y.value(), gradient, product))
    })
}
