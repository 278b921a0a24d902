//! What impacts rebound by: the speed of a rebound, its slopes, and which part of an impulse comes back.

use super::relative_velocity::along;
use crate::ad::Real;
use crate::collision::ContactPoint;
use crate::dynamics::FreeMotion;
use crate::model::{SurfaceTerm, System};

/// The speed at which something rebounds that approaches at another.
pub(crate) fn rebound_speed<T: Real>(system: &System<T>, pair: usize, approach: T) -> T {
    let System { model, parameters, .. } = *system;
    let rebound = parameters.restitution(model, pair) * approach;
    match parameters.surface_term(model, pair, SurfaceTerm::RestitutionFalloff) {
        Some(falloff) if approach.value() > 0.0 => {
            rebound / (T::one() + falloff * approach).sqrt().sqrt()
        }
        _ => rebound,
    }
}

/// The part of the normal impulse of a contact with normal row `row` that it gives back: see [`poisson`](super::poisson).
pub(super) fn returned_part<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    row: &[T],
) -> T {
    let approach = -along(motion, point, row, |tree| tree.velocity);
    rebound_speed(system, point.pair, approach) / approach
}

/// The derivatives of the speed of a rebound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReboundSlopes {
    /// In the speed of the approach.
    pub approach: f64,
    /// In the restitution.
    pub restitution: f64,
    /// In its falloff.
    pub falloff: f64,
}

impl ReboundSlopes {
    /// Of a contact with normal row `row`.
    pub fn new(
        system: &System<f64>,
        motion: &FreeMotion<f64>,
        point: &ContactPoint<f64>,
        row: &[f64],
    ) -> ReboundSlopes {
        let System { model, parameters, .. } = *system;
        let approach = -along(motion, point, row, |tree| tree.velocity);
        let restitution = parameters.restitution(model, point.pair);
        match parameters.surface_term(model, point.pair, SurfaceTerm::RestitutionFalloff) {
            Some(falloff) if approach > 0.0 => {
                let stretch = 1.0 + falloff * approach;
                let share = stretch.sqrt().sqrt().recip();
                ReboundSlopes {
                    approach: restitution * share * (1.0 - 0.25 * falloff * approach / stretch),
                    restitution: approach * share,
                    falloff: -0.25 * restitution * approach * approach * share / stretch,
                }
            }
            _ => ReboundSlopes { approach: restitution, restitution: approach, falloff: 0.0 },
        }
    }
}
