//! All constraints of a step: which trees they tie together, and what they do to their velocities.

use nalgebra::Vector3;

use super::conflict::Conflict;
use super::constraint::{Target, contact_frame, grain_frame};
use super::contact_problem::{ContactProblem, Event, Posed};
use super::guests::Guests;
use super::impulses::Impulses;
use super::island_report::IslandReport;
use super::islands::{Island, Islands};
use super::joint_constraints::{JointConstraint, JointConstraints};
use super::kelvin_voigt::KelvinVoigt;
use super::parallel_islands;
use super::problems::Problems;
use super::records::{ContactRecord, JointRecord, Outcome, take_over};
use crate::ad::Real;
use crate::collision::{ContactPoint, Detection};
use crate::dynamics::FreeMotion;
use crate::model::{Model, System};
use crate::state::State;

/// The constraints of all trees over a step. Scratch memory: results do not depend on what it held.
pub struct Contacts<T: Real> {
    detection: Detection<T>,
    points: Vec<ContactPoint<T>>,
    joints: JointConstraints<T>,
    /// Of each point, then of each joint constraint.
    outcomes: Vec<Option<Outcome<T>>>,
    islands: Islands,
    /// Trees that guests touch.
    links: Vec<usize>,
    /// Trees whose problem has changed since it was last solved.
    dirty: Vec<bool>,
    /// Those of the islands of this step and of steps before.
    problems: Problems<T>,
    row: Vec<T>,
    /// The velocities of all trees at the end of the step, in the coordinates of
    /// [`TreeMotion`](crate::dynamics::TreeMotion), each where the state has its own.
    pub velocities: Vec<T>,
    /// No impulses of the last step, of each tree.
    memory: Vec<Impulses<T>>,
    /// How the problem of each island was solved, kept with the first of its trees.
    reports: Vec<Option<IslandReport>>,
    /// What each contact of the step did.
    pub records: Vec<ContactRecord>,
    /// What each condition of joints did.
    pub joint_records: Vec<JointRecord>,
    /// Whether points were still being thrown at each other when it gave up.
    pub unfinished: bool,
    /// On how many threads islands are solved, where there is enough to do: on values only.
    pub threads: usize,
}

impl<T: Real> Default for Contacts<T> {
    fn default() -> Self {
        Contacts {
            detection: Detection::default(),
            points: Vec::new(),
            joints: JointConstraints::default(),
            outcomes: Vec::new(),
            islands: Islands::default(),
            links: Vec::new(),
            dirty: Vec::new(),
            problems: Problems::default(),
            row: Vec::new(),
            velocities: Vec::new(),
            memory: Vec::new(),
            reports: Vec::new(),
            records: Vec::new(),
            joint_records: Vec::new(),
            unfinished: false,
            threads: 1,
        }
    }
}

