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

use super::contact_derivative::{ContactDerivatives, Solved};
use super::displacement::Point;
use super::tree_derivative::{Columns, TreeDerivatives};
use crate::argmin::{ContactPerturbations, ContactResponse};
use crate::dynamics::FreeMotion;
use crate::linalg::add_combination;
use crate::model::{ContactSolver, Integrator, System};
use crate::simulation::Workspace;

/// Scratch memory.
#[derive(Default)]
pub(super) struct Structured {
    columns: Columns,
    trees: TreeDerivatives,
    contacts: ContactDerivatives,
    perturbations: ContactPerturbations<f64>,
    response: ContactResponse<f64>,
    x: Vec<f64>,
    visited: Vec<bool>,
}

/// Whether the steps of a system have the structure: contact problems by the coupled node, no loops, and
/// the default integrator where bodies are joined.
pub(super) fn applies(system: &System<f64>) -> bool {
    let System { model, settings, .. } = system;
    let coupled = [ContactSolver::Coupled, ContactSolver::ConvexRelaxation, ContactSolver::Pyramid];
    let lone = model.trees.iter().all(|tree| tree.lone);
    coupled.contains(&settings.solver)
        && settings.smoothing == 0.0
        && model.equalities.is_empty()
        && (lone || settings.integrator == Integrator::SemiImplicit)
}

impl Structured {
    /// Writes A and B of the step that `workspace` holds, which ended at the velocities of `result`. False if
    /// they are not to be had this way; what is written then is of no use.
    pub fn linearize(
        &mut self,
        at: &Point,
        workspace: &Workspace<f64>,
        (a, b): (&mut DMatrix<f64>, &mut DMatrix<f64>),
    ) -> bool {
        let (motion, contacts) = workspace.parts();
        let found = |tree| motion.health(tree) == (true, true);
        if workspace.was_split() || contacts.unfinished || !(0..motion.trees()).all(found) {
            return false;
        }
        let end = &contacts.velocities;
        if !self.trees.update(at, motion, end) {
            return false;
        }
        self.contacts.start(at.system);
        self.visited.clear();
        self.visited.resize(motion.trees(), false);
        for (island, problem) in contacts.solved() {
            island.trees.iter().for_each(|&tree| self.visited[tree] = true);
            let (node, inputs, outputs, solution) = problem.solved();
            let response = &mut self.response;
            if !node.response(solution, inputs, outputs, problem.workspace(), response) {
                return false;
            }
            self.columns.start(at, island.trees.iter().copied());
            self.momenta(at, motion);
            let (n, m) = (self.columns.velocities, self.columns.count());
            self.perturbations.fit(node, m, n);
            let solved = Solved {
                at,
                motion,
                contacts,
                island: &island,
                problem,
                response: &self.response,
                columns: &self.columns,
            };
            if !self.contacts.add(&solved, &mut self.perturbations, &mut self.x) {
                return false;
            }
            self.solve_lower(at, motion);
            self.response.respond(&self.perturbations, &mut self.x);
            self.solve_upper(at, motion);
            self.end(at, motion, end, (a, b));
        }
        for tree in 0..motion.trees() {
            if self.visited[tree] {
                continue;
            }
            self.columns.start(at, [tree]);
            self.momenta(at, motion);
            self.solve_lower(at, motion);
            self.solve_upper(at, motion);
            self.end(at, motion, end, (a, b));
        }
        true
    }

    fn momenta(&mut self, at: &Point, motion: &FreeMotion<f64>) {
        self.x.clear();
        self.x.resize(self.columns.velocities * self.columns.count(), 0.0);
        for &tree in &self.columns.trees {
            self.trees.momenta(at, motion, tree, &self.columns, &mut self.x);
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
            self.trees.end(at, motion, tree, &self.columns, (&self.x, end), (a, b));
        }
    }

    /// X <- L^-1 X, tree by tree.
    fn solve_lower(&mut self, at: &Point, motion: &FreeMotion<f64>) {
        let m = self.columns.count();
        for &tree in &self.columns.trees {
            let rows = self.columns.rows(at.system, tree);
            let (n, l) = (rows.len(), motion.tree(tree).mass_factor);
            let x = &mut self.x[rows.start * m..rows.end * m];
            for i in 0..n {
                let (above, row) = x.split_at_mut(i * m);
                let row = &mut row[..m];
                let terms = l[i * n..i * n + i].iter().zip(above.chunks_exact(m));
                add_combination(row, terms.map(|(&l, x)| (-l, x)).filter(|(l, _)| *l != 0.0));
                let inverse = 1.0 / l[i * (n + 1)];
                row.iter_mut().for_each(|x| *x *= inverse);
            }
        }
    }

    /// X <- L^-T X, tree by tree.
    fn solve_upper(&mut self, at: &Point, motion: &FreeMotion<f64>) {
        let m = self.columns.count();
        for &tree in &self.columns.trees {
            let rows = self.columns.rows(at.system, tree);
            let (n, l) = (rows.len(), motion.tree(tree).mass_factor);
            let x = &mut self.x[rows.start * m..rows.end * m];
            for i in (0..n).rev() {
                let (above, below) = x.split_at_mut((i + 1) * m);
                let row = &mut above[i * m..];
                let column = l[i..].iter().step_by(n).skip(i + 1);
                let terms = column.zip(below.chunks_exact(m));
                add_combination(row, terms.map(|(&l, x)| (-l, x)).filter(|(l, _)| *l != 0.0));
                let inverse = 1.0 / l[i * (n + 1)];
                row.iter_mut().for_each(|x| *x *= inverse);
            }
        }
    }
}
