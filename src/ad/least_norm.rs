//! The inverse of a matrix that may be singular: solutions that are not unique get the selection
//! rule of the nodes, least norm.

use nalgebra::DMatrix;

/// Pivots and singular values below this part of the largest count as zero, or below as many roundings as there are rows.
/// What is larger has a digit, and refinement gains the others: motions of feet that a tilt of 1e-7 holds, and others by a
/// compliance of 1e-6, are 1e-13 of what friction holds of the rest, and no less real.
const RANK_TOLERANCE: f64 = 1e-14;

fn tolerance(n: usize) -> f64 {
    RANK_TOLERANCE.max(n as f64 * f64::EPSILON)
}

/// a <- the matrix that takes b to the solution of `a x = b` of least norm; NaN if `a` is not
/// finite. `a` is `n` x `n`, row-major; its rows are scaled first. Allocates only if `a` is
/// singular.
pub fn least_norm_inverse(
    a: &mut [f64],
    n: usize,
    scaled: &mut Vec<f64>,
    exchanges: &mut Vec<(usize, usize)>,
) {
    if n == 0 {
        return;
    }
    if !a.iter().all(|a| a.is_finite()) {
        a.fill(f64::NAN);
        return;
    }
    let size = |row: &[f64]| {
        let largest = row.iter().fold(0.0_f64, |size, a| size.max(a.abs()));
        if largest > 0.0 { largest } else { 1.0 }
    };
    scaled.clear();
    for row in a.chunks_exact(n) {
        let scale = size(row);
        scaled.extend(row.iter().map(|a| a / scale));
    }
    // The scales, behind the matrix: the inverse needs them once the rows are gone.
    scaled.extend(a.chunks_exact(n).map(size));
    let (matrix, scales) = scaled.split_at(n * n);
    a.copy_from_slice(matrix);
    if !invert(a, n, exchanges) {
        let svd = DMatrix::from_row_slice(n, n, matrix).try_svd(true, true, f64::EPSILON, 1000);
        let inverse = svd.and_then(|svd| {
            let cut = tolerance(n) * svd.singular_values.max();
            svd.pseudo_inverse(cut).ok()
        });
        for (k, a) in a.iter_mut().enumerate() {
            *a = inverse.as_ref().map_or(f64::NAN, |inverse| inverse[(k / n, k % n)]);
        }
    }
    for row in a.chunks_exact_mut(n) {
        row.iter_mut().zip(scales).for_each(|(a, scale)| *a /= scale);
    }
}

/// a <- a^-1 by Gauss-Jordan elimination with full pivoting. False, with `a` half done, if it is
/// singular.
fn invert(a: &mut [f64], n: usize, exchanges: &mut Vec<(usize, usize)>) -> bool {
    exchanges.clear();
    let mut largest = 0.0_f64;
    for k in 0..n {
        let (mut size, mut row, mut column) = (0.0, k, k);
        for i in k..n {
            for j in k..n {
                if a[i * n + j].abs() > size {
                    (size, row, column) = (a[i * n + j].abs(), i, j);
                }
            }
        }
        largest = largest.max(size);
        if size <= tolerance(n) * largest {
            return false;
        }
        exchange_rows(a, n, k, row);
        exchange_columns(a, n, k, column);
        exchanges.push((row, column));
        let inverse = a[k * n + k].recip();
        a[k * n + k] = 1.0;
        a[k * n..][..n].iter_mut().for_each(|a| *a *= inverse);
        for i in (0..n).filter(|&i| i != k) {
            let factor = std::mem::take(&mut a[i * n + k]);
            for j in 0..n {
                a[i * n + j] -= factor * a[k * n + j];
            }
        }
    }
    // Rows of the matrix are columns of its inverse.
    for (k, &(row, column)) in exchanges.iter().enumerate().rev() {
        exchange_rows(a, n, k, column);
        exchange_columns(a, n, k, row);
    }
    true
}

fn exchange_rows(a: &mut [f64], n: usize, i: usize, k: usize) {
    for j in 0..n {
        a.swap(i * n + j, k * n + j);
    }
}

fn exchange_columns(a: &mut [f64], n: usize, j: usize, k: usize) {
    for i in 0..n {
        a.swap(i * n + j, i * n + k);
    }
}
