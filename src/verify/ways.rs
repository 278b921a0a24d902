//! Jacobians without differences, and second derivatives.

use nalgebra::DMatrix;

use crate::ad::{Dual, Error, Function, NodeRule};

/// The Jacobian of `f` at `x` (outputs x inputs) by duals of `N` lanes that pass nodes by rule `R`.
///
/// # Errors
/// [`Error::Shape`] if `f` does not always have as many outputs as it had at first, `outputs`.
pub(super) fn forward<const N: usize, R: NodeRule>(
    f: &impl Function,
    x: &[f64],
    outputs: usize,
) -> Result<DMatrix<f64>, Error> {
    let mut jacobian = DMatrix::zeros(outputs, x.len());
    for first in (0..x.len()).step_by(N.max(1)) {
        let seeded: Vec<Dual<f64, N, R>> =
            x.iter().enumerate().map(|(j, &x)| Dual::variable(x, j.wrapping_sub(first))).collect();
        let y = f.evaluate(&seeded);
        expect(outputs, y.len())?;
        for (i, y) in y.iter().enumerate() {
            for k in 0..N.min(x.len() - first) {
                jacobian[(i, first + k)] = y.tangent[k];
            }
        }
    }
    Ok(jacobian)
}

/// The second derivatives of `weights' f` at `x` (inputs x inputs) by duals over duals, the outer
/// one in the input of the row. Each entry is a pass of its own, so that symmetry is a check.
///
/// # Errors
/// As [`forward`].
pub(super) fn nested<R: NodeRule>(
    f: &impl Function,
    x: &[f64],
    weights: &[f64],
) -> Result<DMatrix<f64>, Error> {
    let one = |yes: bool| f64::from(u8::from(yes));
    let mut hessian = DMatrix::zeros(x.len(), x.len());
    for a in 0..x.len() {
        for b in 0..x.len() {
            let seed = |(j, &x): (usize, &f64)| {
                let value = Dual::new(x, [one(j == b)]);
                Dual::new(value, [Dual::new(one(j == a), [0.0])])
            };
            let seeded: Vec<Dual<Dual<f64, 1, R>, 1, R>> = x.iter().enumerate().map(seed).collect();
            let y = f.evaluate(&seeded);
            expect(weights.len(), y.len())?;
            let terms = y.iter().zip(weights).map(|(y, w)| w * y.tangent[0].tangent[0]);
            hessian[(a, b)] = terms.sum();
        }
    }
    Ok(hessian)
}

fn expect(expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { expected, found }) }
}
