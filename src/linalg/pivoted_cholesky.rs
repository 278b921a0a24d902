//! Rank-revealing Cholesky factorisation A = L L' of a symmetric positive semi-definite matrix (`Golub13` 4.2.8),
//! and its symmetric pseudo-inverse.

use super::wide_dot::{add_scaled, wide_dot};
use crate::ad::Real;

/// Pivots below this part of their own diagonal entry count as zero. Rounding leaves pivots of
/// about n eps (3e-14 at n = 128) where the rank is exhausted, and a matrix of unit diagonal with
/// condition 1e9 has none below 1e-9.
const RANK_TOLERANCE: f64 = 1e-12;

/// A factorised symmetric positive semi-definite matrix. Reused, it allocates nothing.
///
/// Pivots and rank are decided on values, relative to the diagonal, so that they do not depend on
/// the units of the unknowns.
#[derive(Clone, Debug, Default)]
pub struct PivotedCholesky<T> {
    n: usize,
    rank: usize,
    permutation: Vec<usize>,
    /// `rank` x n: row k is column k of L in pivoted order.
    columns: Vec<T>,
    /// L = Q R, kept when the rank is below n: Q' is `rank` x n, R `rank` x `rank`.
    basis: Vec<T>,
    triangle: Vec<T>,
    remaining: Vec<T>,
    diagonal: Vec<f64>,
    pivoted: Vec<T>,
}

impl<T: Real> PivotedCholesky<T> {
    /// Factorises the row-major `n` x `n` matrix `a`, both triangles given, and returns its rank.
    pub fn factor(&mut self, a: &[T], n: usize) -> usize {
        self.n = n;
        self.rank = 0;
        self.permutation.clear();
        self.permutation.extend(0..n);
        self.remaining.clear();
        self.remaining.extend((0..n).map(|i| a[i * n + i]));
        self.diagonal.clear();
        self.diagonal.extend(self.remaining.iter().map(|d| d.value()));
        self.columns.clear();
        for k in 0..n {
            let (mut pivot, mut largest) = (k, 0.0);
            for j in k..n {
                let left = self.remaining[j].value() / self.diagonal[j];
                if left > largest {
                    (pivot, largest) = (j, left);
                }
            }
            if largest <= RANK_TOLERANCE {
                break;
            }
            self.exchange(k, pivot);
            self.eliminate(a, k);
            self.rank += 1;
        }
        if self.rank < n {
            self.orthogonalise();
        }
        self.rank
    }

    /// The numerical rank found.
    pub fn rank(&self) -> usize {
        self.rank
    }

    fn exchange(&mut self, k: usize, pivot: usize) {
        if k == pivot {
            return;
        }
        self.permutation.swap(k, pivot);
        self.remaining.swap(k, pivot);
        self.diagonal.swap(k, pivot);
        for column in self.columns.chunks_exact_mut(self.n) {
            column.swap(k, pivot);
        }
    }

    // L_ik = (A_ik - sum_j<k L_ij L_kj) / L_kk
    fn eliminate(&mut self, a: &[T], k: usize) {
        let n = self.n;
        self.columns.resize((k + 1) * n, T::zero());
        let (done, column) = self.columns.split_at_mut(k * n);
        let row = &a[self.permutation[k] * n..][..n];
        for (entry, &i) in column.iter_mut().zip(&self.permutation).skip(k + 1) {
            *entry = row[i];
        }
        for earlier in done.chunks_exact(n) {
            add_scaled(&mut column[k + 1..], -earlier[k], &earlier[k + 1..]);
        }
        let root = self.remaining[k].sqrt();
        let inverse = root.recip();
        column[k] = root;
        for (entry, left) in column.iter_mut().zip(&mut self.remaining).skip(k + 1) {
            *entry *= inverse;
            *left -= *entry * *entry;
        }
    }

    // L = Q R by modified Gram-Schmidt; twice is enough.
    fn orthogonalise(&mut self) {
        let (n, r) = (self.n, self.rank);
        self.basis.clear();
        self.basis.extend_from_slice(&self.columns);
        self.triangle.clear();
        self.triangle.resize(r * r, T::zero());
        for k in 0..r {
            let (done, vector) = self.basis.split_at_mut(k * n);
            let vector = &mut vector[..n];
            for _ in 0..2 {
                for (i, earlier) in done.chunks_exact(n).enumerate() {
                    let along = wide_dot(earlier, vector);
                    add_scaled(vector, -along, earlier);
                    self.triangle[i * r + k] += along;
                }
            }
            let length = wide_dot(vector, vector).sqrt();
            let inverse = length.recip();
            vector.iter_mut().for_each(|v| *v *= inverse);
            self.triangle[k * r + k] = length;
        }
    }

    /// x <- A+ x, the solution of least norm of the least-squares problem A y = x.
    ///
    /// A+ = L (L'L)^-2 L' = Q R^-T R^-1 Q' is symmetric, hence its own transpose.
    pub fn solve(&mut self, x: &mut [T]) {
        let n = self.n;
        if n == 0 {
            return;
        }
        self.pivoted.clear();
        self.pivoted.extend(self.permutation.iter().map(|&p| x[p]));
        if self.rank == n {
            self.solve_full_rank();
        } else {
            self.solve_least_norm();
        }
        for (&p, &y) in self.permutation.iter().zip(&self.pivoted) {
            x[p] = y;
        }
    }

    /// x <- (I - Q Q') x, the part outside the range of A.
    pub fn reject(&mut self, x: &mut [T]) {
        if self.rank == self.n {
            x.fill(T::zero());
            return;
        }
        self.pivoted.clear();
        self.pivoted.extend(self.permutation.iter().map(|&p| x[p]));
        for q in self.basis.chunks_exact(self.n) {
            let along = wide_dot(q, &self.pivoted);
            add_scaled(&mut self.pivoted, -along, q);
        }
        for (&p, &y) in self.permutation.iter().zip(&self.pivoted) {
            x[p] = y;
        }
    }

    fn solve_full_rank(&mut self) {
        let (n, y) = (self.n, &mut self.pivoted);
        for (k, column) in self.columns.chunks_exact(n).enumerate() {
            let value = y[k] / column[k];
            y[k] = value;
            add_scaled(&mut y[k + 1..], -value, &column[k + 1..]);
        }
        for (k, column) in self.columns.chunks_exact(n).enumerate().rev() {
            y[k] = (y[k] - wide_dot(&column[k + 1..], &y[k + 1..])) / column[k];
        }
    }

    fn solve_least_norm(&mut self) {
        let (n, r, y) = (self.n, self.rank, &mut self.pivoted);
        // The coordinates in Q stand behind y.
        y.resize(n + r, T::zero());
        let (y, c) = y.split_at_mut(n);
        for (c, q) in c.iter_mut().zip(self.basis.chunks_exact(n)) {
            *c = wide_dot(q, y);
        }
        for k in (0..r).rev() {
            let row = &self.triangle[k * r..][..r];
            c[k] = (c[k] - wide_dot(&row[k + 1..], &c[k + 1..])) / row[k];
        }
        for k in 0..r {
            let row = &self.triangle[k * r..][..r];
            let value = c[k] / row[k];
            c[k] = value;
            add_scaled(&mut c[k + 1..], -value, &row[k + 1..]);
        }
        y.fill(T::zero());
        for (&c, q) in c.iter().zip(self.basis.chunks_exact(n)) {
            add_scaled(y, c, q);
        }
    }
}
