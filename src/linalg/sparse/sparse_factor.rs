//! Factors of sparse matrices of 3x3 blocks without pivoting, front by front (`Duff83`): L D L' of symmetric ones, L U of
//! others with a symmetric pattern.

use super::block_matrix::BlockMatrix;
use super::dense_front::Panels;
use super::symbolic::{Front, Symbolic};
use crate::linalg::FactorError;

/// The factors of a matrix in the order of a [`Symbolic`]. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct SparseFactor {
    symmetric: bool,
    /// Of each front its columns: L, and D or U in the diagonal block; size x columns numbers.
    lower: Vec<f64>,
    /// Of each front U right of the diagonal block; columns x rows numbers. Nothing of a symmetric one.
    upper: Vec<f64>,
    /// Where the numbers of each front start in both.
    starts: Vec<[usize; 2]>,
    /// What is left of the nodes that are not eliminated, by rows.
    condensed: Vec<f64>,
    negative: usize,
    /// Scratch memory: the front, what waits for later ones, a vector.
    front: Vec<f64>,
    waiting: Vec<f64>,
    handing: Vec<usize>,
    panels: Panels,
    permuted: Vec<f64>,
}

impl SparseFactor {
    /// Factorises; of a `symmetric` matrix the half below the diagonal is looked at, in the order of elimination.
    ///
    /// # Errors
    /// If a pivot is zero or not finite: its row is that in the order of elimination.
    pub fn factor(
        &mut self,
        symbolic: &Symbolic,
        matrix: &BlockMatrix<f64>,
        symmetric: bool,
    ) -> Result<(), FactorError> {
        self.symmetric = symmetric;
        self.negative = 0;
        self.lower.clear();
        self.upper.clear();
        self.starts.clear();
        self.waiting.clear();
        self.handing.clear();
        let (kept, eliminated) = match symbolic.fronts.split_last() {
            Some((kept, eliminated)) => (kept, eliminated),
            None => return Ok(()),
        };
        for (k, front) in eliminated.iter().enumerate() {
            self.assemble(symbolic, front, matrix);
            let (n, columns) = (3 * front.size(), 3 * front.columns);
            let eliminate = self.panels.eliminate(&mut self.front, n, columns, symmetric);
            eliminate.map_err(|column| FactorError::Pivot(3 * front.first + column))?;
            self.starts.push([self.lower.len(), self.upper.len()]);
            for row in self.front.chunks_exact(n) {
                self.lower.extend_from_slice(&row[..columns]);
            }
            for (column, row) in self.front.chunks_exact(n).enumerate() {
                if column < columns {
                    self.negative += usize::from(row[column] < 0.0);
                    if !symmetric {
                        self.upper.extend_from_slice(&row[columns..]);
                    }
                } else {
                    let end = if symmetric { column + 1 } else { n };
                    self.waiting.extend_from_slice(&row[columns..end]);
                }
            }
            if !front.rows.is_empty() {
                self.handing.push(k);
            }
        }
        self.assemble(symbolic, kept, matrix);
        if symmetric {
            let n = 3 * kept.columns;
            for i in 0..n {
                for j in 0..i {
                    self.front[j * n + i] = self.front[i * n + j];
                }
            }
        }
        std::mem::swap(&mut self.condensed, &mut self.front);
        Ok(())
    }

