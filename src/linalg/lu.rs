//! LU factorisation with partial pivoting, P A = L U.

use super::dot;
use crate::ad::Real;

/// A factorised square matrix. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Lu<T> {
    n: usize,
    lu: Vec<T>,
    permutation: Vec<usize>,
    scratch: Vec<T>,
}

impl<T: Real> Lu<T> {
    /// Factorises the row-major `n` x `n` matrix `a`. Returns false if it is singular to working
    /// precision (a pivot below 1e-15 of its column's largest entry, or not finite).
    #[must_use]
    pub fn factor(&mut self, a: &[T], n: usize) -> bool {
        self.n = n;
        self.lu.clear();
        self.lu.extend_from_slice(&a[..n * n]);
        self.permutation.clear();
        self.permutation.extend(0..n);
        let lu = &mut self.lu;
        for k in 0..n {
            let scale = (0..n).map(|i| a[i * n + k].value().abs()).fold(0.0, f64::max);
            let mut pivot = k;
            for i in k + 1..n {
                if lu[i * n + k].value().abs() > lu[pivot * n + k].value().abs() {
                    pivot = i;
                }
            }
            let size = lu[pivot * n + k].value().abs();
            if !(size > 1e-15 * scale && size.is_finite()) {
                return false;
            }
            if pivot != k {
                self.permutation.swap(pivot, k);
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
                for j in k + 1..n {
                    let u = lu[k * n + j];
                    lu[i * n + j] -= factor * u;
                }
            }
        }
        true
    }

    /// x <- A^-1 x
    pub fn solve(&mut self, x: &mut [T]) {
        let n = self.n;
        self.scratch.clear();
        self.scratch.extend(self.permutation.iter().map(|&p| x[p]));
        let y = &mut self.scratch;
        for i in 0..n {
            y[i] = y[i] - dot(&self.lu[i * n..i * n + i], &y[..i]);
        }
        for i in (0..n).rev() {
            let sum = y[i] - dot(&self.lu[i * n + i + 1..(i + 1) * n], &y[i + 1..]);
            y[i] = sum / self.lu[i * n + i];
        }
        x[..n].copy_from_slice(y);
    }

    /// x <- A^-T x
    pub fn solve_transpose(&mut self, x: &mut [T]) {
        let n = self.n;
        self.scratch.clear();
        self.scratch.extend_from_slice(&x[..n]);
        let y = &mut self.scratch;
        for i in 0..n {
            // Forward by rows of U', so that the matrix is read in order.
            let solved = y[i] / self.lu[i * n + i];
            y[i] = solved;
            for (y, &u) in y[i + 1..].iter_mut().zip(&self.lu[i * n + i + 1..(i + 1) * n]) {
                *y -= u * solved;
            }
        }
        for i in (0..n).rev() {
            let solved = y[i];
            for (y, &l) in y[..i].iter_mut().zip(&self.lu[i * n..i * n + i]) {
                *y -= l * solved;
            }
        }
        for (i, &p) in self.permutation.iter().enumerate() {
            x[p] = self.scratch[i];
        }
    }
}
