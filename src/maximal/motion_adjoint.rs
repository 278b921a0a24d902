//! The adjoint of rates of motion, by hand.
//!
//! With the multipliers alpha, beta of [`motion`](super::constrained_motion) and those of its conditions, mu and nu, rates obey
//! J dv + G dx = 0 and J dx = 0, and for adjoints u of dx and w of dv
//!
//! ```text
//! L = (u - G'mu + J'nu)'dx + (w - J'mu)'dv,   S mu = J M^-1 w,   S nu = G a - J M^-1 (u - G'mu),   a = M^-1 (w - J'mu)
//! ```
//!
//! is stationary in alpha and beta: its partial derivatives in x, v, F and M^-1 are the adjoints. J is linear in x as G is in v, and
//! symmetric: the derivative of J(x)z in x is G of z for v.

use super::constrained_motion::{ConstrainedMotion, Formulation, Rates};
use super::point_inertia::PointInertia;
use super::point_parameters::PointParameters;
use super::point_rows::PointRows;
use super::point_system::PointSystem;
use crate::ad::Real;
use crate::linalg::FactorError;

/// What adjoints of rates say of what the rates are of.
#[derive(Clone, Debug, Default)]
pub struct MotionAdjoint<T> {
    /// Of positions.
    pub position: Vec<T>,
    /// Of velocities.
    pub velocity: Vec<T>,
    /// Of the potential's gradient.
    pub gradient: Vec<T>,
    /// Of masses and of moments are added here.
    pub inertias: PointParameters<T>,
    rates: Rates<T>,
    rows: PointRows<T>,
    alpha: Vec<T>,
    mu: Vec<T>,
    nu: Vec<T>,
    scratch: Vec<T>,
    held: Vec<T>,
}

impl<T: Real> MotionAdjoint<T> {
    /// The adjoints of the state by those of its rates.
    ///
    /// # Errors
    /// As [`ConstrainedMotion::rates`].
    pub fn set(
        &mut self,
        motion: &mut ConstrainedMotion<T>,
        system: &PointSystem,
        inertia: &PointInertia<T>,
        formulation: Formulation,
        state: [&[T]; 3],
        adjoints: [&[T]; 2],
    ) -> Result<(), FactorError> {
        let [x, v, gradient] = state;
        let [of_position, of_velocity] = adjoints;
        let size = x.len();
        motion.rates(system, inertia, formulation, x, v, gradient, &mut self.rates)?;
        let is_led_back = formulation == Formulation::Hamiltonian && !motion.jacobian.is_empty();
        // w - J'mu and u - G'mu + J'nu
        self.held.clear();
        self.held.extend_from_slice(of_velocity);
        self.velocity.clear();
        self.velocity.extend_from_slice(of_position);
        self.mu.clear();
        self.nu.clear();
        if !motion.jacobian.is_empty() {
            self.alpha.clone_from(&motion.answer);
            self.scratch.clone_from(&self.held);
            inertia.solve(&mut self.scratch);
            motion.jacobian.times(&self.scratch, &mut self.mu);
            let solved = motion.solve(&self.mu)?;
            self.mu.copy_from_slice(solved);
            self.mu.iter_mut().for_each(|m| *m = -*m);
            motion.jacobian.add_transpose_times(&self.mu, &mut self.held);
            motion.turning.add_transpose_times(&self.mu, &mut self.velocity);
        }
        // -a
        self.gradient.clone_from(&self.held);
        inertia.solve(&mut self.gradient);
        self.gradient.iter_mut().for_each(|g| *g = -*g);
        if is_led_back {
            self.scratch.clone_from(&self.velocity);
            inertia.solve(&mut self.scratch);
            let right = |i: usize| {
                -motion.turning.dot(i, &self.gradient) - motion.jacobian.dot(i, &self.scratch)
            };
            self.nu.extend((0..motion.jacobian.len()).map(right));
            let solved = motion.solve(&self.nu)?;
            self.nu.copy_from_slice(solved);
            motion.jacobian.add_transpose_times(&self.nu, &mut self.velocity);
        }
        self.add_inertias(inertia, &motion.force, is_led_back.then_some(motion));
        self.position.clear();
        self.position.resize(size, T::zero());
        if motion.jacobian.is_empty() {
            return Ok(());
        }
        let Rates { position: dx, velocity: dv } = &self.rates;
        let minus = |numbers: &mut Vec<T>| numbers.iter_mut().for_each(|m| *m = -*m);
        // mu and the gradient have the sign of minus.
        if is_led_back {
            self.scratch.clone_from(&self.velocity);
            inertia.solve(&mut self.scratch);
            self.rows.turning(system, &self.scratch);
            minus(&mut motion.beta);
            self.rows.add_transpose_times(&motion.beta, &mut self.position);
        }
        self.rows.turning(system, dx);
        self.rows.add_transpose_times(&self.mu, &mut self.velocity);
        self.rows.add_transpose_times(&self.nu, &mut self.position);
        self.rows.turning(system, dv);
        self.rows.add_transpose_times(&self.mu, &mut self.position);
        self.rows.turning(system, &self.gradient);
        minus(&mut self.alpha);
        self.rows.add_transpose_times(&self.alpha, &mut self.position);
        if is_led_back {
            self.rows.add_transpose_times(&motion.beta, &mut self.velocity);
        }
        Ok(())
    }

    /// The parts of L that M^-1 is in: (w - J'mu)'M^-1 force, and -(u - G'mu + J'nu)'M^-1 J'beta.
    fn add_inertias(
        &mut self,
        inertia: &PointInertia<T>,
        force: &[T],
        led_back: Option<&ConstrainedMotion<T>>,
    ) {
        inertia.add_adjoint(&self.held, force, &mut self.inertias);
        if let Some(motion) = led_back {
            self.scratch.clear();
            self.scratch.resize(force.len(), T::zero());
            motion.jacobian.add_transpose_times(&motion.beta, &mut self.scratch);
            self.scratch.iter_mut().for_each(|s| *s = -*s);
            inertia.add_adjoint(&self.velocity, &self.scratch, &mut self.inertias);
        }
    }
}
