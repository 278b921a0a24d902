//! Inner product and Euclidean norm.

use std::ops::RangeInclusive;

use crate::ad::Real;

/// Squares whose root is as exact as the plain formula can be, and which have second derivatives: no
/// term has underflowed that counts, and the square of the square root of neither over- nor underflows.
const SAFE: RangeInclusive<f64> = 1e-290..=1e290;

/// 2^100, which takes the least positive number to normal ones.
const LIFT: f64 = (1_u128 << 100) as f64;

/// x' y
pub fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    x.iter().zip(y).fold(T::zero(), |sum, (&x, &y)| sum + x * y)
}

/// |x| without over- and underflow. Its derivative is x / |x|, at 0 it is 0; where entries are
/// infinite, it is the sign of the first of them, and 0 in the others.
///
/// Second derivatives are right wherever 1 / |x| does not overflow, down to 1e-307.
pub fn norm<T: Real>(x: &[T]) -> T {
    let square = dot(x, x);
    if SAFE.contains(&square.value()) { square.sqrt() } else { extreme_norm(x, square) }
}

/// Where the sum of squares under- or overflows, or nearly.
#[cold]
#[inline(never)]
fn extreme_norm<T: Real>(x: &[T], square: T) -> T {
    // The first of the largest; what is not a number is larger than all numbers.
    let (k, largest) = x.iter().enumerate().fold((0, 0.0), |(k, largest), (i, x)| {
        let size = x.value().abs();
        if size > largest || size.is_nan() { (i, size) } else { (k, largest) }
    });
    if largest == 0.0 || largest.is_nan() {
        return square.sqrt();
    }
    if largest.is_infinite() {
        return x[k].abs();
    }
    // From the largest on, so that no partial sum is 0, where `hypot` has a kink.
    let fold = |lift: fn(T) -> T| {
        let others = x.iter().enumerate().filter(|(i, _)| *i != k);
        others.fold(lift(x[k]).abs(), |sum, (_, &x)| sum.hypot(lift(x)))
    };
    // Denormal numbers have too few digits for the quotients x / |x|.
    if largest < f64::MIN_POSITIVE { fold(|x| x * LIFT) / LIFT } else { fold(|x| x) }
}
