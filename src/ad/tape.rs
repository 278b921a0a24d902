//! Reverse mode: the tape that records a computation, and its adjoint sweep.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Error, Node, Real};

/// Marks a constant: an operand that no adjoint flows into.
pub(super) const CONSTANT: u32 = u32::MAX;

/// One operation: up to two operands and the partial derivatives in them.
#[derive(Clone, Copy)]
struct Operation<T> {
    operands: [u32; 2],
    partials: [T; 2],
}

/// A node call on the tape: its outputs are `outputs.len()` entries from `first` on.
struct Recorded<T: Real, N: Node> {
    node: N,
    solution: N::Solution,
    factor: N::Factor<T>,
    indices: Vec<u32>,
    inputs: Vec<T>,
    outputs: Vec<T>,
}

trait SuperNode<T> {
    /// Adds to the adjoints of the inputs, given those of the outputs.
    fn pull_back(&mut self, seed: &[T], adjoints: &mut [T], scratch: &mut Vec<T>);
}

impl<T: Real, N: Node> SuperNode<T> for Recorded<T, N> {
    fn pull_back(&mut self, seed: &[T], adjoints: &mut [T], scratch: &mut Vec<T>) {
        scratch.clear();
        scratch.resize(self.inputs.len(), T::zero());
        self.node.vjp(&self.solution, &mut self.factor, &self.inputs, &self.outputs, seed, scratch);
        for (&i, &a) in self.indices.iter().zip(scratch.iter()) {
            if i != CONSTANT {
                adjoints[i as usize] += a;
            }
        }
    }
}

/// A recording. One is active per thread and scalar; the drivers in [`super`] start and end it.
pub struct Tape<T> {
    epoch: u64,
    operations: Vec<Operation<T>>,
    super_nodes: Vec<(u32, u32, Box<dyn SuperNode<T>>)>,
    adjoints: Vec<T>,
    seed: Vec<T>,
    scratch: Vec<T>,
    fault: Option<Error>,
}

impl<T> Tape<T> {
    pub(super) const fn idle() -> Self {
        Tape {
            epoch: 0,
            operations: Vec::new(),
            super_nodes: Vec::new(),
            adjoints: Vec::new(),
            seed: Vec::new(),
            scratch: Vec::new(),
            fault: None,
        }
    }
}

impl<T: Real> Tape<T> {
    pub(super) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// A variable of no operation: an independent one.
    pub(super) fn independent(&mut self) -> u32 {
        self.push([CONSTANT; 2], [T::zero(); 2])
    }

    #[inline]
    pub(super) fn push(&mut self, operands: [u32; 2], partials: [T; 2]) -> u32 {
        let index = self.operations.len();
        if index >= CONSTANT as usize {
            self.fault.get_or_insert(Error::TapeFull);
            return CONSTANT;
        }
        self.operations.push(Operation { operands, partials });
        index as u32
    }

    /// Whether the operand `(index, epoch)` belongs to the active recording. If not, notes it.
    #[inline(always)]
    pub(super) fn owns(&mut self, index: u32, epoch: u64) -> bool {
        if index == CONSTANT || (epoch == self.epoch && epoch != 0) {
            return true;
        }
        self.fault.get_or_insert(Error::StaleVariable);
        false
    }

    /// Records a node call and returns the index of its first output.
    pub(super) fn push_node<N: Node>(
        &mut self,
        node: &N,
        solution: &N::Solution,
        indices: Vec<u32>,
        inputs: &[T],
        outputs: &[T],
    ) -> u32 {
        let mut factor = N::Factor::default();
        node.factor(solution, inputs, outputs, &mut factor);
        let first = self.operations.len() as u32;
        for _ in outputs {
            if self.independent() == CONSTANT {
                return CONSTANT;
            }
        }
        self.super_nodes.push((
            first,
            outputs.len() as u32,
            Box::new(Recorded {
                node: node.clone(),
                solution: solution.clone(),
                factor,
                indices,
                inputs: inputs.to_vec(),
                outputs: outputs.to_vec(),
            }),
        ));
        first
    }

