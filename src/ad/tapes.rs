//! The tapes of a thread, and the scalars of which it has some.

use std::mem::ManuallyDrop;

use super::Real;
use super::cursor::{ASIDE, CONSTANT, Cursor, NEVER, Operation, new_chunk, new_epoch};
use super::tape::Tape;

/// Scalars a tape can be over. Sealed: each has its place in thread-local storage.
pub trait TapeScalar: Real {
    #[doc(hidden)]
    fn with_cursor<Out>(f: impl FnOnce(&Cursor<Self>) -> Out) -> Out;
    #[doc(hidden)]
    fn with_tapes<Out>(f: impl FnOnce(&mut Tapes<Self>) -> Out) -> Out;
    /// [`Self::with_tapes`], if there are any left at the end of the thread.
    #[doc(hidden)]
    fn try_with_tapes(f: impl FnOnce(&mut Tapes<Self>));
    #[doc(hidden)]
    fn take_tapes() -> Option<Box<Tapes<Self>>>;
    #[doc(hidden)]
    fn put_tapes(tapes: Box<Tapes<Self>>);
    #[doc(hidden)]
    fn with_tape<Out>(f: impl FnOnce(&mut Tape<Self>) -> Out) -> Out {
        Self::with_tapes(|tapes| f(&mut tapes.active))
    }
}

/// The tapes of a thread: the active one, those of recordings it interrupted, and of ended ones.
pub struct Tapes<T: TapeScalar> {
    pub(super) active: Tape<T>,
    pub(super) interrupted: Vec<Interrupted<T>>,
    pub(super) spare: Vec<Tape<T>>,
}

/// A recording within which another one was started.
pub(super) struct Interrupted<T: Real> {
    pub(super) tape: Tape<T>,
    len: usize,
    pub(super) ended: bool,
}

impl<T: TapeScalar> Default for Tapes<T> {
    fn default() -> Self {
        Tapes { active: Tape::idle(), interrupted: Vec::new(), spare: Vec::new() }
    }
}

impl<T: TapeScalar> Tapes<T> {
    /// Starts a recording, and says which.
    pub(super) fn start(&mut self, diagnosing: bool) -> u64 {
        let recording = new_epoch();
        if self.active.recording != NEVER {
            let len = T::with_cursor(|cursor| {
                self.active.take_chunk(cursor);
                cursor.len()
            });
            let tape =
                std::mem::replace(&mut self.active, self.spare.pop().unwrap_or(Tape::idle()));
            self.interrupted.push(Interrupted { tape, len, ended: false });
        }
        let tape = &mut self.active;
        tape.recording = recording;
        tape.fault = None;
        tape.diagnosing = diagnosing;
        tape.epochs.clear();
        tape.epochs.push(recording);
        tape.newest = 0;
        let nothing = Operation { operands: [CONSTANT; 2], partials: [T::zero(); 2] };
        let mut chunk = tape.spare.pop().unwrap_or_else(new_chunk);
        chunk[..ASIDE].fill(nothing);
        T::with_cursor(|cursor| {
            cursor.epoch.set(recording);
            cursor.enclosing.set(NEVER);
            cursor.len.set(ASIDE);
            if diagnosing {
                tape.chunks.push(chunk);
            } else {
                cursor.chunk.set(Some(ManuallyDrop::new(chunk)));
            }
        });
        recording
    }

    /// Ends a recording. If one within it is still active, it ends after that.
    pub(super) fn end(&mut self, recording: u64) {
        if self.active.recording != recording {
            if let Some(outer) = self.interrupted.iter_mut().find(|i| i.tape.recording == recording)
            {
                outer.ended = true;
            }
            return;
        }
        T::with_cursor(|cursor| self.active.clear(cursor));
        while let Some(outer) = self.interrupted.pop() {
            let mut inner = std::mem::replace(&mut self.active, outer.tape);
            inner.fault = None;
            self.spare.push(inner);
            if outer.ended {
                T::with_cursor(|cursor| self.active.clear(cursor));
                continue;
            }
            T::with_cursor(|cursor| {
                cursor.len.set(outer.len);
                self.active.set_epochs(cursor);
            });
            break;
        }
    }
}

impl<T: TapeScalar> Drop for Tapes<T> {
    /// At the end of the thread: the cursor does not drop its chunk.
    fn drop(&mut self) {
        T::with_cursor(|cursor| self.active.take_chunk(cursor));
    }
}

/// The tapes of this thread, taken away for a sweep: what a node records in its `vjp` goes on others.
/// Back in place when dropped, also by a panic.
pub(super) struct Detached<T: TapeScalar> {
    tapes: Option<Box<Tapes<T>>>,
    pub(super) len: usize,
}

impl<T: TapeScalar> Detached<T> {
    pub(super) fn take() -> Self {
        let mut tapes = T::take_tapes();
        let len = T::with_cursor(|cursor| {
            if let Some(tapes) = &mut tapes {
                tapes.active.take_chunk(cursor);
            }
            cursor.epoch.set(NEVER);
            cursor.enclosing.set(NEVER);
            cursor.len.replace(0)
        });
        Detached { tapes, len }
    }

    pub(super) fn tape(&mut self) -> &mut Tape<T> {
        &mut self.tapes.get_or_insert_default().active
    }
}

impl<T: TapeScalar> Drop for Detached<T> {
    fn drop(&mut self) {
        let Some(tapes) = self.tapes.take() else { return };
        T::with_cursor(|cursor| {
            cursor.len.set(self.len);
            tapes.active.set_epochs(cursor);
        });
        T::put_tapes(tapes);
    }
}