/// What poses a block of rows.
pub(crate) enum Constraint<'a, T> {
    /// A contact.
    Point(&'a ContactPoint<T>),
    /// A limit, a dry friction, or a row of a closed loop.
    Joint(&'a JointConstraint<T>),
}

/// Equalities that are open by less than this part of the widest are not named.
const OPEN_SHARE: f64 = 1e-2;

/// How often points that an impact throws at each other may join the problem.
const ROUNDS: usize = 8;

impl<T: Real> Contacts<T> {
    /// The groups of trees that may touch, and the points where they may.
    pub fn candidates(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
    ) -> (impl Iterator<Item = Island<'_>>, &[ContactPoint<T>]) {
        self.detection.points_at_hand(system, motion, &mut self.points);
        self.joints.clear();
        self.group(motion);
        (self.islands.iter(), &self.points)
    }

    fn group(&mut self, motion: &FreeMotion<T>) {
        let points = self.points.iter().enumerate().filter(|(_, point)| point.near);
        let points = points.map(|(k, point)| (k, point.trees(motion)));
        let joints = self.joints.list.iter().enumerate().filter(|(_, joint)| joint.near);
        let joints = joints.map(|(k, joint)| (self.points.len() + k, joint.trees));
        let all = points.chain(joints);
        match self.links.is_empty() {
            true => self.islands.group(motion.trees(), all),
            false => {
                let end = self.points.len() + self.joints.list.len();
                self.islands.group_with_guests(motion.trees(), all, (&self.links, end));
            }
        }
    }

    /// Finds the velocities of all trees at the end of the step, and replaces the impulses of the
    /// last step (those on each tree) by those of this one.
    pub fn resolve(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        motion: &FreeMotion<T>,
        impulses: &mut Vec<Impulses<T>>,
    ) {
        self.find(system, state, motion);
        self.settle(system, motion, impulses);
    }

    /// The same for what was [found](Self::find), in motions that differ by their velocities and masses alone: as often as they do.
    pub(crate) fn settle(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        impulses: &mut Vec<Impulses<T>>,
    ) {
        impulses.resize_with(motion.trees(), Impulses::default);
        self.start(motion);
        self.unfinished = true;
        for _ in 0..ROUNDS {
            self.solve_islands(system, motion, impulses, Event::Step);
            self.look_further(system, motion);
            if !self.admit_escapes(system, motion) {
                self.unfinished = false;
                break;
            }
        }
        self.remember(system, motion, impulses);
    }

    /// Finds what may touch in a step, and the conditions of joints.
    pub(crate) fn find(&mut self, system: &System<T>, state: &State<T>, motion: &FreeMotion<T>) {
        self.detection.points_at_hand(system, motion, &mut self.points);
        self.joints.collect(system, state, motion);
    }

    /// Replaces the impulses of the last step by those of this one, and writes down what each contact did.
    pub(crate) fn remember(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        impulses: &mut [Impulses<T>],
    ) {
        impulses.iter_mut().for_each(Impulses::clear);
        let (points, joints, memory) = (&self.points, &self.joints, &Vec::new());
        let posed = Posed { system, motion, points, joints, memory, event: Event::Step };
        for (k, outcome) in self.outcomes.iter().enumerate() {
            if let Some(Outcome { impulse, .. }) = *outcome {
                let (pair, feature, tree) = posed.key(k);
                impulses[tree].remember(pair, feature, impulse);
            }
        }
        for (island, problem) in self.solved() {
            problem.remember_sharing(&island, impulses);
            for (couple, _, impulse) in problem.couples() {
                let (pair, feature, tree) = posed.key(island.constraints[couple.of]);
                impulses[tree].remember(pair, couple.kind.feature(feature), impulse);
            }
        }
        self.record(system, motion);
    }

    /// Finds the displacements (in the place of velocities over a second) that close all loops of a model
    /// again, in the metric of the mass matrix. Returns how far the widest is open, m or rad; nothing if that
    /// is no more than `still`, unless a displacement of nothing is asked for, whose derivative is that of what opens loops.
    pub fn close_loops(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        motion: &FreeMotion<T>,
        (still, of_nothing): (f64, bool),
    ) -> Option<f64> {
        self.points.clear();
        self.joints.clear();
        self.joints.equalities(system, state, motion, 1.0);
        let open = self.joints.list.iter().map(|joint| joint.target.value().abs());
        let widest = open.fold(0.0, |widest: f64, x| if x <= widest { widest } else { x });
        if widest <= still {
            if !of_nothing {
                return None;
            }
            for joint in &mut self.joints.list {
                joint.target -= T::constant(joint.target.value());
            }
        }
        self.start(motion);
        self.velocities.fill(T::zero());
        self.solve_islands(system, motion, &Vec::new(), Event::Impact);
        Some(widest)
    }

    /// The equalities that the last [`close_loops`](Self::close_loops) found open, of which `open` is the widest (m or
    /// rad) after that.
    pub fn open_loops(&self, model: &Model, open: f64) -> Option<Conflict> {
        let widest = |share: f64| {
            let sizes = self.joints.list.iter().map(|joint| joint.target.value().abs());
            share * sizes.fold(0.0, f64::max)
        };
        let least = widest(OPEN_SHARE);
        let wide = self.joints.list.iter().filter(|joint| joint.target.value().abs() >= least);
        Conflict::new(wide.map(|joint| model.pair_end() + joint.id), Some(open))
    }

    /// Finds the velocities of `bodies` right after they have struck something: all their points that
    /// `strikes` says rebound at once.
    pub fn strike(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        bodies: &[usize],
        strikes: impl Fn(&ContactPoint<T>) -> bool,
    ) {
        self.solve_some(system, motion, bodies, strikes, Event::Impact);
    }

    /// Finds the velocities of `bodies` at the end of the step if they do not touch in `pairs`.
    pub fn resolve_without(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        bodies: &[usize],
        pairs: &[usize],
    ) {
        let counts = |point: &ContactPoint<T>| point.near && !pairs.contains(&point.pair);
        self.solve_some(system, motion, bodies, counts, Event::Step);
    }

    /// Solves for the points of `bodies` that count, from nothing.
    fn solve_some(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        bodies: &[usize],
        counts: impl Fn(&ContactPoint<T>) -> bool,
        event: Event,
    ) {
        self.detection.points(system, motion, &mut self.points);
        self.joints.clear();
        for point in &mut self.points {
            let involved = point.moving().all(|body| bodies.contains(&body));
            point.near = involved && counts(point);
        }
        self.start(motion);
        self.memory.clear();
        self.memory.resize_with(motion.trees(), Impulses::default);
        let memory = std::mem::take(&mut self.memory);
        self.solve_islands(system, motion, &memory, event);
        self.memory = memory;
        self.record(system, motion);
    }

    /// Forgets the last problem.
    pub(crate) fn start(&mut self, motion: &FreeMotion<T>) {
        self.links.clear();
        self.outcomes.clear();
        self.outcomes.resize_with(self.points.len() + self.joints.list.len(), || None);
        self.velocities.clear();
        for tree in 0..motion.trees() {
            self.velocities.extend_from_slice(motion.tree(tree).free_velocity);
        }
        self.reports.clear();
        self.reports.resize_with(motion.trees(), || None);
        self.dirty.clear();
        self.dirty.resize(motion.trees(), true);
    }

    /// Writes down what each contact did.
    fn record(&mut self, system: &System<T>, motion: &FreeMotion<T>) {
        let share = motion.share_of_step(system.settings);
        self.records.clear();
        for (point, outcome) in self.points.iter().zip(&self.outcomes) {
            let Some(Outcome { impulse, mode, target, regime, couples }) = *outcome else {
                continue;
            };
            let mut impulse = impulse.map(|x| x.value() * share);
            let mut couples = couples;
            for couple in couples.iter_mut().flatten() {
                couple.impulse = couple.impulse.map(|x| x * share);
            }
            // Along the tangents that all records have, whatever those of the problem are.
            if let Some((tangents, scale)) = grain_frame(system, motion, point) {
                let [_, first, second] = impulse;
                let [t1, t2] = tangents.map(|tangent| tangent.map(|x| x.value()));
                let friction = t1 * first + t2 * (second * scale.value());
                let usual = contact_frame(point.normal.map(|x| x.value()));
                [impulse[1], impulse[2]] = usual.map(|tangent| tangent.dot(&friction));
            }
            self.records.push(ContactRecord {
                pair: point.pair,
                feature: point.feature,
                gap: point.gap.value(),
                impulse,
                mode,
                target,
                regime,
                bodies: point.bodies,
                arms: point.arms.map(|arm| arm.map(|x| x.value())),
                normal: point.normal.map(|x| x.value()),
                couples,
            });
        }
        self.joint_records.clear();
        let joints = self.outcomes[self.points.len()..].iter().zip(&self.joints.list);
        for (outcome, joint) in joints {
            let Some(Outcome { impulse, mode, target, .. }) = *outcome else { continue };
            let impulse = impulse[0].value() * share;
            self.joint_records.push(JointRecord { id: joint.id, impulse, mode, target });
        }
    }

    /// The impulse of each point of the last problems on the second solid of its pair, in the world, N s.
    pub(crate) fn world_impulses(
        &self,
        system: &System<T>,
        motion: &FreeMotion<T>,
    ) -> impl Iterator<Item = (usize, Vector3<T>)> {
        let share = T::constant(motion.share_of_step(system.settings));
        self.points.iter().zip(&self.outcomes).filter_map(move |(point, outcome)| {
            let [normal, first, second] = outcome.as_ref()?.impulse.map(|x| x * share);
            let (tangents, scale) = grain_frame(system, motion, point)
                .unwrap_or_else(|| (contact_frame(point.normal), T::one()));
            let friction = tangents[0] * first + tangents[1] * (second * scale);
            Some((point.pair, point.normal * normal + friction))
        })
    }

    /// What limits and dry friction of the last problems did to a velocity, N s or N m s.
    pub(crate) fn joint_impulse(&self, model: &Model, velocity: usize) -> T {
        let outcomes = self.outcomes[self.points.len()..].iter().zip(&self.joints.list);
        let own = outcomes.filter_map(|(outcome, joint)| {
            Some(joint.direction(model, velocity)? * outcome.as_ref()?.impulse[0])
        });
        own.fold(T::zero(), |sum, impulse| sum + impulse)
    }

    /// Whether something in the last step stops velocities at once that was not `known` to act in the step before, by pair and feature: a rigid contact, or a
    /// condition of a joint.
    pub(crate) fn has_struck(
        &self,
        system: &System<T>,
        known: impl Fn((usize, usize)) -> bool,
    ) -> bool {
        let model = system.model;
        let yields = |pair| KelvinVoigt::new(system, pair).is_some_and(|law| law.yields());
        let contacts = self.records.iter().filter(|own| !yields(own.pair));
        let contacts =
            contacts.filter(|own| own.impulse[0] > 0.0).map(|own| (own.pair, own.feature));
        let joints = self.joint_records.iter().filter(|own| own.impulse != 0.0);
        let joints = joints.map(|own| (model.pair_end() + own.id, 0));
        contacts.chain(joints).any(|key| !known(key))
            || self
                .records
                .iter()
                .any(|own| own.target == Target::Restitution && own.impulse[0] > 0.0)
    }

    /// How the problem of each island was solved.
    pub fn reports(&self) -> impl Iterator<Item = &IslandReport> {
        self.reports.iter().flatten()
    }

    /// The islands of the last step, with the problem of each as it was solved. Constraints are points, then
    /// conditions of joints, in the order of [`constraint`](Self::constraint).
    pub(crate) fn solved(&self) -> impl Iterator<Item = (Island<'_>, &ContactProblem<T>)> {
        self.islands.iter().map(|island| {
            let problem = self.problems.of(&island);
            (island, problem)
        })
    }

    /// Whether a problem of the last step came after impacts in phases of their own.
    pub(crate) fn follow_impacts(&self) -> bool {
        self.solved().any(|(_, problem)| problem.follows_impacts())
    }

    /// The problem of one of the islands that were solved or [posed](Self::pose).
    pub(crate) fn problem(&self, island: &Island) -> &ContactProblem<T> {
        self.problems.of(island)
    }

    /// Poses the problems of a step that `solved` has solved on values, and leaves the velocities of all trees at
    /// those without contact. False if what the scalar finds is not what was found there.
    #[must_use]
    pub(crate) fn pose(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        motion: &FreeMotion<T>,
        solved: &Contacts<f64>,
    ) -> bool {
        self.detection.points_at_hand(system, motion, &mut self.points);
        self.detection.add_reached_there(system, motion, &solved.detection, &mut self.points);
        self.joints.collect(system, state, motion);
        let points = self.points.iter().map(|point| (point.pair, point.feature));
        let joints = self.joints.list.iter().map(|joint| joint.id);
        if !points.eq(solved.points.iter().map(|point| (point.pair, point.feature)))
            || !joints.eq(solved.joints.list.iter().map(|joint| joint.id))
        {
            return false;
        }
        self.start(motion);
        let (points, joints, memory) = (&self.points, &self.joints, &Vec::new());
        let posed = Posed { system, motion, points, joints, memory, event: Event::Step };
        solved.solved().all(|(island, problem)| {
            let own = self.problems.of_mut(&island);
            own.pose(&posed, &island);
            own.is_decided_like(problem)
        })
    }

    /// Copies the problems of a step with their solutions, and what they were posed from.
    pub(crate) fn keep(&mut self, other: &Contacts<T>) {
        self.detection.keep_reach(&other.detection);
        self.points.clone_from(&other.points);
        self.joints.keep(&other.joints);
        self.islands.keep(&other.islands);
        self.velocities.clone_from(&other.velocities);
        self.unfinished = other.unfinished;
        for island in other.islands.iter() {
            self.problems.of_mut(&island).keep(other.problems.of(&island));
        }
    }

    /// How far the points of a pair were looked for: see [`Detection::reach`].
    pub(crate) fn reach(&self, system: &System<T>, motion: &FreeMotion<T>, pair: usize) -> f64 {
        self.detection.reach(system, motion, pair)
    }

    /// A constraint of the last step, by its index in an [`Island`].
    pub(crate) fn constraint(&self, k: usize) -> Constraint<'_, T> {
        match k.checked_sub(self.points.len()) {
            None => Constraint::Point(&self.points[k]),
            Some(k) => Constraint::Joint(&self.joints.list[k]),
        }
    }

    /// Solves the islands that have a dirty tree.
    fn solve_islands(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        memory: &Vec<Impulses<T>>,
        event: Event,
    ) {
        self.group(motion);
        let (points, joints) = (&self.points, &self.joints);
        let posed = Posed { system, motion, points, joints, memory, event };
        let (threads, all) = (self.threads, (&self.islands, &self.dirty[..]));
        let on_threads = parallel_islands::solve(threads, &posed, all, &mut self.problems);
        for island in self.islands.iter() {
            if !island.trees.iter().any(|&tree| self.dirty[tree]) {
                continue;
            }
            let problem = self.problems.of_mut(&island);
            if !on_threads {
                problem.solve(&posed, &island);
            }
            let Self { velocities, outcomes, reports, .. } = self;
            take_over(system.model, &island, problem, velocities, outcomes, reports);
        }
        self.dirty.fill(false);
    }

    /// Lists the points of what was left out of detection and is reached at the velocities: an impact throws further than what
    /// was expected.
    fn look_further(&mut self, system: &System<T>, motion: &FreeMotion<T>) {
        if !self.detection.leaves_out() {
            return;
        }
        let (velocities, outcomes) = (&self.velocities, &mut self.outcomes);
        let speeds = |body| motion.speed(system, body, velocities);
        let mut more = 0;
        self.detection.add_reached(system, motion, speeds, &mut self.points, |place, count| {
            outcomes.splice(place..place, std::iter::repeat_with(|| None).take(count));
            more += count;
        });
        if more > 0 {
            // Constraints have other numbers now.
            self.group(motion);
        }
    }

    /// Makes points near that the velocities take through each other, with the rest of their pair, and
    /// limits that they take beyond themselves; false if there are none.
    fn admit_escapes(&mut self, system: &System<T>, motion: &FreeMotion<T>) -> bool {
        let mut found = false;
        for k in 0..self.points.len() {
            let point = &self.points[k];
            let escapes =
                !point.near && point.escapes(system.model, motion, &self.velocities, &mut self.row);
            if !escapes {
                continue;
            }
            found = true;
            let pair = point.pair;
            for tree in point.trees(motion).into_iter().flatten() {
                self.dirty[tree] = true;
            }
            // The points of a pair are listed one after the other.
            let others = self.points[..k].iter().rev().take_while(|other| other.pair == pair);
            let first = k - others.count();
            let of_pair = self.points[first..].iter_mut();
            for point in of_pair.take_while(|point| point.pair == pair) {
                point.near = true;
            }
        }
        self.joints.admit_escapes(system.model, motion, &self.velocities, |tree| {
            found = true;
            self.dirty[tree] = true;
        });
        found
    }
}

