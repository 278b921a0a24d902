//! Logarithms of determinants, as nodes.

use super::factor_error::not_a_number;
use super::refinement::Refinement;
use super::solve::{LuSolution, LuWorkspace};
use super::spd_solve::SpdSolution;
use super::{FactorError, Lu, PackedCholesky, add_scaled, wide_dot};
use crate::ad::{Node, Real};

/// ln det A with A symmetric positive definite.
///
/// Input A (n x n row-major), one output. Only the lower triangle is read, and only there are
/// derivatives; an entry off the diagonal stands for both of its places. Failures are reported as by
/// [`SpdSolve`](super::SpdSolve).
#[derive(Clone, Copy, Debug, Default)]
pub struct LogDet {
    /// Rows and columns of A.
    pub n: usize,
}

/// ln |det A| with A square.
///
/// Input A (n x n row-major), one output. Failures are reported as by [`Solve`](super::Solve): a
/// singular matrix is one, its output NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogAbsDet {
    /// Rows and columns of A.
    pub n: usize,
}

/// A^-1, behind the derivatives of both.
#[derive(Clone, Debug, Default)]
pub struct InverseFactor<T> {
    /// Column after column; of a symmetric matrix only from the diagonal on.
    inverse: Vec<T>,
    system: Refinement<T>,
}

fn fits(n: usize, inputs: usize, outputs: usize) -> bool {
    n.checked_mul(n) == Some(inputs) && outputs == 1
}

fn unit<T: Real>(n: usize, j: usize) -> impl Iterator<Item = T> {
    (0..n).map(move |i| if i == j { T::one() } else { T::zero() })
}

impl Node for LogDet {
    type Solution = SpdSolution;
    type Workspace<T: Real> = PackedCholesky<T>;
    type Factor<T: Real> = InverseFactor<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut SpdSolution,
        unrolled: &mut PackedCholesky<T>,
    ) {
        let found = if fits(self.n, inputs.len(), outputs.len()) {
            solution.factor(inputs, self.n, unrolled)
        } else {
            Err(FactorError::Shape)
        };
        solution.failure = found.err();
        outputs.fill(if found.is_err() {
            not_a_number()
        } else if T::ORDER == 0 {
            T::constant(solution.cholesky.log_det())
        } else {
            unrolled.log_det()
        });
    }

    fn residual<T: Real>(
        &self,
        solution: &SpdSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let mut cholesky = PackedCholesky::default();
        if solution.failure.is_some() || cholesky.factor(inputs, self.n).is_err() {
            residual.fill(not_a_number());
            return;
        }
        residual[0] = outputs[0] - cholesky.log_det();
    }

    fn factor<T: Real>(
        &self,
        solution: &SpdSolution,
        inputs: &[T],
        _: &[T],
        factor: &mut InverseFactor<T>,
    ) {
        factor.inverse.clear();
        if solution.failure.is_some() {
            return;
        }
        for j in 0..self.n {
            let right = factor.system.right(unit(self.n, j));
            // A symmetric inverse: what stands above the diagonal is known, unless the refinement
            // reads it.
            if T::ORDER == 0 {
                solution.cholesky.solve_from(j, right);
                factor.inverse.extend_from_slice(right);
            } else {
                factor.inverse.extend_from_slice(solution.refine(inputs, &mut factor.system));
            }
        }
    }

    // tr(A^-1 dA)
    fn jvp<T: Real>(
        &self,
        solution: &SpdSolution,
        factor: &mut InverseFactor<T>,
        _: &[T],
        _: &[T],
        da: &[T],
        output_tangents: &mut [T],
    ) {
        if solution.failure.is_some() {
            output_tangents.fill(not_a_number());
            return;
        }
        let mut trace = T::zero();
        for (j, column) in factor.inverse.chunks_exact(self.n.max(1)).enumerate() {
            let mut below = T::zero();
            for i in j + 1..self.n {
                below += column[i] * da[i * self.n + j];
            }
            trace += below * 2.0 + column[j] * da[j * self.n + j];
        }
        output_tangents[0] = trace;
    }

    // A^-1, both places of an entry in the lower triangle
    fn vjp<T: Real>(
        &self,
        solution: &SpdSolution,
        factor: &mut InverseFactor<T>,
        _: &[T],
        _: &[T],
        output_adjoints: &[T],
        to_a: &mut [T],
    ) {
        if solution.failure.is_some() {
            to_a.fill(not_a_number());
            return;
        }
        let (once, twice) = (output_adjoints[0], output_adjoints[0] * 2.0);
        for (j, column) in factor.inverse.chunks_exact(self.n.max(1)).enumerate() {
            to_a[j * self.n + j] += once * column[j];
            for i in j + 1..self.n {
                to_a[i * self.n + j] += twice * column[i];
            }
        }
    }
}

impl Node for LogAbsDet {
    type Solution = LuSolution;
    type Workspace<T: Real> = LuWorkspace<T>;
    type Factor<T: Real> = InverseFactor<T>;

