//! The natural map of the coupled contact problem: how far impulses are from solving it, and from
//! another mode.

use super::contact_data::{ContactData, Delassus};
use super::contact_modes::Mode;
use crate::ad::Real;

/// |x|. `hypot`, which guards against overflow, takes a tenth of a solve.
pub(super) fn length(x: [f64; 2]) -> f64 {
    (x[0] * x[0] + x[1] * x[1]).sqrt()
}

/// The natural map's argument at contact `i`: impulse less velocity, in units of impulse.
pub(super) fn natural_argument<T: Real>(
    data: &ContactData<T>,
    delassus: &Delassus<T>,
    lambda: &[T],
    u: &[T],
    i: usize,
) -> [f64; 3] {
    let at = |x: &[T], r: usize| x[3 * i + r].value();
    let normal_velocity = at(u, 0) + data.compliance[i].value() * at(lambda, 0);
    let (dn, dt) = (delassus.normal_scale(i), delassus.tangential_scale(i));
    let inverse = |d: f64| if d > 0.0 { 1.0 / d } else { 0.0 };
    [
        at(lambda, 0) - inverse(dn) * normal_velocity,
        at(lambda, 1) - inverse(dt) * at(u, 1),
        at(lambda, 2) - inverse(dt) * at(u, 2),
    ]
}

/// Largest violation over the contacts of lambda = Proj(lambda - D^-1 u), as a velocity, relative
/// to `scale`; the projection is on the half-line and on the disk of radius mu times its result.
pub(super) fn natural_residual<T: Real>(
    data: &ContactData<T>,
    delassus: &Delassus<T>,
    lambda: &[T],
    u: &[T],
    scale: f64,
) -> f64 {
    if scale == 0.0 {
        return lambda.iter().map(|x| x.value().abs()).fold(0.0, f64::max);
    }
    let mut worst = 0.0_f64;
    for i in 0..data.contacts {
        let p = natural_argument(data, delassus, lambda, u, i);
        let normal = p[0].max(0.0);
        let radius = data.mu[i].value() * normal;
        let size = length([p[1], p[2]]);
        let shrink = if size > radius { radius / size } else { 1.0 };
        let at = |r: usize| lambda[3 * i + r].value();
        let normal_error = (at(0) - normal).abs() * delassus.normal_scale(i);
        let tangential_error =
            length([at(1) - shrink * p[1], at(2) - shrink * p[2]]) * delassus.tangential_scale(i);
        let error = normal_error.max(tangential_error) / scale;
        // A NaN must not pass for a small residual.
        worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
    }
    worst
}

/// Least distance of any contact to another mode: velocity or impulse (as a velocity) relative to
/// the velocity scale, or the fraction of the friction disk that a sticking contact leaves unused.
pub(super) fn margin<T: Real>(
    data: &ContactData<T>,
    delassus: &Delassus<T>,
    modes: &[Mode],
    lambda: &[T],
    u: &[T],
) -> f64 {
    let scale = delassus.velocity_scale();
    let mut least = f64::INFINITY;
    for (i, mode) in modes.iter().enumerate() {
        let at = |x: &[T], r: usize| x[3 * i + r].value();
        let normal = at(lambda, 0) * delassus.normal_scale(i) / scale;
        let slack = match mode {
            Mode::Break => at(u, 0) / scale,
            Mode::Stick => {
                let radius = data.mu[i].value() * at(lambda, 0);
                normal.min(1.0 - length([at(lambda, 1), at(lambda, 2)]) / radius)
            }
            Mode::Slide => normal.min(length([at(u, 1), at(u, 2)]) / scale),
            Mode::Clamp if data.mu[i].value() == 0.0 => normal,
            Mode::Clamp => 0.0,
        };
        least = least.min(slack);
    }
    least.max(0.0)
}
