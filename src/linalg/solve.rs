//! Linear systems with a general square matrix, as a node.

use super::factor_error::{check_system, not_a_number};
use super::refinement::Refinement;
use super::{FactorError, Lu, add_scaled, wide_dot};
use crate::ad::{Node, Real};

/// X = A^-1 B with A square. For a symmetric positive definite matrix
/// [`SpdSolve`](super::SpdSolve) needs half the time.
///
/// Inputs A (n x n row-major) and B (n x k, column after column), outputs X (as B). Rows are
/// exchanged by the values of A.
///
/// A matrix that is singular to working precision (see [`Lu::factor`]) or not finite, or sizes that
/// do not fit, are reported by [`LuSolution::failure`]; outputs and derivatives are then NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct Solve {
    /// Rows and columns of A.
    pub n: usize,
    /// Columns of B.
    pub columns: usize,
}

/// What a node of a general square matrix found.
#[derive(Debug, Default)]
pub struct LuSolution {
    /// Why there is no result, if there is none.
    pub failure: Option<FactorError>,
    /// The factor of the values; all derivatives are computed with it.
    pub(super) lu: Lu<f64>,
}

// By hand: the derived one does not reuse memory in `clone_from`.
impl Clone for LuSolution {
    fn clone(&self) -> Self {
        LuSolution { failure: self.failure, lu: self.lu.clone() }
    }
    fn clone_from(&mut self, source: &Self) {
        self.failure = source.failure;
        self.lu.clone_from(&source.lu);
    }
}

/// Memory of a solve with a general matrix.
#[derive(Clone, Debug, Default)]
pub struct LuWorkspace<T> {
    pub(super) unrolled: Lu<T>,
    scratch: Vec<T>,
}

impl LuSolution {
    /// Factorises the values of `a`, and for scalars with derivatives `a` itself, in `unrolled`.
    pub(super) fn factor<T: Real>(
        &mut self,
        a: &[T],
        n: usize,
        unrolled: &mut Lu<T>,
    ) -> Result<(), FactorError> {
        // A zero multiplier hides what it multiplies from the pivots.
        if !a.iter().all(|a| a.value().is_finite()) {
            return Err(FactorError::NotFinite);
        }
        self.lu.factor_entries(a, n, |a| a.value()).map_err(FactorError::Pivot)?;
        if T::ORDER > 0 {
            unrolled.factor_entries(a, n, |a| a).map_err(FactorError::Pivot)?;
        }
        Ok(())
    }

    /// A^-1 b for the right-hand side b in `system`.
    pub(super) fn refine<'a, T: Real>(&self, a: &[T], system: &'a mut Refinement<T>) -> &'a [T] {
        system.solve(|x, y| self.lu.solve_in(x, y), |x, y| subtract_product(a, x, y))
    }

    /// A^-T b for the right-hand side b in `system`.
    fn refine_transpose<'a, T: Real>(&self, a: &[T], system: &'a mut Refinement<T>) -> &'a [T] {
        let subtract = |x: &[T], y: &mut [T]| {
            for (row, &x) in a.chunks_exact(x.len().max(1)).zip(x) {
                add_scaled(y, -x, row);
            }
        };
        system.solve(|x, y| self.lu.solve_transpose_in(x, y), subtract)
    }
}

/// y <- y - A x
fn subtract_product<T: Real>(a: &[T], x: &[T], y: &mut [T]) {
    for (row, y) in a.chunks_exact(x.len().max(1)).zip(y) {
        *y -= wide_dot(row, x);
    }
}

impl Node for Solve {
    type Solution = LuSolution;
    type Workspace<T: Real> = LuWorkspace<T>;
    type Factor<T: Real> = Refinement<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut LuSolution,
        workspace: &mut LuWorkspace<T>,
    ) {
        let unrolled = &mut workspace.unrolled;
        let found = check_system(self.n, self.columns, inputs.len(), outputs.len())
            .and_then(|()| solution.factor(&inputs[..self.n * self.n], self.n, unrolled));
        solution.failure = found.err();
        if solution.failure.is_some() {
            outputs.fill(not_a_number());
            return;
        }
        outputs.copy_from_slice(&inputs[self.n * self.n..]);
        for x in outputs.chunks_exact_mut(self.n.max(1)) {
            if T::ORDER == 0 {
                solution.lu.solve_in(x, &mut workspace.scratch);
            } else {
                workspace.unrolled.solve_in(x, &mut workspace.scratch);
            }
        }
    }

    // A X - B
    fn residual<T: Real>(
        &self,
        solution: &LuSolution,
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
            subtract_product(a, x, r);
            r.iter_mut().for_each(|r| *r = -*r);
        }
    }

    // The solution has the factor.
    fn factor<T: Real>(&self, _: &LuSolution, _: &[T], _: &[T], _: &mut Refinement<T>) {}

    // dX = A^-1 (dB - dA X)
    fn jvp<T: Real>(
        &self,
        solution: &LuSolution,
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
        let a = &inputs[..self.n * self.n];
        let (da, db) = input_tangents.split_at(self.n * self.n);
        let columns = output_tangents.chunks_exact_mut(n).zip(outputs.chunks_exact(n));
        for ((dx, x), db) in columns.zip(db.chunks_exact(n)) {
            subtract_product(da, x, system.right(db.iter().copied()));
            dx.copy_from_slice(solution.refine(a, system));
        }
    }

    // With W = A^-T (adjoints of X): W for B, -W X' for A.
    fn vjp<T: Real>(
        &self,
        solution: &LuSolution,
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
        let a = &inputs[..self.n * self.n];
        let (to_a, to_b) = input_adjoints.split_at_mut(self.n * self.n);
        let columns = to_b.chunks_exact_mut(n).zip(outputs.chunks_exact(n));
        for ((to_b, x), seed) in columns.zip(output_adjoints.chunks_exact(n)) {
            system.right(seed.iter().copied());
            let w = solution.refine_transpose(a, system);
            for ((row, to_b), &w) in to_a.chunks_exact_mut(n).zip(to_b).zip(w) {
                *to_b += w;
                add_scaled(row, -w, x);
            }
        }
    }
}

/// X = A^-1 B by [`Solve`], with A (row-major) `n` x `n` and B column after column.
///
/// It allocates; in a loop call the node and keep its solution and workspace.
///
/// # Errors
/// [`FactorError::Pivot`] if A is singular, [`FactorError::NotFinite`] if it is not finite,
/// [`FactorError::Shape`] if `a` has not n n entries or `b` not a multiple of n.
///
/// ```
/// use stiction::linalg::{FactorError, solve};
/// assert_eq!(solve(&[0.0, 2.0, 1.0, 1.0], 2, &[4.0, 5.0]), Ok(vec![3.0, 2.0]));
/// assert_eq!(solve(&[1.0, 2.0, 2.0, 4.0], 2, &[4.0, 5.0]), Err(FactorError::Pivot(1)));
/// ```
pub fn solve<T: Real>(a: &[T], n: usize, b: &[T]) -> Result<Vec<T>, FactorError> {
    let node = Solve { n, columns: b.len().checked_div(n).unwrap_or_default() };
    let mut solution = LuSolution::default();
    let mut x = vec![T::zero(); b.len()];
    T::call(&node, &[a, b].concat(), &mut x, &mut solution, &mut Default::default());
    solution.failure.map_or(Ok(x), Err)
}
