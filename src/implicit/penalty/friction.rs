//! Friction of penalties: -phi u against the slip u. With s = |u|, the limit mu fn, and z = kt s / limit:
//!
//! ```text
//! phi = min(kt, limit / s)        (Geilinger20 17)
//! phi = limit tanh(z) / s         (Geilinger20 18)
//! ```

use crate::ad::Real;

/// Below this z tanh(z)/z is summed up, so that slip of zero has a derivative: what is left out is below 1e-16.
const SMALL: f64 = 1e-2;

/// phi (N s/m) of (17), from |u|².
pub(super) fn clamped<T: Real>(kt: T, limit: T, slip_squared: T) -> T {
    let at_limit = kt.value() * kt.value() * slip_squared.value() > limit.value() * limit.value();
    if at_limit {
        return limit / slip_squared.sqrt();
    }
    // Without friction what does not slip is not held either.
    if limit.value() > 0.0 { kt } else { T::zero() }
}

/// phi (N s/m) of (18), from |u|².
pub(super) fn smoothed<T: Real>(kt: T, limit: T, slip_squared: T) -> T {
    if limit.value() <= 0.0 {
        return clamped(kt, limit, slip_squared);
    }
    let ratio = kt / limit;
    let square = ratio * ratio * slip_squared;
    if square.value() < SMALL * SMALL {
        let series = square * (square * (square * (-17.0 / 315.0) + 2.0 / 15.0) - 1.0 / 3.0);
        return kt * (series + 1.0);
    }
    let slip = slip_squared.sqrt();
    limit * (ratio * slip).tanh() / slip
}
