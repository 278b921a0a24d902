//! Orthonormal basis of the range of a matrix, by modified Gram-Schmidt with column pivoting (`Golub13` 5.2, 5.4).

use super::cholesky;
use super::wide_dot::{add_combination, add_scaled, wide_dot};
use crate::ad::Real;

/// Columns shorter than this fraction of the longest count as dependent. Contact rows of one body
/// are either independent at the scale of its size or exactly dependent up to rounding.
const RANK_TOLERANCE: f64 = 1e-9;

/// Rows of which this fraction of the longest is left when their projection on the others is subtracted are
/// independent by any measure.
pub(crate) const CLEARLY: f64 = 1e-3;

/// A = Q R on the pivot columns of an `m` x `n` matrix; Q has orthonormal columns that span the
/// range of A. Pivots and rank are decided on values.
#[derive(Clone, Debug, Default)]
pub struct Range<T> {
    rows: usize,
    columns: usize,
    pivots: Vec<usize>,
    /// Whether the rows were seen to be clearly independent.
    clear: bool,
    /// The length of the shortest pivot relative to the longest.
    least_pivot: f64,
    /// The length of the longest column that was left, likewise.
    dropped_pivot: f64,
    /// Columns of Q, one after the other.
    q: Vec<T>,
    /// R, rank x rank, row-major, upper triangular.
    r: Vec<T>,
    work: Vec<T>,
    /// Columns that are no pivots, with the square of what is left of them.
    left: Vec<(usize, f64)>,
    coefficients: Vec<T>,
    gram: Vec<f64>,
}

/// x <- (I - q q') x. Columns of bodies that do not touch are orthogonal exactly, which is false.
fn subtract_along<T: Real>(x: &mut [T], q: &[T]) -> bool {
    let overlap = wide_dot(q, x);
    let counts = !(overlap.is_zero() && T::ORDER == 0);
    if counts {
        add_scaled(x, -overlap, q);
    }
    counts
}

