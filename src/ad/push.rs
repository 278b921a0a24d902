//! Operations, and nodes, onto the tape of this thread.

use std::mem::ManuallyDrop;

use super::cursor::{
    ASIDE, CHUNK, CONSTANT, Chunk, NEVER, Operation, Origin, new_chunk, one_operand,
};
use super::super_node::{Solved, SuperNode};
use super::{Error, Node, Tape, TapeScalar};

/// The second operand of an operation that has only one.
#[inline(always)]
pub(super) fn aside<T: TapeScalar>() -> u32 {
    T::with_cursor(|cursor| (cursor.len.get() % ASIDE) as u32)
}

/// The epochs whose variables are most likely alive: those of the last two marks.
#[inline(always)]
pub(super) fn epochs<T: TapeScalar>() -> [u64; 2] {
    T::with_cursor(|cursor| [cursor.epoch.get(), cursor.enclosing.get()])
}

/// Appends an operation and returns its index.
///
/// Thread-local storage is entered for one number at a time: the compiler inlines that, and would not
/// inline a longer visit.
#[inline(always)]
pub(super) fn push<T: TapeScalar>(i: u32, j: u32, dx: T, dy: T, origin: Origin) -> u32 {
    let Some(mut chunk) = T::with_cursor(|cursor| cursor.chunk.take()) else {
        return push_beyond(i, j, dx, dy, origin);
    };
    let len = T::with_cursor(|cursor| cursor.len.get());
    // Field by field: put together first, large scalars would be copied twice.
    let operation = &mut chunk[len % CHUNK];
    operation.operands = [i, j];
    operation.partials[0] = dx;
    if !one_operand::<T>(j) {
        operation.partials[1] = dy;
    }
    T::with_cursor(|cursor| cursor.len.set(len + 1));
    if (len + 1) % CHUNK != 0 {
        T::with_cursor(|cursor| cursor.chunk.set(Some(chunk)));
    } else {
        put_away(chunk);
    }
    len as u32
}

#[cold]
fn put_away<T: TapeScalar>(chunk: ManuallyDrop<Chunk<T>>) {
    T::with_tape(|tape| tape.chunks.push(ManuallyDrop::into_inner(chunk)));
}

/// [`push`] where no chunk is at hand: at the end of one, after a sweep, and always while
/// diagnosing.
#[cold]
#[inline(never)]
fn push_beyond<T: TapeScalar>(i: u32, j: u32, dx: T, dy: T, origin: Origin) -> u32 {
    let operation = Operation { operands: [i, j], partials: [dx, dy] };
    T::with_cursor(|cursor| {
        T::with_tape(|tape| {
            let len = cursor.len();
            // A recording that was not started has no end; one that is full has no room.
            if cursor.epoch() == NEVER || len >= u32::MAX as usize {
                tape.fault.get_or_insert(Error::TapeFull);
                return CONSTANT;
            }
            let mut chunk = match len % CHUNK {
                0 => tape.spare.pop().unwrap_or_else(new_chunk),
                _ => tape.chunks.pop().unwrap_or_else(new_chunk),
            };
            chunk[len % CHUNK] = operation;
            cursor.len.set(len + 1);
            if tape.diagnosing {
                tape.diagnose(&operation, len, origin);
            }
            if tape.diagnosing || (len + 1) % CHUNK == 0 {
                tape.chunks.push(chunk);
            } else {
                cursor.chunk.set(Some(ManuallyDrop::new(chunk)));
            }
            len as u32
        })
    })
}

/// Notes that a variable was used that does not belong to the active recording.
#[cold]
pub(super) fn stale<T: TapeScalar>() {
    T::with_tape(|tape| {
        tape.fault.get_or_insert(Error::StaleVariable);
    });
}

/// Factorises a node for the sweep, outside of the tape: its code may itself differentiate something.
pub(super) fn factor_node<T: TapeScalar, N: Node>(
    node: &N,
    solution: &N::Solution,
    inputs: &[T],
    outputs: &[T],
) -> Box<dyn SuperNode<T>> {
    let used = T::with_tape(Tape::used_node);
    Solved::factor(used, node, solution, inputs, outputs)
}
