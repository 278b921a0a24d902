//! Linear systems with a symmetric positive definite matrix, as a node.

use super::factor_error::{check_system, not_a_number};
use super::refinement::Refinement;
use super::{FactorError, PackedCholesky, add_scaled, wide_dot};
use crate::ad::{Node, Real};

/// X = A^-1 B with A symmetric positive definite.
///
/// Inputs A (n x n row-major) and B (n x k, column after column), outputs X (as B). Of A only the
/// lower triangle is read, and only there are derivatives; an entry off the diagonal stands for
/// both of its places.
///
/// A matrix that is not positive definite, or sizes that do not fit, are reported by
/// [`SpdSolution::failure`]; outputs and derivatives are then NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpdSolve {
    /// Rows and columns of A.
    pub n: usize,
    /// Columns of B.
    pub columns: usize,
}

/// What a node of a symmetric positive definite matrix found.
#[derive(Debug, Default)]
pub struct SpdSolution {
    /// Why there is no result, if there is none.
    pub failure: Option<FactorError>,
    /// The factor of the values; all derivatives are computed with it.
    pub(super) cholesky: PackedCholesky<f64>,
}

// By hand: the derived one does not reuse memory in `clone_from`.
impl Clone for SpdSolution {
    fn clone(&self) -> Self {
        SpdSolution { failure: self.failure, cholesky: self.cholesky.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.failure = source.failure;
        self.cholesky.clone_from(&source.cholesky);
    }
}

impl SpdSolution {
    /// Factorises the values of `a`, and for scalars with derivatives `a` itself, in `unrolled`.
    pub(super) fn factor<T: Real>(
        &mut self,
        a: &[T],
        n: usize,
        unrolled: &mut PackedCholesky<T>,
    ) -> Result<(), FactorError> {
        self.cholesky.factor_entries(a, n, |a| a.value()).map_err(FactorError::Pivot)?;
        if T::ORDER > 0 {
            unrolled.factor(a, n).map_err(FactorError::Pivot)?;
        }
        Ok(())
    }

    /// A^-1 b for the right-hand side b in `system`.
    pub(super) fn refine<'a, T: Real>(&self, a: &[T], system: &'a mut Refinement<T>) -> &'a [T] {
        system.solve(|x, _| self.cholesky.solve(x), |x, y| subtract_symmetric(a, x, y))
    }
}

/// y <- y - A x, A given by its lower triangle.
pub(super) fn subtract_symmetric<T: Real>(a: &[T], x: &[T], y: &mut [T]) {
    let n = x.len();
    for i in 0..n {
        let row = &a[i * n..][..i];
        y[i] = y[i] - wide_dot(row, &x[..i]) - a[i * n + i] * x[i];
        add_scaled(&mut y[..i], -x[i], row);
    }
}

