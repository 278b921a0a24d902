//! LU factorisation with partial pivoting, P A = L U (`Golub13` 3.4).

use std::ops::{Div, Mul};

use super::mixed_dot::mixed_dot;
use super::wide_dot::{add_combination, add_scaled};
use crate::ad::Real;

/// A factorised square matrix. Reused, it allocates nothing.
#[derive(Debug, Default)]
pub struct Lu<T> {
    n: usize,
    lu: Vec<T>,
    permutation: Vec<usize>,
    /// The largest entry of each column before, and one past the last entry of each row that is not zero.
    scales: Vec<f64>,
    ends: Vec<usize>,
    scratch: Vec<T>,
}

// By hand: the derived one does not reuse memory in `clone_from`.
impl<T: Clone> Clone for Lu<T> {
    fn clone(&self) -> Self {
        Lu {
            n: self.n,
            lu: self.lu.clone(),
            permutation: self.permutation.clone(),
            scales: Vec::new(),
            ends: Vec::new(),
            scratch: Vec::new(),
        }
    }
    fn clone_from(&mut self, source: &Self) {
        self.n = source.n;
        self.lu.clone_from(&source.lu);
        self.permutation.clone_from(&source.permutation);
    }
}

impl<T: Real> Lu<T> {
    /// Factorises the row-major `n` x `n` matrix `a`. Returns false if it is singular to working
    /// precision (a pivot below 1e-15 of its column's largest entry, or not finite).
    #[must_use]
    pub fn factor(&mut self, a: &[T], n: usize) -> bool {
        self.factor_entries(&a[..n * n], n, |a| a).is_ok()
    }

    /// Factorises the matrix that `entry` makes of `a`. `Err` names the pivot that vanished.
    pub(super) fn factor_entries<S: Real>(
        &mut self,
        a: &[S],
        n: usize,
        entry: impl Fn(S) -> T,
    ) -> Result<(), usize> {
        self.n = n;
        self.lu.clear();
        self.lu.extend(a.iter().map(|&a| entry(a)));
        self.permutation.clear();
        self.permutation.extend(0..n);
        self.measure();
        let (lu, ends) = (&mut self.lu, &mut self.ends);
        for k in 0..n {
            let scale = self.scales[k];
            let mut pivot = k;
            for i in k + 1..n {
                if lu[i * n + k].value().abs() > lu[pivot * n + k].value().abs() {
                    pivot = i;
                }
            }
            let size = lu[pivot * n + k].value().abs();
            if !(size > 1e-15 * scale && size.is_finite()) {
                return Err(k);
            }
            if pivot != k {
                self.permutation.swap(pivot, k);
                ends.swap(pivot, k);
                for j in 0..n {
                    lu.swap(pivot * n + j, k * n + j);
                }
            }
            let inverse = lu[k * n + k].recip();
            for i in k + 1..n {
                let factor = lu[i * n + k] * inverse;
                lu[i * n + k] = factor;
                if factor.is_zero() && T::ORDER == 0 {
                    continue;
                }
                let (above, row) = lu.split_at_mut(i * n);
                let end = ends[k].max(k + 1);
                add_scaled(&mut row[k + 1..end], -factor, &above[k * n + k + 1..k * n + end]);
                ends[i] = ends[i].max(end);
            }
        }
        Ok(())
    }

    /// The sizes of the columns and the lengths of the rows.
    fn measure(&mut self) {
        let n = self.n;
        self.scales.clear();
        self.scales.resize(n, 0.0);
        self.ends.clear();
        for row in self.lu.chunks_exact(n.max(1)) {
            let mut end = n;
            for (k, (scale, x)) in self.scales.iter_mut().zip(row).enumerate() {
                let size = x.value().abs();
                if size > *scale || size.is_nan() {
                    *scale = size;
                }
                if size > 0.0 || size.is_nan() {
                    end = k + 1;
                }
            }
            // Derivatives may be where there is no value.
            self.ends.push(if T::ORDER > 0 { n } else { end });
        }
    }