    fn primal<T: Real>(
        &self,
        inputs: &[T],
        outputs: &mut [T],
        solution: &mut LuSolution,
        workspace: &mut LuWorkspace<T>,
    ) {
        let found = if fits(self.n, inputs.len(), outputs.len()) {
            solution.factor(inputs, self.n, &mut workspace.unrolled)
        } else {
            Err(FactorError::Shape)
        };
        solution.failure = found.err();
        outputs.fill(if found.is_err() {
            not_a_number()
        } else if T::ORDER == 0 {
            T::constant(solution.lu.log_abs_det())
        } else {
            workspace.unrolled.log_abs_det()
        });
    }

    fn residual<T: Real>(
        &self,
        solution: &LuSolution,
        inputs: &[T],
        outputs: &[T],
        residual: &mut [T],
    ) {
        let mut lu = Lu::default();
        if solution.failure.is_some() || !lu.factor(inputs, self.n) {
            residual.fill(not_a_number());
            return;
        }
        residual[0] = outputs[0] - lu.log_abs_det();
    }

    fn factor<T: Real>(
        &self,
        solution: &LuSolution,
        inputs: &[T],
        _: &[T],
        factor: &mut InverseFactor<T>,
    ) {
        factor.inverse.clear();
        if solution.failure.is_some() {
            return;
        }
        for j in 0..self.n {
            factor.system.right(unit(self.n, j));
            factor.inverse.extend_from_slice(solution.refine(inputs, &mut factor.system));
        }
    }

    // tr(A^-1 dA): row i of dA on column i of A^-1
    fn jvp<T: Real>(
        &self,
        solution: &LuSolution,
        factor: &mut InverseFactor<T>,
        _: &[T],
        _: &[T],
        da: &[T],
        output_tangents: &mut [T],
    ) {
        output_tangents[0] = match solution.failure {
            Some(_) => not_a_number(),
            None => wide_dot(da, &factor.inverse),
        };
    }

    // A^-T: column i of A^-1 on row i
    fn vjp<T: Real>(
        &self,
        solution: &LuSolution,
        factor: &mut InverseFactor<T>,
        _: &[T],
        _: &[T],
        output_adjoints: &[T],
        to_a: &mut [T],
    ) {
        match solution.failure {
            Some(_) => to_a.fill(not_a_number()),
            None => add_scaled(to_a, output_adjoints[0], &factor.inverse),
        }
    }
}

/// ln det of the symmetric positive definite `n` x `n` matrix `a` (row-major, the lower triangle is
/// read) by [`LogDet`]. It allocates; in a loop call the node.
///
/// # Errors
/// [`FactorError::Pivot`] if the matrix is not positive definite, [`FactorError::Shape`] if it has
/// not n n entries.
///
/// ```
/// use stiction::ad::jacobian;
/// use stiction::linalg::log_det;
/// let f = |a: &[_]| vec![log_det(a, 2).unwrap_or_default()];
/// let (y, dy) = jacobian::<4>(f, &[2.0, 0.0, 1.0, 3.0]);
/// assert!((y[0] - 5.0_f64.ln()).abs() < 1e-15);
/// // A^-1 = [3 -1; -1 2] / 5
/// assert!((dy - nalgebra::dmatrix![0.6, 0.0, -0.4, 0.4]).amax() < 1e-15);
/// ```
pub fn log_det<T: Real>(a: &[T], n: usize) -> Result<T, FactorError> {
    let (mut y, mut solution) = ([T::zero()], SpdSolution::default());
    T::call(&LogDet { n }, a, &mut y, &mut solution, &mut Default::default());
    solution.failure.map_or(Ok(y[0]), Err)
}

/// ln |det| of the `n` x `n` matrix `a` (row-major) by [`LogAbsDet`]. It allocates; in a loop call
/// the node.
///
/// # Errors
/// [`FactorError::Pivot`] if the matrix is singular, [`FactorError::NotFinite`] if it is not finite,
/// [`FactorError::Shape`] if it has not n n entries.
///
/// ```
/// use stiction::ad::gradient;
/// use stiction::linalg::log_abs_det;
/// let f = |a: &[_]| log_abs_det(a, 2).unwrap_or_default();
/// let (y, dy) = gradient(f, &[1.0, 2.0, 3.0, 4.0])?;
/// assert!((y - 2.0_f64.ln()).abs() < 1e-15);
/// // A^-T, with det A = -2
/// for (found, expected) in dy.iter().zip([-2.0, 1.5, 1.0, -0.5]) {
///     assert!((found - expected).abs() < 1e-14);
/// }
/// # Ok::<(), stiction::ad::Error>(())
/// ```
pub fn log_abs_det<T: Real>(a: &[T], n: usize) -> Result<T, FactorError> {
    let (mut y, mut solution) = ([T::zero()], LuSolution::default());
    T::call(&LogAbsDet { n }, a, &mut y, &mut solution, &mut Default::default());
    solution.failure.map_or(Ok(y[0]), Err)
}
