//! Where a matrix may have entries.

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::super::Error;

/// The places (row, column) of a sparse matrix that may be other than zero, in compressed rows:
/// ordered by rows, within a row by columns. Values of a matrix with this pattern are slices of
/// length [`nnz`](Self::nnz) in the same order.
///
/// Deserialised, it is validated like any other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "CompressedRows")]
pub struct Pattern {
    columns: usize,
    /// Where each row starts in `indices`, and the end of the last.
    row_starts: Vec<usize>,
    /// The column of each entry.
    indices: Vec<u32>,
}

/// A pattern as it is read, before it is known to be one.
#[derive(Deserialize)]
struct CompressedRows {
    columns: usize,
    row_starts: Vec<usize>,
    indices: Vec<u32>,
}

impl TryFrom<CompressedRows> for Pattern {
    type Error = Error;

    fn try_from(read: CompressedRows) -> Result<Pattern, Error> {
        let CompressedRows { columns, row_starts, indices } = read;
        Pattern::from_compressed_rows(columns, row_starts, indices)
    }
}

/// An empty vector with room for `len` items, if there is memory for them.
fn reserved<T>(len: usize) -> Result<Vec<T>, Error> {
    let mut items = Vec::new();
    items.try_reserve_exact(len).map_err(|_| Error::PatternTooLarge)?;
    Ok(items)
}

/// Rows and columns are numbered in 32 bits.
fn numbered(rows: usize, columns: usize) -> Result<(), Error> {
    // The last number stands for none.
    let numbers = |n: usize| u32::try_from(n).is_ok_and(|n| n < u32::MAX);
    if numbers(rows) && numbers(columns) { Ok(()) } else { Err(Error::PatternTooLarge) }
}

impl Pattern {
    /// From compressed rows: `row_starts` has one entry more than there are rows, and row i has the
    /// columns `indices[row_starts[i]..row_starts[i + 1]]`, in ascending order.
    ///
    /// # Errors
    /// [`Error::PatternRow`] if the starts do not ascend from 0 to `indices.len()` or the columns of
    /// a row do not ascend; [`Error::PatternEntry`] if a column is beyond the last;
    /// [`Error::PatternTooLarge`].
    pub fn from_compressed_rows(
        columns: usize,
        row_starts: Vec<usize>,
        indices: Vec<u32>,
    ) -> Result<Pattern, Error> {
        let Some(rows) = row_starts.len().checked_sub(1) else {
            return Err(Error::PatternRow { row: 0 });
        };
        numbered(rows, columns)?;
        if row_starts[0] != 0 {
            return Err(Error::PatternRow { row: 0 });
        }
        for row in 0..rows {
            let Some(entries) = indices.get(row_starts[row]..row_starts[row + 1]) else {
                return Err(Error::PatternRow { row });
            };
            if let Some(&column) = entries.iter().find(|&&j| j as usize >= columns) {
                return Err(Error::PatternEntry { row, column: column as usize, rows, columns });
            }
            if entries.windows(2).any(|pair| pair[0] >= pair[1]) {
                return Err(Error::PatternRow { row });
            }
        }
        if row_starts[rows] != indices.len() {
            return Err(Error::PatternRow { row: rows.saturating_sub(1) });
        }
        Ok(Pattern { columns, row_starts, indices })
    }

    /// From places (row, column) in any order; those given twice count once.
    ///
    /// # Errors
    /// [`Error::PatternEntry`] if a place is outside; [`Error::PatternTooLarge`].
    ///
    /// ```
    /// use stiction::ad::sparse::Pattern;
    /// let pattern = Pattern::from_triplets(2, 3, [(1, 2), (0, 1), (1, 2)])?;
    /// assert_eq!(pattern.iter().collect::<Vec<_>>(), [(0, 1), (1, 2)]);
    /// # Ok::<(), stiction::ad::Error>(())
    /// ```
    pub fn from_triplets(
        rows: usize,
        columns: usize,
        places: impl IntoIterator<Item = (usize, usize)>,
    ) -> Result<Pattern, Error> {
        numbered(rows, columns)?;
        let mut sorted = Vec::new();
        for (row, column) in places {
            if row >= rows || column >= columns {
                return Err(Error::PatternEntry { row, column, rows, columns });
            }
            sorted.push((row as u32, column as u32));
        }
        sorted.sort_unstable();
        sorted.dedup();
        let mut row_starts = reserved(rows + 1)?;
        row_starts.push(0);
        let mut end = 0;
        for row in 0..rows {
            end += sorted[end..].iter().take_while(|place| place.0 as usize == row).count();
            row_starts.push(end);
        }
        Ok(Pattern { columns, row_starts, indices: sorted.into_iter().map(|(_, j)| j).collect() })
    }

