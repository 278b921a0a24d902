//! A and B of a step from its structure: analytic derivatives of the motion without contact, the geometry of
//! contacts by lanes, and the response of the contact problem to all of them at once, from one factorisation.
//!
//! With M v+ = M v_p + J' lambda differentiated at fixed lambda (`momenta`, for an articulated tree minus dt
//! times the derivatives of the inverse dynamics at (v+ - v) / dt), and x = L' v, M = L L':
//!
//! ```text
//! x at fixed lambda = L^-1 (d M v_p - dM (v+ - v_p) + dJ' lambda)
//! x = the response of the conditions (`ContactResponse`),   dv+ = L^-T x
//! ```

use nalgebra::DMatrix;

use super::conditions::{Condition, Conditions};
use super::contact_derivative::ContactDerivatives;
use super::displacement::Point;
use super::solved::Solved;
use super::tree_derivative::{Columns, TreeDerivatives};
use crate::argmin::Perturbation;
use crate::dynamics::FreeMotion;
use crate::linalg::{solve_lower_rows, solve_lower_transpose_rows};
use crate::model::{Integrator, System};
use crate::simulation::Workspace;

/// Scratch memory.
#[derive(Default)]
pub(super) struct Structured {
    columns: Columns,
    trees: TreeDerivatives,
    contacts: ContactDerivatives,
    perturbation: Perturbation<f64>,
    visited: Vec<bool>,
}

/// Whether the motion without contact has analytic derivatives: lone bodies, and trees by the default integrator.
fn applies(system: &System<f64>) -> bool {
    let System { model, settings, .. } = system;
    let lone = model.trees.iter().all(|tree| tree.lone);
    lone || settings.integrator == Integrator::SemiImplicit
}

impl Structured {
    /// Writes A and B of the step that `workspace` holds, by its `conditions`. False if they are not to be had this
    /// way; what is written then is of no use.
    #[must_use]
    pub fn linearize(
        &mut self,
        at: &Point,
        (workspace, conditions): (&Workspace<f64>, &mut Conditions),
        (a, b): (&mut DMatrix<f64>, &mut DMatrix<f64>),
    ) -> bool {
        let (motion, contacts) = workspace.parts();
        let end = &contacts.velocities;
        if !applies(at.system) || !self.trees.update(at, motion, end) {
            return false;
        }
        self.contacts.start(at.system);
        self.visited.clear();
        self.visited.resize(motion.trees(), false);
        for (k, (island, problem)) in contacts.solved().enumerate() {
            island.trees.iter().for_each(|&tree| self.visited[tree] = true);
            let (node, ..) = problem.solved();
            let Condition::Coupled(factor) = conditions.of(k) else { return false };
            let response = &mut factor.response;
            // The null-space part of the impulses changes with the rows, which the geometry on six lanes does not say.
            if response.sharing_matters() {
                return false;
            }
            self.columns.start(at, island.trees.iter().copied());
            let (n, m) = (self.columns.velocities, self.columns.count());
            self.perturbation.fit(node, m, n);
            self.momenta(at, motion);
            let solved = Solved {
                at,
                motion,
                contacts,
                island: &island,
                problem,
                response,
                columns: &self.columns,
            };
            if !self.contacts.add(&solved, &mut self.perturbation) {
                return false;
            }
            self.solve(at, motion, solve_lower_rows);
            response.respond(node, &mut self.perturbation);
            self.solve(at, motion, solve_lower_transpose_rows);
            self.end(at, motion, end, (a, b));
        }
        for tree in 0..motion.trees() {
            if self.visited[tree] {
                continue;
            }
            self.columns.start(at, [tree]);
            self.perturbation.x.clear();
            self.perturbation.x.resize(self.columns.velocities * self.columns.count(), 0.0);
            self.momenta(at, motion);
            self.solve(at, motion, solve_lower_rows);
            self.solve(at, motion, solve_lower_transpose_rows);
            self.end(at, motion, end, (a, b));
        }
        true
    }

    fn momenta(&mut self, at: &Point, motion: &FreeMotion<f64>) {
        for &tree in &self.columns.trees {
            self.trees.momenta(at, motion, tree, &self.columns, &mut self.perturbation.x);
        }
    }

    fn end(
        &mut self,
        at: &Point,
        motion: &FreeMotion<f64>,
        end: &[f64],
        (a, b): (&mut DMatrix<f64>, &mut DMatrix<f64>),
    ) {
        for &tree in &self.columns.trees {
            self.trees.end(at, motion, tree, &self.columns, (&self.perturbation.x, end), (a, b));
        }
    }

    /// X <- L^-1 X or L^-T X, tree by tree.
    fn solve(
        &mut self,
        at: &Point,
        motion: &FreeMotion<f64>,
        triangle: fn(&[f64], usize, usize, &mut [f64]),
    ) {
        let m = self.columns.count();
        for &tree in &self.columns.trees {
            let rows = self.columns.rows(at.system, tree);
            let x = &mut self.perturbation.x[rows.start * m..rows.end * m];
            triangle(motion.tree(tree).mass_factor, rows.len(), m, x);
        }
    }
}
