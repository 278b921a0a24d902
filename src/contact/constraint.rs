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
//! 2. **Gap**: phi >= -w dt: target = -phi/dt. The point may come down to the plane and no further, so
//!    bodies land on it without penetrating, and resting contacts do not toggle. What rests is at phi = 0 up to
//!    rounding and compliance: up to a speed of w what is too deep by that comes up in a step as well, so that
//!    the target has one slope there, and with it (A, B).
//! 3. **Penetration**: -phi > w dt: target = max(w, K (-phi)/dt) [Baumgarte72]. With K = 0 nothing is ever
//!    pushed out, and w = 0.
//!    Where an impulse with its friction moves the point along the normal by less than a hundredth of what it moves
//!    across, and of what it would move of the whole tree, the target is 0: a chain that hangs straight down into the
//!    floor would be pushed out by turning its joints at any speed, with energy from nowhere. It is pushed out as soon
//!    as it is out of that position. This is a kink, too. What floats is never in such a position, but to itself.
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
//!    With Poisson's law of restitution such impacts come [before the step](super::poisson), and the target is the velocity after
//!    them in the place of e a.
//!
//! 5. **Friction acts at one height** for all points of a pair, that of the lowest (between two bodies,
//!    halfway between both surfaces there, so that they exert the same torque):
//!    at the end of the step the points that touch are all in the plane. With the heights of
//!    the start, a box that comes to rest on four corners with a tilt of 1e-6 would ask for friction
//!    that only this tilt decides: ill-posed, and where solvers cycle (2 % of the contact steps of
//!    tumbling boxes). For a body that touches with one point there is no difference; otherwise it is of first
//!    order in the step.
//!
//! 6. **Friction in two regimes**, where a pair has them: the static coefficient if the points move by no
//!    more than `static_speed` of the settings along the tangents at the start of the step, the kinetic
//!    one otherwise. The choice is made on values; the switch is a kink and recorded as one.
//!
//!    With a [Stribeck speed](SurfaceTerm::StribeckSpeed) there is no switch: the slip at the start of the step says how much of the
//!    friction at rest is left.
//!
//! 7. **A grain** ([`Grain`](crate::model::Grain)) turns the tangents along and across it, and the second row of J is
//!    scaled by mu_across / mu: friction in an ellipse that resists motion the most is friction in a disk of what is scaled.
//!
//! The compliance is c = compliance setting * n'(J M^-1 J')n of the point itself, so that it does not
//! depend on which other points are within reach. A pair that yields ([`kelvin_voigt`](super::kelvin_voigt)) has more, and its own target.
//!
//! Newton's restitution is point by point: with several points down at once, those that recede are
//! held to the gap only, so with e near 1 an impact on more than one point can gain energy (a few
//! percent in the impact). With e = 0 and K = 0 no contact ever adds any.
//!
//! Rows of J act on the velocities of each tree (of a lone body [velocity of the centre of mass (world),
//! angular velocity (body)]); the contact frame is [n, t1, t2] with n out of the first solid of the pair.

use nalgebra::Vector3;

use super::kelvin_voigt::KelvinVoigt;
use super::rebound::rebound_speed;
use super::relative_velocity::{along, distinct, duration};
use crate::ad::Real;
use crate::collision::ContactPoint;
use crate::dynamics::FreeMotion;
use crate::linalg::{dot, norm, solve_lower};
use crate::model::{Grain, JointKind, Settings, Solid, SurfaceTerm, System};

/// What decided the least normal velocity of a contact. A change of it is a kink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// The gap may close; what rests is kept at it.
    #[default]
    Gap,
    /// A shallow penetration is pushed out slowly.
    Shallow,
    /// A share of a penetration is pushed out.
    Penetration,
    /// An impact rebounds.
    Restitution,
    /// A penetration is left as it is, as hardly anything moves along the normal: see above.
    Singular,
    /// What is pressed in goes back as a spring and a damper have it.
    Yielding,
    /// An impact stops, and rebounds by what that took.
    Compression,
}

/// A penetration that is undone within a step at this speed or a lower one is that of what rests, m/s (of joints that
/// turn rad/s).
const REST_SPEED: f64 = 1e-3;

