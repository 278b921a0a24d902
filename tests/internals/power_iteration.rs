//! The largest eigenvalue by power iteration.

use nalgebra::DMatrix;
use stiction::linalg::largest_eigenvalue;

#[test]
fn agrees_with_the_symmetric_eigenvalues() {
    let mut scratch = Vec::new();
    for n in [1, 2, 7, 30] {
        let b = DMatrix::from_fn(n, n, |i, j| (1.0 + (5 * i * j + 11 * j * j) as f64).cos());
        let a = &b * b.transpose();
        let expected = a.symmetric_eigenvalues().max();
        let found = largest_eigenvalue(a.as_slice(), n, &mut scratch);
        assert!((found / expected - 1.0).abs() < 0.02, "{n}: {found} {expected}");
    }
    assert_eq!(largest_eigenvalue::<f64>(&[], 0, &mut scratch), 0.0);
    assert_eq!(largest_eigenvalue(&[0.0; 4], 2, &mut scratch), 0.0);
}
