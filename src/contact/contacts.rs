//! All contacts of a step: which bodies they tie together, and what they do to their velocities.

use super::constraint::{Regime, Target};
use super::contact_problem::{ContactProblem, Event};
use super::impulses::Impulses;
use super::islands::{Island, Islands};
use crate::ad::Real;
use crate::argmin::{ContactResiduals, Mode, Report};
use crate::collision::{ContactPoint, Detection};
use crate::dynamics::FreeBody;
use crate::model::System;
use crate::state::NV;

/// A contact at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactRecord {
    /// The contact pair, an index into [`Model::pairs`](crate::model::Model::pairs).
    pub pair: usize,
    /// The point, see [`ContactPoint::feature`].
    pub feature: usize,
    /// Gap at the start of the step, m.
    pub gap: f64,
    /// Impulse in the contact frame [normal, tangent 1, tangent 2], N s, on the second body.
    pub impulse: [f64; 3],
    /// What the contact did.
    pub mode: Mode,
    /// What decided its normal velocity.
    pub target: Target,
    /// Which coefficient of friction it had.
    pub regime: Regime,
}

/// What the solution of an island says of one of its points.
#[derive(Clone, Copy, Debug)]
struct Outcome<T> {
    impulse: [T; 3],
    mode: Mode,
    target: Target,
    regime: Regime,
}

/// How the problem of an island was solved.
#[derive(Clone, Copy, Debug, Default)]
pub struct IslandReport {
    /// Status, iterations, residual, margin.
    pub report: Report,
    /// The parts of Coulomb's law by themselves.
    pub residuals: ContactResiduals,
}

/// The contacts of all bodies over a step. Scratch memory: results do not depend on what it held.
pub struct Contacts<T: Real> {
    detection: Detection<T>,
    points: Vec<ContactPoint<T>>,
    outcomes: Vec<Option<Outcome<T>>>,
    islands: Islands,
    /// Bodies whose problem has changed since it was last solved.
    dirty: Vec<bool>,
    problem: ContactProblem<T>,
    /// The velocity of each body at the end of the step, in the coordinates of [`FreeBody`].
    pub velocities: Vec<[T; NV]>,
    /// How the problem of each island was solved, kept with the first of its bodies.
    reports: Vec<Option<IslandReport>>,
    /// What each contact of the step did.
    pub records: Vec<ContactRecord>,
    /// Whether points were still being thrown at each other when it gave up.
    pub unfinished: bool,
}

impl<T: Real> Default for Contacts<T> {
    fn default() -> Self {
        Contacts {
            detection: Detection::default(),
            points: Vec::new(),
            outcomes: Vec::new(),
            islands: Islands::default(),
            dirty: Vec::new(),
            problem: ContactProblem::default(),
            velocities: Vec::new(),
            reports: Vec::new(),
            records: Vec::new(),
            unfinished: false,
        }
    }
}

/// How often points that an impact throws at each other may join the problem.
const ROUNDS: usize = 8;

impl<T: Real> Contacts<T> {
    /// The groups of bodies that may touch, and the points where they may.
    pub fn candidates(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
    ) -> (impl Iterator<Item = Island<'_>>, &[ContactPoint<T>]) {
        self.detection.points(system, free, &mut self.points);
        self.islands.group(free.len(), &self.points);
        (self.islands.iter(), &self.points)
    }

    /// Finds the velocities of all bodies at the end of the step, and replaces the impulses of the
    /// last step (those on each body) by those of this one.
    pub fn resolve(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        impulses: &mut [Impulses<T>],
    ) {
        self.detection.points(system, free, &mut self.points);
        self.start(free);
        self.unfinished = true;
        for _ in 0..ROUNDS {
            self.solve_islands(system, free, impulses, Event::Step);
            if !self.admit_escapes(free) {
                self.unfinished = false;
                break;
            }
        }
        impulses.iter_mut().for_each(Impulses::clear);
        for (point, outcome) in self.points.iter().zip(&self.outcomes) {
            if let Some(Outcome { impulse, .. }) = *outcome {
                impulses[point.second].remember(point.pair, point.feature, impulse);
            }
        }
        self.record();
    }

    /// Finds the velocities of `bodies` right after they have struck something: all their points
    /// whose gap is at most `depth` (m) rebound at once.
    pub fn strike(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        bodies: &[usize],
        depth: f64,
    ) {
        self.detection.points(system, free, &mut self.points);
        for point in &mut self.points {
            let involved = point.bodies().all(|body| bodies.contains(&body));
            point.near = involved && point.gap.value() <= depth;
        }
        self.start(free);
        self.solve_islands(system, free, &[], Event::Impact);
        self.record();
    }

    /// Forgets the last problem.
    fn start(&mut self, free: &[FreeBody<T>]) {
        self.outcomes.clear();
        self.outcomes.resize_with(self.points.len(), || None);
        self.velocities.clear();
        self.velocities.extend(free.iter().map(|free| free.free_velocity));
        self.reports.clear();
        self.reports.resize_with(free.len(), || None);
        self.dirty.clear();
        self.dirty.resize(free.len(), true);
    }

    /// Writes down what each contact did.
    fn record(&mut self) {
        self.records.clear();
        for (point, outcome) in self.points.iter().zip(&self.outcomes) {
            let Some(Outcome { impulse, mode, target, regime }) = *outcome else { continue };
            self.records.push(ContactRecord {
                pair: point.pair,
                feature: point.feature,
                gap: point.gap.value(),
                impulse: impulse.map(|x| x.value()),
                mode,
                target,
                regime,
            });
        }
    }

    /// How the problem of each island was solved.
    pub fn reports(&self) -> impl Iterator<Item = &IslandReport> {
        self.reports.iter().flatten()
    }

    /// Solves the islands that have a dirty body.
    fn solve_islands(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        impulses: &[Impulses<T>],
        event: Event,
    ) {
        self.islands.group(free.len(), &self.points);
        for island in self.islands.iter() {
            if !island.bodies.iter().any(|&body| self.dirty[body]) {
                continue;
            }
            let points = |k: usize| &self.points[island.points[k]];
            let report = self.problem.solve(system, free, &island, points, impulses, event);
            let (velocities, lambda) = self.problem.outputs(island.bodies.len());
            for (&body, velocity) in island.bodies.iter().zip(velocities.chunks_exact(NV)) {
                self.velocities[body].copy_from_slice(velocity);
            }
            for (k, (&point, x)) in island.points.iter().zip(lambda.chunks_exact(3)).enumerate() {
                let (mode, target, regime) = self.problem.decisions(k);
                let impulse = [x[0], x[1], x[2]];
                self.outcomes[point] = Some(Outcome { impulse, mode, target, regime });
            }
            // Iterations of what was solved before with fewer points count.
            let earlier = island.bodies.iter().filter_map(|&body| self.reports[body].take());
            let before: usize = earlier.map(|earlier| earlier.report.iterations).sum();
            let mut report = report;
            report.report.iterations += before;
            self.reports[island.bodies[0]] = Some(report);
        }
        self.dirty.fill(false);
    }

    /// Makes points near that the velocities take through each other, with the rest of their pair;
    /// false if there are none.
    fn admit_escapes(&mut self, free: &[FreeBody<T>]) -> bool {
        let mut found = false;
        for k in 0..self.points.len() {
            let point = &self.points[k];
            if point.near || !point.escapes(free, &self.velocities) {
                continue;
            }
            found = true;
            let pair = point.pair;
            for body in point.bodies() {
                self.dirty[body] = true;
            }
            for point in self.points.iter_mut().filter(|point| point.pair == pair) {
                point.near = true;
            }
        }
        found
    }
}
