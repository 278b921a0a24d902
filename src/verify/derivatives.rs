//! The Jacobian of one program by every way.

use nalgebra::DMatrix;

use super::differences::{Difference, Piece};
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
    pub fn of<S: Piece>(
        f: &impl Function,
        run: impl FnMut(&[f64]) -> (Vec<f64>, S),
        x: &[f64],
    ) -> Result<Derivatives, Error> {
        let found = Derivatives::while_wanted(f, run, x, &mut || true)?;
        Ok(found.unwrap_or_else(|| unreachable!("nothing stops it")))
    }

    /// [`of`](Self::of) as long as `go_on` says so, which is asked now and then: nothing if it said no.
    pub(super) fn while_wanted<S: Piece>(
        f: &impl Function,
        run: impl FnMut(&[f64]) -> (Vec<f64>, S),
        x: &[f64],
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Derivatives>, Error> {
        let (y, tape) = jacobian_by_rows(|x| f.evaluate(x), x)?;
        let scales = row_scales(&tape);
        let Some(differences) = differences::columns(run, x, &tape, &scales, go_on) else {
            return Ok(None);
        };
        let mut ways = Vec::new();
        for rule in [NodeRule::Unrolled, NodeRule::ByResidual, NodeRule::ByJvp] {
            if !go_on() {
                return Ok(None);
            }
            ways.push(ways::forward(rule, f, x, y.len())?);
        }
        let (Some(dual), Some(residual), Some(unrolled)) = (ways.pop(), ways.pop(), ways.pop())
        else {
            return Ok(None);
        };
        Ok(Some(Derivatives { tape, dual, residual, unrolled, differences }))
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
