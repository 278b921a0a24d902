//! The distribution of a ratio of two variances that are estimated (Fisher and Snedecor).

use super::beta::beta_below;

/// What a ratio of mean squares, of so many degrees of freedom each (more than none), stays below with a probability.
pub(crate) fn f_quantile(probability: f64, [above, below]: [f64; 2]) -> f64 {
    // Of the share that the first has of both sums; bisection down to neighbouring numbers.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        match beta_below(middle, 0.5 * above, 0.5 * below) < probability {
            true => low = middle,
            false => high = middle,
        }
    }
    let share: f64 = 0.5 * (low + high);
    share / (1.0 - share) * below / above
}
