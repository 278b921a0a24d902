//! The list of all points where bodies may touch.

use nalgebra::{Matrix3, Vector3};

use super::approach::{approach, approach_of, radius, way, way_at_speed, way_of};
use super::contact_point::ContactPoint;
use super::pair_detection::{PairDetection, pose};
use super::{Bounds, Pose, SweepAndPrune, WarmStart};
use crate::ad::Real;
use crate::dynamics::{BodySpeed, FreeMotion};
use crate::model::{Collider, Plane, Solid, System};

/// Finds all points of all bodies that may touch something. Holds memory for reuse, and where each search began last time,
/// which is where the next one begins: see [`WarmStart`].
#[derive(Clone, Debug)]
pub struct Detection<T> {
    sweep: SweepAndPrune,
    bounds: Vec<Bounds>,
    candidates: Vec<(usize, usize)>,
    pair: PairDetection<T>,
    /// Of the colliders that were near in the last step, in the order of the candidates.
    warm: Vec<((usize, usize), WarmStart)>,
    /// Those of the step before.
    earlier: Vec<((usize, usize), WarmStart)>,
    /// Colliders that were left out of the last step, since they are apart by more than they approach without contact, and by how much
    /// at least, m; in the order of the candidates.
    apart: Vec<((usize, usize), f64)>,
    /// Those of them that were looked at after all.
    reached: Vec<(usize, usize)>,
    /// The points of one of them.
    added: Vec<ContactPoint<T>>,
    furthest: f64,
    smoothing: f64,
    poses: Vec<Pose<T>>,
    planes: Vec<Plane<T>>,
    /// How far colliders go at most, m: without contact, or at velocities that were found since.
    ways: Vec<f64>,
    /// Colliders of a few bodies, ascending.
    few: Vec<usize>,
}

impl<T> Default for Detection<T> {
    fn default() -> Self {
        Detection {
            sweep: SweepAndPrune::default(),
            bounds: Vec::new(),
            candidates: Vec::new(),
            pair: PairDetection::default(),
            warm: Vec::new(),
            earlier: Vec::new(),
            apart: Vec::new(),
            reached: Vec::new(),
            added: Vec::new(),
            furthest: 0.0,
            smoothing: 0.0,
            poses: Vec::new(),
            planes: Vec::new(),
            ways: Vec::new(),
            few: Vec::new(),
        }
    }
}

/// Points of a body whose distance from a half-space exceeds this many times the way they can make are
/// not even looked at. What an impact throws goes no faster than a few times what it met.
const FAR: f64 = 10.0;

/// The distance, m, at which a smoothed contact pushes the lightest body with a hundredth of its weight.
fn smoothing_reach<T: Real>(system: &System<T>) -> f64 {
    let System { model, parameters, settings } = system;
    if settings.smoothing == 0.0 {
        return 0.0;
    }
    let moving = (0..model.bodies.len()).filter(|&body| model.gives_way(Some(body)));
    let masses = moving.map(|body| parameters.mass(model, body).value()).filter(|&mass| mass > 0.0);
    let gravity = parameters.gravity().map(|x| x.value()).norm().max(1.0);
    (100.0 * settings.smoothing / (masses.fold(f64::INFINITY, f64::min) * gravity)).min(1.0)
}

impl<T: Real> Detection<T> {
    /// Lists the points of all bodies that may touch, pair by pair.
    ///
    /// [Near](ContactPoint::near) is a gap of less than twice the way that the bodies make in the step
    /// without contact, or by which they approach if they are links of one tree. An impact can throw others further
    /// than that: whoever solves the contacts checks the rest with [`ContactPoint::escapes`]. Points that are not touched in the end
    /// have no impulse, so the choice changes cost and nothing else.
    pub fn points(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        self.list(system, motion, false, points);
    }

    /// Lists the same, but leaves out polyhedra that have no [near](ContactPoint::near) points. Whoever solves the contacts asks for
    /// those that are [reached](Self::add_reached) all the same.
    pub(crate) fn points_at_hand(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        self.list(system, motion, true, points);
    }

    fn list(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        at_hand: bool,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        points.clear();
        self.apart.clear();
        self.reached.clear();
        let model = system.model;
        if !model.has_contacts() {
            return;
        }
        self.place(system, motion);
        for (index, pair) in model.pairs.iter().enumerate() {
            let Solid::HalfSpace(half_space) = pair.first else { break };
            self.half_space_points(system, motion, index, half_space, points);
        }
        if model.colliders_touch() {
            self.collider_pairs(system, motion, at_hand, points);
        }
    }

    /// Whether colliders were left out of the last step.
    pub(crate) fn leaves_out(&self) -> bool {
        !self.apart.is_empty()
    }

