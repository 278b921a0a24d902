//! How duals pass a node: by its forward twin, by its residual, or through its iterations.

use std::fmt::Debug;

use super::linearization::Linearization;
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
/// solution with `jvp` and `vjp`, but none of their formulas. Slow; for checking.
#[derive(Clone, Copy, Debug)]
pub struct ByResidual;

/// By pushing the duals through the solver's own iterations. Slow; for checking.
#[derive(Clone, Copy, Debug)]
pub struct Unrolled;

/// Memory of a node called on duals over `T`.
pub struct DualWorkspace<T: Real, K: Node> {
    inner: T::Workspace<K>,
    factor: K::Factor<T>,
    linearization: Linearization<T>,
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
            linearization: Default::default(),
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

        w.linearization.factor(node, solution, &w.inputs, &w.outputs);
        for (y, &value) in outputs.iter_mut().zip(&w.outputs) {
            y.value = value;
        }
        for k in 0..N {
            let tangents = inputs.iter().map(|x| x.tangent[k]);
            let dy = w.linearization.jvp(node, solution, &w.inputs, &w.outputs, tangents);
            for (y, &dy) in outputs.iter_mut().zip(dy) {
                y.tangent[k] = dy;
            }
        }
    }
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
