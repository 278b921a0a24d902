//! Losses in which single recordings that went wrong do not decide.

use crate::ad::Real;

/// How a residual r, in standard deviations, counts in the place of r²/2: as much as long as it is small, less
/// beyond `c`. So recordings that went wrong, and rollouts that part at an impact, do not decide a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RobustLoss {
    /// Linearly beyond c: c |r| - c²/2.
    Huber(f64),
    /// c²/2 ln(1 + r²/c²): what is far off hardly counts at all. There may be several minima.
    Cauchy(f64),
}

impl RobustLoss {
    /// The residual with the sign of `r` of which half the square is the loss of `r`.
    pub fn residual<T: Real>(self, r: T) -> T {
        match self {
            RobustLoss::Huber(c) => {
                let value = r.value();
                if value.abs() <= c || value.is_nan() {
                    return r;
                }
                // sqrt(2 c |r| - c²)
                let sign = value.signum();
                (r * (2.0 * c * sign) - T::constant(c * c)).sqrt() * sign
            }
            RobustLoss::Cauchy(c) => {
                let u = r * r / (c * c);
                // r sqrt(ln(1 + u) / u), and its expansion near 0
                let share = match u.value() < 1e-8 {
                    true => T::one() - u * 0.25,
                    false => (u.ln_1p() / u).sqrt(),
                };
                r * share
            }
        }
    }
}