    /// Lists also the points of those that were left out which speeds of bodies bring together in
    /// the step; `inserted` is told where points come in between, and how many.
    pub(crate) fn add_reached(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        speed: impl Fn(usize) -> BodySpeed,
        points: &mut Vec<ContactPoint<T>>,
        mut inserted: impl FnMut(usize, usize),
    ) {
        // Once of each: a collider is in many pairs.
        let way = |(collider, own): (usize, &Collider)| match own.body {
            Some(body) => way_at_speed(system, motion, collider, &speed(body)),
            None => 0.0,
        };
        self.ways.clear();
        self.ways.extend(system.model.colliders.iter().enumerate().map(way));
        for k in 0..self.apart.len() {
            let (pair, least) = self.apart[k];
            if least == f64::INFINITY || self.approach(system, motion, pair, &speed) < least {
                continue;
            }
            self.apart[k].1 = f64::INFINITY;
            self.reached.push(pair);
            let (place, count) = self.add(system, motion, pair, points);
            inserted(place, count);
        }
    }

    /// Lists also the points of those left out that were reached in another listing of the same step.
    pub(crate) fn add_reached_there<U>(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        there: &Detection<U>,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        for &pair in &there.reached {
            self.reached.push(pair);
            self.add(system, motion, pair, points);
        }
    }

    /// Puts the points of two colliders where they are in order; where that is, and how many.
    fn add(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        pair: (usize, usize),
        points: &mut Vec<ContactPoint<T>>,
    ) -> (usize, usize) {
        let known = self.warm.binary_search_by_key(&pair, |(pair, _)| *pair);
        let mut warm = known.map_or(WarmStart::default(), |k| self.warm[k].1);
        let mut added = std::mem::take(&mut self.added);
        added.clear();
        self.collider_pair(
            system,
            motion,
            pair,
            [f64::INFINITY, self.furthest],
            &mut warm,
            &mut added,
        );
        let solids = (Solid::Collider(pair.0), pair.1);
        let place = points.partition_point(|point| system.model.solids(point.pair) < solids);
        // Whoever solved without them asks whether they are passed.
        added.iter_mut().for_each(|point| point.near = false);
        let count = added.len();
        points.splice(place..place, added.drain(..));
        self.added = added;
        (place, count)
    }

    /// Lists the points of the colliders of `bodies` alone, and only between them and half-spaces.
    pub fn points_among(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        bodies: &[usize],
        points: &mut Vec<ContactPoint<T>>,
    ) {
        points.clear();
        let model = system.model;
        let mut few = std::mem::take(&mut self.few);
        few.clear();
        few.extend(bodies.iter().flat_map(|&body| model.colliders_of(Some(body))));
        few.sort_unstable();
        self.place_planes(system);
        let nowhere = Pose { rotation: Matrix3::identity(), position: Vector3::zeros() };
        self.poses.resize(model.colliders.len(), nowhere);
        for &collider in &few {
            self.poses[collider] = place(system, motion, collider);
        }
        for half_space in 0..model.half_spaces.len() {
            for &collider in &few {
                if let Some(pair) = model.pair(Solid::HalfSpace(half_space), collider) {
                    self.half_space_points(system, motion, pair, half_space, points);
                }
            }
        }
        let ways = few.iter().map(|&collider| way(system, motion, collider));
        let furthest = 2.0 * ways.fold(0.0, f64::max) + self.smoothing;
        for (k, &first) in few.iter().enumerate() {
            for &second in &few[k + 1..] {
                let (pair, warm) = ((first, second), &mut WarmStart::default());
                let reach = [f64::INFINITY, furthest];
                self.collider_pair(system, motion, pair, reach, warm, points);
            }
        }
        self.few = few;
    }

    /// Finds the poses of all colliders and half-spaces.
    fn place(&mut self, system: &System<T>, motion: &FreeMotion<T>) {
        self.place_planes(system);
        self.poses.clear();
        let colliders = 0..system.model.colliders.len();
        self.poses.extend(colliders.map(|collider| place(system, motion, collider)));
    }

    fn place_planes(&mut self, system: &System<T>) {
        let System { model, parameters, .. } = *system;
        self.smoothing = smoothing_reach(system);
        self.planes.clear();
        self.planes.extend((0..model.half_spaces.len()).map(|k| parameters.plane(model, k)));
    }

