//! Cholesky with pivoting, of matrices that may be singular.

use nalgebra::DMatrix;
use stiction::linalg::PivotedCholesky;

// A of the given rank, badly scaled.
fn matrix(n: usize, rank: usize) -> DMatrix<f64> {
    let factor = DMatrix::from_fn(n, rank, |i, j| {
        (1.0 + (7 * i * i + 3 * i * j + j * j) as f64).sin() * 10.0_f64.powi(i as i32 % 4)
    });
    &factor * factor.transpose()
}

#[test]
fn agrees_with_the_pseudo_inverse_by_svd() {
    for (n, rank) in [(1, 1), (1, 0), (4, 4), (5, 3), (12, 6), (20, 0)] {
        let a = matrix(n, rank);
        let mut cholesky = PivotedCholesky::default();
        assert_eq!(cholesky.factor(a.as_slice(), n), rank);
        let expected = a.clone().pseudo_inverse(1e-9 * a.amax()).expect("a positive tolerance");
        for j in 0..n {
            let mut x = vec![0.0; n];
            x[j] = 1.0;
            cholesky.solve(&mut x);
            let error = (DMatrix::from_vec(n, 1, x) - expected.column(j)).amax();
            assert!(error <= 1e-9 * expected.amax(), "{n} {rank}: {error}");
        }
    }
}

#[test]
fn what_is_outside_the_range_is_told_apart() {
    for (n, rank) in [(4, 4), (5, 3), (12, 6), (3, 0)] {
        let a = matrix(n, rank);
        let mut cholesky = PivotedCholesky::default();
        cholesky.factor(a.as_slice(), n);
        let x = DMatrix::from_fn(n, 1, |i, _| (i as f64).cos());
        let mut outside = x.as_slice().to_vec();
        cholesky.reject(&mut outside);
        let outside = DMatrix::from_vec(n, 1, outside);
        assert!((&a * &outside).amax() <= 1e-9 * a.amax());
        let mut inside = (x - &outside).as_slice().to_vec();
        cholesky.reject(&mut inside);
        assert!(inside.iter().all(|x| x.abs() < 1e-9));
    }
}

#[test]
fn an_empty_matrix_has_rank_zero() {
    let mut cholesky = PivotedCholesky::<f64>::default();
    assert_eq!(cholesky.factor(&[], 0), 0);
    cholesky.solve(&mut []);
}
