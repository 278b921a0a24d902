//! What joints demand of a step: limits, dry friction, closed loops.
//!
//! | condition | row of J | law | target |
//! |---|---|---|---|
//! | lower limit, gap phi = q - lower | +1 | 0 <= lambda, one-sided | that of a contact with a gap of phi |
//! | upper limit, gap phi = upper - q | -1 | the same | the same |
//! | dry friction f | 1, each velocity of the joint | abs(lambda) <= f dt | 0 |
//! | closed loop, violation phi | how phi grows | equality | 0 |
//! | the same that yields, k phi + d phi' at the end | the same | equality, compliance 1/(dt (k dt + d)) | -k phi / (k dt + d) |
//! | limits of the length of a tendon | how it grows, +1 or -1 times | as of joints | as of joints |
//! | length of a tendon that is held | how it grows | equality | as of a limit that is touched |
//! | dry friction f of a tendon | how it grows | as of joints | 0 |
//!
//! Limits are contacts with restitution 0: the joint may come to the limit within
//! the step and no further. Loops are closed again after each step, by displacements that leave no
//! velocity ([`simulation`](crate::simulation)).

use nalgebra::{Matrix3, Vector3};

use super::body_orientation::orientation;
use super::constraint::{Target, closing, contact_frame};
use super::tendon_rows::tendon_row;
use crate::ad::Real;
use crate::argmin::Law;
use crate::dynamics::FreeMotion;
use crate::linalg::norm;
use crate::model::{Body, EqualityKind, Model, System, Tendon};
use crate::spatial::{conjugate, log, product, rotation_matrix};
use crate::state::State;

/// One condition on the velocities of one or two trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointConstraint<T> {
    /// Which it is: see [`joint_conditions`].
    pub id: usize,
    pub law: Law,
    pub trees: [Option<usize>; 2],
    /// Where its row starts.
    first: usize,
    columns: usize,
    /// Least velocity along the row.
    pub target: T,
    /// Largest impulse of dry friction, N s or N m s.
    pub limit: T,
    /// How much velocity along the row an impulse takes besides, 1/kg or 1/(kg m²).
    pub compliance: T,
    /// What decided that.
    pub decided_by: Target,
    /// The least change of a velocity that decides otherwise.
    pub kink: f64,
    /// How far a limit is, rad or m.
    pub gap: f64,
    /// Whether it may act in the step.
    pub near: bool,
}

/// All conditions of a step. Reused, it allocates nothing.
#[derive(Clone, Debug)]
pub(super) struct JointConstraints<T> {
    pub list: Vec<JointConstraint<T>>,
    rows: Vec<T>,
}

impl<T> Default for JointConstraints<T> {
    fn default() -> Self {
        JointConstraints { list: Vec::new(), rows: Vec::new() }
    }
}

/// The least of k dt + d of an equality that yields, N s/m or N m s.
const LEAST_PULL: f64 = 1e-15;

/// Rows of the equality that has the most.
const MOST_ROWS: usize = 6;

/// How many conditions the joints of a model can pose; ids are below: lower and upper limit of each
/// velocity, dry friction of each, six rows an equality, limits and friction of each tendon. None if there are only lone bodies.
pub fn joint_conditions(model: &Model) -> usize {
    let lone = model.trees.iter().all(|tree| tree.lone);
    match lone && model.equalities.is_empty() && model.tendons.is_empty() {
        true => 0,
        false => first_of_tendons(model) + TENDON_ROWS * model.tendons.len(),
    }
}

/// Where the ids of conditions of tendons begin.
fn first_of_tendons(model: &Model) -> usize {
    3 * model.nv() + MOST_ROWS * model.equalities.len()
}

/// Of a tendon.
const TENDON_ROWS: usize = 3;

/// What a condition on the length of a tendon is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TendonRow {
    /// Its least length, or the one that it is held at.
    Lower,
    /// Its largest length.
    Upper,
    /// Its dry friction.
    Friction,
}

/// The tendon that a condition is of, and what it is.
pub(crate) fn row_of_tendon(model: &Model, id: usize) -> Option<(usize, TendonRow)> {
    let row = id.checked_sub(first_of_tendons(model))?;
    let rows = [TendonRow::Lower, TendonRow::Upper, TendonRow::Friction];
    Some((row / TENDON_ROWS, rows[row % TENDON_ROWS]))
}

