//! The user's verbs: gradient, jacobian, jvp, vjp.

use nalgebra::DMatrix;

use super::tape::Recording;
use super::{Dual, Error, Real, TapeScalar, Var};

/// A function that can be evaluated on any scalar: what [`jacobian`] and the gradient checks take.
pub trait Function {
    /// The outputs at `x`.
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T>;
}

fn record<Y>(f: impl FnOnce(&[Var]) -> Y, x: &[f64]) -> (Recording<f64>, Y) {
    let recording = Recording::start();
    let variables: Vec<Var> = x.iter().map(|&x| Var::independent(x)).collect();
    let y = f(&variables);
    (recording, y)
}

/// The value of `f` at `x` and its gradient, by one recording and one adjoint sweep.
///
/// # Errors
/// [`Error::StaleVariable`] if `f` used a variable of another recording or thread,
/// [`Error::TapeFull`] after 2^32 - 1 operations.
///
/// ```
/// use stiction::ad::gradient;
/// let (y, dy) = gradient(|x| x[0] * x[0] * x[1], &[3.0, 2.0])?;
/// assert_eq!((y, dy), (18.0, vec![12.0, 9.0]));
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn gradient(f: impl FnOnce(&[Var]) -> Var, x: &[f64]) -> Result<(f64, Vec<f64>), Error> {
    let (y, dx) = vjp(|x| vec![f(x)], x, |_| vec![1.0])?;
    Ok((y.first().copied().unwrap_or_default(), dx))
}

/// The outputs `y` of `f` at `x` and the adjoints `w' dy/dx`, where `w = weights(&y)`.
///
/// # Errors
/// As [`gradient`]; [`Error::Shape`] if there are not as many weights as outputs.
pub fn vjp(
    f: impl FnOnce(&[Var]) -> Vec<Var>,
    x: &[f64],
    weights: impl FnOnce(&[f64]) -> Vec<f64>,
) -> Result<(Vec<f64>, Vec<f64>), Error> {
    let (recording, y) = record(f, x);
    let values: Vec<f64> = y.iter().map(|y| y.value()).collect();
    let w = weights(&values);
    if w.len() != y.len() {
        return Err(Error::Shape { expected: y.len(), found: w.len() });
    }
    let seeds: Vec<(u32, f64)> = y.iter().zip(w).map(|(y, w)| (y.index(), w)).collect();
    recording.fault()?;
    let dx = f64::with_tape(|tape| tape.sweep(&seeds, x.len()));
    Ok((values, dx))
}

/// The outputs of `f` at `x` and all rows of its Jacobian (outputs x inputs), by one recording and
/// one sweep a row. For few inputs [`jacobian`] is faster.
///
/// # Errors
/// As [`gradient`].
pub fn jacobian_by_rows(
    f: impl FnOnce(&[Var]) -> Vec<Var>,
    x: &[f64],
) -> Result<(Vec<f64>, DMatrix<f64>), Error> {
    let (recording, y) = record(f, x);
    let values: Vec<f64> = y.iter().map(|y| y.value()).collect();
    let indices: Vec<u32> = y.iter().map(|y| y.index()).collect();
    recording.fault()?;
    let mut jacobian = DMatrix::zeros(y.len(), x.len());
    for (i, &index) in indices.iter().enumerate() {
        let row = f64::with_tape(|tape| tape.sweep(&[(index, 1.0)], x.len()));
        jacobian.row_mut(i).copy_from_slice(&row);
    }
    Ok((values, jacobian))
}

/// The outputs of `f` at `x` and the directional derivative `dy/dx dx`, by duals.
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
/// passes as the inputs need.
///
/// ```
/// use stiction::ad::{Dual, jacobian};
/// let (_, j) = jacobian::<2>(|x| vec![x[0] * x[1], x[0] / x[1]], &[1.0, 2.0]);
/// assert_eq!(j, nalgebra::dmatrix![2.0, 1.0; 0.5, -0.25]);
/// ```
pub fn jacobian<const N: usize>(
    mut f: impl FnMut(&[Dual<f64, N>]) -> Vec<Dual<f64, N>>,
    x: &[f64],
) -> (Vec<f64>, DMatrix<f64>) {
    let mut values = Vec::new();
    let mut jacobian = DMatrix::zeros(0, x.len());
    for first in (0..x.len().max(1)).step_by(N.max(1)) {
        let seeded: Vec<_> =
            x.iter().enumerate().map(|(j, &x)| Dual::variable(x, j.wrapping_sub(first))).collect();
        let y = f(&seeded);
        if first == 0 {
            values = y.iter().map(|y| y.value).collect();
            jacobian = DMatrix::zeros(y.len(), x.len());
        }
        for (i, y) in y.iter().enumerate() {
            for k in 0..N.min(x.len() - first) {
                jacobian[(i, first + k)] = y.tangent[k];
            }
        }
    }
    (values, jacobian)
}
