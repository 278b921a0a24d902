//! Jacobians without differences, and second derivatives.

use nalgebra::DMatrix;

use crate::ad::{Dual, Error, Function, LANES, NodeRule, with_node_rule};

/// The Jacobian of `f` at `x` (outputs x inputs) by duals that pass nodes by `rule`.
///
/// # Errors
/// [`Error::Shape`] if `f` does not always have as many outputs as it had at first, `outputs`.
pub(super) fn forward(
    rule: NodeRule,
    f: &impl Function,
    x: &[f64],
    outputs: usize,
) -> Result<DMatrix<f64>, Error> {
    let mut jacobian = DMatrix::zeros(outputs, x.len());
    for first in (0..x.len()).step_by(LANES) {
        let seeded: Vec<Dual<f64, LANES>> =
            x.iter().enumerate().map(|(j, &x)| Dual::variable(x, j.wrapping_sub(first))).collect();
        let y = with_node_rule(rule, || f.evaluate(&seeded));
        expect(outputs, y.len())?;
        for (i, y) in y.iter().enumerate() {
            for k in 0..LANES.min(x.len() - first) {
                jacobian[(i, first + k)] = y.tangent[k];
            }
        }
    }
    Ok(jacobian)
}

/// The second derivatives of `weights' f` at `x` (inputs x inputs) by duals over duals that pass nodes
/// by `rule`, the outer dual in the input of the row. Each entry is a pass of its own, so that symmetry is a check.
///
/// # Errors
/// As [`forward`].
pub(super) fn nested(
    rule: NodeRule,
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
            let seeded: Vec<Dual<Dual<f64, 1>, 1>> = x.iter().enumerate().map(seed).collect();
            let y = with_node_rule(rule, || f.evaluate(&seeded));
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
