//! Square matrices in which different trees do not mix.

use std::ops::Range;

use crate::ad::Real;
use crate::model::Model;

/// A matrix with a row and a column for each velocity, which is zero between velocities of different
/// trees: one dense row-major block for each tree.
#[derive(Debug, Default, PartialEq)]
pub struct BlockDiagonal<T> {
    /// The velocities of each tree, and where its block starts in `values`.
    trees: Vec<(Range<usize>, usize)>,
    /// The tree of each velocity.
    tree_of: Vec<usize>,
    values: Vec<T>,
}

// By hand: the derived `clone_from` drops the memory it has.
impl<T: Clone> Clone for BlockDiagonal<T> {
    fn clone(&self) -> Self {
        let (trees, tree_of, values) =
            (self.trees.clone(), self.tree_of.clone(), self.values.clone());
        BlockDiagonal { trees, tree_of, values }
    }

    fn clone_from(&mut self, other: &Self) {
        self.trees.clone_from(&other.trees);
        self.tree_of.clone_from(&other.tree_of);
        self.values.clone_from(&other.values);
    }
}

impl<T: Real> BlockDiagonal<T> {
    /// Makes room for the trees of `model`, and all entries zero.
    pub(super) fn fit(&mut self, model: &Model) {
        let same = self.trees.len() == model.trees.len()
            && self.trees.iter().zip(&model.trees).all(|(known, tree)| known.0 == tree.v);
        if !same {
            self.trees.clear();
            self.tree_of.clear();
            self.values.clear();
            for (index, tree) in model.trees.iter().enumerate() {
                self.trees.push((tree.v.clone(), self.values.len()));
                self.tree_of.resize(tree.v.end, index);
                self.values.resize(self.values.len() + tree.v.len() * tree.v.len(), T::zero());
            }
        }
        self.values.fill(T::zero());
    }

    /// How many trees there are.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// The velocities of a tree and its block, row-major.
    pub fn block(&self, tree: usize) -> (Range<usize>, &[T]) {
        let (range, start) = &self.trees[tree];
        (range.clone(), &self.values[*start..start + range.len() * range.len()])
    }

    /// The velocities of a tree and its block, row-major, to be changed.
    pub(super) fn block_mut(&mut self, tree: usize) -> (Range<usize>, &mut [T]) {
        let (range, start) = &self.trees[tree];
        (range.clone(), &mut self.values[*start..start + range.len() * range.len()])
    }

    /// Row `i`, column `k`.
    pub fn get(&self, i: usize, k: usize) -> T {
        match self.tree_of[i] == self.tree_of[k] {
            true => self.values[self.place(i, k)],
            false => T::zero(),
        }
    }

    /// Row `i`, column `k`, of velocities of the same tree.
    #[inline]
    pub(super) fn entry(&mut self, i: usize, k: usize) -> &mut T {
        let place = self.place(i, k);
        &mut self.values[place]
    }

    #[inline]
    fn place(&self, i: usize, k: usize) -> usize {
        let (range, start) = &self.trees[self.tree_of[i]];
        start + (i - range.start) * range.len() + (k - range.start)
    }

    /// y = A x.
    pub fn multiply(&self, x: &[T], y: &mut [T]) {
        for tree in 0..self.trees.len() {
            let (range, block) = self.block(tree);
            let rows = block.chunks_exact(range.len().max(1));
            for (y, row) in y[range.clone()].iter_mut().zip(rows) {
                let terms = row.iter().zip(&x[range.clone()]);
                *y = terms.fold(T::zero(), |sum, (&a, &x)| sum + a * x);
            }
        }
    }

    /// All entries, row-major; `matrix` is overwritten.
    pub fn dense(&self, matrix: &mut [T]) {
        let n = self.tree_of.len();
        matrix.fill(T::zero());
        for tree in 0..self.trees.len() {
            let (range, block) = self.block(tree);
            for (i, row) in range.clone().zip(block.chunks_exact(range.len().max(1))) {
                matrix[i * n + range.start..i * n + range.end].copy_from_slice(row);
            }
        }
    }
}
