//! The user's verbs, in reverse: gradients and adjoints by the tape.

use nalgebra::DMatrix;

use super::{Error, Real, Recording, TapeScalar, Var};

/// Starts a recording with `x` as its variables, runs `f`, and hands both to `read`.
pub(super) fn record<T: TapeScalar, Y, Out>(
    x: impl Iterator<Item = T>,
    f: impl FnOnce(&[Var<T>]) -> Y,
    read: impl FnOnce(&mut Recording<T>, &[Var<T>], Y) -> Result<Out, Error>,
) -> Result<Out, Error> {
    let mut recording = Recording::start();
    let mut variables = exchange_variables(Vec::new());
    variables.clear();
    recording.extend(&mut variables, x);
    let y = f(&variables);
    let out = read(&mut recording, &variables, y);
    exchange_variables(variables);
    out
}

/// Exchanges the memory for variables that is kept with the tape. Not in the generic function above, of which there is
/// a copy for every function that is recorded.
fn exchange_variables<T: TapeScalar>(variables: Vec<Var<T>>) -> Vec<Var<T>> {
    T::with_tape(|tape| std::mem::replace(&mut tape.variables, variables))
}

/// The value of `f` at `x` and its gradient, by one recording and one adjoint sweep.
///
/// # Errors
/// [`Error::StaleVariable`] if `f` used a variable of another recording or thread,
/// [`Error::TapeFull`] after about 2^32 operations; while [diagnosing](super::diagnose)
/// [`Error::NonFinite`].
///
/// ```
/// use stiction::ad::gradient;
/// let (y, dy) = gradient(|x| x[0] * x[0] * x[1], &[3.0, 2.0])?;
/// assert_eq!((y, dy), (18.0, vec![12.0, 9.0]));
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn gradient(f: impl FnOnce(&[Var]) -> Var, x: &[f64]) -> Result<(f64, Vec<f64>), Error> {
    let mut gradient = vec![0.0; x.len()];
    let y = gradient_into(f, x, &mut gradient)?;
    Ok((y, gradient))
}

/// [`gradient`] into memory of the caller's: allocates nothing, after the first time on a thread.
/// `gradient` is not touched if there is an error.
///
/// # Errors
/// As [`gradient`](gradient()); [`Error::Shape`] if `gradient` has another length than `x`.
pub fn gradient_into(
    f: impl FnOnce(&[Var]) -> Var,
    x: &[f64],
    gradient: &mut [f64],
) -> Result<f64, Error> {
    record(x.iter().copied(), f, |recording, x, y| {
        recording.adjoints(&[(y, 1.0)], x, gradient)?;
        Ok(y.value())
    })
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
    record(x.iter().copied(), f, |recording, x, y| {
        let values: Vec<f64> = y.iter().map(|y| y.value()).collect();
        let w = weights(&values);
        if w.len() != y.len() {
            return Err(Error::Shape { expected: y.len(), found: w.len() });
        }
        let seeds: Vec<(Var, f64)> = y.into_iter().zip(w).collect();
        let mut dx = vec![0.0; x.len()];
        recording.adjoints(&seeds, x, &mut dx)?;
        Ok((values, dx))
    })
}

/// The outputs of `f` at `x` and all rows of its Jacobian (outputs x inputs), by one recording and
/// one sweep for every eight rows. For few inputs [`jacobian`](super::jacobian()) is faster.
///
/// # Errors
/// As [`gradient`].
pub fn jacobian_by_rows(
    f: impl FnOnce(&[Var]) -> Vec<Var>,
    x: &[f64],
) -> Result<(Vec<f64>, DMatrix<f64>), Error> {
    record(x.iter().copied(), f, |recording, x, y| {
        let mut rows = vec![0.0; y.len() * x.len()];
        recording.rows(&y, x, &mut rows)?;
        let values = y.iter().map(|y| y.value()).collect();
        Ok((values, DMatrix::from_row_slice(y.len(), x.len(), &rows)))
    })
}
