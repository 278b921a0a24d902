//! A node call on the tape: one entry for all that was solved.

use std::any::Any;

use super::arena::Slice;
use super::{Node, Real};

/// What a node call left for the sweep. Kept when the tape is rewound, so that the next call of the
/// same kind finds its memory.
pub(super) trait SuperNode<T> {
    /// `input_adjoints += (d outputs / d inputs)' output_adjoints`
    fn pull_back(
        &mut self,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    );

    fn name(&self) -> &'static str;

    fn as_any(&mut self) -> &mut dyn Any;
}

/// The payload of a [`Node`].
pub(super) struct Solved<T: Real, N: Node> {
    node: N,
    solution: N::Solution,
    factor: N::Factor<T>,
}

impl<T: Real, N: Node> Solved<T, N> {
    /// Factorises at the solution, in the memory of `used` if that was of the same kind.
    pub(super) fn factor(
        used: Option<Box<dyn SuperNode<T>>>,
        node: &N,
        solution: &N::Solution,
        inputs: &[T],
        outputs: &[T],
    ) -> Box<dyn SuperNode<T>> {
        if let Some(mut used) = used
            && let Some(own) = used.as_any().downcast_mut::<Self>()
        {
            own.node.clone_from(node);
            own.solution.clone_from(solution);
            node.factor(solution, inputs, outputs, &mut own.factor);
            return used;
        }
        let mut factor = N::Factor::default();
        node.factor(solution, inputs, outputs, &mut factor);
        Box::new(Solved { node: node.clone(), solution: solution.clone(), factor })
    }
}

impl<T: Real, N: Node> SuperNode<T> for Solved<T, N> {
    fn pull_back(
        &mut self,
        inputs: &[T],
        outputs: &[T],
        output_adjoints: &[T],
        input_adjoints: &mut [T],
    ) {
        self.node.vjp(
            &self.solution,
            &mut self.factor,
            inputs,
            outputs,
            output_adjoints,
            input_adjoints,
        );
    }

    fn name(&self) -> &'static str {
        std::any::type_name::<N>()
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// An entry of the tape with several operands. Its outputs are `outputs.len()` operations from
/// `first` on.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) first: u32,
    pub(super) outputs: u32,
    /// The indices of the operands.
    pub(super) operands: Slice,
    pub(super) kind: Kind,
}

#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A solved node: its place among the super-nodes, and its values.
    Solved { place: u32, inputs: Slice, outputs: Slice },
    /// A Jacobian, outputs x operands, row-major.
    Block { jacobian: Slice },
}
