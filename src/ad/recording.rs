//! A recording under the user's own control: start, mark, rewind, sweep.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Range;

use super::cursor::{NEVER, new_epoch};
use super::tape::{Extent, ROWS};
use super::tapes::Detached;
use super::tapes::TapeScalar;
use super::{Error, Var};

thread_local! {
    static DIAGNOSING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` with all recordings that it starts on this thread in debug mode (drivers that work forward
/// record nothing): the first partial derivative that is infinite or not a number, or whose own
/// derivative is, makes the driver return [`Error::NonFinite`], which names the function
/// and the line of source. Slower; otherwise the same.
///
/// ```
/// use stiction::ad::{Error, Real, Var, diagnose, gradient};
/// let f = |x: &[Var]| (x[0] - 2.0).ln() * x[1];
/// let found = diagnose(|| gradient(f, &[2.0, 1.0]));
/// assert!(matches!(found, Err(Error::NonFinite { function: "ln", operand: 0, .. })), "{found:?}");
/// ```
pub fn diagnose<Out>(f: impl FnOnce() -> Out) -> Out {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            DIAGNOSING.set(self.0);
        }
    }
    let _restore = Restore(DIAGNOSING.replace(true));
    f()
}

/// An active recording on this thread. The drivers ([`gradient`](super::gradient) and the others) use
/// one; use it yourself to sweep in parts.
///
/// A recording started within another interrupts it until it is dropped. Dropped, also by a panic, it
/// leaves the thread as it was; its memory stays for the next one.
///
/// ```
/// use stiction::ad::Recording;
/// let mut recording = Recording::start();
/// let x = recording.variables(&[3.0, 2.0]);
/// let mark = recording.mark();
/// let mut slopes = [0.0; 2];
/// for k in 1..=3 {
///     let y = x[0] * x[1] * f64::from(k);
///     recording.adjoints(&[(y, 1.0)], &x, &mut slopes)?;
///     assert_eq!(slopes, [2.0 * f64::from(k), 3.0 * f64::from(k)]);
///     recording.rewind(mark)?;
/// }
/// # Ok::<(), stiction::ad::Error>(())
/// ```
#[derive(Debug)]
pub struct Recording<T: TapeScalar = f64> {
    id: u64,
    // Of this thread.
    scalar: PhantomData<*const T>,
}

/// A place in a recording to rewind to.
#[derive(Clone, Copy)]
pub struct Mark {
    recording: u64,
    /// How many epochs there were, and the last.
    depth: usize,
    epoch: u64,
    extent: Extent,
}

/// An output, the number of a sum, and the output's weight in it.
pub(super) type WeightedRow<T> = (Var<T>, usize, T);

impl<T: TapeScalar> Recording<T> {
    /// Starts recording on this thread.
    pub fn start() -> Self {
        let id = T::with_tapes(|tapes| tapes.start(DIAGNOSING.get()));
        Recording { id, scalar: PhantomData }
    }

    /// A variable to differentiate with respect to.
    pub fn variable(&self, x: T) -> Var<T> {
        self.active().map_or(Var::stale(x), |()| Var::independent(x))
    }

    /// Several of them.
    pub fn variables(&self, x: &[T]) -> Vec<Var<T>> {
        let mut variables = Vec::with_capacity(x.len());
        self.extend(&mut variables, x.iter().copied());
        variables
    }

    pub(super) fn extend(&self, variables: &mut Vec<Var<T>>, x: impl Iterator<Item = T>) {
        match self.active() {
            Ok(()) => variables.extend(x.map(Var::independent)),
            Err(_) => variables.extend(x.map(Var::stale)),
        }
    }

    /// How many operations are recorded.
    pub fn operations(&self) -> usize {
        self.active().map_or(0, |()| T::with_cursor(|cursor| cursor.operations()))
    }

