//! Largest eigenvalue of a symmetric positive semi-definite matrix, by the power method (`Golub13` 8.2.1).

use super::wide_dot::wide_dot;
use crate::ad::Real;

/// The largest eigenvalue of the row-major `n` x `n` matrix `a`, by power iteration in `f64` to
/// about one per cent, from below. 0 for a zero or empty matrix.
///
/// Step sizes are computed from it, which need no more digits and have no derivative.
pub fn largest_eigenvalue<T: Real>(a: &[T], n: usize, scratch: &mut Vec<f64>) -> f64 {
    const ITERATIONS: usize = 30;
    const RELATIVE_CHANGE: f64 = 1e-3;
    if n == 0 {
        return 0.0;
    }
    scratch.clear();
    scratch.extend(a[..n * n].iter().map(|a| a.value()));
    // Uneven, so that no symmetry of the matrix makes it orthogonal to the leading eigenvector.
    scratch.extend((0..n).map(|i| 1.0 + 0.37 * ((i * 7) % 11) as f64));
    scratch.resize(n * n + 2 * n, 0.0);
    let (a, vectors) = scratch.split_at_mut(n * n);
    let (x, y) = vectors.split_at_mut(n);
    let mut eigenvalue = 0.0;
    for _ in 0..ITERATIONS {
        let length = wide_dot(x, x).sqrt();
        if length == 0.0 {
            return 0.0;
        }
        x.iter_mut().for_each(|x| *x /= length);
        for (y, row) in y.iter_mut().zip(a.chunks_exact(n)) {
            *y = wide_dot(row, x);
        }
        let previous = eigenvalue;
        eigenvalue = wide_dot(x, y);
        if (eigenvalue - previous).abs() <= RELATIVE_CHANGE * eigenvalue {
            break;
        }
        x.copy_from_slice(y);
    }
    eigenvalue
}
