//! How duals pass a node: by its `jvp`, by its residual, or through its iterations.

use std::cell::Cell;

use super::linearization::Linearization;
use super::{Dual, Node, Real};

/// How a [`Dual`] differentiates a [`Node`]. All duals of a thread follow the rule in force, which is
/// [`ByJvp`](NodeRule::ByJvp) except within [`with_node_rule`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeRule {
    /// By the node's own `jvp`: the fast way.
    #[default]
    ByJvp,
    /// By the implicit function theorem with duals pushed through the node's `residual`: shares the
    /// solution with `jvp` and `vjp`, but none of their formulas. Slow; for checking.
    ByResidual,
    /// By pushing the duals through the solver's own iterations. Slow; for checking.
    Unrolled,
}

thread_local! {
    static RULE: Cell<NodeRule> = const { Cell::new(NodeRule::ByJvp) };
}

/// Runs `f` with `rule` in force: all [`Dual`]s pass [`Node`]s by it until `f` returns or panics, when the
/// rule from before is in force again. Scopes nest. A thread that `f` starts begins with the default.
///
/// ```
/// use stiction::ad::{Implicit, NodeRule, Real, jacobian, with_node_rule};
///
/// /// y = sqrt(x) by Newton's method.
/// #[derive(Clone)]
/// struct Root;
///
/// impl Implicit for Root {
///     type Solution = ();
///     type Workspace = ();
///     fn solve<T: Real>(&self, x: &[T], y: &mut [T], _: &mut (), _: &mut ()) {
///         y[0] = x[0];
///         (0..10).for_each(|_| y[0] = (y[0] + x[0] / y[0]) * 0.5);
///     }
///     fn residual<T: Real>(&self, _: &(), x: &[T], y: &[T], residual: &mut [T]) {
///         residual[0] = y[0] * y[0] - x[0];
///     }
/// }
///
/// for rule in [NodeRule::ByJvp, NodeRule::ByResidual, NodeRule::Unrolled] {
///     let (_, slope) = with_node_rule(rule, || {
///         jacobian::<1>(
///             |x| {
///                 let mut y = [Real::constant(0.0)];
///                 Real::call(&Root, x, &mut y, &mut (), &mut Default::default());
///                 y.to_vec()
///             },
///             &[4.0],
///         )
///     });
///     assert!((slope[(0, 0)] - 0.25).abs() < 1e-15);
/// }
/// ```
pub fn with_node_rule<Out>(rule: NodeRule, f: impl FnOnce() -> Out) -> Out {
    /// Puts the rule back, also when a panic unwinds.
    struct Before(NodeRule);
    impl Drop for Before {
        fn drop(&mut self) {
            RULE.set(self.0);
        }
    }
    let _before = Before(RULE.replace(rule));
    f()
}

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

/// Calls `node` on duals, by the rule in force.
pub(super) fn call<T: Real, const N: usize, K: Node>(
    node: &K,
    inputs: &[Dual<T, N>],
    outputs: &mut [Dual<T, N>],
    solution: &mut K::Solution,
    workspace: &mut DualWorkspace<T, K>,
) {
    match RULE.get() {
        NodeRule::ByJvp => by_jvp(node, inputs, outputs, solution, workspace),
        NodeRule::ByResidual => by_residual(node, inputs, outputs, solution, workspace),
        NodeRule::Unrolled => node.primal(inputs, outputs, solution, &mut Default::default()),
    }
}

fn by_jvp<T: Real, const N: usize, K: Node>(
    node: &K,
    inputs: &[Dual<T, N>],
    outputs: &mut [Dual<T, N>],
    solution: &mut K::Solution,
    w: &mut DualWorkspace<T, K>,
) {
    solve(node, inputs, outputs, solution, w);
    node.factor(solution, &w.inputs, &w.outputs, &mut w.factor);
    w.input_tangents.clear();
    for k in 0..N {
        w.input_tangents.extend(inputs.iter().map(|x| x.tangent[k]));
    }
    w.output_tangents.clear();
    w.output_tangents.resize(N * outputs.len(), T::zero());
    let (tangents, changes) = (&w.input_tangents, &mut w.output_tangents);
    node.jvp_many(solution, &mut w.factor, &w.inputs, &w.outputs, N, tangents, changes);
    for (k, changes) in changes.chunks_exact(outputs.len().max(1)).enumerate() {
        for (y, &dy) in outputs.iter_mut().zip(changes) {
            y.tangent[k] = dy;
        }
    }
}

fn by_residual<T: Real, const N: usize, K: Node>(
    node: &K,
    inputs: &[Dual<T, N>],
    outputs: &mut [Dual<T, N>],
    solution: &mut K::Solution,
    w: &mut DualWorkspace<T, K>,
) {
    solve(node, inputs, outputs, solution, w);
    w.linearization.factor(node, solution, &w.inputs, &w.outputs);
    for k in 0..N {
        let tangents = inputs.iter().map(|x| x.tangent[k]);
        let dy = w.linearization.jvp(node, solution, &w.inputs, &w.outputs, tangents);
        for (y, &dy) in outputs.iter_mut().zip(dy) {
            y.tangent[k] = dy;
        }
    }
}

/// Solves on the values.
fn solve<T: Real, const N: usize, K: Node>(
    node: &K,
    inputs: &[Dual<T, N>],
    outputs: &mut [Dual<T, N>],
    solution: &mut K::Solution,
    w: &mut DualWorkspace<T, K>,
) {
    w.inputs.clear();
    w.inputs.extend(inputs.iter().map(|x| x.value));
    w.outputs.clear();
    w.outputs.resize(outputs.len(), T::zero());
    T::call(node, &w.inputs, &mut w.outputs, solution, &mut w.inner);
    for (y, &value) in outputs.iter_mut().zip(&w.outputs) {
        y.value = value;
    }
}
