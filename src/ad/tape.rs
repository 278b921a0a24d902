//! Reverse mode: the tape that records a computation, and its adjoint sweep.
//!
//! What every operation touches is a [`Cursor`]; the rest, here, is reached when a chunk is full, by nodes and by
//! the drivers.

use std::mem::ManuallyDrop;
use std::ops::Range;

use super::arena::{Arena, Level};
use super::cursor::{ASIDE, CHUNK, Chunk, Cursor, NEVER, Operation, Origin, one_operand};
use super::super_node::{Entry, Kind, SuperNode};
use super::{Error, Real, Var};

/// A recording. One is active per thread and scalar; a [`Recording`](super::Recording) starts and
/// ends it.
pub struct Tape<T: Real> {
    /// The recording it holds; [`NEVER`] if none.
    pub(super) recording: u64,
    /// Epochs of the variables that are alive: one for each mark, and that before the first.
    pub(super) epochs: Vec<u64>,
    /// Where the newest of them starts; 0 if it is the first.
    pub(super) newest: usize,
    pub(super) chunks: Vec<Chunk<T>>,
    pub(super) spare: Vec<Chunk<T>>,
    entries: Vec<Entry>,
    solved: Vec<Option<Box<dyn SuperNode<T>>>>,
    solved_used: usize,
    indices: Arena<u32>,
    numbers: Arena<T>,
    adjoints: Vec<[T; 1]>,
    rows: Vec<[T; ROWS]>,
    output_adjoints: Vec<T>,
    input_adjoints: Vec<T>,
    pub(super) diagnosing: bool,
    pub(super) fault: Option<Error>,
    /// Buffers of the drivers.
    pub(super) variables: Vec<Var<T>>,
    pub(super) seeds: Vec<(u32, T)>,
}

/// How many rows a sweep takes at once, at most.
pub(super) const ROWS: usize = 8;

/// How far a tape was recorded.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    pub(super) len: usize,
    entries: usize,
    solved: usize,
    indices: Level,
    numbers: Level,
}

impl<T: Real> Tape<T> {
    pub(super) const fn idle() -> Self {
        Tape {
            recording: NEVER,
            epochs: Vec::new(),
            newest: 0,
            chunks: Vec::new(),
            spare: Vec::new(),
            entries: Vec::new(),
            solved: Vec::new(),
            solved_used: 0,
            indices: Arena::new(),
            numbers: Arena::new(),
            adjoints: Vec::new(),
            rows: Vec::new(),
            output_adjoints: Vec::new(),
            input_adjoints: Vec::new(),
            diagnosing: false,
            fault: None,
            variables: Vec::new(),
            seeds: Vec::new(),
        }
    }

    pub(super) fn extent(&self, len: usize) -> Extent {
        Extent {
            len,
            entries: self.entries.len(),
            solved: self.solved_used,
            indices: self.indices.level(),
            numbers: self.numbers.level(),
        }
    }

    /// The memory that `len` operations, their payloads and a sweep of one row take, in bytes;
    /// without what super-nodes keep for themselves.
    pub(super) fn bytes(&self, len: usize) -> usize {
        len.div_ceil(CHUNK) * CHUNK * size_of::<Operation<T>>()
            + len * size_of::<T>()
            + self.indices.bytes()
            + self.numbers.bytes()
    }

    pub(super) fn diagnose(&mut self, operation: &Operation<T>, index: usize, origin: Origin) {
        for (operand, p) in operation.partials.iter().enumerate() {
            if !p.is_bounded() && self.fault.is_none() {
                let (function, location) = (*origin.0, origin.1);
                let (operation, nan) = (index - ASIDE, !p.value().is_infinite());
                self.fault = Some(Error::NonFinite { function, operand, operation, nan, location });
            }
        }
    }

    /// Records the Jacobian (outputs x operands, row-major) of outputs `first..first + outputs`.
    pub(super) fn push_block(
        &mut self,
        first: u32,
        outputs: usize,
        operands: impl ExactSizeIterator<Item = u32>,
        jacobian: &[T],
    ) {
        let width = operands.len().max(1);
        if self.diagnosing
            && self.fault.is_none()
            && let Some(k) = jacobian.iter().position(|p| !p.is_bounded())
        {
            self.fault = Some(Error::NonFiniteNode { node: "a block", operand: k % width });
        }
        let operands = self.indices.store(operands);
        let jacobian = self.numbers.store(jacobian.iter().copied());
        let kind = Kind::Block { jacobian };
        self.entries.push(Entry { first, outputs: outputs as u32, operands, kind });
    }

    /// The memory of the node recorded at this place before, if any.
    pub(super) fn used_node(&mut self) -> Option<Box<dyn SuperNode<T>>> {
        self.solved.get_mut(self.solved_used).and_then(Option::take)
    }

