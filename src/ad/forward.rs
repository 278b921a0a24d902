//! The user's verbs, forward: directional derivatives and Jacobians by duals.

use nalgebra::DMatrix;

use super::{Dual, Error};

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
