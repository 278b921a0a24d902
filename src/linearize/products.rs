//! Products with the derivatives of a step that do without its Jacobians: first order by one dual or one
//! sweep of the tape, second order by the tape over duals.

use nalgebra::DMatrix;

use super::displacement::{Displaced, Point};
use super::selection::Selection;
use crate::ad::{self, Dual, LANES, Real, Var};
use crate::model::System;
use crate::simulation::StepMemory;
use crate::state::State;

/// A step whose derivatives are multiplied: as the arguments of
/// [`step_jacobian`](super::step_jacobian).
#[derive(Clone, Copy)]
pub struct StepProducts<'a> {
    /// Model, parameters, settings.
    pub system: &'a System<'a, f64>,
    /// Where the step starts.
    pub state: &'a State<f64>,
    /// Its inputs: generalised forces, then controls.
    pub inputs: &'a [f64],
    /// What u and p are.
    pub selection: Selection<'a>,
    /// What the step before left.
    pub memory: &'a StepMemory<f64>,
    /// Where the step ends.
    pub next: &'a State<f64>,
}

impl StepProducts<'_> {
    fn point(&self) -> Point<'_> {
        let StepProducts { system, state, inputs, selection, memory, next } = *self;
        Point { system, state, inputs, selection, memory, next, closes: false }
    }

    /// `[A B C] d` for a direction `d = [dx; du; dp]`: a tangent vector of x+.
    ///
    /// # Errors
    /// [`ad::Error::Shape`] if `direction` has another length.
    pub fn jvp(&self, direction: &[f64]) -> Result<Vec<f64>, ad::Error> {
        let at = self.point();
        let zero = vec![0.0; at.dimension()];
        let step = |d: &[Dual<f64, LANES>]| Displaced::default().step(&at, d).0.to_vec();
        let (_, product) = ad::jvp_many(step, &zero, &column(direction))?;
        Ok(product.as_slice().to_vec())
    }

    /// `[A B C]' w` for weights `w` of a tangent vector of x+: adjoints of `[dx; du; dp]`, by one sweep of
    /// the tape.
    ///
    /// # Errors
    /// [`ad::Error::Shape`] if `weights` has another length, and as [`ad::gradient`](ad::gradient()).
    pub fn vjp(&self, weights: &[f64]) -> Result<Vec<f64>, ad::Error> {
        let at = self.point();
        let zero = vec![0.0; at.dimension()];
        let step = |d: &[Var]| Displaced::default().step(&at, d).0.to_vec();
        let (_, adjoints) = ad::vjp(step, &zero, |_| weights.to_vec())?;
        Ok(adjoints)
    }

    /// The Hessian of `w . (x+ (-) nominal x+)` in `[dx; du; dp]`, at fixed weights `w` and in the tangent
    /// space: sum over i of w_i d2 x+_i, the second-order term of differential dynamic programming.
    ///
    /// # Errors
    /// As [`Self::vjp`].
    pub fn hessian(&self, weights: &[f64]) -> Result<DMatrix<f64>, ad::Error> {
        let at = self.point();
        self.check(weights)?;
        let zero = vec![0.0; at.dimension()];
        let (.., hessian) = ad::hessian::<LANES>(|d| weighted(&at, d, weights), &zero)?;
        Ok(hessian)
    }

    /// The product of [`Self::hessian`] with a direction, without the matrix.
    ///
    /// # Errors
    /// As [`Self::vjp`]; [`ad::Error::Shape`] if `direction` has another length than `[dx; du; dp]`.
    pub fn hessian_vector(
        &self,
        weights: &[f64],
        direction: &[f64],
    ) -> Result<Vec<f64>, ad::Error> {
        let at = self.point();
        self.check(weights)?;
        let zero = vec![0.0; at.dimension()];
        let of = |d: &[Var<Dual<f64, LANES>>]| weighted(&at, d, weights);
        let (.., product) = ad::hessian_times(of, &zero, &column(direction))?;
        Ok(product.as_slice().to_vec())
    }

    fn check(&self, weights: &[f64]) -> Result<(), ad::Error> {
        let expected = 2 * self.state.v.len();
        match weights.len() {
            found if found != expected => Err(ad::Error::Shape { expected, found }),
            _ => Ok(()),
        }
    }
}

/// A single direction: the other lanes stay idle, but no other scalar is compiled.
fn column(direction: &[f64]) -> DMatrix<f64> {
    DMatrix::from_column_slice(direction.len(), 1, direction)
}

fn weighted<T: Real>(at: &Point, displacement: &[T], weights: &[f64]) -> T {
    let mut displaced = Displaced::default();
    let (end, _) = displaced.step(at, displacement);
    end.iter().zip(weights).fold(T::zero(), |sum, (&x, &w)| sum + x * w)
}
