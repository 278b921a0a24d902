//! The height of the lowest of several points, with a derivative.

use crate::ad::Real;

/// Points whose heights differ by less than this fraction of a box's half diagonal count as level.
pub(super) const LEVEL: f64 = 1e-2;

/// Widths above the least gap beyond which the weight of a point is below rounding.
pub(super) const NEGLIGIBLE: f64 = 40.0;

/// The lowest of `gaps`, as their mean with weights exp(-gap / width): it has a derivative where two
/// are level, and does not depend on which of them are in reach.
pub(super) fn lowest_gap<T: Real>(gaps: impl Iterator<Item = T> + Clone, width: T) -> T {
    let least = gaps.clone().map(|gap| gap.value()).fold(f64::INFINITY, f64::min);
    let (mut sum, mut weights) = (T::zero(), T::zero());
    for gap in gaps {
        let above = (gap - least) / width;
        if above.value() <= NEGLIGIBLE {
            let weight = (-above).exp();
            sum += gap * weight;
            weights += weight;
        }
    }
    sum / weights
}