/// How a gap is closed, or a penetration, within a step: the least velocity is -gap `share` / dt + `speed`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Closing {
    pub share: f64,
    pub speed: f64,
    pub decided_by: Target,
    /// The distance of the gap to where this changes, as a velocity.
    pub kink: f64,
}

/// Of a gap (a penetration is negative) with `dt` left of the step.
pub(crate) fn closing(settings: &Settings, gap: f64, dt: f64) -> Closing {
    let share = settings.baumgarte;
    let rest = if share > 0.0 { REST_SPEED } else { 0.0 };
    let speed = -gap / dt;
    let least = (speed - rest).abs();
    let kink = if share > 0.0 { least.min((speed - rest / share).abs()) } else { least };
    let (share, speed, decided_by) = match () {
        () if speed <= rest => (1.0, 0.0, Target::Gap),
        () if share * speed < rest => (0.0, rest, Target::Shallow),
        () => (share, 0.0, Target::Penetration),
    };
    Closing { share, speed, decided_by, kink }
}

/// The share of a gap that is closed within a step, by what was decided.
pub(crate) fn closing_share(settings: &Settings, gap: f64, dt: f64, decided_by: Target) -> f64 {
    match decided_by {
        Target::Singular | Target::Yielding => 0.0,
        _ => closing(settings, gap, dt).share,
    }
}

impl Target {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Target::Gap => "gap",
            Target::Shallow => "shallow",
            Target::Penetration => "penetration",
            Target::Restitution => "restitution",
            Target::Singular => "singular",
            Target::Yielding => "yielding",
            Target::Compression => "compression",
        }
    }

    /// Whether it is an impact that rebounds.
    pub fn rebounds(self) -> bool {
        matches!(self, Target::Restitution | Target::Compression)
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

/// The adjoint of the normal from those of the tangents of [`contact_frame`].
pub(crate) fn contact_frame_vjp(
    normal: Vector3<f64>,
    tangents: [Vector3<f64>; 2],
    adjoints: [Vector3<f64>; 2],
) -> Vector3<f64> {
    let axis = if normal.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
    let [first, second] = adjoints;
    // t2 = n x t1, t1 = a / |a|, a = e - n (n . e)
    let first = first + second.cross(&normal);
    let height = normal.dot(&axis);
    let along = (axis - normal * height).norm();
    let first = (first - tangents[0] * tangents[0].dot(&first)) / along;
    tangents[0].cross(&second) - first * height - axis * normal.dot(&first)
}

/// Which coefficient of friction a contact has. A change of it is a kink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Regime {
    /// That of contacts that slip, and of all where there is one regime.
    #[default]
    Kinetic,
    /// That of contacts at rest.
    Static,
}

impl Regime {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Regime::Kinetic => "kinetic",
            Regime::Static => "static",
        }
    }
}

/// What was decided about a contact before its problem was solved.
pub type Decisions = (Target, Regime);

/// The frame last asked for: most points of a pair have the same normal.
pub(super) struct Frames<T> {
    last: Option<(usize, Vector3<f64>, [Vector3<T>; 2])>,
}

impl<T> Default for Frames<T> {
    fn default() -> Self {
        Frames { last: None }
    }
}

impl<T: Real> Frames<T> {
    /// The tangents of a point, of which the second is scaled where the pair has a grain.
    fn tangents(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        point: &ContactPoint<T>,
    ) -> [Vector3<T>; 2] {
        let normal = point.normal.map(|x| x.value());
        match self.last {
            Some((pair, last, tangents)) if pair == point.pair && last == normal => tangents,
            _ => {
                let tangents = grain_frame(system, motion, point).map_or_else(
                    || contact_frame(point.normal),
                    |([t1, t2], scale)| [t1, t2 * scale],
                );
                self.last = Some((point.pair, normal, tangents));
                tangents
            }
        }
    }
}