    /// The memory in use, in bytes: operations, payloads of nodes and blocks, adjoints of one row.
    /// Without what nodes keep for themselves.
    pub fn bytes(&self) -> usize {
        let bytes = || T::with_cursor(|cursor| T::with_tape(|tape| tape.bytes(cursor.len())));
        self.active().map_or(0, |()| bytes())
    }

    /// A place to come back to. Variables of before stay usable after a rewind, those of after do not.
    pub fn mark(&mut self) -> Mark {
        T::with_cursor(|cursor| {
            T::with_tape(|tape| {
                let extent = tape.extent(cursor.len());
                // Of an interrupted recording: a mark that no rewind accepts.
                if tape.recording == self.id && tape.newest != cursor.len() {
                    tape.epochs.push(new_epoch());
                    tape.newest = cursor.len();
                    tape.set_epochs(cursor);
                }
                // The newest epoch has no variables yet: they end with the one before.
                let depth = tape.epochs.len().saturating_sub(1);
                let epoch = depth.checked_sub(1).map_or(NEVER, |k| tape.epochs[k]);
                Mark { recording: self.id, depth, epoch, extent }
            })
        })
    }

    /// Forgets what was recorded since the mark, and keeps its memory.
    ///
    /// # Errors
    /// [`Error::StaleMark`], [`Error::Interrupted`]; what went wrong while recording.
    pub fn rewind(&mut self, mark: Mark) -> Result<(), Error> {
        self.active()?;
        T::with_cursor(|cursor| {
            T::with_tape(|tape| {
                let last = mark.depth.checked_sub(1).and_then(|k| tape.epochs.get(k));
                if mark.recording != self.id || last != Some(&mark.epoch) {
                    return Err(Error::StaleMark);
                }
                tape.rewind(cursor, mark.extent);
                tape.epochs.truncate(mark.depth);
                tape.epochs.push(new_epoch());
                tape.newest = cursor.len();
                tape.set_epochs(cursor);
                tape.fault.take().map_or(Ok(()), Err)
            })
        })
    }

    /// The adjoint sweep: `seeds` are outputs (or any other variables) with their adjoints, which add
    /// up; `adjoints` receives those of the variables `of`, their own seeds included.
    ///
    /// Variables that are computed without an operation share their adjoint: `x + 1.0` is x, and so
    /// is `x.max(y)` where x is the larger.
    ///
    /// # Errors
    /// What went wrong while recording; [`Error::StaleVariable`], [`Error::Interrupted`],
    /// [`Error::Shape`].
    pub fn adjoints(
        &mut self,
        seeds: &[(Var<T>, T)],
        of: &[Var<T>],
        adjoints: &mut [T],
    ) -> Result<(), Error> {
        if of.len() != adjoints.len() {
            return Err(Error::Shape { expected: of.len(), found: adjoints.len() });
        }
        self.active()?;
        let mut indexed = T::with_tape(|tape| std::mem::take(&mut tape.seeds));
        indexed.clear();
        indexed.extend(seeds.iter().map(|(y, adjoint)| (y.index(), *adjoint)));
        let range = range(of);
        let result = self.fault();
        if result.is_ok() {
            let mut detached = Detached::<T>::take();
            let len = indexed.iter().map(|&(i, _)| i as usize + 1).max().unwrap_or(1);
            let len = of.iter().map(|x| x.index as usize + 1).fold(len, usize::max);
            detached.tape().sweep::<1>(
                len,
                range,
                |all| {
                    for &(i, adjoint) in &indexed {
                        all[i as usize][0] += adjoint;
                    }
                },
                |all| {
                    for (x, adjoint) in of.iter().zip(adjoints.iter_mut()) {
                        *adjoint =
                            if x.is_constant() { T::zero() } else { all[x.index as usize][0] };
                    }
                },
            );
        }
        T::with_tape(|tape| tape.seeds = indexed);
        result?;
        self.fault()
    }

