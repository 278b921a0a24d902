//! Reverse mode: the variable.

use std::marker::PhantomData;

use super::cursor::{CONSTANT, STALE, TIMELESS};

/// A variable of the recording that is active on this thread, or a constant.
///
/// It remembers the recording it belongs to. Computed with in another one, or after its own has
/// ended, it makes the driver return [`Error::StaleVariable`](super::Error::StaleVariable): never a
/// wrong number, in release builds too. Its value, read or compared, is a number like any other.
///
/// It stays on its thread, which the compiler checks; with the feature `real_field` it is `Send` and
/// `Sync`, and use on another thread is found when the program runs, as above.
#[cfg_attr(
    not(feature = "real_field"),
    doc = "
```compile_fail,E0277
let x = stiction::ad::Recording::<f64>::start().variable(1.0);
std::thread::spawn(move || x * 2.0);
```"
)]
#[derive(Clone, Copy, Debug)]
pub struct Var<T = f64> {
    pub(super) value: T,
    pub(super) index: u32,
    pub(super) epoch: u64,
    thread: PhantomData<Thread>,
}

/// A variable is not `Send`: its tape is of this thread.
#[cfg(not(feature = "real_field"))]
type Thread = *const ();
/// `nalgebra::RealField` demands `Send` and `Sync`. They cost an error at compile time, not safety:
/// epochs are numbered across all threads, so a variable of another one is refused at run time.
#[cfg(feature = "real_field")]
type Thread = ();

impl<T> Var<T> {
    #[inline(always)]
    pub(super) fn at(value: T, index: u32, epoch: u64) -> Self {
        Var { value, index, epoch, thread: PhantomData }
    }

    /// The constant `value`.
    #[inline(always)]
    pub(super) fn fixed(value: T) -> Self {
        Self::at(value, CONSTANT, TIMELESS)
    }

    pub(super) fn stale(value: T) -> Self {
        Self::at(value, CONSTANT, STALE)
    }

    /// The value in the inner scalar.
    pub fn inner(self) -> T {
        self.value
    }

    /// Whether nothing was recorded of it: it is a number like any other.
    pub fn is_constant(self) -> bool {
        self.epoch == TIMELESS
    }
}
