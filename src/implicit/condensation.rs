//! The matrix of a step condensed on the vertices that may touch: these are eliminated last, so that what is left of the
//! matrix is what they feel of the whole body.

use super::momentum::Momentum;
use crate::linalg::{BlockMatrix, BlockPattern, SparseFactor, Symbolic, dot, solve_lower};

/// A factorised matrix dR/du, and S, what is left of it at the vertices that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Condensation {
    symbolic: Symbolic,
    /// The pattern that is of.
    known: BlockPattern,
    matrix: BlockMatrix<f64>,
    factor: SparseFactor,
    /// L of the symmetric part of S, or of what stands for it.
    pub mass_factor: Vec<f64>,
    /// Whether L is of what stands for S.
    stands_in: bool,
}

impl Condensation {
    /// Decides which vertices are kept: those in `needed`, ascending, and perhaps more.
    pub fn keep(&mut self, momentum: &Momentum<f64>, needed: &[usize]) {
        let pattern = momentum.elements.pattern();
        let kept = self.symbolic.kept_nodes();
        let holds = needed.iter().all(|node| kept.binary_search(node).is_ok());
        // Vertices that once touched and no more make all dearer.
        let most = if needed.is_empty() { 0 } else { needed.len() + needed.len() / 2 + 4 };
        let is_lean = kept.len() <= most;
        if self.known != *pattern || !holds || !is_lean {
            self.symbolic = Symbolic::new(pattern, needed);
            self.known.clone_from(pattern);
        }
    }

    /// Keeps just the vertices in `kept`, ascending.
    pub fn keep_just(&mut self, momentum: &Momentum<f64>, kept: &[usize]) {
        let pattern = momentum.elements.pattern();
        if self.known != *pattern || self.kept() != kept {
            self.symbolic = Symbolic::new(pattern, kept);
            self.known.clone_from(pattern);
        }
    }

    /// The vertices that are kept, ascending.
    pub fn kept(&self) -> &[usize] {
        self.symbolic.kept_nodes()
    }

    /// Factorises dR/du at u, where nodes are at x; `projected` to be positive definite. False if S is not.
    #[must_use]
    pub fn factor(
        &mut self,
        momentum: &Momentum<f64>,
        u: &[[f64; 3]],
        x: &[[f64; 3]],
        projected: bool,
    ) -> bool {
        let symmetric = momentum.is_symmetric() || projected;
        self.stands_in = false;
        momentum.tangent(u, x, projected, &mut self.matrix)
            && self.factor.factor(&self.symbolic, &self.matrix, symmetric).is_ok()
            && self.factor.condensed_cholesky(&mut self.mass_factor)
    }

    /// The same where S need not be positive definite, as that of a body which is pressed and does not topple only for what it touches
    /// or is tied to: L is of the projected matrix then.
    #[must_use]
    pub fn factor_any(&mut self, momentum: &Momentum<f64>, u: &[[f64; 3]], x: &[[f64; 3]]) -> bool {
        if self.factor(momentum, u, x, false) {
            return true;
        }
        if !self.factor(momentum, u, x, true) {
            return false;
        }
        self.stands_in = true;
        momentum.tangent(u, x, false, &mut self.matrix)
            && self.factor.factor(&self.symbolic, &self.matrix, momentum.is_symmetric()).is_ok()
    }

    /// Whether S is more than L L'.
    pub fn has_rest(&self, momentum: &Momentum<f64>) -> bool {
        self.stands_in || !momentum.is_symmetric()
    }

    /// L^-1 (S - L L') L^-T, by rows.
    pub fn rest(&self) -> Vec<f64> {
        let (s, l) = (self.condensed(), &self.mass_factor);
        let n = s.len().isqrt();
        // S - L L' by columns.
        let entry = |k: usize| {
            let (column, row) = (k / n, k % n);
            if !self.stands_in {
                return 0.5 * (s[row * n + column] - s[column * n + row]);
            }
            let most = row.min(column) + 1;
            s[row * n + column] - dot(&l[row * n..][..most], &l[column * n..][..most])
        };
        let mut columns: Vec<f64> = (0..n * n).map(entry).collect();
        columns.chunks_exact_mut(n.max(1)).for_each(|column| solve_lower(l, n, column));
        let mut rows: Vec<f64> = (0..n * n).map(|k| columns[k % n * n + k / n]).collect();
        rows.chunks_exact_mut(n.max(1)).for_each(|row| solve_lower(l, n, row));
        rows
    }

    /// S by rows.
    pub fn condensed(&self) -> &[f64] {
        self.factor.condensed()
    }

    /// Takes the others out of a right-hand side: what is left of it stands at the kept vertices.
    pub fn forward(&mut self, transposed: bool, b: &mut [[f64; 3]]) {
        self.factor.forward(&self.symbolic, transposed, b);
    }

    /// From the solution at the kept vertices that at the others.
    pub fn backward(&mut self, transposed: bool, x: &mut [[f64; 3]]) {
        self.factor.backward(&self.symbolic, transposed, x);
    }

    /// The numbers at the kept vertices.
    pub fn gather(&self, x: &[[f64; 3]], kept: &mut Vec<f64>) {
        kept.clear();
        kept.extend(self.kept().iter().flat_map(|&node| x[node]));
    }

    /// Puts numbers at the kept vertices.
    pub fn scatter(&self, kept: &[f64], x: &mut [[f64; 3]]) {
        for (&node, own) in self.kept().iter().zip(kept.as_chunks::<3>().0) {
            x[node] = *own;
        }
    }
}