/// The trees that a tendon pulls, of those that conditions are on.
pub(crate) fn tendon_trees(model: &Model, tendon: usize) -> [Option<usize>; 2] {
    let bodies = model.tendons[tendon].path.bodies();
    let mut trees = [None; 2];
    for tree in bodies.filter_map(|body| model.bodies[body].tree) {
        if trees[0].is_none() || trees[0] == Some(tree) {
            trees[0] = Some(tree);
        } else {
            trees[1] = Some(tree);
        }
    }
    trees
}

/// What a condition is called: `upper limit of thigh`.
pub fn joint_condition_name(model: &Model, id: usize) -> String {
    let nv = model.nv();
    let of = |v: usize| {
        let mut bodies = model.bodies.iter();
        let moved = |Body { joint, .. }: &&Body| (joint.v..joint.v + joint.kind.nv()).contains(&v);
        bodies.find(moved).map_or("", |body| &body.name)
    };
    match id {
        id if id < 2 * nv && id % 2 == 0 => format!("lower limit of {}", of(id / 2)),
        id if id < 2 * nv => format!("upper limit of {}", of(id / 2)),
        id if id < 3 * nv => format!("dry friction of {}", of(id - 2 * nv)),
        id => match row_of_tendon(model, id) {
            None => format!("equality {}", model.equalities[(id - 3 * nv) / MOST_ROWS].name),
            Some((tendon, row)) => {
                let what = match row {
                    TendonRow::Lower if model.tendons[tendon].held => "length",
                    TendonRow::Lower => "least length",
                    TendonRow::Upper => "largest length",
                    TendonRow::Friction => "dry friction",
                };
                format!("{what} of {}", model.tendons[tendon].name)
            }
        },
    }
}

/// The tree that remembers the impulse of a condition.
pub fn joint_owner(model: &Model, id: usize) -> Option<usize> {
    let nv = model.nv();
    let of_velocity = |v: usize| model.trees.iter().position(|tree| tree.v.contains(&v));
    match id {
        id if id < 2 * nv => of_velocity(id / 2),
        id if id < 3 * nv => of_velocity(id - 2 * nv),
        id => {
            let [first, second] = match row_of_tendon(model, id) {
                None => equality_trees(model, (id - 3 * nv) / MOST_ROWS),
                Some((tendon, _)) => tendon_trees(model, tendon),
            };
            second.or(first)
        }
    }
}

/// The equality that a condition is of, and which of its rows; nothing of limits and dry friction.
pub(crate) fn equality_row(model: &Model, id: usize) -> Option<(usize, usize)> {
    let row = id.checked_sub(3 * model.nv())?;
    (id < first_of_tendons(model)).then_some((row / MOST_ROWS, row % MOST_ROWS))
}

/// The trees that an equality ties together; the second is nothing if both are one.
fn equality_trees(model: &Model, equality: usize) -> [Option<usize>; 2] {
    let tree = |body: Option<usize>| body.and_then(|body| model.bodies[body].tree);
    let [first, second] = model.equalities[equality].bodies.map(tree);
    [first, second.filter(|_| second != first)]
}

impl<T: Real> JointConstraint<T> {
    /// The way in which a limit or a dry friction acts on a velocity: 1 or -1; nothing if it is not of that.
    pub fn direction(&self, model: &Model, velocity: usize) -> Option<T> {
        let upper = self.id == 2 * velocity + 1;
        let lower = self.id == 2 * velocity;
        let friction = self.id == 2 * model.nv() + velocity;
        (upper || lower || friction).then(|| if upper { -T::one() } else { T::one() })
    }
}

impl<T: Real> JointConstraints<T> {
    pub fn clear(&mut self) {
        self.list.clear();
        self.rows.clear();
    }

    /// Copies those of another step.
    pub fn keep(&mut self, other: &JointConstraints<T>) {
        self.list.clone_from(&other.list);
        self.rows.clone_from(&other.rows);
    }

    /// Lists all that may act in a step from `state`.
    pub fn collect(&mut self, system: &System<T>, state: &State<T>, motion: &FreeMotion<T>) {
        self.clear();
        for (tree, entry) in system.model.trees.iter().enumerate() {
            if !entry.lone {
                for &body in &entry.bodies {
                    self.limits(system, state, motion, (tree, body));
                    self.friction(system, motion, (tree, body));
                }
            }
        }
        self.equalities(system, state, motion, 0.0);
        for tendon in 0..system.model.tendons.len() {
            self.tendon(system, state, motion, tendon);
        }
    }

    /// The closed loops alone, with targets that remove the share `factor` of their violations in the step.
    pub fn equalities(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        motion: &FreeMotion<T>,
        factor: f64,
    ) {
        for equality in 0..system.model.equalities.len() {
            self.equality(system, state, motion, equality, factor);
        }
        for tendon in 0..system.model.tendons.len() {
            if system.model.tendons[tendon].held {
                self.hold(system, (motion, state), tendon, factor);
            }
        }
    }

