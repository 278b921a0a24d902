//! Cholesky factorisation A = L L' of a symmetric positive definite matrix, and triangular solves (`Golub13` 4.2).

use super::add_combination;
use super::wide_dot::{LONG, wide_dot};
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
    // What begins with zeros stays so: in a row for one vertex of a soft body they are half of all.
    let first = if n < LONG { 0 } else { x.iter().position(|x| !x.vanishes()).unwrap_or(n) };
    for i in first..n {
        let mut sum = x[i];
        if n < LONG {
            for k in 0..i {
                sum -= l[i * n + k] * x[k];
            }
        } else {
            sum -= wide_dot(&l[i * n + first..i * n + i], &x[first..i]);
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

/// y <- L' x, L the lower triangle of the `n` x `n` matrix `l`.
pub(crate) fn times_lower_transpose<T: Real>(l: &[T], n: usize, x: &[T], y: &mut [T]) {
    for (k, y) in y.iter_mut().enumerate() {
        *y = (k..n).fold(T::zero(), |sum, i| sum + l[i * n + k] * x[i]);
    }
}

/// X <- L^-1 X for a row-major matrix of `columns` columns. Zeros of L, as trees with branches have them, cost
/// nothing. There is at least one column.
pub(crate) fn solve_lower_rows<T: Real>(l: &[T], n: usize, columns: usize, x: &mut [T]) {
    for i in 0..n {
        let (above, row) = x.split_at_mut(i * columns);
        let row = &mut row[..columns];
        let terms = l[i * n..i * n + i].iter().zip(above.chunks_exact(columns));
        add_combination(row, terms.map(|(&l, x)| (-l, x)).filter(counts));
        let inverse = l[i * (n + 1)].recip();
        row.iter_mut().for_each(|x| *x *= inverse);
    }
}

/// X <- L^-T X for a row-major matrix of `columns` columns, one at least.
pub(crate) fn solve_lower_transpose_rows<T: Real>(l: &[T], n: usize, columns: usize, x: &mut [T]) {
    for i in (0..n).rev() {
        let (above, below) = x.split_at_mut((i + 1) * columns);
        let row = &mut above[i * columns..];
        let column = l[i..].iter().step_by(n).skip(i + 1);
        let terms = column.zip(below.chunks_exact(columns));
        add_combination(row, terms.map(|(&l, x)| (-l, x)).filter(counts));
        let inverse = l[i * (n + 1)].recip();
        row.iter_mut().for_each(|x| *x *= inverse);
    }
}

/// Whether a term adds anything.
fn counts<T: Real>((factor, _): &(T, &[T])) -> bool {
    !(factor.is_zero() && T::ORDER == 0)
}
