//! A body condensed on the vertices that may touch, in an iteration of Newton's method: before and after its contact problem.

use super::condensation::Condensation;
use super::contact_step::ContactStep;
use super::momentum::Momentum;
use super::newton::{is_finite, largest, relative};
use super::vertex_contact::VertexContact;
use crate::linalg::{solve_lower, solve_lower_transpose};

/// A step is halved this often at most, so that no element turns inside out.
const MOST_HALVINGS: usize = 30;

/// The condensed body, with its memory. Reused with the same elements and vertices, it decides no order twice.
#[derive(Debug, Default)]
pub(super) struct CondensedBody {
    pub condensation: Condensation,
    residual: Vec<[f64; 3]>,
    change: Vec<[f64; 3]>,
    trial: Vec<[f64; 3]>,
    needed: Vec<usize>,
    /// Of the kept vertices: what is left of the momentum (N s), velocities without contact, before, and their change (m/s).
    pub left: Vec<f64>,
    pub free: Vec<f64>,
    pub start: Vec<f64>,
    pub moved: Vec<f64>,
}

impl CondensedBody {
    /// Factorises at an iterate, unless the last factor is `reusable`, and finds the velocities of the kept vertices without contact. False
    /// if there are none.
    #[must_use]
    pub fn condense(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &ContactStep,
        reusable: bool,
    ) -> bool {
        self.needed.clear();
        self.needed.extend(step.active.iter().map(|&k| contacts[k].node));
        self.needed.sort_unstable();
        self.needed.dedup();
        let Self { condensation, residual, change, left, free, .. } = self;
        let (u, x) = (&step.velocity, &step.position);
        if !reusable {
            condensation.keep(momentum, &self.needed);
            if !(condensation.factor(momentum, u, x, false)
                || condensation.factor(momentum, u, x, true))
            {
                return false;
            }
        }
        momentum.residual(u, x, residual);
        change.clone_from(residual);
        change.iter_mut().flatten().for_each(|x| *x = -*x);
        condensation.forward(false, change);
        condensation.gather(change, left);
        // v_p = u - S^-1 R, by the symmetric part of S.
        free.clone_from(left);
        let n = free.len();
        solve_lower(&condensation.mass_factor, n, free);
        solve_lower_transpose(&condensation.mass_factor, n, free);
        condensation.gather(u, &mut self.start);
        free.iter_mut().zip(&self.start).for_each(|(free, u)| *free += u);
        true
    }

    /// Takes the change of the kept vertices that is in `moved`, and with it all others: whether it was taken whole, and not shortened so
    /// that no element turns inside out; nothing if there is no step.
    pub fn follow(&mut self, momentum: &Momentum<f64>, step: &mut ContactStep) -> Option<bool> {
        self.condensation.scatter(&self.moved, &mut self.change);
        self.condensation.backward(false, &mut self.change);
        if !is_finite(&self.change) {
            return None;
        }
        let mut share = 1.0;
        for halvings in 0..=MOST_HALVINGS {
            self.trial.clear();
            let moved =
                |(u, change): (&[f64; 3], &[f64; 3])| [0, 1, 2].map(|k| u[k] + share * change[k]);
            self.trial.extend(step.velocity.iter().zip(&self.change).map(moved));
            momentum.positions(&self.trial, &mut step.position);
            if momentum.elements.least_determinant(&step.position) > 0.0 {
                std::mem::swap(&mut step.velocity, &mut self.trial);
                return Some(halvings == 0);
            }
            share *= 0.5;
        }
        momentum.positions(&step.velocity, &mut step.position);
        None
    }

    /// What is left of the momentum with the impulses, relative to its scale.
    pub fn measure(
        &mut self,
        momentum: &Momentum<f64>,
        contacts: &[VertexContact],
        step: &ContactStep,
    ) -> f64 {
        let (u, x) = (&step.velocity, &step.position);
        let mut scale = momentum.measured_residual(u, x, &mut self.residual);
        for (contact, impulse) in contacts.iter().zip(&step.impulses) {
            let target = &mut self.residual[contact.node];
            for (row, p) in contact.frame().iter().zip(impulse) {
                (0..3).for_each(|k| target[k] -= row[k] * p);
                scale = scale.max(p.abs());
            }
        }
        relative(largest(&self.residual), scale)
    }
}
