//! Motion between impacts, under the constraints: rates of positions and velocities.
//!
//! With S = J M^-1 J', F the gradient of the potential and G = D_x (J v), the Lagrangian form (`Zhong21` (S.2)) is
//!
//! ```text
//! dx = v,                 dv = M^-1 (J'lambda - F),        S lambda = J M^-1 F - G v
//! ```
//!
//! and the Hamiltonian one (S.7), whose 2E x 2E matrix is [0 S; -S N] with N = G M^-1 J' - J M^-1 G', is
//!
//! ```text
//! dx = v - M^-1 J'beta,   dv = M^-1 (J'alpha + G'beta - F),   S beta = J v,   S alpha = N beta + J M^-1 F - G v.
//! ```
//!
//! Where velocities obey the constraints beta is zero, and both are one.

use super::point_inertia::PointInertia;
use super::point_rows::{PointRows, dot};
use super::point_system::PointSystem;
use crate::ad::Real;
use crate::linalg::{FactorError, SpdSolution, SpdSolve};

/// Which of two forms of the same motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Formulation {
    /// (S.2): what departed from the constraints stays as it is.
    #[default]
    Lagrangian,
    /// (S.7): velocities are led back to the constraints.
    Hamiltonian,
}

/// Rates of a system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rates<T> {
    /// Of positions (m/s).
    pub position: Vec<T>,
    /// Of velocities (m/s^2).
    pub velocity: Vec<T>,
}

/// The constraints of a system at a place, linearised and factorised, and the motion they allow. Reused, it allocates
/// nothing.
pub struct ConstrainedMotion<T: Real> {
    /// J.
    pub(super) jacobian: PointRows<T>,
    /// G.
    pub(super) turning: PointRows<T>,
    /// S, then right-hand sides column after column: what the node takes.
    inputs: Vec<T>,
    pub(super) answer: Vec<T>,
    lambda: Vec<T>,
    pub(super) beta: Vec<T>,
    /// J'alpha + G'beta - F.
    pub(super) force: Vec<T>,
    products: Vec<T>,
    scratch: Vec<T>,
    solution: SpdSolution,
    workspace: T::Workspace<SpdSolve>,
}

impl<T: Real> Default for ConstrainedMotion<T> {
    fn default() -> Self {
        ConstrainedMotion {
            jacobian: PointRows::default(),
            turning: PointRows::default(),
            inputs: Vec::new(),
            answer: Vec::new(),
            lambda: Vec::new(),
            beta: Vec::new(),
            force: Vec::new(),
            products: Vec::new(),
            scratch: Vec::new(),
            solution: SpdSolution::default(),
            workspace: Default::default(),
        }
    }
}

impl<T: Real> ConstrainedMotion<T> {
    /// The rates at `x`, `v` (m, m/s), where the potential has the gradient `gradient` (N).
    ///
    /// # Errors
    /// If S is not positive definite: constraints that say the same, or points that coincide.
    #[expect(clippy::too_many_arguments, reason = "a state, what moves it, and where the rates go")]
    pub fn rates(
        &mut self,
        system: &PointSystem,
        inertia: &PointInertia<T>,
        formulation: Formulation,
        x: &[T],
        v: &[T],
        gradient: &[T],
        rates: &mut Rates<T>,
    ) -> Result<(), FactorError> {
        let Rates { position, velocity } = rates;
        position.clear();
        position.extend_from_slice(v);
        velocity.clear();
        velocity.extend(gradient.iter().map(|&g| -g));
        self.jacobian.clear(system.dimension());
        if !system.constraints().is_empty() {
            self.linearise(system, inertia, x);
            self.turning.turning(system, v);
            if formulation == Formulation::Hamiltonian {
                self.lead_back(inertia, v, position, velocity)?;
            }
            // lambda or alpha, from the forces so far
            self.products.clear();
            self.products.extend_from_slice(velocity);
            inertia.solve(&mut self.products);
            self.lambda.clear();
            for i in 0..self.jacobian.len() {
                let rate = self.jacobian.dot(i, &self.products) + self.turning.dot(i, position);
                self.lambda.push(-rate);
            }
            Self::solve_into(
                &mut self.inputs,
                &self.lambda,
                &mut self.answer,
                &mut self.solution,
                &mut self.workspace,
            )?;
            self.jacobian.add_transpose_times(&self.answer, velocity);
        }
        self.force.clone_from(velocity);
        inertia.solve(velocity);
        Ok(())
    }

