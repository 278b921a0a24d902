//! Derivatives of a [`Transition`] in the numbers of x themselves, for solvers that know no tangent vectors.

use nalgebra::DMatrix;

use super::Transition;
use crate::Error;
use crate::linearize::{
    AmbientJacobian, StepJacobian, ambient_gradient, ambient_hessian, tangent_weights,
};

impl Transition {
    /// f with its Jacobians in the numbers of x themselves; see [`AmbientJacobian`].
    ///
    /// # Errors
    /// As [`Self::linearize`].
    pub fn linearize_ambient(
        &mut self,
        x: &[f64],
        u: &[f64],
    ) -> Result<(AmbientJacobian, &StepJacobian), Error> {
        self.linearize(x, u)?;
        let (model, jacobian) = (&self.scene.model, &self.jacobian);
        Ok((AmbientJacobian::new(model, &x[..model.nq()], jacobian), jacobian))
    }

    /// `weights . x+` as a function of the numbers of x, u and p themselves, see [`AmbientJacobian`]: its gradient.
    ///
    /// # Errors
    /// As [`Self::step`].
    pub fn vjp_ambient(
        &mut self,
        x: &[f64],
        u: &[f64],
        weights: &[f64],
    ) -> Result<Vec<f64>, Error> {
        self.check_numbers("weight vector", weights, self.nq() + self.nv())?;
        self.take_step(x, u)?;
        let weights = tangent_weights(&self.scene.model, &self.next.q, weights);
        let gradient = self.pull_back(&weights)?;
        let model = &self.scene.model;
        Ok(ambient_gradient(model, &x[..model.nq()], &gradient))
    }

    /// The Hessian of `weights . x+` in the numbers of x, u and p themselves, see [`AmbientJacobian`], column by column.
    ///
    /// # Errors
    /// As [`Self::linearize`].
    pub fn hessian_ambient(
        &mut self,
        x: &[f64],
        u: &[f64],
        weights: &[f64],
    ) -> Result<Vec<f64>, Error> {
        self.check_numbers("weight vector", weights, self.nq() + self.nv())?;
        self.linearize(x, u)?;
        let tangent = tangent_weights(&self.scene.model, &self.jacobian.next.q, weights);
        let hessian = self.hessian(x, u, &tangent)?;
        let (model, jacobian) = (&self.scene.model, &self.jacobian);
        let dimension = 2 * model.nv() + self.inputs.len() + self.parameters.len();
        let hessian = DMatrix::from_vec(dimension, dimension, hessian);
        let hessian = ambient_hessian(model, &x[..model.nq()], jacobian, weights, hessian);
        Ok(hessian.as_slice().to_vec())
    }
}
