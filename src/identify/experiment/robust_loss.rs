//! Losses in which single recordings that went wrong do not decide.

use crate::ad::Real;

/// How a residual r, in standard deviations (of a position or an orientation the length of its three, of a mask that of all pixels), counts in the place of r²/2: as much as long as it is small, less
/// beyond `c`. So recordings that went wrong, and rollouts that part at an impact, do not decide a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RobustLoss {
    /// Linearly beyond c: c |r| - c²/2 (`Huber64`).
    Huber(f64),
    /// c²/2 ln(1 + r²/c²): what is far off hardly counts at all. There may be several minima.
    Cauchy(f64),
}

impl RobustLoss {
    /// Turns residuals that belong together, as the three of a position, into ones in the same direction of
    /// which half the square is the loss of their length: how the axes lie does not matter.
    pub fn apply<T: Real>(self, residuals: &mut [T]) {
        let square = residuals.iter().fold(T::zero(), |sum, &r| sum + r * r);
        let share = match self {
            RobustLoss::Huber(c) => {
                let size = square.value().sqrt();
                if size <= c || !size.is_finite() {
                    return;
                }
                // sqrt(2 c |r| - c²) / |r|
                let size = square.sqrt();
                ((size * (2.0 * c) - T::constant(c * c)) / square).sqrt()
            }
            RobustLoss::Cauchy(c) => {
                let u = square / (c * c);
                // sqrt(ln(1 + u) / u), and its expansion near 0
                match u.value() < 1e-8 {
                    true => T::one() - u * 0.25,
                    false => (u.ln_1p() / u).sqrt(),
                }
            }
        };
        residuals.iter_mut().for_each(|r| *r *= share);
    }
}