    /// The condition on the length of a tendon that is held.
    fn hold(
        &mut self,
        system: &System<T>,
        at: (&FreeMotion<T>, &State<T>),
        tendon: usize,
        factor: f64,
    ) {
        let System { model, parameters, .. } = *system;
        let trees = tendon_trees(model, tendon);
        let Some(dt) = least_duration(at.0, trees) else { return };
        let constraint = JointConstraint {
            id: first_of_tendons(model) + TENDON_ROWS * tendon + TendonRow::Lower as usize,
            law: Law::Equality,
            trees,
            first: 0,
            columns: 0,
            target: T::zero(),
            limit: T::zero(),
            compliance: T::zero(),
            decided_by: Target::Gap,
            kink: f64::INFINITY,
            gap: 0.0,
            near: true,
        };
        let row = self.add(model, constraint);
        let length = tendon_row(model, parameters, at, (tendon, trees), row);
        let violation = length - parameters.tendon_range(model, tendon)[0];
        if let Some(constraint) = self.list.last_mut() {
            constraint.target = -violation * factor / dt;
        }
    }

    /// The row of a condition: the velocities of its first tree, then of the second if it is another.
    pub fn row(&self, constraint: &JointConstraint<T>) -> &[T] {
        &self.rows[constraint.first..constraint.first + constraint.columns]
    }

    /// Makes limits near that the velocities at the end of the step take beyond themselves; calls `found` with
    /// the tree of each.
    pub fn admit_escapes(
        &mut self,
        model: &Model,
        motion: &FreeMotion<T>,
        velocities: &[T],
        mut found: impl FnMut(usize),
    ) {
        for constraint in self.list.iter_mut().filter(|constraint| !constraint.near) {
            let row = &self.rows[constraint.first..constraint.first + constraint.columns];
            let trees = || super::relative_velocity::distinct(constraint.trees);
            let moved = trees().flat_map(|tree| &velocities[model.trees[tree].v.clone()]);
            let speed: f64 = row.iter().zip(moved).map(|(a, b)| a.value() * b.value()).sum();
            let durations = trees().map(|tree| motion.duration(tree).value());
            let dt = durations.fold(f64::INFINITY, f64::min);
            if constraint.gap + dt * speed < 0.0 {
                constraint.near = true;
                trees().for_each(&mut found);
            }
        }
    }

    /// Adds a condition with a row of zeros, and returns the row.
    fn add(&mut self, model: &Model, constraint: JointConstraint<T>) -> &mut [T] {
        let size = |tree: usize| model.trees[tree].v.len();
        let columns = super::relative_velocity::distinct(constraint.trees).map(size).sum();
        let first = self.rows.len();
        self.rows.resize(first + columns, T::zero());
        self.list.push(JointConstraint { first, columns, ..constraint });
        &mut self.rows[first..]
    }

    fn limits(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        motion: &FreeMotion<T>,
        (tree, body): (usize, usize),
    ) {
        let System { model, parameters, settings } = *system;
        let joint = &model.bodies[body].joint;
        if !joint.limited {
            return;
        }
        let part = motion.tree(tree);
        let place = joint.v - model.trees[tree].v.start;
        let dt = part.duration;
        let speed = part.velocity[place].value().abs().max(part.free_velocity[place].value().abs());
        let q = state.q[joint.q];
        let gaps = [q - parameters.lower(model, body), parameters.upper(model, body) - q];
        for (upper, gap) in gaps.into_iter().enumerate() {
            let closing = closing(settings, gap.value(), dt.value());
            let constraint = JointConstraint {
                id: 2 * joint.v + upper,
                law: Law::NonNegative,
                trees: [Some(tree), None],
                first: 0,
                columns: 0,
                target: -gap * closing.share / dt + T::constant(closing.speed),
                limit: T::zero(),
                compliance: T::zero(),
                decided_by: closing.decided_by,
                kink: closing.kink,
                gap: gap.value(),
                near: gap.value() <= 2.0 * dt.value() * speed || settings.smoothing > 0.0,
            };
            let row = self.add(model, constraint);
            row[place] = if upper == 1 { -T::one() } else { T::one() };
        }
    }