/// The tangents along and across the grain of a pair, and by how much the second is scaled; nothing where there is none, or
/// it is along the normal, where friction has no direction of its own.
pub(super) fn grain_frame<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
) -> Option<([Vector3<T>; 2], T)> {
    let model = system.model;
    let &Grain { side, axis } = model.grain(point.pair)?;
    let (first, second) = model.solids(point.pair);
    let body = match (side, first) {
        (0, Solid::HalfSpace(_)) => None,
        (0, Solid::Collider(first)) => model.colliders[first].body,
        _ => model.colliders[second].body,
    };
    let axis = axis.map(T::constant);
    let axis = body.map_or(axis, |body| motion.bodies[body].rotation * axis);
    let normal = point.normal;
    let along = axis - normal * normal.dot(&axis);
    if along.map(|x| x.value()).norm() < LEAST_GRAIN {
        return None;
    }
    let first = along / norm(along.as_slice());
    Some(([first, normal.cross(&first)], across(system, point.pair)?))
}

/// The friction across the grain of a pair over that along it, if it has one.
fn across<T: Real>(system: &System<T>, pair: usize) -> Option<T> {
    let System { model, parameters, .. } = *system;
    let across = parameters.surface_term(model, pair, SurfaceTerm::MuAcross)?;
    let mu = parameters.mu(model, pair);
    (mu.value() > 0.0).then(|| across / mu)
}

/// The part of a grain that lies in the plane of the contact is a direction from here on.
const LEAST_GRAIN: f64 = 1e-6;

/// How far the height of friction is from each side's own point, along the normal, m: see above.
pub(crate) fn friction_heights<T: Real>(point: &ContactPoint<T>) -> [T; 2] {
    match point.bodies {
        [None, _] => [T::zero(), point.lowest - point.gap],
        [_, None] => [point.gap - point.lowest, T::zero()],
        _ => [point.lowest * 0.5, point.lowest * 0.5 - point.gap],
    }
}

/// Pushes the three rows of J at a point: how fast its second side moves against the first, along the
/// normal and the tangents. Along the latter at one height for all points of the pair, see above. Each row
/// has the velocities of the first side's tree, then those of the second's if that is another.
pub(super) fn rows<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    frames: &mut Frames<T>,
    rows: &mut Vec<T>,
) {
    let [t1, t2] = frames.tangents(system, motion, point);
    let heights = friction_heights(point);
    let [first, second] = point.trees(motion);
    let size = |tree: Option<usize>| tree.map_or(0, |tree| motion.tree(tree).velocity.len());
    let before = if first == second { 0 } else { size(first) };
    let columns = before + size(second.or(first.filter(|_| before == 0)));
    for (direction, level) in [(point.normal, false), (t1, true), (t2, true)] {
        let start = rows.len();
        rows.resize(start + columns, T::zero());
        for (side, from, sign) in [(0, 0, -1.0), (1, before, 1.0)] {
            let Some(body) = point.bodies[side] else { continue };
            let mut arm = point.arms[side];
            if level {
                let normal = motion.bodies[body].rotation.transpose() * point.normal;
                arm += normal * heights[side];
            }
            motion.add_row(body, arm, direction, sign, &mut rows[start + from..]);
        }
    }
}

/// The least part of the reference in [`ease`] that is pushed.
const LEAST_EASE: f64 = 1e-2;

