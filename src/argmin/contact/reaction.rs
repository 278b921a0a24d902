//! Momenta that answer to the velocities at the end by more than masses do: M dv+ + S dv+ in the place of M dv+, with S of any kind.
//!
//! As what a response does to changes x0 of L' v+ at fixed impulses is linear, and S dv+ is one more such change, x = H (x0 - K x) with
//! K = L^-1 S L^-T: so (1 + H K) x = H x0.

use super::problem::{ContactData, CoupledContact};
use super::response::{ContactResponse, Perturbation};
use crate::ad::Real;
use crate::linalg::{Lu, solve_lower_rows, zeros};

/// K tree by tree, and 1 + H K.
#[derive(Clone, Debug, Default)]
pub(super) struct Reaction<T> {
    coupling: Vec<T>,
    lu: Lu<T>,
    /// Memory of responses: in units, and transposed; what one begins with.
    units: Perturbation<T>,
    x: Vec<T>,
    offsets: Vec<T>,
    transposed: Vec<T>,
}

impl<T: Real> Reaction<T> {
    /// Factorises. False if 1 + H K is singular.
    pub fn factor(
        &mut self,
        node: &CoupledContact,
        data: &ContactData<T>,
        response: &mut ContactResponse<T>,
    ) -> bool {
        let n = node.rows.velocities();
        couplings(node, data, &mut self.coupling, &mut self.transposed);
        let answers = &mut self.units;
        answers.fit(node, n, 0);
        write(node, &self.coupling, &mut answers.x);
        response.respond(node, answers);
        (0..n).for_each(|k| answers.x[k * (n + 1)] += T::one());
        self.lu.factor(&answers.x, n)
    }

    /// From what masses alone make of x0, in `perturbation.x`, what all that answers does.
    pub fn answer(&mut self, perturbation: &mut Perturbation<T>) {
        if perturbation.columns > 0 {
            self.lu.solve_rows(perturbation.columns, &mut perturbation.x);
        }
    }

    /// As [`ContactResponse::respond`], with what momenta answer; impulses are those of that.
    pub fn respond(
        &mut self,
        node: &CoupledContact,
        response: &mut ContactResponse<T>,
        perturbation: &mut Perturbation<T>,
    ) {
        // A response writes on these two.
        self.x.clone_from(&perturbation.x);
        self.offsets.clone_from(&perturbation.offsets);
        response.respond(node, perturbation);
        self.answer(perturbation);
        // The same once more with that known, for the impulses.
        let mut x = std::mem::take(&mut self.x);
        self.subtract(node, (&perturbation.x, perturbation.columns), false, &mut x);
        std::mem::swap(&mut perturbation.x, &mut x);
        self.x = x;
        std::mem::swap(&mut perturbation.offsets, &mut self.offsets);
        response.respond(node, perturbation);
    }

    /// The adjoint of [`respond`](Self::respond) and of the impulses, as [`ContactResponse::respond_transpose`] has it.
    pub fn respond_transpose(
        &mut self,
        node: &CoupledContact,
        response: &mut ContactResponse<T>,
        impulses: &[T],
        adjoint: &mut Perturbation<T>,
    ) {
        let columns = adjoint.columns;
        if impulses.iter().any(|x| !x.vanishes()) {
            let mut own = std::mem::take(&mut self.units);
            own.fit_whole(node, columns);
            response.respond_transpose(node, impulses, &mut own);
            self.subtract(node, (&own.x, columns), true, &mut adjoint.x);
            self.units = own;
        }
        if columns > 0 {
            self.lu.solve_transpose_rows(columns, &mut adjoint.x);
        }
        response.respond_transpose(node, impulses, adjoint);
    }

    /// x <- x - K y, or x - K' y.
    fn subtract(
        &self,
        node: &CoupledContact,
        (y, columns): (&[T], usize),
        transposed: bool,
        x: &mut [T],
    ) {
        for tree in 0..node.rows.trees() {
            let range = node.rows.tree(tree);
            let own = &self.coupling[node.rows.square(tree)];
            let m = range.len();
            for i in 0..m {
                let row = &mut x[(range.start + i) * columns..][..columns];
                for j in 0..m {
                    let k = if transposed { own[j * m + i] } else { own[i * m + j] };
                    let from = &y[(range.start + j) * columns..][..columns];
                    row.iter_mut().zip(from).for_each(|(x, &y)| *x -= k * y);
                }
            }
        }
    }
}

/// K = L^-1 S L^-T, tree by tree.
fn couplings<T: Real>(
    node: &CoupledContact,
    data: &ContactData<T>,
    coupling: &mut Vec<T>,
    transposed: &mut Vec<T>,
) {
    coupling.clear();
    coupling.extend(node.rest.iter().map(|&s| T::constant(s)));
    for tree in 0..node.rows.trees() {
        let (m, l) = (node.rows.tree(tree).len(), data.factor(tree));
        if m == 0 {
            continue;
        }
        // L^-1 S, and then L^-1 of the transpose of that, transposed.
        let own = &mut coupling[node.rows.square(tree)];
        solve_lower_rows(l, m, m, own);
        zeros(transposed, m * m);
        (0..m * m).for_each(|k| transposed[k] = own[k % m * m + k / m]);
        solve_lower_rows(l, m, m, transposed);
        (0..m * m).for_each(|k| own[k] = transposed[k % m * m + k / m]);
    }
}

/// Puts K into a matrix of all velocities, by rows.
fn write<T: Real>(node: &CoupledContact, coupling: &[T], matrix: &mut [T]) {
    let n = node.rows.velocities();
    for tree in 0..node.rows.trees() {
        let range = node.rows.tree(tree);
        let rows = coupling[node.rows.square(tree)].chunks_exact(range.len().max(1));
        for (i, row) in range.clone().zip(rows) {
            matrix[i * n + range.start..][..range.len()].copy_from_slice(row);
        }
    }
}

impl CoupledContact {
    /// Writes what momenta answer to changes of v+, K = L^-1 S L^-T, into a matrix of all velocities, by rows.
    pub(crate) fn write_couplings(&self, inputs: &[f64], matrix: &mut [f64]) {
        if self.rest.is_empty() {
            return;
        }
        let (mut coupling, mut transposed) = (Vec::new(), Vec::new());
        couplings(self, &self.data(inputs), &mut coupling, &mut transposed);
        write(self, &coupling, matrix);
    }
}
