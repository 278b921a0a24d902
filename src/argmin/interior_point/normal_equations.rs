//! The linear systems of the [interior point](super::) on cones.

use super::contact::Contact;
use super::second_order_cone::{Matrix, Point, inner};
use crate::argmin::block_rows::BlockRows;
use crate::linalg::{BlockLu, Elimination, Lu, PackedCholesky};

/// The system (I + extra p p' + V W W'V) y = right in scaled steps, with W W' replaced by
/// (W + e turn'W) W' where the shift is linearised. Reduced to as many unknowns as there are
/// velocities, or impulses if those are fewer: symmetric by Cholesky, else by LU.
///
/// All is formed from V, never from V^-2, whose eigenvalues span twice as many digits.
#[derive(Clone, Debug, Default)]
pub(super) struct NormalEquations {
    /// S = R V W, and R V (I + e turn') W.
    s: Vec<f64>,
    turned: Vec<f64>,
    /// W W', 3 rows a contact, if there are fewer impulses than velocities; else empty.
    gram: Vec<f64>,
    matrix: Vec<f64>,
    newton: bool,
    cholesky: PackedCholesky<f64>,
    lu: Lu<f64>,
    /// Of many trees.
    pattern: Elimination,
    blocks: BlockLu<f64>,
    row: Vec<f64>,
    rhs: Vec<f64>,
}

/// A x
fn apply(matrix: &Matrix, x: Point) -> Point {
    matrix.map(|row| inner(row, x))
}

/// s <- the rows of each contact times its matrix.
fn multiply(
    rows: &BlockRows,
    w: &[f64],
    contacts: &[Contact],
    matrix: impl Fn(&Contact) -> &Matrix,
    s: &mut Vec<f64>,
) {
    s.clear();
    s.resize(w.len(), 0.0);
    for (block, contact) in rows.blocks().iter().zip(contacts) {
        for (r, factors) in matrix(contact).iter().enumerate().take(block.rows) {
            for (q, &factor) in factors.iter().enumerate().take(block.rows) {
                for (s, &w) in block.row_mut(s, r).iter_mut().zip(block.row(w, q)) {
                    *s += factor * w;
                }
            }
        }
    }
}

impl NormalEquations {
    /// Decides which matrix is smaller, and prepares it.
    pub fn prepare(&mut self, rows: &BlockRows, w: &[f64]) {
        let n = 3 * rows.blocks().len();
        self.gram.clear();
        if rows.is_large() {
            rows.decide(&mut self.pattern);
            return;
        }
        if n >= rows.velocities() {
            return;
        }
        self.gram.resize(n * n, 0.0);
        for (i, block) in rows.blocks().iter().enumerate() {
            for r in 0..block.rows {
                // The row as a vector of all velocities makes products with others short.
                self.row.clear();
                self.row.resize(rows.velocities(), 0.0);
                block.add_times(block.row(w, r), 1.0, &mut self.row);
                for (j, other) in rows.blocks().iter().enumerate() {
                    if !other.trees.iter().any(|tree| block.trees.contains(tree)) {
                        continue;
                    }
                    for q in 0..other.rows {
                        let product = other.times(other.row(w, q), &self.row);
                        self.gram[(3 * i + r) * n + 3 * j + q] = product;
                    }
                }
            }
        }
    }

    /// Factorises I + S'S or I + S S' with S = R V W; with `newton` the right of the two S is that of
    /// shifted rows. False if it cannot be.
    #[must_use]
    pub fn factor(
        &mut self,
        rows: &BlockRows,
        w: &[f64],
        contacts: &[Contact],
        newton: bool,
    ) -> bool {
        self.newton = newton;
        if rows.is_large() {
            return self.factor_by_blocks(rows, w, contacts);
        }
        self.matrix.clear();
        let side = if self.gram.is_empty() {
            self.assemble_velocities(rows, w, contacts);
            rows.velocities()
        } else {
            self.assemble_contacts(contacts);
            3 * contacts.len()
        };
        if newton {
            self.lu.factor(&self.matrix, side)
        } else {
            self.cholesky.factor(&self.matrix, side).is_ok()
        }
    }