    /// position -= M^-1 J'beta, velocity (a force) += G'beta.
    ///
    /// What is left for alpha is S alpha = -J M^-1 (G'beta - F) - G (v - M^-1 J'beta): the conditions of lambda at these
    /// rates.
    fn lead_back(
        &mut self,
        inertia: &PointInertia<T>,
        v: &[T],
        position: &mut [T],
        velocity: &mut [T],
    ) -> Result<(), FactorError> {
        self.jacobian.times(v, &mut self.lambda);
        Self::solve_into(
            &mut self.inputs,
            &self.lambda,
            &mut self.beta,
            &mut self.solution,
            &mut self.workspace,
        )?;
        self.scratch.clear();
        self.scratch.resize(v.len(), T::zero());
        self.jacobian.add_transpose_times(&self.beta, &mut self.scratch);
        inertia.solve(&mut self.scratch);
        position.iter_mut().zip(&self.scratch).for_each(|(x, &back)| *x -= back);
        self.turning.add_transpose_times(&self.beta, velocity);
        Ok(())
    }

    /// Sets J and S.
    pub(super) fn linearise(&mut self, system: &PointSystem, inertia: &PointInertia<T>, x: &[T]) {
        self.jacobian.clear(system.dimension());
        for constraint in system.constraints() {
            constraint.rows(system.dimension(), x, true, &mut self.jacobian);
        }
        let rows = &self.jacobian;
        self.inputs.clear();
        for i in 0..rows.len() {
            for j in 0..rows.len() {
                let entry = if j <= i { coupling(inertia, rows, i, rows, j) } else { T::zero() };
                self.inputs.push(entry);
            }
        }
    }

    /// S^-1 b for columns one after the other.
    pub(super) fn solve(&mut self, b: &[T]) -> Result<&[T], FactorError> {
        Self::solve_into(
            &mut self.inputs,
            b,
            &mut self.answer,
            &mut self.solution,
            &mut self.workspace,
        )?;
        Ok(&self.answer)
    }

    fn solve_into(
        inputs: &mut Vec<T>,
        b: &[T],
        answer: &mut Vec<T>,
        solution: &mut SpdSolution,
        workspace: &mut T::Workspace<SpdSolve>,
    ) -> Result<(), FactorError> {
        answer.clear();
        answer.resize(b.len(), T::zero());
        let square = inputs.len();
        let n = square.isqrt();
        inputs.extend_from_slice(b);
        let node = SpdSolve { n, columns: b.len() / n.max(1) };
        T::call(&node, inputs, answer, solution, workspace);
        inputs.truncate(square);
        solution.failure.map_or(Ok(()), Err)
    }
}

impl<T: Real> PointRows<T> {
    /// G at `v`: the rows of D_x (J v).
    pub(super) fn turning(&mut self, system: &PointSystem, v: &[T]) {
        self.clear(system.dimension());
        for constraint in system.constraints() {
            constraint.rows(system.dimension(), v, false, self);
        }
    }
}

/// Row i of `a` times M^-1 times row j of `b`.
pub(super) fn coupling<T: Real>(
    inertia: &PointInertia<T>,
    a: &PointRows<T>,
    i: usize,
    b: &PointRows<T>,
    j: usize,
) -> T {
    let mut sum = T::zero();
    for (p, left) in a.row(i) {
        for (q, right) in b.row(j) {
            if let Some(inverse) = inertia.inverse_at(p, q) {
                sum += inverse * dot(left, right, inertia.dimension());
            }
        }
    }
    sum
}
