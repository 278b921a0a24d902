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

use nalgebra::{DMatrix, DVector};

use super::conditions::{Condition, Conditions};
use super::contact_derivative::ContactDerivatives;
use super::displacement::Point;
use super::end_of_step::WholeMomentum;
use super::guest_slopes::GuestSlopes;
use super::loop_closure::LoopClosure;
use super::selection::Selection;
use super::solved::Solved;
use super::state_force_response::are_forces;
use super::tree_derivative::{Columns, TreeDerivatives};
use crate::argmin::{ContactResponse, Perturbation};
use crate::contact::Contacts;
use crate::dynamics::FreeMotion;
use crate::linalg::{solve_lower_rows, solve_lower_transpose_rows};
use crate::model::{Integrator, System};
use crate::simulation::ClosureStep;

/// Scratch memory.
#[derive(Default)]
pub(super) struct Structured {
    columns: Columns,
    trees: TreeDerivatives,
    contacts: ContactDerivatives,
    perturbation: Perturbation<f64>,
    visited: Vec<bool>,
    closed: Closed,
    whole: WholeMomentum,
}

/// What a displacement does to coordinates, as a step; and one column of them.
#[derive(Default)]
struct Closed {
    map: DMatrix<f64>,
    inputs: DMatrix<f64>,
    column: DVector<f64>,
}

/// Whether the motion without contact has analytic derivatives: lone bodies, and trees with forces that are given. Those of the
/// state come afterwards, but in the stages of Runge and Kutta, after which no displacement closes loops.
fn applies(system: &System<f64>) -> bool {
    let System { model, settings, .. } = system;
    // Of steps from two states nothing is known here, and forces that depend on the state are those at the end of implicit steps.
    let of_end = settings.integrator.is_backward() && model.has_state_forces();
    if !are_forces(model) || of_end || settings.integrator == Integrator::Bdf2 {
        return false;
    }
    let lone = model.trees.iter().all(|tree| tree.lone);
    let staged = settings.integrator == Integrator::RungeKutta;
    lone || !staged || !model.has_state_forces() && !model.has_loops()
}

impl Structured {
    /// Writes A and B of a step with these contact problems, by their `conditions`; of the closure of loops after it see
    /// [`closed`](Self::closed). False if they are not to be had this
    /// way; what is written then is of no use.
    #[must_use]
    pub fn linearize(
        &mut self,
        at: &Point,
        (motion, contacts, conditions): (&FreeMotion<f64>, &Contacts<f64>, &mut Conditions),
        (a, b): (&mut DMatrix<f64>, &mut DMatrix<f64>),
    ) -> bool {
        let end = &contacts.velocities;
        let admissible = (0..motion.trees()).all(|tree| motion.is_admissible(tree));
        if !applies(at.system) || !admissible || !self.trees.update(at, motion, end) {
            return false;
        }
        self.contacts.start(at.system);
        self.visited.clear();
        self.visited.resize(motion.trees(), false);
        for (k, (island, problem)) in contacts.solved().enumerate() {
            island.trees.iter().for_each(|&tree| self.visited[tree] = true);
            // That is for who knows the guests: see [`host`](Self::host).
            if island.has_guests {
                continue;
            }
            let (node, ..) = problem.solved();
            let Condition::Coupled(factor) = conditions.of(k) else { return false };
            if !factor.is_determined() {
                return false;
            }
            let response = &factor.response;
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
            factor.velocities(node, &mut self.perturbation);
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
            if motion.tree(tree).rest.is_empty() {
                self.solve(at, motion, solve_lower_rows);
                self.solve(at, motion, solve_lower_transpose_rows);
            } else {
                if !self.whole.factor(&motion.tree(tree)) {
                    return false;
                }
                self.whole.solve_rows(self.columns.count(), &mut self.perturbation.x);
            }
            self.end(at, motion, end, (a, b));
        }
        true
    }

    /// Of the island with guests, after [`linearize`](Self::linearize), in the place of its columns of A and B: what its trees end with by
    /// where they begin, and in the columns of velocities by v+. What the columns do to its conditions and momenta is in
    /// [`perturbed`](Self::perturbed). False if that is not to be had.
    #[must_use]
    pub fn host(
        &mut self,
        at: &Point,
        (motion, contacts): (&FreeMotion<f64>, &Contacts<f64>),
        (guests, response): (&[GuestSlopes], &ContactResponse<f64>),
        (a, b): (&mut DMatrix<f64>, &mut DMatrix<f64>),
    ) -> bool {
        let end = &contacts.velocities;
        let Some((island, problem)) = contacts.solved().find(|(island, _)| island.has_guests)
        else {
            return false;
        };
        let (node, ..) = problem.solved();
        self.columns.start(at, island.trees.iter().copied());
        let (n, m) = (self.columns.velocities, self.columns.count());
        // Velocities at the end by themselves.
        self.perturbation.x.clear();
        self.perturbation.x.resize(n * m, 0.0);
        (0..n).for_each(|k| self.perturbation.x[k * m + n + k] = 1.0);
        self.end(at, motion, end, (a, b));
        self.perturbation.fit(node, m, m);
        self.momenta(at, motion);
        let columns = &self.columns;
        let island = &island;
        let solved = Solved { at, motion, contacts, island, problem, response, columns };
        self.contacts.add_with(&solved, guests, &mut self.perturbation)
    }

    /// The columns of the island with guests, and what they do.
    pub fn perturbed(&self) -> (&Columns, &Perturbation<f64>) {
        (&self.columns, &self.perturbation)
    }

    /// Carries A and B of a step on through the displacements that closed its loops. False if these have no derivatives this
    /// way; what is written then is of no use.
    #[must_use]
    pub fn close(
        &mut self,
        at: &Point,
        (closing, conditions): (&LoopClosure, &mut Conditions),
        (a, b): (&mut DMatrix<f64>, &mut DMatrix<f64>),
    ) -> bool {
        let (parameters, inputs) = closing.numbers();
        let System { model, settings, .. } = *at.system;
        let (system, nv) = (System { model, parameters, settings }, model.nv());
        let mut closed = std::mem::take(&mut self.closed);
        if closed.column.len() != nv {
            closed.column = DVector::zeros(nv);
        }
        let selection = Selection { inputs: &[], parameters: &[] };
        let done = closing.iter().all(|ClosureStep { state, motion, contacts }| {
            let at = Point { system: &system, state, inputs, selection, closes: true, ..*at };
            let Closed { map, inputs, column } = &mut closed;
            if map.shape() != (2 * nv, 2 * nv) {
                *map = DMatrix::zeros(2 * nv, 2 * nv);
            }
            map.fill(0.0);
            conditions.factor_kept(false, contacts);
            let done = self.linearize(&at, (motion, contacts, conditions), (map, inputs));
            // Velocities stay as they are.
            let map = map.view((0, 0), (nv, nv));
            for mut end in
                [&mut *a, &mut *b].into_iter().flat_map(|matrix| matrix.column_iter_mut())
            {
                column.copy_from(&end.rows(0, nv));
                end.rows_mut(0, nv).gemv(1.0, &map, column, 0.0);
            }
            done
        });
        self.closed = closed;
        done
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