impl Node for SpdSolve {
    type Solution = SpdSolution;
    type Workspace<T: Real> = PackedCholesky<T>;
    type Factor<T: Real> = Refinement<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut SpdSolution,
        unrolled: &mut PackedCholesky<T>,
    ) {
        let found = check_system(self.n, self.columns, inputs.len(), outputs.len())
            .and_then(|()| solution.factor(inputs, self.n, unrolled));
        solution.failure = found.err();
        if solution.failure.is_some() {
            outputs.fill(not_a_number());
            return;
        }
        outputs.copy_from_slice(&inputs[self.n * self.n..]);
        for x in outputs.chunks_exact_mut(self.n.max(1)) {
            if T::ORDER == 0 {
                solution.cholesky.solve(x);
            } else {
                unrolled.solve(x);
            }
        }
    }

    // A X - B
    fn residual<T: Real>(
        &self,
        solution: &SpdSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        if solution.failure.is_some() {
            residual.fill(not_a_number());
            return;
        }
        let (a, b) = inputs.split_at(self.n * self.n);
        residual.copy_from_slice(b);
        let columns = residual.chunks_exact_mut(self.n.max(1));
        for (r, x) in columns.zip(outputs.chunks_exact(self.n.max(1))) {
            subtract_symmetric(a, x, r);
            r.iter_mut().for_each(|r| *r = -*r);
        }
    }

    // The solution has the factor.
    fn factor<T: Real>(&self, _: &SpdSolution, _: &[T], _: &[T], _: &mut Refinement<T>) {}

    // dX = A^-1 (dB - dA X)
    fn jvp<T: Real>(
        &self,
        solution: &SpdSolution,
        system: &mut Refinement<T>,
        inputs: &[T],
        outputs: &[T],
        input_tangents: &[T],
        output_tangents: &mut [T],
    ) {
        if solution.failure.is_some() {
            output_tangents.fill(not_a_number());
            return;
        }
        let n = self.n.max(1);
        let (a, (da, db)) = (inputs, input_tangents.split_at(self.n * self.n));
        let columns = output_tangents.chunks_exact_mut(n).zip(outputs.chunks_exact(n));
        for ((dx, x), db) in columns.zip(db.chunks_exact(n)) {
            subtract_symmetric(da, x, system.right(db.iter().copied()));
            dx.copy_from_slice(solution.refine(a, system));
        }
    }

    // With W = A^-1 (adjoints of X): W for B, and -(w_i x_j + w_j x_i) for both places of A_ij.
    fn vjp<T: Real>(
        &self,
        solution: &SpdSolution,
        system: &mut Refinement<T>,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        if solution.failure.is_some() {
            input_adjoints.fill(not_a_number());
            return;
        }
        let n = self.n.max(1);
        let (to_a, to_b) = input_adjoints.split_at_mut(self.n * self.n);
        let columns = to_b.chunks_exact_mut(n).zip(outputs.chunks_exact(n));
        for ((to_b, x), seed) in columns.zip(output_adjoints.chunks_exact(n)) {
            system.right(seed.iter().copied());
            let w = solution.refine(inputs, system);
            for (to_b, &w) in to_b.iter_mut().zip(w) {
                *to_b += w;
            }
            for (i, row) in to_a.chunks_exact_mut(n).enumerate() {
                let (wi, xi) = (w[i], x[i]);
                for ((to_a, &wj), &xj) in row[..i].iter_mut().zip(w).zip(x) {
                    *to_a -= wi * xj + wj * xi;
                }
                row[i] -= wi * xi;
            }
        }
    }
}

/// X = A^-1 B by [`SpdSolve`], with A (row-major) `n` x `n` and B column after column.
///
/// It allocates; in a loop call the node and keep its solution and workspace.
///
/// # Errors
/// [`FactorError::Pivot`] if A is not positive definite, [`FactorError::Shape`] if `a` has not n n
/// entries or `b` not a multiple of n.
///
/// ```
/// use stiction::ad::gradient;
/// use stiction::linalg::{FactorError, spd_solve};
/// // c'x with A = [4 1; 1 3], b = (1, 2): x = (1, 7) / 11. Only the lower triangle is read.
/// let (y, dy) = gradient(
///     |p| match spd_solve(&p[..4], 2, &p[4..]) {
///         Ok(x) => x[0] * 11.0 + x[1] * 22.0,
///         Err(_) => p[0] * f64::NAN,
///     },
///     &[4.0, 0.0, 1.0, 3.0, 1.0, 2.0],
/// )?;
/// assert!((y - 15.0).abs() < 1e-13);
/// // d/db = A^-1 c = (1, 7), d/dA_ij = -(w_i x_j + w_j x_i)
/// for (found, expected) in dy.iter().zip([-1.0 / 11.0, 0.0, -14.0 / 11.0, -49.0 / 11.0, 1.0, 7.0]) {
///     assert!((found - expected).abs() < 1e-13);
/// }
/// assert_eq!(spd_solve(&[1.0, 0.0, 2.0, 1.0], 2, &[1.0, 1.0]), Err(FactorError::Pivot(1)));
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn spd_solve<T: Real>(a: &[T], n: usize, b: &[T]) -> Result<Vec<T>, FactorError> {
    let node = SpdSolve { n, columns: b.len().checked_div(n).unwrap_or_default() };
    let mut solution = SpdSolution::default();
    let mut x = vec![T::zero(); b.len()];
    T::call(&node, &[a, b].concat(), &mut x, &mut solution, &mut Default::default());
    solution.failure.map_or(Ok(x), Err)
}
