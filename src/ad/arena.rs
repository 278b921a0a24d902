//! Memory for slices that live as long as a recording.

use std::ops::Range;

/// Numbers in a block.
const BLOCK: usize = 4096;

/// A stack of slices in blocks that are kept when the stack shrinks: nothing is copied when it
/// grows, and nothing allocated when it grows again.
pub(super) struct Arena<T> {
    blocks: Vec<Vec<T>>,
    /// The block written to; those after it are empty.
    current: usize,
}

/// Where a slice is.
#[derive(Clone, Copy, Default)]
pub(super) struct Slice {
    block: u32,
    start: u32,
    len: u32,
}

/// How much of an arena is in use.
#[derive(Clone, Copy)]
pub(super) struct Level {
    block: usize,
    used: usize,
}

impl<T: Copy> Arena<T> {
    pub(super) const fn new() -> Self {
        Arena { blocks: Vec::new(), current: 0 }
    }

    /// Stores what `items` yields.
    pub(super) fn store(&mut self, items: impl ExactSizeIterator<Item = T>) -> Slice {
        let len = items.len();
        while self.blocks.get(self.current).is_some_and(|b| b.capacity() - b.len() < len) {
            self.current += 1;
        }
        if self.current == self.blocks.len() {
            self.blocks.push(Vec::with_capacity(len.max(BLOCK)));
        }
        let block = &mut self.blocks[self.current];
        let start = block.len() as u32;
        block.extend(items);
        Slice { block: self.current as u32, start, len: len as u32 }
    }

    pub(super) fn get(&self, slice: Slice) -> &[T] {
        let Slice { block, start, len } = slice;
        let range: Range<usize> = start as usize..(start + len) as usize;
        self.blocks.get(block as usize).map_or(&[], |b| &b[range])
    }

    pub(super) fn level(&self) -> Level {
        let used = self.blocks.get(self.current).map_or(0, Vec::len);
        Level { block: self.current, used }
    }

    /// Forgets what was stored since `level`.
    pub(super) fn rewind(&mut self, level: Level) {
        for block in self.blocks.iter_mut().skip(level.block + 1) {
            block.clear();
        }
        if let Some(block) = self.blocks.get_mut(level.block) {
            block.truncate(level.used);
        }
        self.current = level.block;
    }

    /// The memory in use, in whole blocks.
    pub(super) fn bytes(&self) -> usize {
        let used = self.blocks.iter().map(|b| b.len()).filter(|&len| len > 0);
        used.map(|len| len.max(BLOCK) * size_of::<T>()).sum()
    }
}
