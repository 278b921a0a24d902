//! Which process holds which recordings, and sums over all of them whose bits do not depend on it.
//!
//! Recordings are cut into blocks, each of which one process holds. Up to as many recordings as there can be blocks a sum is that
//! of all terms in order; of more recordings that of each block in order, then of the blocks in order. So it has the same bits
//! on any number of processes, where adding what each process has would give other ones for each number.

use std::collections::BTreeMap;
use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::Group;
use crate::packed::Packed;

/// Blocks at most.
const MOST_BLOCKS: usize = 4096;
/// Sums of more numbers are handed on from process to process instead of gathered: that takes as many messages, but each is of
/// one sum.
const MOST_GATHERED: usize = 64 * 65 / 2 + 64 + 1;
/// The same where all blocks together have more numbers: all of them would be in the memory of each process.
const MOST_NUMBERS: usize = 1 << 19;
/// How many numbers a message takes as long as: 20 us at 1 GB/s.
const MESSAGE: usize = 2500;

/// J'J and J'r.
pub(crate) type Equations = (DMatrix<f64>, DVector<f64>);

/// Who holds which of some recordings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shares {
    pub group: Arc<Group>,
    /// How many blocks there are.
    blocks: usize,
    /// The block of each recording, never falling.
    block: Vec<usize>,
    /// Whether blocks have more than one recording.
    are_many: bool,
}

/// Sums over windows or recordings: of each term the block it is in, and the numbers that are added.
pub(crate) struct Sum<'a> {
    /// What it is, for messages.
    pub what: &'a str,
    /// A hash of what all processes should have alike.
    pub alike: u64,
    /// To which sum each number of a term is added, in this order.
    pub places: &'a [usize],
    /// What the sums begin with.
    pub begin: &'a [f64],
}

impl Shares {
    /// `count` recordings in blocks of consecutive ones.
    pub fn new(group: Arc<Group>, count: usize) -> Shares {
        let blocks = count.min(MOST_BLOCKS);
        let block = (0..blocks).flat_map(|b| {
            let end = |b: usize| b * count / blocks;
            std::iter::repeat_n(b, end(b + 1) - end(b))
        });
        Shares { group, blocks, block: block.collect(), are_many: count > blocks }
    }

    /// The block of a recording.
    fn block(&self, recording: usize) -> usize {
        self.block.get(recording).or(self.block.last()).copied().unwrap_or(0)
    }

    /// The process that holds a recording.
    fn holder(&self, recording: usize) -> usize {
        let (count, block) = (self.group.count(), self.block(recording));
        // The last that begins at this block or before it.
        let begin = |rank: usize| rank * self.blocks / count;
        let guess = (block * count / self.blocks.max(1)).min(count - 1);
        (guess..count).take_while(|&rank| begin(rank) <= block).last().unwrap_or(guess)
    }

    /// Whether this process holds a recording.
    pub fn holds(&self, recording: usize) -> bool {
        self.group.is_alone() || self.holder(recording) == self.group.rank()
    }

    /// The numbers of those of `count` recordings, not chosen among others, that this process holds: consecutive ones.
    pub fn held(&self, count: usize) -> std::ops::Range<usize> {
        let first = (0..count).find(|&k| self.holds(k)).unwrap_or(0);
        first..first + (first..count).take_while(|&k| self.holds(k)).count()
    }

    /// The same of some of the recordings.
    pub fn of(&self, kept: impl Fn(usize) -> bool) -> Shares {
        let block = self.block.iter().enumerate().filter(|(k, _)| kept(*k));
        Shares { block: block.map(|(_, block)| *block).collect(), ..self.clone() }
    }

    /// The normal equations of recordings held here, block by block.
    pub fn by_block(&self, own: BTreeMap<usize, Equations>) -> Vec<Equations> {
        let mut blocks: Vec<(usize, Equations)> = Vec::new();
        for (recording, (h, g)) in own {
            match blocks.last_mut() {
                Some((block, (sum_h, sum_g))) if *block == self.block(recording) => {
                    *sum_h += h;
                    *sum_g += g;
                }
                _ => blocks.push((self.block(recording), (h, g))),
            }
        }
        blocks.into_iter().map(|(_, sum)| sum).collect()
    }

    /// Lists of what each process has, one after the other: of `count` recordings, or windows, in their order. Where something
    /// went wrong, as many all the same.
    pub fn all<T: Packed + Clone + Default>(
        &self,
        what: &str,
        own: Vec<T>,
        count: usize,
    ) -> Vec<T> {
        if self.group.is_alone() {
            return own;
        }
        let mut all: Vec<T> = self.group.gather(what, 0, own).into_iter().flatten().collect();
        all.resize(count, T::default());
        all
    }

    /// Sums over the terms of all processes. `own`: the recordings of those of this one, in order; `term` appends the numbers of
    /// the k-th.
    pub fn sum(
        &self,
        sum: &Sum,
        own: &[usize],
        mut term: impl FnMut(usize, &mut Vec<f64>),
    ) -> Vec<f64> {
        let single = !self.are_many;
        let mut numbers = Vec::with_capacity(sum.places.len());
        let add = |to: &mut [f64], numbers: &[f64]| {
            sum.places.iter().zip(numbers).for_each(|(&place, x)| to[place] += x);
        };
        let count = sum.begin.len();
        let mut totals = sum.begin.to_vec();
        let of_all = sum.places.len() * self.blocks;
        let is_large = count > MOST_GATHERED || of_all > MOST_NUMBERS;
        // By few processes one sum of each is less than all blocks.
        let is_short = self.group.count() * (count + MESSAGE) < of_all;
        if self.group.is_alone() || is_large || is_short {
            // Handed on: what is added to is what the processes before have.
            let mut add_own = |totals: &mut Vec<f64>| {
                let mut block = vec![0.0; count];
                for (k, &recording) in own.iter().enumerate() {
                    numbers.clear();
                    term(k, &mut numbers);
                    if single {
                        add(totals, &numbers);
                        continue;
                    }
                    add(&mut block, &numbers);
                    let next = own.get(k + 1).map(|&next| self.block(next));
                    if next != Some(self.block(recording)) {
                        totals.iter_mut().zip(&mut block).for_each(|(total, own)| {
                            *total += std::mem::take(own);
                        });
                    }
                }
            };
            for rank in 0..self.group.count() {
                let mut given = Vec::new();
                if rank == self.group.rank() {
                    add_own(&mut totals);
                    given.clone_from(&totals);
                }
                if !self.group.is_alone() {
                    totals = self.group.gather(sum.what, sum.alike, given).swap_remove(rank);
                    totals.resize(count, 0.0);
                }
            }
            return totals;
        }
        let mut given = Vec::new();
        if single {
            (0..own.len()).for_each(|k| term(k, &mut given));
        } else {
            let mut last = None;
            for (k, &recording) in own.iter().enumerate() {
                let block = self.block(recording);
                if last.replace(block) != Some(block) {
                    given.resize(given.len() + count, 0.0);
                }
                numbers.clear();
                term(k, &mut numbers);
                let begin = given.len() - count;
                add(&mut given[begin..], &numbers);
            }
        }
        let width = if single { sum.places.len() } else { count };
        for part in self.group.gather(sum.what, sum.alike, given) {
            for numbers in part.chunks_exact(width.max(1)) {
                match single {
                    true => add(&mut totals, numbers),
                    false => totals.iter_mut().zip(numbers).for_each(|(total, x)| *total += x),
                }
            }
        }
        totals
    }
}