    /// The entries of a front: of the matrix, and what the fronts before it hand over, which wait last.
    fn assemble(&mut self, symbolic: &Symbolic, front: &Front, matrix: &BlockMatrix<f64>) {
        let n = 3 * front.size();
        self.front.resize(n * n, 0.0);
        for (k, row) in self.front.chunks_exact_mut(n.max(1)).enumerate() {
            // Of a symmetric one nobody looks at the upper half.
            let end = if self.symmetric { k + 1 } else { n };
            row[..end].fill(0.0);
        }
        for &[row, column, block, mirror] in &front.entries {
            let (upper, lower) = (&matrix.blocks[block], &matrix.blocks[mirror]);
            for i in 0..3 {
                let at = (3 * row + i) * n + 3 * column;
                self.front[at..at + 3].copy_from_slice(&lower[i]);
                if !self.symmetric {
                    let at = (3 * column + i) * n + 3 * row;
                    self.front[at..at + 3].copy_from_slice(&upper[i]);
                }
            }
        }
        for _ in 0..front.children {
            let Some(child) = self.handing.pop().map(|k| &symbolic.fronts[k]) else { return };
            let m = 3 * child.rows.len();
            // Of a symmetric one the lower half.
            let count = if self.symmetric { m * (m + 1) / 2 } else { m * m };
            let first = self.waiting.len() - count;
            let mut start = first;
            for (i, &row) in child.targets.iter().enumerate() {
                for k in 0..3 {
                    let end = start + if self.symmetric { 3 * i + k + 1 } else { m };
                    let (own, rest) = self.waiting[start..end].as_chunks::<3>();
                    start = end;
                    let target = &mut self.front[(3 * row + k) * n..(3 * row + k + 1) * n];
                    for (&column, own) in child.targets.iter().zip(own) {
                        let target = &mut target[3 * column..3 * column + 3];
                        (0..3).for_each(|j| target[j] += own[j]);
                    }
                    for (x, own) in target[3 * row..].iter_mut().zip(rest) {
                        *x += own;
                    }
                }
            }
            self.waiting.truncate(first);
        }
    }

    /// How many pivots are negative: none of a symmetric matrix that is positive definite.
    pub fn negative_pivots(&self) -> usize {
        self.negative
    }

    /// What is left of the nodes that are not eliminated, A_cc - A_ci A_ii^-1 A_ic, by rows: the condensed matrix.
    pub fn condensed(&self) -> &[f64] {
        &self.condensed
    }

    /// L of the symmetric part of the condensed matrix, L L' by rows. False if that is not positive definite.
    #[must_use]
    pub fn condensed_cholesky(&mut self, l: &mut Vec<f64>) -> bool {
        let n = self.condensed.len().isqrt();
        l.clear();
        l.resize(n * n, 0.0);
        for i in 0..n {
            for j in 0..=i {
                l[i * n + j] = 0.5 * (self.condensed[i * n + j] + self.condensed[j * n + i]);
            }
        }
        if self.panels.eliminate(l, n, n, true).is_err() {
            return false;
        }
        let roots = &mut self.permuted;
        roots.clear();
        roots.extend(l.iter().step_by(n + 1).map(|pivot| pivot.sqrt()));
        for (i, row) in l.chunks_exact_mut(n.max(1)).enumerate() {
            row[..i].iter_mut().zip(roots.iter()).for_each(|(x, root)| *x *= root);
            row[i] = roots[i];
            row[i + 1..].fill(0.0);
        }
        roots.iter().all(|&root| root > 0.0 && root.is_finite())
    }

    /// x <- A^-1 x, where all nodes are eliminated.
    pub fn solve(&mut self, symbolic: &Symbolic, transposed: bool, x: &mut [[f64; 3]]) {
        self.forward(symbolic, transposed, x);
        self.backward(symbolic, transposed, x);
    }

