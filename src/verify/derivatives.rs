//! The Jacobian of one program by every way.

use nalgebra::DMatrix;

use super::differences::Difference;
use super::{differences, ways};
use crate::ad::{Error, Function, NodeRule, jacobian_by_rows};

/// The Jacobian of one program (outputs x inputs) by every way.
#[derive(Clone, Debug)]
pub struct Derivatives {
    /// In reverse, by the nodes' `vjp`.
    pub tape: DMatrix<f64>,
    /// Forward, by the nodes' `jvp`.
    pub dual: DMatrix<f64>,
    /// Forward, by duals through the nodes' `residual`.
    pub residual: DMatrix<f64>,
    /// Forward, by duals through the solvers' iterations.
    pub unrolled: DMatrix<f64>,
    /// The columns by differences; none where no side keeps the modes.
    pub differences: Vec<Option<Difference>>,
}

impl Derivatives {
    /// The Jacobians of `f` at `x`. `run` is `f` on `f64` with something that differs across kinks.
    ///
    /// # Errors
    /// The errors of [`vjp`](crate::ad::vjp); [`Error::Shape`] if `f` does not always have as many outputs.
    pub fn of<S: PartialEq>(
        f: &impl Function,
        run: impl FnMut(&[f64]) -> (Vec<f64>, S),
        x: &[f64],
    ) -> Result<Derivatives, Error> {
        let (y, tape) = jacobian_by_rows(|x| f.evaluate(x), x)?;
        let differences = differences::columns(run, x, &tape, &row_scales(&tape));
        let forward = |rule| ways::forward(rule, f, x, y.len());
        Ok(Derivatives {
            dual: forward(NodeRule::ByJvp)?,
            residual: forward(NodeRule::ByResidual)?,
            unrolled: forward(NodeRule::Unrolled)?,
            differences,
            tape,
        })
    }

    /// What errors in each row are relative to: its largest derivative, and at least 1. Outputs are
    /// tangent vectors like the initial state, so 1 is the derivative of each in the input of its own
    /// name where nothing touches; what a sticking body cancels is rounded on that scale.
    pub(super) fn row_scales(&self) -> Vec<f64> {
        row_scales(&self.tape)
    }
}

fn row_scales(jacobian: &DMatrix<f64>) -> Vec<f64> {
    jacobian.row_iter().map(|row| row.amax().max(1.0)).collect()
}