/// How easily a point is pushed along the normal, relative to the least that is done: with an impulse p along the
/// normal and what friction adds to it, the square of the normal velocity that p gives over p'G p, as a part of what
/// the tangential impulses move, and of what p would move of the heavier tree as a whole. Infinite where nothing can be
/// in its way, or nothing moves. On values.
fn ease<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    rows: [&[T]; 3],
    scratch: &mut [Vec<f64>; 3],
    mu: f64,
) -> f64 {
    let System { model, parameters, .. } = *system;
    // What floats can move as a whole.
    let floats = |tree: usize| {
        let top = model.trees[tree].bodies.first();
        top.is_none_or(|&top| model.bodies[top].joint.kind == JointKind::Free)
    };
    let [one, other] = point.trees(motion);
    if one != other && distinct([one, other]).all(floats) {
        return f64::INFINITY;
    }
    let mass = |tree: usize| {
        let bodies = model.trees[tree].bodies.iter();
        bodies.map(|&body| parameters.mass(model, body).value()).sum::<f64>()
    };
    let heaviest = distinct(point.trees(motion)).map(mass).fold(0.0, f64::max);
    for (row, solved) in rows.into_iter().zip(scratch.iter_mut()) {
        solve_values(motion, point, row, solved);
    }
    let g = |a: usize, b: usize| dot(&scratch[a], &scratch[b]);
    let (normal, coupling) = (g(0, 0), [g(0, 1), g(0, 2)]);
    let [first, second, between] = [g(1, 1), g(2, 2), g(1, 2)];
    if normal == 0.0 {
        return f64::INFINITY;
    }
    // Friction that keeps the point from slipping, or as much as there is.
    let determinant = first * second - between * between;
    let mut friction = if determinant > SINGULAR * first * second {
        let [a, b] = coupling;
        [(between * b - second * a) / determinant, (between * a - first * b) / determinant]
    } else {
        coupling.map(|c| -c / (first + second).max(f64::MIN_POSITIVE))
    };
    let size = norm(&friction);
    if size > mu {
        friction = friction.map(|x| x * mu / size);
    }
    let [a, b] = friction;
    let pushed = normal + coupling[0] * a + coupling[1] * b;
    let energy = 2.0 * pushed - normal + first * a * a + second * b * b + 2.0 * between * a * b;
    if pushed <= 0.0 || energy <= 0.0 {
        return 0.0;
    }
    let reference = heaviest.recip().min(first.max(second));
    pushed * pushed / energy / (LEAST_EASE * reference)
}

/// Determinants of two rows below this part of the largest are those of one.
const SINGULAR: f64 = 1e-12;

/// L^-1 of a row, on values.
fn solve_values<T: Real>(
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    row: &[T],
    solved: &mut Vec<f64>,
) {
    solved.clear();
    solved.extend(row.iter().map(|x| x.value()));
    let mut rest = &mut solved[..];
    for tree in distinct(point.trees(motion)) {
        let tree = motion.tree(tree);
        let (own, others) = rest.split_at_mut(tree.velocity.len());
        for i in 0..own.len() {
            let l = &tree.mass_factor[i * own.len()..][..=i];
            let known: f64 = l[..i].iter().zip(&own[..i]).map(|(l, x)| l.value() * x).sum();
            own[i] = (own[i] - known) / l[i].value();
        }
        rest = others;
    }
}

/// The target of a contact with rows `rows` (normal, tangents), whose friction is the `field` times that of its pair, what decided it, and the least change of a velocity
/// that decides otherwise.
pub(super) fn target<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    rows: [&[T]; 3],
    scratch: &mut [Vec<f64>; 3],
    field: Option<T>,
) -> (T, Target, f64) {
    let settings = system.settings;
    let row = rows[0];
    let dt = duration(motion, point);
    let mut closing = closing(settings, point.gap.value(), dt.value());
    let mut position = -point.gap * closing.share / dt + T::constant(closing.speed);
    let law = KelvinVoigt::new(system, point.pair).filter(KelvinVoigt::yields);
    if let Some(law) = law.filter(|_| point.gap.value() < 0.0) {
        position = law.target(point.gap, dt);
        (closing.decided_by, closing.kink) = (Target::Yielding, position.value().abs());
    } else if position.value() > 0.0 {
        let kinetic = system.parameters.mu(system.model, point.pair).value();
        let mu = field.map_or(kinetic, |factor| kinetic * factor.value());
        let ease = ease(system, motion, point, rows, scratch, mu);
        closing.kink = closing.kink.min(position.value() * (ease - 1.0).abs());
        if ease < 1.0 {
            (position, closing.decided_by) = (T::zero(), Target::Singular);
        }
    }
    let approach = -along(motion, point, row, |tree| tree.velocity);
    let rebound = rebound_speed(system, point.pair, approach);
    let gravity = system.parameters.gravity().map(|x| x.value()).norm();
    let free_speed = along(motion, point, row, |tree| tree.free_velocity).value();
    let closes = point.gap.value() + dt.value() * free_speed <= 0.0;
    let bounces = closes
        && approach.value() > settings.restitution_threshold
        && rebound.value() > gravity * dt.value()
        && rebound.value() > position.value();
    let excess = [
        -(point.gap.value() / dt.value() + free_speed),
        approach.value() - settings.restitution_threshold,
        rebound.value() - gravity * dt.value(),
        rebound.value() - position.value(),
    ];
    let kink = excess.into_iter().fold(f64::INFINITY, f64::min).abs();
    if bounces {
        match settings.rebounds_by_impulse() {
            true => (position, Target::Compression, kink),
            false => (rebound, Target::Restitution, kink),
        }
    } else {
        let kink = if rebound.value() > 0.0 { kink } else { f64::INFINITY };
        (position, closing.decided_by, closing.kink.min(kink))
    }
}