    /// The entries of `matrix` other than zero. Not those that merely happen to be zero: better the
    /// sum of the absolute values at several points.
    ///
    /// # Errors
    /// [`Error::PatternTooLarge`].
    pub fn from_dense(matrix: &DMatrix<f64>) -> Result<Pattern, Error> {
        let places = (0..matrix.nrows()).flat_map(|i| (0..matrix.ncols()).map(move |j| (i, j)));
        let kept = places.filter(|&place| matrix[place] != 0.0);
        Self::from_triplets(matrix.nrows(), matrix.ncols(), kept)
    }

    /// `blocks` x `blocks` dense square blocks of size `size`, on the diagonal and beside it: what the
    /// Hessian of a sum over the steps of a trajectory looks like.
    ///
    /// # Errors
    /// [`Error::PatternTooLarge`].
    pub fn block_tridiagonal(blocks: usize, size: usize) -> Result<Pattern, Error> {
        let n = blocks.checked_mul(size).ok_or(Error::PatternTooLarge)?;
        numbered(n, n)?;
        let width = |block: usize| {
            let (first, last) = (block.saturating_sub(1), (block + 2).min(blocks));
            first * size..last * size
        };
        // At most 3 n size, without overflow in 64 bits as n and size have 32.
        let entries: u128 = 3 * n as u128 * size as u128;
        let entries = usize::try_from(entries).map_err(|_| Error::PatternTooLarge)?;
        let (mut row_starts, mut indices) = (reserved(n + 1)?, reserved(entries)?);
        row_starts.push(0);
        for row in 0..n {
            indices.extend(width(row / size).map(|j| j as u32));
            row_starts.push(indices.len());
        }
        Ok(Pattern { columns: n, row_starts, indices })
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// How many entries.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// The columns of a row, ascending; none if there is no such row.
    pub fn row(&self, row: usize) -> &[u32] {
        match self.row_starts.get(row..) {
            Some(&[start, end, ..]) => &self.indices[start..end],
            _ => &[],
        }
    }

    /// The index of the first entry of a row among all.
    pub(super) fn start(&self, row: usize) -> usize {
        self.row_starts[row]
    }

    /// The index of an entry among all, if there is one at this place.
    pub fn position(&self, row: usize, column: usize) -> Option<usize> {
        let within = self.row(row).binary_search(&u32::try_from(column).ok()?).ok()?;
        Some(self.start(row) + within)
    }

    /// Whether there may be an entry at this place.
    pub fn contains(&self, row: usize, column: usize) -> bool {
        self.position(row, column).is_some()
    }

    /// The places (row, column) in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.rows()).flat_map(|i| self.row(i).iter().map(move |&j| (i, j as usize)))
    }

    /// The length of the longest row.
    pub fn longest_row(&self) -> usize {
        self.row_starts.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// Rows and columns exchanged.
    pub fn transpose(&self) -> Pattern {
        let mut row_starts = vec![0; self.columns + 1];
        for &j in &self.indices {
            row_starts[j as usize + 1] += 1;
        }
        for j in 0..self.columns {
            row_starts[j + 1] += row_starts[j];
        }
        let mut next = row_starts.clone();
        let mut indices = vec![0; self.nnz()];
        for (i, j) in self.iter() {
            indices[next[j]] = i as u32;
            next[j] += 1;
        }
        Pattern { columns: self.rows(), row_starts, indices }
    }

    /// The places of either: the pattern of what takes one branch here and another there.
    ///
    /// # Errors
    /// [`Error::Shape`] if the numbers of rows or of columns differ.
    pub fn union(&self, other: &Pattern) -> Result<Pattern, Error> {
        let shapes = [(self.rows(), other.rows()), (self.columns, other.columns)];
        for (expected, found) in shapes {
            same(expected, found)?;
        }
        Self::from_triplets(self.rows(), self.columns, self.iter().chain(other.iter()))
    }

    /// Whether it is its own transpose.
    pub fn is_symmetric(&self) -> bool {
        *self == self.transpose()
    }

    /// The matrix of these values, rows x columns.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are not [`nnz`](Self::nnz) values.
    pub fn to_dense(&self, values: &[f64]) -> Result<DMatrix<f64>, Error> {
        let mut matrix = DMatrix::zeros(self.rows(), self.columns);
        for (row, column, value) in self.triplets(values)? {
            matrix[(row, column)] = value;
        }
        Ok(matrix)
    }

    /// The entries (row, column, value) in order, for whatever sparse solver takes them.
    ///
    /// # Errors
    /// [`Error::Shape`] if there are not [`nnz`](Self::nnz) values.
    pub fn triplets<'a>(
        &'a self,
        values: &'a [f64],
    ) -> Result<impl Iterator<Item = (usize, usize, f64)> + 'a, Error> {
        same(self.nnz(), values.len())?;
        Ok(self.iter().zip(values).map(|((row, column), &value)| (row, column, value)))
    }
}

/// # Errors
/// [`Error::Shape`] if the lengths differ.
pub(super) fn same(expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Shape { expected, found }) }
}