    /// Records a solved node with outputs `first..first + outputs.len()`.
    pub(super) fn push_solved(
        &mut self,
        node: Box<dyn SuperNode<T>>,
        first: u32,
        operands: impl ExactSizeIterator<Item = u32>,
        inputs: &[T],
        outputs: &[T],
    ) {
        let place = self.solved_used;
        match self.solved.get_mut(place) {
            Some(slot) => *slot = Some(node),
            None => self.solved.push(Some(node)),
        }
        self.solved_used += 1;
        let kind = Kind::Solved {
            place: place as u32,
            inputs: self.numbers.store(inputs.iter().copied()),
            outputs: self.numbers.store(outputs.iter().copied()),
        };
        let operands = self.indices.store(operands);
        self.entries.push(Entry { first, outputs: outputs.len() as u32, operands, kind });
    }

    /// The adjoint sweep for up to `R` rows at once: `seed` adds to the adjoints of the outputs,
    /// `read` is given those of the variables `of`, a range. What is before them is not swept.
    pub(super) fn sweep<const R: usize>(
        &mut self,
        len: usize,
        of: Range<usize>,
        seed: impl FnOnce(&mut [[T; R]]),
        read: impl FnOnce(&[[T; R]]),
    ) where
        Self: Adjoints<T, R>,
    {
        // Entries from here on cannot matter; the last one before may have more outputs than matter.
        let entries = self.entries.partition_point(|entry| (entry.first as usize) < len);
        let straddling = entries.checked_sub(1).map(|last| self.entries[last]);
        let len = straddling.map_or(len, |e| len.max(e.first as usize + e.outputs as usize));
        // Between sweeps all of them are zero: each is made so again when it has been handed down,
        // while it is at hand.
        let mut adjoints = std::mem::take(self.adjoints());
        if adjoints.len() < len {
            adjoints.reserve_exact(len - adjoints.len());
            adjoints.resize(len, [T::zero(); R]);
        }
        seed(&mut adjoints);
        let mut kept = of.end;
        // From the end to the last entry, that entry, on to the one before, and so on.
        let mut end = len;
        for k in (0..entries).rev() {
            let entry = self.entries[k];
            let first = entry.first as usize;
            if first < of.start {
                break;
            }
            let last = first + entry.outputs as usize;
            self.sweep_operations(last..end, of.end, &mut adjoints);
            self.sweep_entry(&entry, &mut adjoints);
            if first < of.end {
                kept = kept.max(last);
            } else {
                adjoints[first..last].fill([T::zero(); R]);
            }
            end = first;
        }
        self.sweep_operations(of.start..end, of.end, &mut adjoints);
        // Of a sweep that failed the diagnosis nothing is handed out.
        if self.fault.is_none() {
            read(&adjoints);
        }
        // Without variables to read, nothing was swept.
        let kept = if of.start >= len { len } else { kept.min(len) };
        adjoints[..kept].fill([T::zero(); R]);
        *self.adjoints() = adjoints;
    }

    /// Hands down the adjoints of the operations in a range, and keeps those before `kept`.
    fn sweep_operations<const R: usize>(
        &self,
        range: Range<usize>,
        kept: usize,
        adjoints: &mut [[T; R]],
    ) {
        let Range { start, end } = range;
        if start >= end {
            return;
        }
        for c in (start / CHUNK..=(end - 1) / CHUNK).rev() {
            let base = c * CHUNK;
            let (first, last) = (start.max(base), end.min(base + CHUNK));
            let operations = &self.chunks[c][first - base..last - base];
            for (i, operation) in (first..last).zip(operations).rev() {
                let adjoint = adjoints[i];
                // 0 * inf would be NaN: nothing flows back through a zero adjoint.
                if vanishes(&adjoint) {
                    continue;
                }
                if i >= kept {
                    adjoints[i] = [T::zero(); R];
                }
                let ([i, j], [dx, dy]) = (operation.operands, &operation.partials);
                flow(&mut adjoints[i as usize], *dx, &adjoint);
                if !one_operand::<T>(j) {
                    flow(&mut adjoints[j as usize], *dy, &adjoint);
                }
            }
        }
    }

