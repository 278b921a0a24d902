//! The end of the tape that is being recorded, and the operations on it.
//!
//! What every operation touches is a [`Cursor`], without destructor and without borrow flag: the chunk being
//! filled moves out of its cell and back. The rest is a [`Tape`](super::Tape), reached when a chunk is full, by nodes
//! and by the drivers.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Real;

/// Operations in a chunk.
pub(super) const CHUNK: usize = 1024;

/// The index of constants: an operation of no operands. Adjoints that flow there are not read.
pub(super) const CONSTANT: u32 = 0;
/// The first operations are all like that. Operations of one operand take them in turn for their
/// other one, with partial 0: the sweep need not tell such operations apart, and sums into one and
/// the same number would wait for each other.
pub(super) const ASIDE: usize = 8;
/// The epoch of constants.
pub(super) const TIMELESS: u64 = 0;
/// The epoch of a cursor that records nothing.
pub(super) const NEVER: u64 = u64::MAX;
/// The epoch of what a stale operand made.
pub(super) const STALE: u64 = u64::MAX - 1;

/// Epochs are numbered across all threads, so that a variable of another thread is as foreign as
/// one of an earlier recording. 2^64 of them do not run out.
static EPOCHS: AtomicU64 = AtomicU64::new(1);

pub(super) fn new_epoch() -> u64 {
    EPOCHS.fetch_add(1, Ordering::Relaxed)
}

/// One operation: two operands and the partial derivatives in them.
#[derive(Clone, Copy)]
pub(super) struct Operation<T> {
    pub(super) operands: [u32; 2],
    pub(super) partials: [T; 2],
}

// Memory is what a tape is short of.
const _: () = assert!(size_of::<Operation<f64>>() <= 24);

pub(super) type Chunk<T> = Box<[Operation<T>; CHUNK]>;

pub(super) fn new_chunk<T: Real>() -> Chunk<T> {
    let nothing = Operation { operands: [CONSTANT; 2], partials: [T::zero(); 2] };
    match vec![nothing; CHUNK].into_boxed_slice().try_into() {
        Ok(chunk) => chunk,
        Err(_) => unreachable!("a slice of CHUNK operations is an array of as many"),
    }
}

/// Where an operation comes from, for the diagnosis: the function and the line that calls it.
pub(super) type Origin = (&'static &'static str, &'static Location<'static>);

/// The end of the tape being recorded.
pub struct Cursor<T> {
    /// The chunk being filled, if it has room. Not dropped by the cursor but by its [`Tape`](super::Tape).
    pub(super) chunk: Cell<Option<ManuallyDrop<Chunk<T>>>>,
    pub(super) len: Cell<usize>,
    /// The epoch of new variables.
    pub(super) epoch: Cell<u64>,
    /// That of the variables before the last mark.
    pub(super) enclosing: Cell<u64>,
}

impl<T> Cursor<T> {
    pub(super) const fn idle() -> Self {
        Cursor {
            chunk: Cell::new(None),
            len: Cell::new(0),
            epoch: Cell::new(NEVER),
            enclosing: Cell::new(NEVER),
        }
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.get()
    }

    pub(super) fn len(&self) -> usize {
        self.len.get()
    }

    /// How many operations of the user's there are.
    pub(super) fn operations(&self) -> usize {
        self.len.get().saturating_sub(ASIDE)
    }
}

/// Whether the second partial derivative of an operation is neither written nor read. Over small
/// scalars a 0 is cheaper than the question.
#[inline(always)]
pub(super) fn one_operand<T>(j: u32) -> bool {
    size_of::<T>() > size_of::<[f64; 2]>() && j < ASIDE as u32
}
