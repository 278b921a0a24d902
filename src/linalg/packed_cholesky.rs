//! Cholesky factorisation A = U'U of a symmetric positive definite matrix (`Golub13` 4.2), U packed by rows.

use std::ops::Mul;

use super::mixed_dot::mixed_dot;
use super::wide_dot::add_scaled;
use crate::ad::Real;

/// Pivots below this part of their diagonal entry count as zero.
const TOLERANCE: f64 = 1e-15;

/// So many rows of U are subtracted from the rest at once: each entry of the rest is read and
/// written once for all of them.
const PANEL: usize = 4;

/// A factorised symmetric positive definite matrix. Reused, it allocates nothing.
#[derive(Debug, Default)]
pub struct PackedCholesky<T> {
    n: usize,
    /// Row k of U from its diagonal on, which is stored as 1 / U_kk: nothing divides twice.
    rows: Vec<T>,
    /// The diagonal of the matrix.
    diagonal: Vec<f64>,
}

// By hand: the derived one does not reuse memory in `clone_from`.
impl<T: Clone> Clone for PackedCholesky<T> {
    fn clone(&self) -> Self {
        PackedCholesky { n: self.n, rows: self.rows.clone(), diagonal: self.diagonal.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.n = source.n;
        self.rows.clone_from(&source.rows);
        self.diagonal.clone_from(&source.diagonal);
    }
}

impl<T: Real> PackedCholesky<T> {
    /// Factorises the row-major `n` x `n` matrix `a`, of which only the lower triangle is read.
    ///
    /// # Errors
    /// The row of the first pivot that is not positive (below 1e-15 of its diagonal entry) or not
    /// finite, n if `a` has fewer than n n entries. The factor must not be used then.
    pub fn factor(&mut self, a: &[T], n: usize) -> Result<(), usize> {
        self.factor_entries(a, n, |a| a)
    }

    /// Factorises the matrix that `entry` makes of `a`.
    pub(super) fn factor_entries<S: Real>(
        &mut self,
        a: &[S],
        n: usize,
        entry: impl Fn(S) -> T,
    ) -> Result<(), usize> {
        if a.len() < n * n {
            return Err(n);
        }
        self.factor_rows(n, TOLERANCE, |k, rows| {
            rows.extend((k..n).map(|i| entry(a[i * n + k])));
        })
    }

    /// Factorises the matrix whose row k, from its diagonal on, `push` appends. Pivots below
    /// `tolerance` times their diagonal entry count as zero.
    pub(crate) fn factor_rows(
        &mut self,
        n: usize,
        tolerance: f64,
        mut push: impl FnMut(usize, &mut Vec<T>),
    ) -> Result<(), usize> {
        self.n = n;
        self.rows.clear();
        self.diagonal.clear();
        for k in 0..n {
            let first = self.rows.len();
            push(k, &mut self.rows);
            self.diagonal.push(self.rows[first].value());
        }
        let mut left = &mut self.rows[..];
        for first in (0..n).step_by(PANEL) {
            let width = n - first;
            let count = PANEL.min(width);
            // Rows of n - first, n - first - 1, ... entries.
            let (panel, rest) = left.split_at_mut(count * width - count * (count - 1) / 2);
            let least = |k: usize| tolerance * self.diagonal[first + k];
            finish_panel(panel, width, count, least).map_err(|k| first + k)?;
            if count == PANEL {
                subtract_panel(panel, width, rest);
            }
            left = rest;
        }
        Ok(())
    }

    /// The least pivot relative to its diagonal entry: 1 / condition number, or less. 1 if there is
    /// none.
    pub(crate) fn least_pivot(&self) -> f64 {
        // 1 / U_kk^2 is the pivot's inverse.
        let inverse = |(k, &diagonal): (usize, &f64)| {
            let root = self.rows[self.start(k)].value();
            root * root * diagonal
        };
        self.diagonal.iter().enumerate().map(inverse).fold(1.0, f64::max).recip()
    }

