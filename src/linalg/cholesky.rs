//! Cholesky factorisation A = L L' of a symmetric positive definite matrix, and triangular solves.

use crate::ad::Real;

/// Overwrites the lower triangle of the row-major `n` x `n` matrix `a` by L; the upper one is not
/// touched. Returns false, with `a` half done, if a pivot is not positive.
#[must_use]
pub fn cholesky<T: Real>(a: &mut [T], n: usize) -> bool {
    for j in 0..n {
        for i in j..n {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum -= a[i * n + k] * a[j * n + k];
            }
            if i == j {
                // Also refuses NaN.
                if sum.value().partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
                    return false;
                }
                a[j * n + j] = sum.sqrt();
            } else {
                a[i * n + j] = sum / a[j * n + j];
            }
        }
    }
    true
}

/// x <- L^-1 x, L the lower triangle of the `n` x `n` matrix `l`.
pub fn solve_lower<T: Real>(l: &[T], n: usize, x: &mut [T]) {
    for i in 0..n {
        let mut sum = x[i];
        for k in 0..i {
            sum -= l[i * n + k] * x[k];
        }
        x[i] = sum / l[i * n + i];
    }
}

/// x <- L^-T x, L the lower triangle of the `n` x `n` matrix `l`.
pub fn solve_lower_transpose<T: Real>(l: &[T], n: usize, x: &mut [T]) {
    for i in (0..n).rev() {
        let mut sum = x[i];
        for k in i + 1..n {
            sum -= l[k * n + i] * x[k];
        }
        x[i] = sum / l[i * n + i];
    }
}
