//! What can go wrong while differentiating.

use std::fmt;

/// Why a driver has no derivative to return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A variable of an earlier recording, an outer recording or another thread was used.
    StaleVariable,
    /// The recording has more operations than a tape can index.
    TapeFull,
    /// A vector has the wrong length.
    Shape {
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
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
            Error::Shape { expected, found } => {
                write!(f, "a vector of length {expected} is needed here, this one has {found}")
            }
        }
    }
}

impl std::error::Error for Error {}
