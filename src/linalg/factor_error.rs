//! Why a matrix was not factorised.

use std::fmt;

use crate::ad::Real;

/// Why a matrix was not factorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactorError {
    /// The pivot of this row (from 0) is not positive, of a general matrix zero, to working
    /// precision; or it is not finite.
    Pivot(usize),
    /// An entry of the matrix is infinite or not a number.
    NotFinite,
    /// The inputs or outputs are not as many as the sizes of the node say.
    Shape,
}

impl fmt::Display for FactorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactorError::Pivot(k) => {
                write!(
                    f,
                    "singular or not positive definite: pivot {k} vanishes, is negative or not finite"
                )
            }
            FactorError::NotFinite => f.write_str("an entry is infinite or not a number"),
            FactorError::Shape => {
                f.write_str("the numbers of inputs or outputs do not fit the sizes")
            }
        }
    }
}

impl std::error::Error for FactorError {}

/// The result where there is none: NaN, and so are all its derivatives.
pub(super) fn not_a_number<T: Real>() -> T {
    let nan = T::constant(f64::NAN);
    nan * nan
}

/// Whether a matrix of `n` x `n` and `columns` right-hand sides are as many inputs and outputs.
pub(super) fn check_system(
    n: usize,
    columns: usize,
    inputs: usize,
    outputs: usize,
) -> Result<(), FactorError> {
    let matrix = n.checked_mul(n);
    let fits = n.checked_mul(columns) == Some(outputs)
        && matrix.and_then(|m| m.checked_add(outputs)) == Some(inputs);
    if fits { Ok(()) } else { Err(FactorError::Shape) }
}
