//! Sparse matrices of 3x3 blocks, one for each two nodes that are coupled.

use crate::ad::Real;

/// A block by its rows.
pub type Block<T> = [[T; 3]; 3];

/// Which blocks there are, row by row, columns ascending. Symmetric, with all diagonal blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockPattern {
    starts: Vec<usize>,
    columns: Vec<usize>,
}

impl BlockPattern {
    /// Of `nodes` nodes coupled by elements, whose nodes are below `nodes`.
    pub fn new(nodes: usize, elements: impl IntoIterator<Item: AsRef<[usize]>>) -> Self {
        let mut pairs: Vec<[usize; 2]> = (0..nodes).map(|node| [node; 2]).collect();
        for element in elements {
            let element = element.as_ref();
            pairs.extend(element.iter().flat_map(|&a| element.iter().map(move |&b| [a, b])));
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut starts = vec![0; nodes + 1];
        pairs.iter().for_each(|[row, _]| starts[row + 1] += 1);
        (0..nodes).for_each(|row| starts[row + 1] += starts[row]);
        BlockPattern { starts, columns: pairs.iter().map(|[_, column]| *column).collect() }
    }

    /// How many rows of blocks.
    pub fn nodes(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// How many blocks.
    pub fn blocks(&self) -> usize {
        self.columns.len()
    }

    /// The blocks of a row: column, and which in the list of blocks.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, usize)> + Clone + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()].iter().copied().zip(range)
    }

    /// Which block stands at a row and column.
    pub fn find(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.starts[row]..self.starts[row + 1];
        let at = self.columns[range.clone()].binary_search(&column).ok()?;
        Some(range.start + at)
    }

    /// The pairs of nodes that are coupled, each once, the lower first.
    pub fn edges(&self) -> impl Iterator<Item = [usize; 2]> + Clone + '_ {
        (0..self.nodes()).flat_map(|row| {
            self.row(row)
                .filter(move |&(column, _)| column > row)
                .map(move |(column, _)| [row, column])
        })
    }
}

/// The blocks of a matrix, in the order of its [`BlockPattern`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BlockMatrix<T> {
    /// The blocks.
    pub blocks: Vec<Block<T>>,
}

impl<T: Real> BlockMatrix<T> {
    /// Zero, in the memory there is.
    pub fn start(&mut self, pattern: &BlockPattern) {
        self.blocks.clear();
        self.blocks.resize(pattern.blocks(), [[T::zero(); 3]; 3]);
    }

    /// y += A x
    pub fn add_product(&self, pattern: &BlockPattern, x: &[[T; 3]], y: &mut [[T; 3]]) {
        for (row, y) in y.iter_mut().enumerate().take(pattern.nodes()) {
            for (column, at) in pattern.row(row) {
                let (block, x) = (&self.blocks[at], &x[column]);
                for (y, row) in y.iter_mut().zip(block) {
                    *y += row[0] * x[0] + row[1] * x[1] + row[2] * x[2];
                }
            }
        }
    }

    /// y += A'x
    pub fn add_transpose_product(&self, pattern: &BlockPattern, x: &[[T; 3]], y: &mut [[T; 3]]) {
        for (row, x) in x.iter().enumerate().take(pattern.nodes()) {
            for (column, at) in pattern.row(row) {
                let (block, y) = (&self.blocks[at], &mut y[column]);
                for (row, &x) in block.iter().zip(x) {
                    (0..3).for_each(|k| y[k] += row[k] * x);
                }
            }
        }
    }

    /// The largest sum of absolute values of a row, or of a column.
    pub fn largest_row(&self, pattern: &BlockPattern, transposed: bool) -> f64 {
        let mut sums = vec![[0.0; 3]; pattern.nodes()];
        for row in 0..pattern.nodes() {
            for (column, at) in pattern.row(row) {
                for (i, entries) in self.blocks[at].iter().enumerate() {
                    for (j, x) in entries.iter().enumerate() {
                        let sum = if transposed { &mut sums[column][j] } else { &mut sums[row][i] };
                        *sum += x.value().abs();
                    }
                }
            }
        }
        sums.iter().flatten().fold(0.0, |most, &sum| f64::max(most, sum))
    }
}