    /// The first half of a solve: at the nodes that are not eliminated stands b_c - A_ci A_ii^-1 b_i then.
    pub fn forward(&mut self, symbolic: &Symbolic, transposed: bool, x: &mut [[f64; 3]]) {
        let mut y = std::mem::take(&mut self.permuted);
        y.clear();
        y.extend(symbolic.order.iter().flat_map(|&node| x[node]));
        for (front, &start) in symbolic.fronts.iter().zip(&self.starts) {
            let Panel { lower, upper, n, .. } = self.panel(front, start);
            let (own, later) = y[3 * front.first..].split_at_mut(n);
            let base = 3 * (front.first + front.columns);
            let mut rows =
                front.rows.iter().flat_map(|&row| (3 * row..3 * row + 3).map(|k| k - base));
            if transposed && !self.symmetric {
                // U'y = x
                for k in 0..n {
                    let row = &lower[k * n..(k + 1) * n];
                    own[k] /= row[k];
                    let y = own[k];
                    own[k + 1..].iter_mut().zip(&row[k + 1..]).for_each(|(x, u)| *x -= u * y);
                }
                let width = 3 * front.rows.len();
                for (j, row) in rows.enumerate() {
                    later[row] -= (0..n).map(|k| upper[k * width + j] * own[k]).sum::<f64>();
                }
            } else {
                for k in 1..n {
                    let (before, rest) = own.split_at_mut(k);
                    rest[0] -= dot(&lower[k * n..k * n + k], before);
                }
                for row in lower[n * n..].chunks_exact(n) {
                    if let Some(at) = rows.next() {
                        later[at] -= dot(row, own);
                    }
                }
            }
        }
        self.hand_back(symbolic, y, x);
    }

    /// The second half of a solve, with the solution at the nodes that are not eliminated.
    pub fn backward(&mut self, symbolic: &Symbolic, transposed: bool, x: &mut [[f64; 3]]) {
        let mut y = std::mem::take(&mut self.permuted);
        y.clear();
        y.extend(symbolic.order.iter().flat_map(|&node| x[node]));
        for (front, &start) in symbolic.fronts.iter().zip(&self.starts).rev() {
            let Panel { lower, upper, n } = self.panel(front, start);
            let (own, later) = y[3 * front.first..].split_at_mut(n);
            let base = 3 * (front.first + front.columns);
            let rows = front.rows.iter().flat_map(|&row| (3 * row..3 * row + 3).map(|k| k - base));
            if self.symmetric || transposed {
                if self.symmetric {
                    own.iter_mut().enumerate().for_each(|(k, x)| *x /= lower[k * (n + 1)]);
                }
                // L'x = y
                for (row, at) in lower[n * n..].chunks_exact(n).zip(rows) {
                    let y = later[at];
                    own.iter_mut().zip(row).for_each(|(x, l)| *x -= l * y);
                }
                for k in (1..n).rev() {
                    let (before, rest) = own.split_at_mut(k);
                    let y = rest[0];
                    before.iter_mut().zip(&lower[k * n..]).for_each(|(x, l)| *x -= l * y);
                }
            } else {
                let width = 3 * front.rows.len();
                for k in (0..n).rev() {
                    let (u, row) = (&upper[k * width..(k + 1) * width], &lower[k * n..(k + 1) * n]);
                    let far: f64 = u.iter().zip(rows.clone()).map(|(u, at)| u * later[at]).sum();
                    let near = dot(&row[k + 1..], &own[k + 1..]);
                    own[k] = (own[k] - far - near) / row[k];
                }
            }
        }
        self.hand_back(symbolic, y, x);
    }

    fn hand_back(&mut self, symbolic: &Symbolic, y: Vec<f64>, x: &mut [[f64; 3]]) {
        for (&node, y) in symbolic.order.iter().zip(y.as_chunks::<3>().0) {
            x[node] = *y;
        }
        self.permuted = y;
    }

    fn panel(&self, front: &Front, [lower, upper]: [usize; 2]) -> Panel<'_> {
        let n = 3 * front.columns;
        let across = if self.symmetric { 0 } else { 3 * front.rows.len() };
        Panel {
            lower: &self.lower[lower..lower + 3 * front.size() * n],
            upper: &self.upper[upper..upper + n * across],
            n,
        }
    }
}

/// The numbers of a front that is eliminated.
struct Panel<'a> {
    lower: &'a [f64],
    upper: &'a [f64],
    /// How many columns.
    n: usize,
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    crate::linalg::wide_dot(x, y)
}