    /// The adjoint sweep: `seeds` are (index, adjoint) of the outputs; returns the adjoints of the
    /// first `independents` variables.
    pub(super) fn sweep(&mut self, seeds: &[(u32, T)], independents: usize) -> Vec<T> {
        self.adjoints.clear();
        self.adjoints.resize(self.operations.len(), T::zero());
        for &(index, adjoint) in seeds {
            if index != CONSTANT {
                self.adjoints[index as usize] += adjoint;
            }
        }
        let mut node = self.super_nodes.len();
        let mut i = self.operations.len();
        while i > independents {
            i -= 1;
            if node > 0 {
                let (first, count, _) = self.super_nodes[node - 1];
                if i as u32 == first {
                    node -= 1;
                    self.seed.clear();
                    self.seed.extend_from_slice(&self.adjoints[i..i + count as usize]);
                    if self.seed.iter().any(|s| !s.is_zero()) {
                        let super_node = &mut self.super_nodes[node].2;
                        super_node.pull_back(&self.seed, &mut self.adjoints, &mut self.scratch);
                    }
                    continue;
                }
            }
            let adjoint = self.adjoints[i];
            // 0 * inf would be NaN: nothing flows back through a zero adjoint.
            if adjoint.is_zero() {
                continue;
            }
            let Operation { operands, partials } = self.operations[i];
            for (j, p) in operands.into_iter().zip(partials) {
                if j != CONSTANT {
                    self.adjoints[j as usize] += p * adjoint;
                }
            }
        }
        self.adjoints[..independents].to_vec()
    }
}

/// Scalars a tape can be over. Sealed: each has its slot in thread-local storage.
pub trait TapeScalar: Real {
    #[doc(hidden)]
    fn with_tape<Out>(f: impl FnOnce(&mut Tape<Self>) -> Out) -> Out;
}

macro_rules! tape_scalar {
    ($($t:ty),*) => {$(
        impl TapeScalar for $t {
            #[inline(always)]
            fn with_tape<Out>(f: impl FnOnce(&mut Tape<Self>) -> Out) -> Out {
                thread_local! {
                    static TAPE: RefCell<Tape<$t>> = const { RefCell::new(Tape::idle()) };
                }
                TAPE.with_borrow_mut(f)
            }
        }
    )*};
}

tape_scalar!(f64, super::Dual<f64, 1>, super::Dual<f64, 4>, super::Dual<f64, 8>);

/// Recordings are numbered across all threads, so that a variable of another thread is as
/// foreign as one of an earlier recording. 2^64 of them do not run out.
static EPOCHS: AtomicU64 = AtomicU64::new(1);

/// An active recording. The previous one (of an outer driver) comes back when it is dropped,
/// also by a panic.
pub(super) struct Recording<T: TapeScalar> {
    outer: Option<Tape<T>>,
}

impl<T: TapeScalar> Recording<T> {
    pub(super) fn start() -> Self {
        let epoch = EPOCHS.fetch_add(1, Ordering::Relaxed);
        let outer = T::with_tape(|tape| {
            if tape.epoch == 0 {
                // Nobody is recording: keep the memory of the idle tape, but not a fault noted
                // when a stale variable was used between recordings.
                tape.epoch = epoch;
                tape.fault = None;
                None
            } else {
                let fresh = Tape { epoch, ..Tape::idle() };
                Some(std::mem::replace(tape, fresh))
            }
        });
        Recording { outer }
    }

    /// What went wrong while recording, if anything did.
    pub(super) fn fault(&self) -> Result<(), Error> {
        T::with_tape(|tape| tape.fault.take()).map_or(Ok(()), Err)
    }
}

impl<T: TapeScalar> Drop for Recording<T> {
    fn drop(&mut self) {
        let outer = self.outer.take();
        T::with_tape(|tape| match outer {
            Some(outer) => *tape = outer,
            None => {
                tape.epoch = 0;
                tape.operations.clear();
                tape.super_nodes.clear();
                tape.fault = None;
            }
        });
    }
}