    fn friction(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        (tree, body): (usize, usize),
    ) {
        let System { model, parameters, .. } = *system;
        let joint = &model.bodies[body].joint;
        let friction = parameters.joint_friction(model, body);
        // A friction of 0 poses no condition, and has no derivative.
        if friction.value() <= 0.0 {
            return;
        }
        for k in 0..joint.kind.nv() {
            let constraint = JointConstraint {
                id: 2 * model.nv() + joint.v + k,
                law: Law::Interval,
                trees: [Some(tree), None],
                first: 0,
                columns: 0,
                target: T::zero(),
                limit: friction * motion.duration(tree),
                compliance: T::zero(),
                decided_by: Target::Gap,
                kink: f64::INFINITY,
                gap: 0.0,
                near: true,
            };
            let place = joint.v + k - model.trees[tree].v.start;
            self.add(model, constraint)[place] = T::one();
        }
    }

    /// Limits and dry friction of a tendon.
    fn tendon(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        motion: &FreeMotion<T>,
        tendon: usize,
    ) {
        let System { model, parameters, settings } = *system;
        let Tendon { limited, held, has_conditions, .. } = model.tendons[tendon];
        if !has_conditions {
            return;
        }
        let friction = parameters.tendon_friction(model, tendon);
        let trees = tendon_trees(model, tendon);
        let Some(dt) = least_duration(motion, trees) else { return };
        let at = (motion, state);
        let condition = |row: TendonRow| JointConstraint {
            id: first_of_tendons(model) + TENDON_ROWS * tendon + row as usize,
            law: Law::Interval,
            trees,
            first: 0,
            columns: 0,
            target: T::zero(),
            limit: friction * dt,
            compliance: T::zero(),
            decided_by: Target::Gap,
            kink: f64::INFINITY,
            gap: 0.0,
            near: true,
        };
        if limited && !held {
            let [lower, upper] = parameters.tendon_range(model, tendon);
            for (which, sign) in [(TendonRow::Lower, 1.0), (TendonRow::Upper, -1.0)] {
                let row = self.add(model, condition(which));
                let length = tendon_row(model, parameters, at, (tendon, trees), row);
                row.iter_mut().for_each(|x| *x *= T::constant(sign));
                let mut speeds = [0.0; 2];
                let mut rest = &row[..];
                for tree in super::relative_velocity::distinct(trees) {
                    let part = motion.tree(tree);
                    let (own, others) = rest.split_at(part.velocity.len());
                    rest = others;
                    for (speed, velocity) in
                        speeds.iter_mut().zip([part.velocity, part.free_velocity])
                    {
                        let both = own.iter().zip(velocity);
                        *speed += both.map(|(a, b)| a.value() * b.value()).sum::<f64>();
                    }
                }
                let gap = if sign > 0.0 { length - lower } else { upper - length };
                let closing = closing(settings, gap.value(), dt.value());
                let reach = 2.0 * dt.value() * speeds[0].abs().max(speeds[1].abs());
                let Some(constraint) = self.list.last_mut() else { continue };
                constraint.limit = T::zero();
                constraint.gap = gap.value();
                constraint.target = -gap * closing.share / dt + T::constant(closing.speed);
                (constraint.decided_by, constraint.kink) = (closing.decided_by, closing.kink);
                constraint.law = Law::NonNegative;
                constraint.near = gap.value() <= reach || settings.smoothing > 0.0;
            }
        }
        if friction.value() > 0.0 {
            let row = self.add(model, condition(TendonRow::Friction));
            tendon_row(model, parameters, at, (tendon, trees), row);
        }
    }