    fn collider_pairs(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        at_hand: bool,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        self.ways.clear();
        let colliders = 0..model.colliders.len();
        self.ways.extend(colliders.map(|collider| way(system, motion, collider)));
        let furthest = 2.0 * self.ways.iter().copied().fold(0.0, f64::max) + self.smoothing;
        self.furthest = furthest;
        self.bounds.clear();
        self.bounds.extend(self.poses.iter().enumerate().map(|(collider, pose)| {
            let (size, radius) = parameters.core(model, collider);
            let reach = furthest + radius.value();
            Bounds::new(&model.colliders[collider].shape, pose, size, reach)
        }));
        self.sweep.pairs(&self.bounds, &mut self.candidates);
        let candidates = std::mem::take(&mut self.candidates);
        std::mem::swap(&mut self.warm, &mut self.earlier);
        self.warm.clear();
        let mut next = 0;
        for &pair in &candidates {
            // Both lists are in ascending order.
            while self.earlier.get(next).is_some_and(|(earlier, _)| *earlier < pair) {
                next += 1;
            }
            let kept = self.earlier.get(next).filter(|(earlier, _)| *earlier == pair);
            let mut warm = kept.map_or(WarmStart::default(), |&(_, warm)| warm);
            let near = match at_hand {
                true => {
                    let free = |body: usize| motion.bodies[body].speed;
                    2.0 * self.approach(system, motion, pair, free) + self.smoothing
                }
                false => f64::INFINITY,
            };
            let apart =
                self.collider_pair(system, motion, pair, [near, furthest], &mut warm, points);
            if at_hand && apart > 0.0 {
                self.apart.push((pair, apart));
            }
            self.warm.push((pair, warm));
        }
        self.candidates = candidates;
        // The next step writes into the other list.
        self.earlier.clear();
        self.earlier.reserve(self.warm.capacity());
    }

    /// How much nearer two colliders come in the step at most, at speeds by which they go their `ways`, m.
    fn approach(
        &self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        (first, second): (usize, usize),
        speed: impl Fn(usize) -> BodySpeed,
    ) -> f64 {
        let pair = [first, second];
        let places = pair.map(|k| self.poses[k].position.map(|x| x.value()));
        approach(system, motion, pair, places, speed).min(self.ways[first] + self.ways[second])
    }

    /// Looks as far as another one did in its last step, to say what [`reach`](Self::reach) does, and to what was reached there.
    pub(crate) fn keep_reach(&mut self, other: &Detection<T>) {
        (self.furthest, self.smoothing) = (other.furthest, other.smoothing);
        self.reached.clone_from(&other.reached);
    }

    /// Up to which distance the points of a pair were looked for in the last step, m.
    pub fn reach(&self, system: &System<T>, motion: &FreeMotion<T>, pair: usize) -> f64 {
        match system.model.solids(pair) {
            (Solid::HalfSpace(_), second) => FAR * way(system, motion, second) + self.smoothing,
            (Solid::Collider(_), _) => 2.0 * self.furthest,
        }
    }

    /// The points of two colliders, of which none goes further than half of `furthest` in the step; of polyhedra none, if their gaps are
    /// all more than `near`: then how large at least.
    fn collider_pair(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        (first, second): (usize, usize),
        [near, furthest]: [f64; 2],
        warm: &mut WarmStart,
        points: &mut Vec<ContactPoint<T>>,
    ) -> f64 {
        let model = system.model;
        let Some(pair) = model.pair(Solid::Collider(first), second) else { return 0.0 };
        let bodies = model.moving_bodies(Solid::Collider(first), second);
        let start = points.len();
        let reach = 2.0 * furthest;
        let apart = self.pair.collide(
            system,
            pair,
            [first, second].map(|k| model.colliders[k].body.map(|body| &motion.bodies[body])),
            [&self.poses[first], &self.poses[second]],
            ([near.min(reach), reach], warm),
            points,
        );
        for point in &mut points[start..] {
            let way = 2.0 * approach_of(motion, bodies, &point.arms);
            point.near = point.gap.value() <= way + self.smoothing;
        }
        apart
    }

    /// The points of the collider of a pair over its half-space.
    fn half_space_points(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        pair: usize,
        half_space: usize,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let model = system.model;
        let (plane, second) = (&self.planes[half_space], model.solids(pair).1);
        let (collider, pose) = (&model.colliders[second], &self.poses[second]);
        let Some(body) = collider.body else { return };
        let value = |v: &Vector3<T>| v.map(|x| x.value());
        let height = value(&plane.normal).dot(&value(&pose.position)) - plane.offset.value();
        let far = FAR * way(system, motion, second) + self.smoothing;
        if height > radius(system, second) + far {
            return;
        }
        let start = points.len();
        let reach = (far, f64::INFINITY);
        self.pair.land(system, pair, &motion.bodies[body], pose, plane, reach, points);
        for point in &mut points[start..] {
            let way = way_of(motion, body, &point.arms[1]);
            point.near = point.gap.value() <= 2.0 * way + self.smoothing;
        }
    }
}

/// Where a collider is.
fn place<T: Real>(system: &System<T>, motion: &FreeMotion<T>, collider: usize) -> Pose<T> {
    let body = system.model.colliders[collider].body;
    pose(system, body.map(|body| &motion.bodies[body]), collider)
}
