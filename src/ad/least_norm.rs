//! The inverse of a matrix that may be singular: solutions that are not unique get the selection
//! rule of the nodes, least norm.

use nalgebra::DMatrix;

/// Pivots and singular values below this part of the largest count as zero.
const RANK_TOLERANCE: f64 = 1e-11;

/// a <- the matrix that takes b to the solution of `a x = b` of least norm; NaN if `a` is not
/// finite. `a` is `n` x `n`, row-major; its rows are scaled first. Allocates only if `a` is
/// singular.
pub(super) fn least_norm_inverse(
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
            let cut = RANK_TOLERANCE * svd.singular_values.max();
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
        if size <= RANK_TOLERANCE * largest {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn inverse(a: &DMatrix<f64>) -> DMatrix<f64> {
        let mut entries = a.transpose().as_slice().to_vec();
        least_norm_inverse(&mut entries, a.nrows(), &mut Vec::new(), &mut Vec::new());
        DMatrix::from_row_slice(a.nrows(), a.nrows(), &entries)
    }

    fn matrix(n: usize, rank: usize) -> DMatrix<f64> {
        let wave = |i: usize, j: usize| (1.0 + (7 * i * i + 3 * i * j + 2 * j * j) as f64).sin();
        DMatrix::from_fn(n, rank, wave) * DMatrix::from_fn(rank, n, |i, j| wave(j + 3, i))
    }

    #[test]
    fn of_a_regular_matrix_is_the_inverse() {
        for n in 1..9 {
            let mut a = matrix(n, n);
            // Units of the rows are no reason to call it singular. (From the left: there they cancel.)
            a.row_mut(0).scale_mut(1e-14);
            let error = inverse(&a) * &a - DMatrix::identity(n, n);
            assert!(error.amax() < 1e-9, "{n}: {error}");
        }
    }

    #[test]
    fn of_a_singular_matrix_gives_the_solution_of_least_norm() {
        for (n, rank) in [(1, 0), (2, 1), (5, 3), (8, 7)] {
            let a = matrix(n, rank);
            let x = inverse(&a) * (&a * DMatrix::from_fn(n, 1, |i, _| 1.0 + i as f64));
            let expected = a.clone().pseudo_inverse(1e-9).expect("a positive tolerance")
                * (&a * DMatrix::from_fn(n, 1, |i, _| 1.0 + i as f64));
            assert!((x - expected).amax() < 1e-9, "{n} {rank}");
        }
    }

    #[test]
    fn of_what_is_not_finite_is_not_a_number() {
        let a = DMatrix::from_row_slice(2, 2, &[1.0, f64::INFINITY, 0.0, 1.0]);
        assert!(inverse(&a).iter().all(|a| a.is_nan()));
    }
}
