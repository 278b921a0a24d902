//! What can go wrong while differentiating.

use std::fmt;
use std::panic::Location;

/// Why a driver has no derivative to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Error {
    /// A variable of an earlier recording, an outer recording or another thread was used.
    StaleVariable,
    /// The recording has more operations than a tape can index.
    TapeFull,
    /// A partial derivative is infinite or not a number, the first one: found while
    /// [diagnosing](super::diagnose).
    NonFinite {
        /// The function or operator.
        function: &'static str,
        /// The operand it is the derivative in, 0 or 1.
        operand: usize,
        /// The number of the operation in the recording.
        operation: usize,
        /// Whether it is not a number; infinite if not.
        nan: bool,
        /// The line of source that calls the function.
        #[serde(serialize_with = "super::serial::location")]
        location: &'static Location<'static>,
    },
    /// The adjoint of a node has an entry that is infinite or not a number, though what came into it
    /// was finite: found while [diagnosing](super::diagnose).
    NonFiniteNode {
        /// The type of the node.
        node: &'static str,
        /// The input it is the derivative in.
        operand: usize,
    },
    /// A mark of another recording, or of before a rewind to an earlier one.
    StaleMark,
    /// The recording is not the active one of its thread: one that was started later is not over.
    Interrupted,
    /// The memory budget does not hold one state.
    Budget {
        /// The least that would do, in bytes.
        needed: usize,
    },
    /// A vector has the wrong length.
    Shape {
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// An entry of a sparsity pattern is outside of the matrix.
    PatternEntry {
        /// The row of the entry.
        row: usize,
        /// The column of the entry.
        column: usize,
        /// How many rows there are.
        rows: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// A row of a sparsity pattern in compressed rows has a start or columns out of order.
    PatternRow {
        /// The row.
        row: usize,
    },
    /// A sparsity pattern has more rows, columns or entries than can be numbered or held in memory.
    PatternTooLarge,
    /// A function depends on more than its sparsity pattern says: found by a product of the matrix
    /// with a vector.
    MissingInRow {
        /// A row with an entry that the pattern does not have.
        row: usize,
    },
    /// As [`Self::MissingInRow`], found by a product with a vector from the left.
    MissingInColumn {
        /// A column with an entry that the pattern does not have.
        column: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::StaleVariable => f.write_str(
                "a variable of another recording was used in this one (kept from an earlier call, \
                 taken from an outer recording, or from another thread); pass it in as an input, \
                 or its value as a constant",
            ),
            Error::TapeFull => f.write_str(
                "the recording has more than 2^32 - 2 operations; differentiate it in shorter \
                 pieces, or forward by duals",
            ),
            Error::NonFinite { function, operand, operation, nan, location } => {
                let what = if *nan { "not a number" } else { "infinite" };
                let operand = if *operand == 0 { "first" } else { "second" };
                write!(
                    f,
                    "the derivative of `{function}` in its {operand} operand is {what}, at \
                     {location} (operation {operation} of the recording); all before it are finite"
                )
            }
            Error::NonFiniteNode { node, operand } => write!(
                f,
                "the adjoint of the node {node} is not finite in its input {operand}, though those \
                 of its outputs are"
            ),
            Error::StaleMark => f.write_str(
                "a mark of another recording, or of before a rewind to an earlier mark, is gone; \
                 mark again",
            ),
            Error::Interrupted => f.write_str(
                "the recording is interrupted by one started later on this thread; drop that first",
            ),
            Error::Budget { needed } => write!(
                f,
                "the memory budget is too small for a single checkpoint: {needed} bytes are needed, \
                 and more make it faster"
            ),
            Error::Shape { expected, found } => {
                write!(f, "a vector of length {expected} is needed here, this one has {found}")
            }
            Error::PatternEntry { row, column, rows, columns } => write!(
                f,
                "the sparsity pattern has an entry in row {row}, column {column}; the matrix has \
                 {rows} rows and {columns} columns, numbered from 0"
            ),
            Error::PatternRow { row } => write!(
                f,
                "row {row} of the sparsity pattern is out of order: its start must not be before \
                 that of the row before, nor beyond the last entry, and its columns must ascend"
            ),
            Error::PatternTooLarge => f.write_str(
                "the sparsity pattern is too large: rows and columns are numbered in 32 bits, and \
                 its entries must fit in memory",
            ),
            Error::MissingInRow { row } => write!(
                f,
                "the sparsity pattern is too small: row {row} depends on a column that the pattern \
                 does not have there; detect the pattern, or add what other branches depend on"
            ),
            Error::MissingInColumn { column } => write!(
                f,
                "the sparsity pattern is too small: a row depends on column {column} where the \
                 pattern has no entry; detect the pattern, or add what other branches depend on"
            ),
        }
    }
}

impl std::error::Error for Error {}