    /// The Jacobian of `outputs` in the variables `of`, row by row into `jacobian` (outputs x `of`,
    /// row-major): one sweep for up to eight rows.
    ///
    /// # Errors
    /// As [`Self::adjoints`].
    pub fn rows(
        &mut self,
        outputs: &[Var<T>],
        of: &[Var<T>],
        jacobian: &mut [T],
    ) -> Result<(), Error> {
        let expected = outputs.len().saturating_mul(of.len());
        if jacobian.len() != expected {
            return Err(Error::Shape { expected, found: jacobian.len() });
        }
        self.active()?;
        let range = range(of);
        outputs.iter().for_each(|y| _ = y.index());
        self.fault()?;
        let width = of.len();
        let furthest = of.iter().map(|x| x.index as usize + 1).max().unwrap_or(1);
        for (block, outputs) in outputs.chunks(ROWS).enumerate() {
            let len = outputs.iter().map(|y| y.index as usize + 1).fold(furthest, usize::max);
            let seed = |all: &mut [[T; ROWS]]| {
                for (r, y) in outputs.iter().enumerate() {
                    all[y.index as usize][r] = T::one();
                }
            };
            let jacobian = &mut jacobian[block * ROWS * width..];
            let read = |all: &[[T; ROWS]]| {
                for r in 0..outputs.len() {
                    for (x, entry) in of.iter().zip(&mut jacobian[r * width..]) {
                        *entry = if x.is_constant() { T::zero() } else { all[x.index as usize][r] };
                    }
                }
            };
            Detached::<T>::take().tape().sweep::<ROWS>(len, range.clone(), seed, read);
        }
        self.fault()
    }

    /// Sums of rows of a Jacobian, up to eight in one sweep: each seed is an output, the sum it belongs
    /// to and its weight there. `sums` has an entry for each of the variables `of`.
    pub(super) fn weighted_rows(
        &mut self,
        seeds: &[WeightedRow<T>],
        of: &[Var<T>],
        sums: &mut [[T; ROWS]],
    ) -> Result<(), Error> {
        self.active()?;
        let range = range(of);
        let outputs = seeds.iter().map(|(y, ..)| y.index() as usize + 1).max().unwrap_or(1);
        self.fault()?;
        let len = of.iter().map(|x| x.index as usize + 1).fold(outputs, usize::max);
        let seed = |all: &mut [[T; ROWS]]| {
            for &(y, sum, weight) in seeds {
                all[y.index as usize][sum] += weight;
            }
        };
        let read = |all: &[[T; ROWS]]| {
            for (x, sums) in of.iter().zip(sums) {
                *sums = if x.is_constant() { [T::zero(); ROWS] } else { all[x.index as usize] };
            }
        };
        Detached::<T>::take().tape().sweep::<ROWS>(len, range.clone(), seed, read);
        self.fault()
    }

    /// What went wrong while recording, if anything did.
    ///
    /// # Errors
    /// [`Error::StaleVariable`], [`Error::TapeFull`], [`Error::NonFinite`].
    pub fn fault(&self) -> Result<(), Error> {
        T::with_tape(|tape| tape.fault).map_or(Ok(()), Err)
    }

    fn active(&self) -> Result<(), Error> {
        let active = T::with_tape(|tape| tape.recording);
        if active == self.id && active != NEVER { Ok(()) } else { Err(Error::Interrupted) }
    }
}

/// From the first to the last of some variables on the tape; notes what is stale.
fn range<T: TapeScalar>(of: &[Var<T>]) -> Range<usize> {
    let epoch = T::with_cursor(|cursor| cursor.epoch());
    let index = |x: &Var<T>| (if x.epoch == epoch { x.index } else { x.index() }) as usize;
    let (start, end) = of
        .iter()
        .map(index)
        .fold((usize::MAX, 0), |(start, end), i| (start.min(i), end.max(i + 1)));
    start..end
}

impl<T: TapeScalar> Drop for Recording<T> {
    fn drop(&mut self) {
        // One kept in thread-local storage may outlive the tapes.
        T::try_with_tapes(|tapes| tapes.end(self.id));
    }
}
