//! Inner product and Euclidean norm.

use crate::ad::Real;

/// x' y
pub fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).fold(T::zero(), |sum, (&x, &y)| sum + x * y)
}

/// |x|; its derivative at 0 is 0.
pub fn norm<T: Real>(x: &[T]) -> T {
    dot(x, x).sqrt()
}
