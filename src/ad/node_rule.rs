//! How duals pass a node: by its forward twin, by its residual, or through its iterations.

use std::fmt::Debug;

use super::{Dual, Node, Real};

/// How a [`Dual`] differentiates a [`Node`].
pub trait NodeRule: Copy + Debug + 'static {
    /// Calls `node` on duals.
    fn call<T: Real, const N: usize, K: Node>(
        node: &K,
        inputs: &[Dual<T, N, Self>],
        outputs: &mut [Dual<T, N, Self>],
        solution: &mut K::Solution,
        workspace: &mut DualWorkspace<T, K>,
    );
}

/// By the node's own `jvp`, the forward twin of its adjoint: the fast and default way.
#[derive(Clone, Copy, Debug)]
pub struct ByTwin;

/// By the implicit function theorem with duals pushed through the node's `residual`: shares the
/// solution with `jvp` and `vjp`, but none of their formulas. Slow; for checking. First order: the
/// tangents are constants of the inner scalar.
#[derive(Clone, Copy, Debug)]
pub struct ByResidual;

/// By pushing the duals through the solver's own iterations. Slow; for checking.
#[derive(Clone, Copy, Debug)]
pub struct Unrolled;

/// Memory of a node called on duals over `T`.
pub struct DualWorkspace<T: Real, K: Node> {
    inner: T::Workspace<K>,
    factor: K::Factor<T>,
    inputs: Vec<T>,
    outputs: Vec<T>,
    input_tangents: Vec<T>,
    output_tangents: Vec<T>,
}

impl<T: Real, K: Node> Default for DualWorkspace<T, K> {
    fn default() -> Self {
        DualWorkspace {
            inner: Default::default(),
            factor: Default::default(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            input_tangents: Vec::new(),
            output_tangents: Vec::new(),
        }
    }
}

impl NodeRule for ByTwin {
    fn call<T: Real, const N: usize, K: Node>(
        node: &K,
        inputs: &[Dual<T, N, Self>],
        outputs: &mut [Dual<T, N, Self>],
        solution: &mut K::Solution,
        w: &mut DualWorkspace<T, K>,
    ) {
        w.inputs.clear();
        w.inputs.extend(inputs.iter().map(|x| x.value));
        w.outputs.clear();
        w.outputs.resize(outputs.len(), T::zero());
        T::call(node, &w.inputs, &mut w.outputs, solution, &mut w.inner);
        node.factor(solution, &w.inputs, &w.outputs, &mut w.factor);
        for (y, &value) in outputs.iter_mut().zip(&w.outputs) {
            y.value = value;
        }
        w.output_tangents.clear();
        w.output_tangents.resize(outputs.len(), T::zero());
        for k in 0..N {
            w.input_tangents.clear();
            w.input_tangents.extend(inputs.iter().map(|x| x.tangent[k]));
            node.jvp(
                solution,
                &mut w.factor,
                &w.inputs,
                &w.outputs,
                &w.input_tangents,
                &mut w.output_tangents,
            );
            for (y, &dy) in outputs.iter_mut().zip(&w.output_tangents) {
                y.tangent[k] = dy;
            }
        }
    }
}

impl NodeRule for ByResidual {
    fn call<T: Real, const N: usize, K: Node>(
        node: &K,
        inputs: &[Dual<T, N, Self>],
        outputs: &mut [Dual<T, N, Self>],
        solution: &mut K::Solution,
        w: &mut DualWorkspace<T, K>,
    ) {
        w.inputs.clear();
        w.inputs.extend(inputs.iter().map(|x| x.value));
        w.outputs.clear();
        w.outputs.resize(outputs.len(), T::zero());
        T::call(node, &w.inputs, &mut w.outputs, solution, &mut w.inner);

        let (x, y): (Vec<f64>, Vec<f64>) = (
            w.inputs.iter().map(|x| x.value()).collect(),
            w.outputs.iter().map(|y| y.value()).collect(),
        );
        let n = y.len();
        // Columns of dF/dy, eight at a time.
        const LANES: usize = 8;
        let mut jacobian = nalgebra::DMatrix::<f64>::zeros(n, n);
        let constants: Vec<Dual<f64, LANES>> = x.iter().map(|&x| Real::constant(x)).collect();
        let mut residual = vec![Dual::<f64, LANES>::constant(0.0); n];
        for first in (0..n).step_by(LANES) {
            let seeded: Vec<Dual<f64, LANES>> =
                (0..n).map(|j| Dual::variable(y[j], j.wrapping_sub(first))).collect();
            node.residual(solution, &constants, &seeded, &mut residual);
            for (i, r) in residual.iter().enumerate() {
                for k in 0..LANES.min(n - first) {
                    jacobian[(i, first + k)] = r.tangent[k];
                }
            }
        }
        // dF/dx dx of every tangent, then dy = -(dF/dy)^-1 (dF/dx dx).
        let seeded: Vec<Dual<f64, N>> = inputs
            .iter()
            .map(|x| Dual::new(x.value.value(), x.tangent.map(|t| t.value())))
            .collect();
        let fixed: Vec<Dual<f64, N>> = y.iter().map(|&y| Real::constant(y)).collect();
        let mut residual = vec![Dual::<f64, N>::constant(0.0); n];
        node.residual(solution, &seeded, &fixed, &mut residual);
        let rhs = nalgebra::DMatrix::from_fn(n, N, |i, k| -residual[i].tangent[k]);
        let dy = least_norm_solve(jacobian, &rhs);
        for (i, y) in outputs.iter_mut().enumerate() {
            *y = Dual::new(w.outputs[i], std::array::from_fn(|k| T::constant(dy[(i, k)])));
        }
    }
}

/// The solution of `a x = b` of least norm. Rows are scaled first; singular values below 1e-11 of
/// the largest count as zero, so that solutions that are not unique get the same selection rule
/// as in the nodes: least norm.
fn least_norm_solve(
    mut a: nalgebra::DMatrix<f64>,
    b: &nalgebra::DMatrix<f64>,
) -> nalgebra::DMatrix<f64> {
    let mut b = b.clone();
    for i in 0..a.nrows() {
        let scale = a.row(i).amax();
        if scale > 0.0 {
            a.row_mut(i).unscale_mut(scale);
            b.row_mut(i).unscale_mut(scale);
        }
    }
    let lu = a.clone().full_piv_lu();
    let u = lu.u();
    let (largest, smallest) = (0..a.nrows()).fold((0.0_f64, f64::INFINITY), |(l, s), i| {
        (l.max(u[(i, i)].abs()), s.min(u[(i, i)].abs()))
    });
    if smallest > 1e-11 * largest
        && let Some(x) = lu.solve(&b)
    {
        return x;
    }
    let svd = a.svd(true, true);
    let cut = 1e-11 * svd.singular_values.max();
    let (rows, columns) = (b.nrows(), b.ncols());
    svd.solve(&b, cut).unwrap_or_else(|_| nalgebra::DMatrix::from_element(rows, columns, f64::NAN))
}

impl NodeRule for Unrolled {
    fn call<T: Real, const N: usize, K: Node>(
        node: &K,
        inputs: &[Dual<T, N, Self>],
        outputs: &mut [Dual<T, N, Self>],
        solution: &mut K::Solution,
        _: &mut DualWorkspace<T, K>,
    ) {
        node.primal(inputs, outputs, solution, &mut Default::default());
    }
}
