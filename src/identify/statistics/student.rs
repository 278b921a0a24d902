//! Student's t distribution.

use super::beta::beta_below;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

/// What a normal number stays within with probability 0.95, in standard deviations.
const NORMAL_95: f64 = 1.959_963_984_540_054;
/// With more degrees of freedom the expansion below is as good as the sum.
const MANY: usize = 1000;

/// What a number of Student's t distribution stays within with probability 0.95, by degrees of freedom (one at
/// least): half the width of a 95 % interval in standard errors that are estimated from so many squares.
pub(crate) fn quantile_95(freedom: usize) -> f64 {
    let freedom = freedom.max(1);
    if freedom > MANY {
        let (z, n) = (NORMAL_95, freedom as f64);
        return z + (z.powi(3) + z) / (4.0 * n);
    }
    // Bisection over the angle, down to neighbouring numbers.
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if within(middle, freedom) < 0.95 { low = middle } else { high = middle }
    }
    (0.5 * (low + high)).tan() * (freedom as f64).sqrt()
}

/// How likely chance makes |t| as large as this, by degrees of freedom (one at least).
pub(crate) fn p_value(t: f64, freedom: usize) -> f64 {
    exceeded(t, freedom.max(1) as f64)
}

fn exceeded(t: f64, freedom: f64) -> f64 {
    beta_below(freedom / (freedom + t * t), 0.5 * freedom, 0.5)
}

/// [`quantile_95`] of degrees of freedom that are no whole number (one at least).
pub(crate) fn real_quantile_95(freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    // As far as that of one degree goes.
    let (mut low, mut high) = (1.0, 13.0);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if exceeded(middle, freedom) > 0.05 { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// The probability of |t| < sqrt(freedom) tan(angle) (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(angle: f64, freedom: usize) -> f64 {
    let (sin, cos) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    let mut term = if odd { cos } else { 1.0 };
    let mut sum = 0.0;
    for k in (2 + usize::from(odd)..=freedom).step_by(2) {
        sum += term;
        term *= cos * cos * (k as f64 - 1.0) / k as f64;
    }
    if odd { FRAC_2_PI * (angle + sin * sum) } else { sin * sum }
}
