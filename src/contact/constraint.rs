//! The constraint that a contact poses in a step: the one place that says so.
//!
//! With phi the gap of a [contact point](crate::collision::ContactPoint) at the start of the step, n the
//! normal, u- = n.(velocity of the point) at the start, u_p the same of the free motion, e the
//! restitution and K Baumgarte's factor, the normal velocity u+ at the end obeys
//!
//! ```text
//! 0 <= lambda_n  perpendicular to  u+ - target + c lambda_n >= 0
//! ```
//!
//! 1. **Active** is every point within reach (see `collision`). No other threshold: a point
//!    that is not touched has lambda_n = 0.
//! 2. **Gap**: phi >= 0: target = -phi/dt. The point may come down to the plane and no further, so
//!    bodies land on it without penetrating, and resting contacts do not toggle.
//! 3. **Penetration**: phi < 0: target = K (-phi)/dt.
//! 4. **Restitution** applies if the free motion closes the gap within the step
//!    (phi + dt u_p <= 0), the approach speed a = -u- exceeds the threshold in the settings, and
//!    the rebound e a is faster than |g| dt, that is, outlasts the step. Then
//!    target = max(e a, what 2 or 3 say).
//!
//! The larger of the two, not the sum: a rebound is e times the approach whether or not the body
//! has sunk in (the sum rebounds 1.1 to 1.6 times too high). [LeLidec21] (3) and footnote 2 add
//! them. The approach is that of the start of the step, as there: a body at rest has none, however
//! long the step, so gravity alone never makes it hop.
//!
//! 5. **Friction acts at one height** for all points of a body over one half-space, that of the lowest:
//!    at the end of the step the points that touch are all in the plane. With the heights of
//!    the start, a box that comes to rest on four corners with a tilt of 1e-6 would ask for friction
//!    that only this tilt decides: ill-posed, and where solvers cycle (2 % of the contact steps of
//!    tumbling boxes). For a body that touches with one point there is no difference; otherwise it is of first
//!    order in the step.
//!
//! The compliance is c = compliance setting * n'(J M^-1 J')n of the point itself, so that it does not
//! depend on which other points are within reach.
//!
//! Restitution is Newton's, point by point: with several points down at once, those that recede are
//! held to the gap only, so with e near 1 an impact on more than one point can gain energy (a few
//! percent in the impact). With e = 0 and K = 0 no contact ever adds any.
//!
//! Rows of J act on [velocity of the centre of mass (world), angular velocity (body)]; the contact
//! frame is [n, t1, t2] with n out of the half-space.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::collision::ContactPoint;
use crate::dynamics::FreeBody;
use crate::linalg::{dot, norm, solve_lower};
use crate::model::{Model, Settings, System};
use crate::state::NV;

/// What decided the least normal velocity of a contact. A change of it is a kink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// The gap may close.
    #[default]
    Gap,
    /// A penetration is pushed out.
    Penetration,
    /// An impact rebounds.
    Restitution,
}

impl Target {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Target::Gap => "gap",
            Target::Penetration => "penetration",
            Target::Restitution => "restitution",
        }
    }
}

/// The contact frame of a unit normal: two tangents that complete it to a right-handed frame. For
/// z up they are x and y.
///
/// Which axis the first tangent follows is decided on the value of the normal. Where that changes, the
/// frame jumps: tangential impulses are given in other components, but friction has no direction of its
/// own, so velocities have no kink there.
pub fn contact_frame<T: Real>(normal: Vector3<T>) -> [Vector3<T>; 2] {
    let axis = if normal.x.value().abs() < 0.9 { Vector3::x() } else { Vector3::y() };
    let along = axis - normal * normal.dot(&axis);
    let first = along / norm(along.as_slice());
    [first, normal.cross(&first)]
}

/// The three rows of J at a point: how fast it moves along the normal and the tangents, along the
/// latter at the height of the body's lowest point.
pub(super) fn rows<T: Real>(
    model: &Model,
    free: &FreeBody<T>,
    point: &ContactPoint<T>,
    rows: &mut Vec<T>,
) {
    let normal = model.half_spaces[model.pairs[point.pair].half_space].normal;
    let [t1, t2] = contact_frame(normal);
    let to_body = free.rotation.transpose();
    let up = to_body * normal.map(T::constant);
    let level = point.arm - up * (point.gap - point.lowest);
    for (direction, arm) in [(normal, point.arm), (t1, level), (t2, level)] {
        let d = direction.map(T::constant);
        // d . (v + R (w x arm)) = d . v + w . (arm x R'd)
        let turning = arm.cross(&(to_body * d));
        rows.extend([d.x, d.y, d.z, turning.x, turning.y, turning.z]);
    }
}

/// The target of a contact with normal row `row`, and what decided it.
pub(super) fn target<T: Real>(
    system: &System<T>,
    free: &FreeBody<T>,
    restitution: T,
    point: &ContactPoint<T>,
    row: &[T],
) -> (T, Target) {
    let settings = system.settings;
    let dt = settings.time_step;
    let (position, kind) = if point.gap.value() >= 0.0 {
        (-point.gap / dt, Target::Gap)
    } else {
        (-point.gap * (settings.baumgarte / dt), Target::Penetration)
    };
    let approach = -dot(row, &free.velocity);
    let rebound = restitution * approach;
    let gravity = system.parameters.gravity().map(|x| x.value()).norm();
    let closes = point.gap.value() + dt * dot(row, &free.free_velocity).value() <= 0.0;
    let bounces = closes
        && approach.value() > settings.restitution_threshold
        && rebound.value() > gravity * dt
        && rebound.value() > position.value();
    if bounces { (rebound, Target::Restitution) } else { (position, kind) }
}

/// The compliance of a contact with normal row `row`, in 1/kg.
pub(super) fn compliance<T: Real>(settings: &Settings, free: &FreeBody<T>, row: &[T]) -> T {
    if settings.compliance == 0.0 {
        return T::zero();
    }
    let mut w: [T; NV] = std::array::from_fn(|k| row[k]);
    solve_lower(&free.mass_factor, NV, &mut w);
    dot(&w, &w) * settings.compliance
}