impl Contacts<f64> {
    /// Solves all problems anew that guests have a part in, and the others if they are not yet.
    pub(crate) fn solve_with(
        &mut self,
        system: &System<f64>,
        motion: &FreeMotion<f64>,
        impulses: &Vec<Impulses<f64>>,
        guests: &mut Guests,
    ) {
        self.unfinished = true;
        for _ in 0..ROUNDS {
            self.solve_once_with(system, motion, impulses, guests);
            self.look_further(system, motion);
            if !self.admit_escapes(system, motion) {
                self.unfinished = false;
                return;
            }
        }
    }

    fn solve_once_with(
        &mut self,
        system: &System<f64>,
        motion: &FreeMotion<f64>,
        memory: &Vec<Impulses<f64>>,
        guests: &mut Guests,
    ) {
        self.links.clear();
        self.links.extend(guests.links(motion));
        // What guests touched in the last iteration and do not now is to be solved without them.
        for island in self.islands.iter().filter(|island| island.has_guests) {
            for &tree in island.trees {
                self.dirty[tree] = true;
                let free = motion.tree(tree).free_velocity;
                self.velocities[motion.velocities(tree)].copy_from_slice(free);
            }
        }
        self.group(motion);
        let (points, joints) = (&self.points, &self.joints);
        let posed = Posed { system, motion, points, joints, memory, event: Event::Step };
        for island in self.islands.iter() {
            let is_dirty = island.trees.iter().any(|&tree| self.dirty[tree]);
            if island.trees.is_empty() || !(is_dirty || island.has_guests) {
                continue;
            }
            let problem = self.problems.of_mut(&island);
            match island.has_guests {
                true => problem.solve_with(&posed, &island, guests),
                false => problem.solve(&posed, &island),
            }
            let Self { velocities, outcomes, reports, .. } = self;
            take_over(system.model, &island, problem, velocities, outcomes, reports);
        }
        self.dirty.fill(false);
    }
}
