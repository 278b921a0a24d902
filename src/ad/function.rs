//! What can be evaluated on any scalar.

use super::Real;

/// A function that can be evaluated on any scalar: what the gradient checks take, and the drivers
/// that choose their scalars themselves.
pub trait Function {
    /// The outputs at `x`.
    fn evaluate<T: Real>(&self, x: &[T]) -> Vec<T>;
}