/// The target of a contact with normal row `row` in an impact that takes no time, and what decided it.
pub(super) fn rebound<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    row: &[T],
) -> (T, Target, f64) {
    let approach = -along(motion, point, row, |tree| tree.velocity);
    let rebound = rebound_speed(system, point.pair, approach);
    let gravity = system.parameters.gravity().map(|x| x.value()).norm();
    let bounces = approach.value() > system.settings.restitution_threshold
        && rebound.value() > gravity * system.settings.time_step;
    match bounces {
        true if system.settings.rebounds_by_impulse() => {
            (T::zero(), Target::Compression, f64::INFINITY)
        }
        true => (rebound, Target::Restitution, f64::INFINITY),
        false => (T::zero(), Target::Gap, f64::INFINITY),
    }
}

/// The coefficient of friction of a contact with tangential rows `rows`, which it is, and the least change of the slip
/// that decides otherwise.
pub(super) fn friction<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    rows: [&[T]; 2],
    field: Option<T>,
) -> (T, Regime, f64) {
    let System { model, parameters, settings } = system;
    let scaled = |mu: T| field.map_or(mu, |factor| mu * factor);
    let mut kink = f64::INFINITY;
    let slip = || {
        let [first, second] = rows.map(|row| along(motion, point, row, |tree| tree.velocity));
        // Where there is a grain, the second row is scaled.
        let frame = grain_frame(system, motion, point);
        [first, frame.map_or(second, |(_, scale)| second / scale)]
    };
    if let Some(speed) = parameters.surface_term(model, point.pair, SurfaceTerm::StribeckSpeed) {
        let [first, second] = slip();
        let share = (-(first * first + second * second) / (speed * speed)).exp();
        let [rest, kinetic] =
            [parameters.mu_static(model, point.pair), parameters.mu(model, point.pair)];
        return (scaled(kinetic + (rest - kinetic) * share), Regime::Kinetic, kink);
    }
    if model.two_regimes(point.pair) {
        let slip = norm(&slip().map(|along| along.value()));
        kink = (slip - settings.static_speed).abs();
        if slip <= settings.static_speed {
            return (scaled(parameters.mu_static(model, point.pair)), Regime::Static, kink);
        }
    }
    (scaled(parameters.mu(model, point.pair)), Regime::Kinetic, kink)
}

/// The compliance of a contact with normal row `row`, in 1/kg; `solved` is scratch. M is that at the start of the step, also of implicit
/// ones.
pub(super) fn compliance<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
    row: &[T],
    solved: &mut Vec<T>,
) -> T {
    let law = KelvinVoigt::new(system, point.pair);
    let own = law.map_or(T::zero(), |law| law.compliance(duration(motion, point)));
    if system.settings.compliance == 0.0 {
        return own;
    }
    solved.clear();
    solved.extend_from_slice(row);
    let mut rest = &mut solved[..];
    for tree in distinct(point.trees(motion)) {
        let tree = motion.tree(tree);
        let (own, others) = rest.split_at_mut(tree.velocity.len());
        solve_lower(tree.start_factor, own.len(), own);
        rest = others;
    }
    let compliance = system.parameters.relative_compliance(system.model);
    dot(solved, solved) * (compliance * system.settings.compliance) + own
}

/// How much of an impulse friction by penalty has for each unit of slip, kg; not a number where the pair does not yield.
pub(super) fn creep<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    point: &ContactPoint<T>,
) -> T {
    let law = KelvinVoigt::new(system, point.pair);
    law.map_or(T::constant(f64::NAN), |law| law.creep(duration(motion, point)))
}
