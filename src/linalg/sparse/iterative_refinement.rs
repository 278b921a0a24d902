//! Solves refined by their residuals (`Higham02` 12): what factorising without pivoting loses comes back.

use super::block_matrix::{BlockMatrix, BlockPattern};
use super::sparse_factor::SparseFactor;
use super::symbolic::Symbolic;

/// Residuals relative to |A| |x| + |b| below which nothing is left to refine.
const ROUNDING: f64 = 1e-15;
/// More refinements than this do not help.
const MOST: usize = 10;

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Refined {
    /// |A x - b| relative to |A| |x| + |b|, in the largest of all rows; infinite where x is not finite.
    pub residual: f64,
    /// How often it was refined.
    pub refinements: usize,
}

impl Refined {
    /// Whether x solves a system that differs in rounding only.
    pub fn is_solved(&self) -> bool {
        self.residual <= 1e-12
    }
}

/// x = A^-1 b, or A^-T b, by the factors of A, refined until its residual is that of rounding or falls no more.
pub fn solve_refined(
    (pattern, matrix): (&BlockPattern, &BlockMatrix<f64>),
    (symbolic, factor): (&Symbolic, &mut SparseFactor),
    transposed: bool,
    b: &[[f64; 3]],
    x: &mut Vec<[f64; 3]>,
) -> Refined {
    x.clear();
    x.extend_from_slice(b);
    factor.solve(symbolic, transposed, x);
    let size = matrix.largest_row(pattern, transposed);
    let mut best = (relative_residual((pattern, matrix), transposed, b, x, size), x.clone());
    let mut refinements = 0;
    while best.0.0 > ROUNDING && best.0.0.is_finite() && refinements < MOST {
        let mut step = std::mem::take(&mut best.0.1);
        factor.solve(symbolic, transposed, &mut step);
        for (x, step) in x.iter_mut().zip(&step) {
            (0..3).for_each(|k| x[k] += step[k]);
        }
        refinements += 1;
        let residual = relative_residual((pattern, matrix), transposed, b, x, size);
        // What no longer halves has come to rounding.
        let goes_on = residual.0 < 0.5 * best.0.0;
        if residual.0 < best.0.0 {
            best = (residual, x.clone());
        }
        if !goes_on {
            break;
        }
    }
    x.copy_from_slice(&best.1);
    Refined { residual: best.0.0, refinements }
}

/// The relative residual, and b - A x.
fn relative_residual(
    (pattern, matrix): (&BlockPattern, &BlockMatrix<f64>),
    transposed: bool,
    b: &[[f64; 3]],
    x: &[[f64; 3]],
    size: f64,
) -> (f64, Vec<[f64; 3]>) {
    let mut residual: Vec<[f64; 3]> = x.iter().map(|x| x.map(|x| -x)).collect();
    let negative = residual.clone();
    residual.copy_from_slice(b);
    match transposed {
        false => matrix.add_product(pattern, &negative, &mut residual),
        true => matrix.add_transpose_product(pattern, &negative, &mut residual),
    }
    let largest = |x: &[[f64; 3]]| x.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
    let finite = x.iter().flatten().all(|x| x.is_finite());
    let scale = size * largest(x) + largest(b);
    let relative = match (finite, scale > 0.0) {
        (false, _) => f64::INFINITY,
        (true, true) => largest(&residual) / scale,
        (true, false) => 0.0,
    };
    (relative, residual)
}
