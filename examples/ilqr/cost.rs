//! What is to be done: a quadratic cost of the way from a goal.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};
use stiction::Error;
use stiction::spatial::rotation_vector_rate;

use super::dynamics::Dynamics;

/// sum over the steps of 1/2 d'Qd + 1/2 (u - u0)'R(u - u0), and of the end 1/2 d'Qd with weights of its own, d being
/// the tangent vector from the goal to the state. Q and R are diagonal.
#[derive(Clone, Debug)]
pub struct Cost {
    /// x at the goal.
    pub goal: Vec<f64>,
    /// Q of each step, 2 nv numbers.
    pub running: DVector<f64>,
    /// Q of the end.
    pub terminal: DVector<f64>,
    /// u0.
    pub rest: DVector<f64>,
    /// R.
    pub effort: DVector<f64>,
}

/// Value and slope in the tangent space, with the curvature by Gauss and Newton.
pub struct Expansion {
    pub x: DVector<f64>,
    pub xx: DMatrix<f64>,
}

impl Cost {
    fn weights(&self, end: bool) -> &DVector<f64> {
        if end { &self.terminal } else { &self.running }
    }

    /// What a state costs, at the end or on the way.
    pub fn of_state(&self, dynamics: &mut Dynamics, x: &[f64], end: bool) -> Result<f64, Error> {
        let d = dynamics.difference(&self.goal, x)?;
        Ok(0.5 * d.dot(&d.component_mul(self.weights(end))))
    }

    pub fn of_input(&self, u: &DVector<f64>) -> f64 {
        let d = u - &self.rest;
        0.5 * d.dot(&d.component_mul(&self.effort))
    }

    /// The cost of a motion.
    pub fn total(
        &self,
        dynamics: &mut Dynamics,
        states: &[Vec<f64>],
        inputs: &[DVector<f64>],
    ) -> Result<f64, Error> {
        let mut total = inputs.iter().map(|u| self.of_input(u)).sum();
        for (k, x) in states.iter().enumerate() {
            total += self.of_state(dynamics, x, k == inputs.len())?;
        }
        Ok(total)
    }

    /// The expansion at a state.
    pub fn expand(
        &self,
        dynamics: &mut Dynamics,
        x: &[f64],
        end: bool,
    ) -> Result<Expansion, Error> {
        let d = dynamics.difference(&self.goal, x)?;
        let j = difference_jacobian(dynamics, &d);
        let weights = self.weights(end);
        let xx = j.transpose() * DMatrix::from_diagonal(weights) * &j;
        Ok(Expansion { x: j.transpose() * d.component_mul(weights), xx })
    }
}

/// How the tangent vector `d` from the goal to a state changes with the state.
fn difference_jacobian(dynamics: &Dynamics, d: &DVector<f64>) -> DMatrix<f64> {
    let mut j = DMatrix::identity(d.len(), d.len());
    let mut first = 0;
    for joint in dynamics.transition.scene().model.coordinates() {
        if let Some((_, turn)) = joint.quaternion() {
            let at = first + turn;
            let rotation = Vector3::new(d[at], d[at + 1], d[at + 2]);
            let columns = [0, 1, 2].map(|k| rotation_vector_rate(rotation, Vector3::ith(k, 1.0)));
            j.fixed_view_mut::<3, 3>(at, at).copy_from(&Matrix3::from_columns(&columns));
        }
        first += joint.nv();
    }
    j
}