    fn factor_by_blocks(&mut self, rows: &BlockRows, w: &[f64], contacts: &[Contact]) -> bool {
        multiply(rows, w, contacts, |c| &c.rows, &mut self.s);
        if self.newton {
            multiply(rows, w, contacts, |c| &c.turned, &mut self.turned);
        }
        let right = if self.newton { &self.turned } else { &self.s };
        self.blocks.start(&self.pattern, !self.newton);
        for block in rows.blocks() {
            let (s, t) = (block.all_rows(&self.s), block.all_rows(right));
            self.blocks.add(&self.pattern, block.trees, block.rows, s, t);
        }
        self.blocks.factor(&self.pattern)
    }

    fn assemble_velocities(&mut self, rows: &BlockRows, w: &[f64], contacts: &[Contact]) {
        let nv = rows.velocities();
        self.matrix.resize(nv * nv, 0.0);
        for i in 0..nv {
            self.matrix[i * nv + i] = 1.0;
        }
        multiply(rows, w, contacts, |c| &c.rows, &mut self.s);
        if self.newton {
            multiply(rows, w, contacts, |c| &c.turned, &mut self.turned);
        }
        let right = if self.newton { &self.turned } else { &self.s };
        for block in rows.blocks() {
            for r in 0..block.rows {
                let (s, t) = (block.row(&self.s, r), block.row(right, r));
                for (columns, part) in block.segments() {
                    for (other, others) in block.segments() {
                        for (i, &si) in columns.clone().zip(&s[part.clone()]) {
                            // Cholesky reads the lower triangle only.
                            let below = (i + 1).saturating_sub(other.start);
                            let width =
                                if self.newton { other.len() } else { other.len().min(below) };
                            let row = &mut self.matrix[i * nv + other.start..][..width];
                            for (m, &tj) in row.iter_mut().zip(&t[others.clone()]) {
                                *m += si * tj;
                            }
                        }
                    }
                }
            }
        }
    }

    fn assemble_contacts(&mut self, contacts: &[Contact]) {
        let n = 3 * contacts.len();
        self.matrix.resize(n * n, 0.0);
        for (i, a) in contacts.iter().enumerate() {
            let end = if self.newton { contacts.len() } else { i + 1 };
            for (j, b) in contacts[..end].iter().enumerate() {
                let gram = |r: usize, q: usize| self.gram[(3 * i + r) * n + 3 * j + q];
                let half: Matrix = std::array::from_fn(|r| {
                    std::array::from_fn(|q| (0..3).map(|k| gram(r, k) * b.rows[q][k]).sum())
                });
                let root = if self.newton { &a.turned } else { &a.rows };
                for (r, p) in root.iter().enumerate() {
                    let start = (3 * i + r) * n + 3 * j;
                    for (q, m) in self.matrix[start..start + 3].iter_mut().enumerate() {
                        *m = p[0] * half[0][q] + p[1] * half[1][q] + p[2] * half[2][q];
                    }
                }
            }
        }
        for i in 0..n {
            self.matrix[i * n + i] += 1.0;
        }
    }

    fn solve_factor(&mut self, rows: &BlockRows) {
        if rows.is_large() {
            self.blocks.solve(&self.pattern, &mut self.rhs);
        } else if self.newton {
            self.lu.solve(&mut self.rhs);
        } else {
            self.cholesky.solve(&mut self.rhs);
        }
    }

    /// Each contact's scaled dx: (I + extra p p' + V W W'V)^-1 right
    pub fn solve(&mut self, rows: &BlockRows, contacts: &mut [Contact]) {
        for c in contacts.iter_mut() {
            c.scaled_dx = apply(&c.root, c.right);
        }
        self.rhs.clear();
        if self.gram.is_empty() {
            self.rhs.resize(rows.velocities(), 0.0);
            for (block, c) in rows.blocks().iter().zip(&*contacts) {
                for r in 0..block.rows {
                    block.add_times(block.row(&self.s, r), c.scaled_dx[r], &mut self.rhs);
                }
            }
            self.solve_factor(rows);
            let s = if self.newton { &self.turned } else { &self.s };
            for (block, c) in rows.blocks().iter().zip(&mut *contacts) {
                for r in 0..block.rows {
                    c.scaled_dx[r] -= block.times(block.row(s, r), &self.rhs);
                }
            }
        } else {
            self.rhs.extend(contacts.iter().flat_map(|c| c.scaled_dx));
            self.solve_factor(rows);
            for (c, x) in contacts.iter_mut().zip(self.rhs.chunks_exact(3)) {
                c.scaled_dx.copy_from_slice(x);
            }
        }
        for c in &mut *contacts {
            c.scaled_dx = apply(&c.root, c.scaled_dx);
        }
    }
}
