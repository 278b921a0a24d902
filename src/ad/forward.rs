//! The user's verbs, forward: directional derivatives and Jacobians by duals.

use nalgebra::DMatrix;

use super::{Dual, Error};

/// The outputs of `f` at `x` and the directional derivative `dy/dx dx`, by duals.
///
/// # Errors
/// [`Error::Shape`] if `dx` has another length than `x`.
///
/// Duals do not know which call they belong to: where `f` itself calls a forward driver, do not let
/// it use a dual of the outer call (its tangent would count as one of the inner). Nest the scalars
/// instead, `Dual<Dual<f64, 1>, 1>`. The tape refuses such a mixture.
pub fn jvp(
    f: impl FnOnce(&[Dual<f64, 1>]) -> Vec<Dual<f64, 1>>,
    x: &[f64],
    dx: &[f64],
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    if x.len() != dx.len() {
        return Err(Error::Shape { expected: x.len(), found: dx.len() });
    }
    let x: Vec<_> = x.iter().zip(dx).map(|(&x, &dx)| Dual::new(x, [dx])).collect();
    Ok(f(&x).into_iter().map(|y| (y.value, y.tangent[0])).unzip())
}

/// The outputs of `f` at `x` and its Jacobian (outputs x inputs), by duals of `N` lanes, as many
/// passes as the inputs need. Columns are not a number where a pass has another number of outputs than
/// the first.
///
/// ```
/// use stiction::ad::{Dual, jacobian};
/// let (_, j) = jacobian::<2>(|x| vec![x[0] * x[1], x[0] / x[1]], &[1.0, 2.0]);
/// assert_eq!(j, nalgebra::dmatrix![2.0, 1.0; 0.5, -0.25]);
/// ```
pub fn jacobian<const N: usize>(
    f: impl FnMut(&[Dual<f64, N>]) -> Vec<Dual<f64, N>>,
    x: &[f64],
) -> (Vec<f64>, DMatrix<f64>) {
    passes(f, x, x.len(), |input, direction| f64::from(u8::from(input == direction)))
}

/// The outputs of `f` at `x` and its derivatives in any number of directions (inputs x directions):
/// the Jacobian times `directions`, by duals of `N` lanes, as many passes as the directions need.
///
/// # Errors
/// [`Error::Shape`] if `directions` has not a row for each input.
///
/// ```
/// use stiction::ad::jvp_many;
/// let directions = nalgebra::dmatrix![1.0, 0.0, 1.0; 0.0, 1.0, 1.0];
/// let (_, dy) = jvp_many::<2>(|x| vec![x[0] * x[1]], &[3.0, 2.0], &directions)?;
/// assert_eq!(dy, nalgebra::dmatrix![2.0, 3.0, 5.0]);
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn jvp_many<const N: usize>(
    f: impl FnMut(&[Dual<f64, N>]) -> Vec<Dual<f64, N>>,
    x: &[f64],
    directions: &DMatrix<f64>,
) -> Result<(Vec<f64>, DMatrix<f64>), Error> {
    if directions.nrows() != x.len() {
        return Err(Error::Shape { expected: x.len(), found: directions.nrows() });
    }
    Ok(passes(f, x, directions.ncols(), |input, direction| directions[(input, direction)]))
}

/// Values, and derivatives in `directions` given by `seed(input, direction)`.
fn passes<const N: usize>(
    mut f: impl FnMut(&[Dual<f64, N>]) -> Vec<Dual<f64, N>>,
    x: &[f64],
    directions: usize,
    seed: impl Fn(usize, usize) -> f64,
) -> (Vec<f64>, DMatrix<f64>) {
    let mut values = Vec::new();
    let mut product = DMatrix::zeros(0, directions);
    let mut seeded = Vec::with_capacity(x.len());
    const { assert!(N > 0, "a dual needs at least one lane") };
    for first in (0..directions.max(1)).step_by(N) {
        let lanes = N.min(directions - first);
        seeded.clear();
        seeded.extend(x.iter().enumerate().map(|(input, &x)| {
            let lane = |k: usize| if k < lanes { seed(input, first + k) } else { 0.0 };
            Dual::new(x, std::array::from_fn(lane))
        }));
        let y = f(&seeded);
        if first == 0 {
            values = y.iter().map(|y| y.value).collect();
            product = DMatrix::zeros(y.len(), directions);
        }
        for i in 0..values.len() {
            for k in 0..lanes {
                // A function that changes its number of outputs has no derivative.
                product[(i, first + k)] = match y.get(i) {
                    Some(y_i) if y.len() == values.len() => y_i.tangent[k],
                    _ => f64::NAN,
                };
            }
        }
    }
    (values, product)
}
