//! Rows that touch few velocities: a matrix in blocks of rows, each with the columns of one tree of
//! bodies or two.

use std::ops::Range;

use crate::ad::Real;
use crate::linalg::{Elimination, dot};

/// From this many trees on matrices of velocities are factorised by blocks, and impulses that are not unique chosen by
/// blocks too: a tower of 20 cubes then takes a fifth of the time of dense kernels, a wall of 23 bricks a fiftieth. Towers
/// of 10 would take a third, but in motions that contacts hardly hold (rows within 1e-7 of dependent ones, which an
/// orthonormal basis drops) blocks leave 1e-7 m/s at residuals of 1e-12: differences of Jacobians show it.
const MANY_TREES: usize = 12;
/// Or from this many entries of the mass matrix on, which are those of as many free bodies: what large trees lie on goes by
/// the same rules. A chain of 50 links on the floor takes a tenth of the time, and 4 iterations a step instead of 18. Not
/// where rows are [few](FEW_ROWS).
const MANY_SQUARES: usize = 36 * MANY_TREES;
/// Of a large tree, rows up to this many, and no more than velocities, as those of a humanoid on its feet: dense matrices of
/// rows take a quarter to half of the time.
const FEW_ROWS: usize = 72;

/// Which velocities a block of rows acts on. Velocities come in *trees* (a free body, a tree of
/// bodies held by joints) that only contacts couple: the mass matrix is block diagonal in them.
///
/// The entries of a matrix of this structure stand block by block, in a block row by row, and in a row
/// tree by tree. Reused, it allocates nothing.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BlockRows {
    trees: Vec<Tree>,
    velocities: usize,
    squares: usize,
    blocks: Vec<RowBlock>,
    rows: usize,
    /// Rows of blocks that are alone.
    alone: usize,
    entries: usize,
}

/// The velocities of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Tree {
    first: usize,
    velocities: usize,
    /// First entry of its block in a block diagonal matrix.
    square: usize,
}

/// A block of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowBlock {
    /// The first row, and how many there are.
    pub first: usize,
    /// How many rows.
    pub rows: usize,
    /// First entry of the first row.
    entries: usize,
    /// First column and number of columns of each tree; the second may have none.
    columns: [(usize, usize); 2],
    /// The tree or the two trees; the same twice if it is one.
    pub trees: [usize; 2],
    /// The block whose normal impulse counts for it: itself, or of a couple that of its contact.
    pub normal: usize,
    /// Whether it moves something that no other block does, along all of its rows: these depend on no others then.
    pub alone: bool,
}

impl RowBlock {
    /// The rows of the whole matrix.
    pub fn range(&self) -> Range<usize> {
        self.first..self.first + self.rows
    }

    /// How many entries a row has.
    pub fn width(&self) -> usize {
        self.columns[0].1 + self.columns[1].1
    }

    /// Row `r` of the block out of all entries of a matrix.
    pub fn row<'a, T>(&self, entries: &'a [T], r: usize) -> &'a [T] {
        let start = self.entries + r * self.width();
        &entries[start..start + self.width()]
    }

    /// All rows of the block out of all entries of a matrix.
    pub(crate) fn all_rows<'a, T>(&self, entries: &'a [T]) -> &'a [T] {
        &entries[self.entries..self.entries + self.rows * self.width()]
    }

    /// Row `r` of the block, to be written.
    pub fn row_mut<'a, T>(&self, entries: &'a mut [T], r: usize) -> &'a mut [T] {
        let start = self.entries + r * self.width();
        &mut entries[start..start + self.width()]
    }

    /// The column of the whole matrix that place `k` of a row stands for.
    pub fn column(&self, k: usize) -> usize {
        let [(a, m), (b, _)] = self.columns;
        if k < m { a + k } else { b + k - m }
    }

    /// First column and number of columns of each part of a row; the second may be empty.
    pub fn column_spans(&self) -> [(usize, usize); 2] {
        self.columns
    }

    /// The parts of a row: for each tree its columns in the whole matrix, and its places in the row.
    pub fn segments(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let [(a, m), (b, n)] = self.columns;
        [(a..a + m, 0..m), (b..b + n, m..m + n)].into_iter().filter(|(_, part)| !part.is_empty())
    }

    /// The parts of a row: the tree, and its places in the row.
    pub fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let [(_, m), (_, n)] = self.columns;
        let [a, b] = self.trees;
        [(a, 0..m), (b, m..m + n)].into_iter().filter(|(_, part)| !part.is_empty())
    }

    /// The scalar product of a row of this block and one of another.
    pub fn overlap<T: Real>(&self, row: &[T], other: &RowBlock, other_row: &[T]) -> T {
        if self.trees == other.trees {
            return dot(row, other_row);
        }
        let mut sum = T::zero();
        for (tree, part) in self.parts() {
            for (other_tree, other_part) in other.parts() {
                if tree == other_tree {
                    sum += dot(&row[part.clone()], &other_row[other_part]);
                }
            }
        }
        sum
    }

    /// row . y for a vector `y` of all velocities
    pub fn times<T: Real>(&self, row: &[T], y: &[T]) -> T {
        let [(a, m), (b, n)] = self.columns;
        let first = dot(&row[..m], &y[a..a + m]);
        if n == 0 { first } else { first + dot(&row[m..], &y[b..b + n]) }
    }

    /// y += x row
    pub fn add_times<T: Real>(&self, row: &[T], x: T, y: &mut [T]) {
        for (columns, part) in self.segments() {
            for (y, &row) in y[columns].iter_mut().zip(&row[part]) {
                *y += x * row;
            }
        }
    }
}

