//! Inverses of matrices that may be singular.

use nalgebra::DMatrix;
use stiction::internals::least_norm_inverse;

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
fn what_is_small_and_no_rounding_counts() {
    for small in [1e-12, 1e-13] {
        let a = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 1.0 + small]);
        let error = inverse(&a) * &a - DMatrix::identity(2, 2);
        assert!(error.amax() < 1e-2, "{small}: {error}");
    }
}

#[test]
fn of_what_is_not_finite_is_not_a_number() {
    let a = DMatrix::from_row_slice(2, 2, &[1.0, f64::INFINITY, 0.0, 1.0]);
    assert!(inverse(&a).iter().all(|a| a.is_nan()));
}