    fn sweep_entry<const R: usize>(&mut self, entry: &Entry, adjoints: &mut [[T; R]]) {
        let outputs = entry.first as usize..(entry.first + entry.outputs) as usize;
        if adjoints[outputs.clone()].iter().all(vanishes) {
            return;
        }
        let operands = self.indices.get(entry.operands);
        match entry.kind {
            Kind::Block { jacobian } => {
                let jacobian = self.numbers.get(jacobian);
                for (i, output) in outputs.enumerate() {
                    let adjoint = adjoints[output];
                    if vanishes(&adjoint) {
                        continue;
                    }
                    let row = &jacobian[i * operands.len()..][..operands.len()];
                    for (&j, &p) in operands.iter().zip(row) {
                        flow(&mut adjoints[j as usize], p, &adjoint);
                    }
                }
            }
            Kind::Solved { place, inputs, outputs: values } => {
                let Some(Some(node)) = self.solved.get_mut(place as usize) else { return };
                let (inputs, values) = (self.numbers.get(inputs), self.numbers.get(values));
                for r in 0..R {
                    self.output_adjoints.clear();
                    self.output_adjoints.extend(adjoints[outputs.clone()].iter().map(|a| a[r]));
                    if self.output_adjoints.iter().all(|a| a.vanishes()) {
                        continue;
                    }
                    self.input_adjoints.clear();
                    self.input_adjoints.resize(inputs.len(), T::zero());
                    node.pull_back(inputs, values, &self.output_adjoints, &mut self.input_adjoints);
                    if self.diagnosing
                        && self.fault.is_none()
                        && self.output_adjoints.iter().all(|a| a.is_bounded())
                        && let Some(operand) =
                            self.input_adjoints.iter().position(|a| !a.is_bounded())
                    {
                        self.fault = Some(Error::NonFiniteNode { node: node.name(), operand });
                    }
                    for (&j, &a) in operands.iter().zip(&self.input_adjoints) {
                        adjoints[j as usize][r] += a;
                    }
                }
            }
        }
    }
}

/// `to += partial adjoint`, of an adjoint that does not vanish in all rows. Where it does in some, or some
/// of its tangents do, an infinite partial derivative would make them 0 * inf.
#[inline(always)]
fn flow<T: Real, const R: usize>(to: &mut [T; R], partial: T, adjoint: &[T; R]) {
    if (R == 1 && T::ORDER == 0) || partial.value().is_finite() {
        T::accumulate(to, partial, adjoint);
    } else {
        flow_row_by_row(to, partial, adjoint);
    }
}

#[cold]
fn flow_row_by_row<T: Real, const R: usize>(to: &mut [T; R], partial: T, adjoint: &[T; R]) {
    for (to, &adjoint) in to.iter_mut().zip(adjoint).filter(|(_, adjoint)| !adjoint.vanishes()) {
        *to += partial.guarded_product(adjoint);
    }
}

#[inline(always)]
fn vanishes<T: Real, const R: usize>(adjoint: &[T; R]) -> bool {
    adjoint.iter().all(|a| a.vanishes())
}

/// The buffer of a sweep of `R` rows.
pub(super) trait Adjoints<T, const R: usize> {
    fn adjoints(&mut self) -> &mut Vec<[T; R]>;
}

impl<T: Real> Adjoints<T, 1> for Tape<T> {
    fn adjoints(&mut self) -> &mut Vec<[T; 1]> {
        &mut self.adjoints
    }
}

impl<T: Real> Adjoints<T, ROWS> for Tape<T> {
    fn adjoints(&mut self) -> &mut Vec<[T; ROWS]> {
        &mut self.rows
    }
}

impl<T: Real> Tape<T> {
    /// Takes the chunk being filled from the cursor, so that the tape holds all there is.
    pub(super) fn take_chunk(&mut self, cursor: &Cursor<T>) {
        if let Some(chunk) = cursor.chunk.take() {
            self.chunks.push(ManuallyDrop::into_inner(chunk));
        }
    }

    /// Whether the variables of `epoch` are alive.
    pub(super) fn holds(&self, epoch: u64) -> bool {
        self.epochs.binary_search(&epoch).is_ok()
    }

    pub(super) fn set_epochs(&self, cursor: &Cursor<T>) {
        let mut epochs = self.epochs.iter().rev().copied();
        cursor.epoch.set(epochs.next().unwrap_or(NEVER));
        cursor.enclosing.set(epochs.next().unwrap_or(NEVER));
    }

    /// Forgets what was recorded after `extent`.
    pub(super) fn rewind(&mut self, cursor: &Cursor<T>, extent: Extent) {
        self.take_chunk(cursor);
        self.spare.extend(self.chunks.drain(extent.len.div_ceil(CHUNK)..));
        cursor.len.set(extent.len);
        self.entries.truncate(extent.entries);
        self.solved_used = extent.solved;
        self.indices.rewind(extent.indices);
        self.numbers.rewind(extent.numbers);
    }

    pub(super) fn clear(&mut self, cursor: &Cursor<T>) {
        let nothing = Arena::<T>::new().level();
        let extent = Extent { len: 0, entries: 0, solved: 0, indices: nothing, numbers: nothing };
        self.rewind(cursor, extent);
        self.recording = NEVER;
        self.epochs.clear();
        self.fault = None;
        self.set_epochs(cursor);
    }
}