// By hand: the derived `clone_from` drops the memory it has.
impl Clone for BlockRows {
    fn clone(&self) -> Self {
        BlockRows { trees: self.trees.clone(), blocks: self.blocks.clone(), ..*self }
    }

    fn clone_from(&mut self, other: &Self) {
        self.trees.clone_from(&other.trees);
        self.blocks.clone_from(&other.blocks);
        (self.velocities, self.squares) = (other.velocities, other.squares);
        (self.rows, self.alone, self.entries) = (other.rows, other.alone, other.entries);
    }
}

impl BlockRows {
    /// Forgets trees and blocks.
    pub fn clear(&mut self) {
        self.trees.clear();
        self.blocks.clear();
        (self.velocities, self.squares, self.rows, self.entries) = (0, 0, 0, 0);
        self.alone = 0;
    }

    /// Adds a tree of `velocities` velocities and returns its number.
    pub fn add_tree(&mut self, velocities: usize) -> usize {
        self.trees.push(Tree { first: self.velocities, velocities, square: self.squares });
        self.velocities += velocities;
        self.squares += velocities * velocities;
        self.trees.len() - 1
    }

    /// Adds a block of `rows` rows on the velocities of two trees, or of one if they are the same.
    /// Blocks come after all trees.
    pub fn add_block(&mut self, rows: usize, trees: [usize; 2]) {
        let columns = trees.map(|tree| {
            let range = self.tree(tree);
            (range.start, range.len())
        });
        let second = if trees[0] == trees[1] { (0, 0) } else { columns[1] };
        let columns = [columns[0], second];
        self.blocks.push(RowBlock {
            first: self.rows,
            rows,
            entries: self.entries,
            columns,
            trees,
            normal: self.blocks.len(),
            alone: false,
        });
        self.rows += rows;
        self.entries += rows * (columns[0].1 + columns[1].1);
    }

    /// Says of the last block that it moves something that no other block does, along all of its rows.
    pub(crate) fn set_alone(&mut self) {
        if let Some(block) = self.blocks.last_mut() {
            self.alone += if block.alone { 0 } else { block.rows };
            block.alone = true;
        }
    }

    /// Adds a block like another one, on whose first row it goes.
    pub(crate) fn add_couple(&mut self, of: usize) {
        let RowBlock { rows, trees, .. } = self.blocks[of];
        self.add_block(rows, trees);
        if let Some(couple) = self.blocks.last_mut() {
            couple.normal = of;
        }
    }

    /// The velocities of a tree.
    pub fn tree(&self, tree: usize) -> Range<usize> {
        let Tree { first, velocities, .. } = self.trees[tree];
        first..first + velocities
    }

    /// The entries of a tree in a matrix that is block diagonal in the trees, each block row-major.
    pub fn square(&self, tree: usize) -> Range<usize> {
        let Tree { square, velocities, .. } = self.trees[tree];
        square..square + velocities * velocities
    }

    /// How many entries a matrix has that is block diagonal in the trees.
    pub fn squares(&self) -> usize {
        self.squares
    }

    /// How many trees there are.
    pub fn trees(&self) -> usize {
        self.trees.len()
    }

    /// Whether there are so many trees, or so large ones, that matrices of velocities are factorised by blocks.
    pub(crate) fn is_large(&self) -> bool {
        let has_many_rows = self.rows - self.alone > self.velocities.min(FEW_ROWS);
        self.trees.len() >= MANY_TREES || self.squares >= MANY_SQUARES && has_many_rows
    }

    /// Decides the pattern of matrices A'DA, D block diagonal, unless it is that of the same trees and blocks already.
    pub(crate) fn decide(&self, pattern: &mut Elimination) {
        let sizes = self.trees.iter().map(|tree| tree.velocities);
        pattern.decide(sizes, self.blocks.iter().map(|block| block.trees));
    }

    /// How many velocities there are.
    pub fn velocities(&self) -> usize {
        self.velocities
    }

    /// The blocks.
    pub fn blocks(&self) -> &[RowBlock] {
        &self.blocks
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many entries a matrix of this structure has.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// u <- A y
    pub fn times<T: Real>(&self, entries: &[T], y: &[T], u: &mut [T]) {
        for block in &self.blocks {
            for r in 0..block.rows {
                u[block.first + r] = block.times(block.row(entries, r), y);
            }
        }
    }

    /// y <- A' x
    pub fn transpose_times<T: Real>(&self, entries: &[T], x: &[T], y: &mut [T]) {
        y.fill(T::zero());
        for block in &self.blocks {
            for r in 0..block.rows {
                block.add_times(block.row(entries, r), x[block.first + r], y);
            }
        }
    }
}