    /// ln det A
    pub fn log_det(&self) -> T {
        let logs = (0..self.n).map(|k| self.rows[self.start(k)].ln());
        logs.fold(T::zero(), |sum, log| sum + log) * -2.0
    }
}

impl<C: Copy> PackedCholesky<C> {
    // Where row k starts.
    fn start(&self, k: usize) -> usize {
        k * self.n - k * k.saturating_sub(1) / 2
    }

    /// x <- A^-1 x. The matrix may be of numbers while x has derivatives.
    pub fn solve<T: Real + Mul<C, Output = T>>(&self, x: &mut [T]) {
        self.solve_from(0, x);
    }

    /// Entries from `first` on of x <- A^-1 x, where those of x before `first` are zero; they are
    /// neither read nor written.
    pub(super) fn solve_from<T: Real + Mul<C, Output = T>>(&self, first: usize, x: &mut [T]) {
        let n = self.n;
        let mut rest = &self.rows[self.start(first.min(n))..];
        for k in first..n {
            let (row, below) = rest.split_at(n - k);
            let (solved, later) = x[k..n].split_at_mut(1);
            let value = solved[0] * row[0];
            solved[0] = value;
            for (x, &u) in later.iter_mut().zip(&row[1..]) {
                *x -= value * u;
            }
            rest = below;
        }
        let mut rest = &self.rows[..];
        for k in (first..n).rev() {
            let (above, row) = rest.split_at(rest.len() - (n - k));
            let (unsolved, solved) = x[k..n].split_at_mut(1);
            unsolved[0] = (unsolved[0] - mixed_dot(&row[1..], solved)) * row[0];
            rest = above;
        }
    }
}

// Whether a row need not be subtracted: matrices that couple few unknowns have many such.
fn vanishes<T: Real>(x: T) -> bool {
    T::ORDER == 0 && x.vanishes()
}

// The first `count` rows of U, each cleared of those before it.
fn finish_panel<T: Real>(
    panel: &mut [T],
    width: usize,
    count: usize,
    least: impl Fn(usize) -> f64,
) -> Result<(), usize> {
    for k in 0..count {
        let (done, row) = panel.split_at_mut(k * width - k * k.saturating_sub(1) / 2);
        let row = &mut row[..width - k];
        let mut done = &*done;
        for q in 0..k {
            let (earlier, later) = done.split_at(width - q);
            if !vanishes(earlier[k - q]) {
                add_scaled(row, -earlier[k - q], &earlier[k - q..]);
            }
            done = later;
        }
        let pivot = row[0].value();
        // Also refuses NaN.
        if !(pivot > 0.0 && pivot > least(k) && pivot.is_finite()) {
            return Err(k);
        }
        let inverse = row[0].sqrt().recip();
        row[0] = inverse;
        row[1..].iter_mut().for_each(|u| *u *= inverse);
    }
    Ok(())
}

// A_ij -= sum_q U_qi U_qj for the rows behind a full panel.
fn subtract_panel<T: Real>(panel: &[T], width: usize, rest: &mut [T]) {
    let (p0, p) = panel.split_at(width);
    let (p1, p) = p.split_at(width - 1);
    let (p2, p3) = p.split_at(width - 2);
    let mut rest = rest;
    for i in PANEL..width {
        let m = width - i;
        let (row, below) = rest.split_at_mut(m);
        let (x0, x1, x2, x3) =
            (&p0[i..][..m], &p1[i - 1..][..m], &p2[i - 2..][..m], &p3[i - 3..][..m]);
        let (c0, c1, c2, c3) = (x0[0], x1[0], x2[0], x3[0]);
        if [c0, c1, c2, c3].into_iter().all(vanishes) {
            rest = below;
            continue;
        }
        for (j, y) in row.iter_mut().enumerate() {
            *y -= (c0 * x0[j] + c1 * x1[j]) + (c2 * x2[j] + c3 * x3[j]);
        }
        rest = below;
    }
}