/// x' y of the values, in eight independent sums.
fn overlap<T: Real>(x: &[T], y: &[T]) -> f64 {
    let mut sums = [0.0; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let rest = xs.remainder().iter().zip(ys.remainder());
    for (x, y) in xs.zip(ys) {
        for (sum, (x, y)) in sums.iter_mut().zip(x.iter().zip(y)) {
            *sum += x.value() * y.value();
        }
    }
    sums.iter_mut().zip(rest).for_each(|(sum, (x, y))| *sum += x.value() * y.value());
    sums.iter().sum()
}

impl<T: Real> Range<T> {
    /// Forgets the matrix: the range of nothing.
    pub fn clear(&mut self) {
        self.rows = 0;
        self.clear = false;
        self.pivots.clear();
    }

    /// Finds the range of the row-major `rows` x `columns` matrix `a`.
    pub fn factor(&mut self, a: &[T], rows: usize, columns: usize) {
        self.factor_within(a, rows, columns, RANK_TOLERANCE);
    }

    /// [`factor`](Self::factor) where columns shorter than `tolerance` of the longest count as dependent.
    pub fn factor_within(&mut self, a: &[T], rows: usize, columns: usize, tolerance: f64) {
        let m = rows;
        self.rows = m;
        self.columns = columns;
        self.clear = false;
        (self.least_pivot, self.dropped_pivot) = (1.0, 0.0);
        self.pivots.clear();
        self.q.clear();
        self.work.clear();
        for j in 0..columns {
            self.work.extend((0..m).map(|i| a[i * columns + j]));
        }
        self.r.clear();
        self.r.resize(m.min(columns) * m.min(columns), T::zero());
        let side = m.min(columns);
        let square = |column: &[T]| overlap(column, column);
        let columns_left = self.work.chunks_exact(m.max(1)).map(square);
        self.left.clear();
        self.left.extend(columns_left.enumerate());
        let mut longest = 0.0_f64;
        while self.pivots.len() < side {
            let mut pivot = None;
            let mut best = 0.0;
            for (place, &(_, size)) in self.left.iter().enumerate() {
                if size > best {
                    best = size;
                    pivot = Some(place);
                }
            }
            let best = best.sqrt();
            longest = longest.max(best);
            let Some(place) = pivot.filter(|_| best > tolerance * longest) else {
                self.dropped_pivot = best / longest.max(f64::MIN_POSITIVE);
                break;
            };
            self.least_pivot = best / longest;
            let (j, _) = self.left.remove(place);
            let column = &mut self.work[j * m..(j + 1) * m];
            // Orthogonalise once more against the basis: twice is enough.
            for q in self.q.chunks_exact(m) {
                subtract_along(column, q);
            }
            let length = super::norm(column);
            let start = self.q.len();
            self.q.extend(column.iter().map(|&x| x / length));
            self.pivots.push(j);
            let q = &self.q[start..];
            for (other, size) in &mut self.left {
                let column = &mut self.work[*other * m..(*other + 1) * m];
                if subtract_along(column, q) {
                    *size = square(column);
                }
            }
        }
        self.find_triangle(a);
    }

    /// R = Q' A on the pivot columns, row by row of both.
    fn find_triangle(&mut self, a: &[T]) {
        let mut rows = std::mem::take(&mut self.work);
        self.rows_of_basis(&mut rows);
        let (rank, side) = (self.rank(), self.rows.min(self.columns));
        for (k, &pivot) in self.pivots.iter().enumerate() {
            let column = &mut self.coefficients;
            column.clear();
            column.resize(k + 1, T::zero());
            let entries = a[pivot..].iter().step_by(self.columns).copied();
            let terms = entries.zip(rows.chunks_exact(rank)).map(|(a, q)| (a, &q[..=k]));
            add_combination(column, terms.filter(|(a, _)| !(a.is_zero() && T::ORDER == 0)));
            for (p, &x) in column.iter().enumerate() {
                self.r[p * side + k] = x;
            }
        }
        self.work = rows;
    }

    /// Whether the rows of a matrix are clearly independent, which costs much less to see than the range does.
    /// That is all there is then, Q = 1, and there is no R.
    pub(crate) fn is_everything(&mut self, a: &[T], rows: usize, columns: usize) -> bool {
        if rows > columns {
            return false;
        }
        self.gram.clear();
        self.gram.resize(rows * rows, 0.0);
        let row = |i: usize| &a[i * columns..(i + 1) * columns];
        let mut longest = 0.0_f64;
        for i in 0..rows {
            for k in 0..=i {
                self.gram[i * rows + k] = overlap(row(i), row(k));
            }
            longest = longest.max(self.gram[i * (rows + 1)]);
        }
        let clear = |i: usize, gram: &[f64]| gram[i * (rows + 1)] > CLEARLY * longest.sqrt();
        if !cholesky(&mut self.gram, rows) || !(0..rows).all(|i| clear(i, &self.gram)) {
            return false;
        }
        (self.rows, self.columns) = (rows, columns);
        self.clear = true;
        self.r.clear();
        self.pivots.clear();
        self.pivots.extend(0..rows);
        self.q.clear();
        self.q.resize(rows * rows, T::zero());
        (0..rows).for_each(|i| self.q[i * (rows + 1)] = T::one());
        true
    }

    /// Whether [`is_everything`](Self::is_everything) has found the rows clearly independent: their squares lose nothing.
    pub(crate) fn is_clear(&self) -> bool {
        self.clear
    }

    /// How long the shortest pivot column was, less what the others have, relative to the longest.
    pub(crate) fn least_pivot(&self) -> f64 {
        self.least_pivot
    }

    /// How long the longest column that counts as dependent is, less what the pivots have, relative to the longest.
    pub(crate) fn dropped_pivot(&self) -> f64 {
        self.dropped_pivot
    }

    /// How many rows the matrix has.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// The dimension of the range.
    pub fn rank(&self) -> usize {
        self.pivots.len()
    }

    /// Whether the rows are dependent, so that there is something outside the range.
    pub fn is_deficient(&self) -> bool {
        self.rank() < self.rows
    }

    /// x <- (I - Q Q') x, the part outside the range.
    pub fn reject(&self, x: &mut [T]) {
        let m = self.rows;
        for k in 0..self.rank() {
            subtract_along(x, &self.q[k * m..(k + 1) * m]);
        }
    }

    /// x <- (I - Q Q') e_j from entry j on: a column of the symmetric projector on what is outside the
    /// range, from its diagonal down.
    pub fn reject_unit(&self, j: usize, x: &mut Vec<T>) {
        let m = self.rows;
        x.clear();
        x.resize(m - j, T::zero());
        x[0] = T::one();
        for k in 0..self.rank() {
            let q = &self.q[k * m + j..(k + 1) * m];
            if !(q[0].is_zero() && T::ORDER == 0) {
                add_scaled(x, -q[0], q);
            }
        }
    }

    /// x <- R^-T x for the entries x of the pivot columns, in their order: with A = Q R there, what Q'y is where
    /// A'y = x. There is at least one of `columns`.
    pub(crate) fn solve_transpose(&self, x: &mut [T], columns: usize) {
        let side = self.rows.min(self.columns);
        for k in 0..self.rank() {
            let (above, row) = x.split_at_mut(k * columns);
            let row = &mut row[..columns];
            for (p, other) in above.chunks_exact(columns).enumerate() {
                add_scaled(row, -self.r[p * side + k], other);
            }
            let inverse = self.r[k * side + k].recip();
            row.iter_mut().for_each(|x| *x *= inverse);
        }
    }

    /// x <- R^-1 x for the entries x of the columns of Q, `columns` numbers each: what the pivot columns are to be
    /// weighted by. There is at least one of `columns`.
    pub(crate) fn solve_rows(&self, x: &mut [T], columns: usize) {
        let side = self.rows.min(self.columns);
        for k in (0..self.rank()).rev() {
            let (above, below) = x.split_at_mut((k + 1) * columns);
            let row = &mut above[k * columns..];
            for (p, other) in below.chunks_exact(columns).enumerate().take(self.rank() - k - 1) {
                add_scaled(row, -self.r[k * side + k + 1 + p], other);
            }
            let inverse = self.r[k * side + k].recip();
            row.iter_mut().for_each(|x| *x *= inverse);
        }
    }

    /// The pivot columns, in the order of the columns of Q.
    pub fn pivots(&self) -> &[usize] {
        &self.pivots
    }

    /// Column `k` of Q.
    pub fn basis(&self, k: usize) -> &[T] {
        &self.q[k * self.rows..(k + 1) * self.rows]
    }

    /// Writes Q by rows, `rank` numbers each.
    pub fn rows_of_basis(&self, rows: &mut Vec<T>) {
        rows.clear();
        for i in 0..self.rows {
            rows.extend((0..self.rank()).map(|k| self.q[k * self.rows + i]));
        }
    }

    /// y with A y = Q Q' x, zero outside the pivot columns.
    pub fn solve(&mut self, x: &[T], y: &mut [T]) {
        let (m, rank) = (self.rows, self.rank());
        let side = m.min(self.columns);
        let c = &mut self.coefficients;
        c.clear();
        c.extend((0..rank).map(|k| wide_dot(&self.q[k * m..(k + 1) * m], x)));
        for k in (0..rank).rev() {
            let mut sum = c[k];
            for (p, &cp) in c.iter().enumerate().skip(k + 1) {
                sum -= self.r[k * side + p] * cp;
            }
            c[k] = sum / self.r[k * side + k];
        }
        y.fill(T::zero());
        for (&j, &c) in self.pivots.iter().zip(c.iter()) {
            y[j] = c;
        }
    }
}