    /// x <- A^-1 x
    pub fn solve(&mut self, x: &mut [T]) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.solve_in(x, &mut scratch);
        self.scratch = scratch;
    }

    /// x <- A^-T x
    pub fn solve_transpose(&mut self, x: &mut [T]) {
        let mut scratch = std::mem::take(&mut self.scratch);
        self.solve_transpose_in(x, &mut scratch);
        self.scratch = scratch;
    }

    /// X <- A^-1 X for a row-major matrix of `columns` columns, one at least.
    pub(crate) fn solve_rows(&mut self, columns: usize, x: &mut [T]) {
        let n = self.n;
        let mut y = std::mem::take(&mut self.scratch);
        y.clear();
        for &p in &self.permutation {
            y.extend_from_slice(&x[p * columns..(p + 1) * columns]);
        }
        fn weighted<'x, T: Real>((&a, x): (&T, &'x [T])) -> (T, &'x [T]) {
            (-a, x)
        }
        let counts = |(a, _): &(T, &[T])| !(a.is_zero() && T::ORDER == 0);
        for i in 0..n {
            let (above, row) = y.split_at_mut(i * columns);
            let entries = self.lu[i * n..i * n + i].iter();
            let terms = entries.zip(above.chunks_exact(columns)).map(weighted).filter(counts);
            add_combination(&mut row[..columns], terms);
        }
        for i in (0..n).rev() {
            let (above, below) = y.split_at_mut((i + 1) * columns);
            let row = &mut above[i * columns..];
            let entries = self.lu[i * n + i + 1..(i + 1) * n].iter();
            let terms = entries.zip(below.chunks_exact(columns)).map(weighted).filter(counts);
            add_combination(row, terms);
            let inverse = self.lu[i * (n + 1)].recip();
            row.iter_mut().for_each(|x| *x *= inverse);
        }
        x[..n * columns].copy_from_slice(&y);
        self.scratch = y;
    }

    /// X <- A^-T X for a row-major matrix of `columns` columns, one at least.
    pub(crate) fn solve_transpose_rows(&mut self, columns: usize, x: &mut [T]) {
        let n = self.n;
        let mut y = std::mem::take(&mut self.scratch);
        y.clear();
        y.extend_from_slice(&x[..n * columns]);
        for i in 0..n {
            let (above, below) = y.split_at_mut((i + 1) * columns);
            let row = &mut above[i * columns..];
            let inverse = self.lu[i * (n + 1)].recip();
            row.iter_mut().for_each(|x| *x *= inverse);
            for (other, &u) in below.chunks_exact_mut(columns).zip(&self.lu[i * n + i + 1..]) {
                add_scaled(other, -u, row);
            }
        }
        for i in (0..n).rev() {
            let (above, row) = y.split_at_mut(i * columns);
            for (other, &l) in above.chunks_exact_mut(columns).zip(&self.lu[i * n..i * n + i]) {
                add_scaled(other, -l, &row[..columns]);
            }
        }
        for (row, &p) in y.chunks_exact(columns).zip(&self.permutation) {
            x[p * columns..(p + 1) * columns].copy_from_slice(row);
        }
        self.scratch = y;
    }

    /// ln |det A|
    pub(super) fn log_abs_det(&self) -> T {
        let logs = (0..self.n).map(|k| self.lu[k * (self.n + 1)].abs().ln());
        logs.fold(T::zero(), |sum, log| sum + log)
    }
}

// The matrix may be of numbers while x has derivatives.
impl<C: Real> Lu<C> {
    /// [`solve`](Self::solve) in the caller's memory.
    pub(super) fn solve_in<T: Real + Mul<C, Output = T> + Div<C, Output = T>>(
        &self,
        x: &mut [T],
        y: &mut Vec<T>,
    ) {
        let n = self.n;
        y.clear();
        y.extend(self.permutation.iter().map(|&p| x[p]));
        for i in 0..n {
            y[i] = y[i] - mixed_dot(&self.lu[i * n..i * n + i], &y[..i]);
        }
        for i in (0..n).rev() {
            let sum = y[i] - mixed_dot(&self.lu[i * n + i + 1..(i + 1) * n], &y[i + 1..]);
            y[i] = sum / self.lu[i * n + i];
        }
        x[..n].copy_from_slice(y);
    }

    /// [`solve_transpose`](Self::solve_transpose) in the caller's memory.
    pub(super) fn solve_transpose_in<T: Real + Mul<C, Output = T> + Div<C, Output = T>>(
        &self,
        x: &mut [T],
        y: &mut Vec<T>,
    ) {
        let n = self.n;
        y.clear();
        y.extend_from_slice(&x[..n]);
        for i in 0..n {
            // Forward by rows of U', so that the matrix is read in order.
            let solved = y[i] / self.lu[i * n + i];
            y[i] = solved;
            for (y, &u) in y[i + 1..].iter_mut().zip(&self.lu[i * n + i + 1..(i + 1) * n]) {
                *y -= solved * u;
            }
        }
        for i in (0..n).rev() {
            let solved = y[i];
            for (y, &l) in y[..i].iter_mut().zip(&self.lu[i * n..i * n + i]) {
                *y -= solved * l;
            }
        }
        for (i, &p) in self.permutation.iter().enumerate() {
            x[p] = y[i];
        }
    }
}
