//! Forward mode: a value with `N` tangents, f(x + dx) = f(x) + f'(x) dx.

use super::Real;

/// A dual number over an inner scalar: `value` and `N` directional derivatives.
///
/// Duals nest (`Dual<Dual<f64, 1>, 1>` carries second derivatives). How they pass [`Node`](super::Node)s is said by the
/// [`NodeRule`](super::NodeRule) in force.
#[derive(Clone, Copy)]
pub struct Dual<T, const N: usize> {
    /// The value.
    pub value: T,
    /// The derivative in each of the `N` directions.
    pub tangent: [T; N],
}

impl<T: Real, const N: usize> Dual<T, N> {
    /// `value` with the given tangents.
    #[inline(always)]
    pub fn new(value: T, tangent: [T; N]) -> Self {
        Dual { value, tangent }
    }

    /// `value` with tangent 1 in `direction` and 0 in the others.
    pub fn variable(value: T, direction: usize) -> Self {
        Self::new(value, std::array::from_fn(|k| T::constant(f64::from(u8::from(k == direction)))))
    }
}
