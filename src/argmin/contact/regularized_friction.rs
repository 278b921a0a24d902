//! Friction of penalties: an impulse, or a force, -phi u against the slip u. With s = |u|, the stiffness kt, Coulomb's limit, and
//! z = kt s / limit:
//!
//! ```text
//! phi = min(kt, limit / s)        (Geilinger20 17)
//! phi = limit tanh(z) / s         (Geilinger20 18)
//! ```
//!
//! What should stick creeps, at its load over kt.

use crate::ad::Real;

/// Below this z tanh(z)/z is summed up, so that slip of zero has a derivative: what is left out is below 1e-16.
const SMALL: f64 = 1e-2;
/// From here on tanh(z) is 1.
const LARGE: f64 = 20.0;

/// How friction of penalties goes over to Coulomb's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegularizedFriction {
    /// At once. `Geilinger20` (17)
    Linear,
    /// Smoothly. `Geilinger20` (18)
    Tanh,
}

impl RegularizedFriction {
    /// phi, from |u|².
    pub(crate) fn coefficient<T: Real>(self, kt: T, limit: T, slip_squared: T) -> T {
        // On the way to a solution what pulls has none.
        if limit.value() < 0.0 {
            return T::zero();
        }
        match self {
            RegularizedFriction::Linear => clamped(kt, limit, slip_squared),
            RegularizedFriction::Tanh => smoothed(kt, limit, slip_squared),
        }
    }

    /// phi, and its slopes in the limit and in |u|².
    pub(super) fn slopes(self, kt: f64, limit: f64, slip_squared: f64) -> [f64; 3] {
        let phi = self.coefficient(kt, limit, slip_squared);
        let slip = slip_squared.sqrt();
        let z = kt * slip / limit;
        let clamped = [phi, 1.0 / slip, -0.5 * phi / slip_squared];
        match self {
            _ if limit < 0.0 || limit == 0.0 && slip == 0.0 => [phi, 0.0, 0.0],
            RegularizedFriction::Linear if kt * slip <= limit => [phi, 0.0, 0.0],
            RegularizedFriction::Linear => clamped,
            RegularizedFriction::Tanh if limit <= 0.0 || z >= LARGE => clamped,
            // kt (1 - z²/3 + 2 z⁴/15)
            RegularizedFriction::Tanh if z < SMALL => {
                let by_square = kt * (4.0 / 15.0 * z * z - 1.0 / 3.0);
                let ratio = kt / limit;
                [phi, -2.0 * by_square * z * z / limit, by_square * ratio * ratio]
            }
            RegularizedFriction::Tanh => {
                let rate = z.cosh().powi(-2);
                let by_limit = (z.tanh() - z * rate) / slip;
                [phi, by_limit, 0.5 * (kt * rate - phi) / slip_squared]
            }
        }
    }
}

fn clamped<T: Real>(kt: T, limit: T, slip_squared: T) -> T {
    let at_limit = kt.value() * kt.value() * slip_squared.value() > limit.value() * limit.value();
    if at_limit {
        return limit / slip_squared.sqrt();
    }
    // Without friction what does not slip is not held either.
    if limit.value() > 0.0 { kt } else { T::zero() }
}

fn smoothed<T: Real>(kt: T, limit: T, slip_squared: T) -> T {
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
    // What has no normal force to speak of has no ratio.
    if square.value() >= LARGE * LARGE {
        return limit / slip;
    }
    limit * (ratio * slip).tanh() / slip
}