    fn equality(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        motion: &FreeMotion<T>,
        index: usize,
        factor: f64,
    ) {
        let System { model, parameters, .. } = *system;
        let equality = &model.equalities[index];
        let side = |k: usize| equality.bodies[k].filter(|&b| model.bodies[b].tree.is_some());
        let moving = [side(0), side(1)];
        let trees = equality_trees(model, index);
        let Some(dt) = least_duration(motion, trees) else { return };
        let size = |tree: Option<usize>| tree.map_or(0, |tree| model.trees[tree].v.len());
        let second = if trees[1].is_some() { size(trees[0]) } else { 0 };
        if equality.yields && factor != 0.0 {
            return;
        }
        // k phi + d phi' at the end; of nothing that pulls hardly anything.
        let yielding = equality.yields.then(|| {
            let [stiffness, damping] = parameters.hold(model, index);
            let sum = stiffness * dt + damping;
            let sum = if sum.value() > LEAST_PULL { sum } else { T::constant(LEAST_PULL) };
            (stiffness / sum, T::one() / (dt * sum))
        });
        let mut add = |row: usize, violation: T, fill: &dyn Fn(&mut [T])| {
            let constraint = JointConstraint {
                id: 3 * model.nv() + MOST_ROWS * index + row,
                law: Law::Equality,
                trees,
                first: 0,
                columns: 0,
                target: match yielding {
                    Some((share, _)) => -violation * share,
                    None => -violation * factor / dt,
                },
                limit: T::zero(),
                compliance: yielding.map_or(T::zero(), |(_, compliance)| compliance),
                decided_by: if equality.yields { Target::Yielding } else { Target::Gap },
                kink: f64::INFINITY,
                gap: 0.0,
                near: true,
            };
            fill(self.add(model, constraint));
        };
        if equality.kind == EqualityKind::Joint {
            let [Some(a), Some(b)] = equality.bodies else { return };
            let ratio = parameters.ratio(model, index);
            let q = |body: usize| state.q[model.bodies[body].joint.q];
            let violation = q(a) - parameters.offset(model, index) - ratio * q(b);
            add(0, violation, &|row| {
                for (body, from, entry) in [(a, 0, T::one()), (b, second, -ratio)] {
                    let Some(tree) = model.bodies[body].tree else { continue };
                    row[from + model.bodies[body].joint.v - model.trees[tree].v.start] += entry;
                }
            });
            return;
        }
        let anchors = parameters.anchors(model, index);
        let points = [0, 1].map(|k| match equality.bodies[k] {
            Some(body) => motion.bodies[body].position + motion.bodies[body].rotation * anchors[k],
            None => anchors[k],
        });
        let arm = |k: usize, body: usize| anchors[k] - motion.bodies[body].center_of_mass;
        let apart = points[1] - points[0];
        let fill = |direction: Vector3<T>| {
            move |row: &mut [T]| {
                for (k, from, sign) in [(0, 0, -1.0), (1, second, 1.0)] {
                    if let Some(body) = moving[k] {
                        motion.add_row(body, arm(k, body), direction, sign, &mut row[from..]);
                    }
                }
            }
        };
        if equality.kind == EqualityKind::Distance {
            let distance = norm(apart.as_slice());
            let violation = distance - parameters.offset(model, index);
            // Two points at one place have no direction between them.
            let coincide = distance.value() == 0.0;
            add(0, violation, &fill(if coincide { axis(2) } else { apart / distance }));
            return;
        }
        for k in 0..3 {
            add(k, apart[k], &fill(axis(k)));
        }
        if equality.kind == EqualityKind::Hinge {
            // The axis of the first, and what should be that of the second.
            let rotation = |k: usize| match equality.bodies[k] {
                Some(body) => motion.bodies[body].rotation,
                None => Matrix3::identity(),
            };
            let axis = Vector3::from(equality.axis.map(T::constant));
            let turned = rotation_matrix(equality.orientation.map(T::constant)).transpose();
            let frame = contact_frame(axis).map(|across| rotation(0) * across);
            let apart = (rotation(0) * axis).cross(&(rotation(1) * (turned * axis)));
            for (k, across) in frame.into_iter().enumerate() {
                add(3 + k, across.dot(&apart), &|row| {
                    for (side, from, sign) in [(0, 0, -1.0), (1, second, 1.0)] {
                        if let Some(body) = moving[side] {
                            motion.add_turn(body, across, sign, &mut row[from..]);
                        }
                    }
                });
            }
        }
        if equality.kind == EqualityKind::Weld {
            // How the second is turned from where it should be, in the world.
            let turn = |k: usize| match equality.bodies[k] {
                Some(body) => orientation(model, state, body),
                None => [T::one(), T::zero(), T::zero(), T::zero()],
            };
            let wanted = product(turn(0), equality.orientation.map(T::constant));
            let turned = log(product(turn(1), conjugate(wanted)));
            for k in 0..3 {
                add(3 + k, turned[k], &|row| {
                    for (side, from, sign) in [(0, 0, -1.0), (1, second, 1.0)] {
                        if let Some(body) = moving[side] {
                            motion.add_turn(body, axis(k), sign, &mut row[from..]);
                        }
                    }
                });
            }
        }
    }
}

/// The least of the durations that trees have left of a step.
fn least_duration<T: Real>(motion: &FreeMotion<T>, trees: [Option<usize>; 2]) -> Option<T> {
    let durations = super::relative_velocity::distinct(trees).map(|tree| motion.duration(tree));
    durations.reduce(|a, b| if a.value() < b.value() { a } else { b })
}

fn axis<T: Real>(k: usize) -> Vector3<T> {
    let mut axis = Vector3::zeros();
    axis[k] = T::one();
    axis
}
