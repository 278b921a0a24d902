//! Steps split at the time of impact.
//!
//! The time-stepping map resolves the time of an impact to the step: a ball that is dropped from a little
//! higher strikes in the same step, from a little higher, so the derivative of its apex in the height of
//! the drop is 1, and not the e² of the continuous motion. With `split_impacts`, bodies that are in
//! flight and strike something go on freely up to the time of impact, rebound in an instant, and make
//! the rest of the step as any other. The time is a number like all others, with derivatives.
//!
//! Split are groups of bodies of which nothing touches at the start of the step, and whose first impact
//! has restitution that outlasts the step; once a step. Everything else is left to the step: trees with joints,
//! bodies that rest on something while something strikes them, and further impacts in the rest of the step.
//!
//! # Velocities of half a step
//! The points of q+ = q + dt v+ lie on the parabola of the motion, whose velocity at the time of q is
//! v + a dt / 2, a the acceleration: v belongs to half a step before. Inside a split step bodies follow that
//! parabola, so that a bounce neither loses nor gains height by the steps, and have its velocity at
//! the impact; afterwards v is taken half a step back again.

use super::flight::Flight;
use crate::ad::Real;
use crate::contact::{ContactRecord, Contacts, IslandReport, Target};
use crate::dynamics::{FreeBody, FreeMotion};
use crate::model::{Parameters, System};
use crate::state::{NV, State};

/// Memory for what happens before the rest of a step.
pub(super) struct Impacts<T: Real> {
    contacts: Contacts<T>,
    groups: Vec<Vec<usize>>,
    /// The motion up to the impact, on values and in T.
    search: Flight<f64>,
    exact: Flight<T>,
    parameters: Parameters<f64>,
    state: State<f64>,
    wrenches: Vec<f64>,
    /// Of each tree that was split what takes its velocity half a step back, if it ends in flight.
    pub back: Vec<(usize, [T; 3])>,
    /// What struck in the step.
    pub records: Vec<ContactRecord>,
    /// How the impacts were solved.
    pub reports: Vec<IslandReport>,
}

impl<T: Real> Default for Impacts<T> {
    fn default() -> Self {
        Impacts {
            contacts: Contacts::default(),
            groups: Vec::new(),
            search: Flight::default(),
            exact: Flight::default(),
            parameters: Parameters::default(),
            state: State::default(),
            wrenches: Vec::new(),
            back: Vec::new(),
            records: Vec::new(),
            reports: Vec::new(),
        }
    }
}

/// Gaps that are closed at the time of impact, relative to the way that its speed makes in the step.
const CLOSED: f64 = 1e-9;
/// Impacts closer than this to an end of the step, as a fraction of it, are left to the step.
const EDGE: f64 = 1e-6;
/// Half the width, as a fraction of the step, over which the speed of a closing gap is measured.
const WIDTH: f64 = 1e-4;

impl<T: Real> Impacts<T> {
    /// Forgets the last step.
    pub fn clear(&mut self) {
        self.back.clear();
        self.records.clear();
        self.reports.clear();
    }

    /// Replaces the bodies of `motion` that strike something within the step by themselves after the
    /// impact, with the rest of the step before them.
    pub fn split(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        wrenches: &[T],
        motion: &mut FreeMotion<T>,
    ) {
        let count = self.find_groups(system, motion);
        if count == 0 {
            return;
        }
        let value = |to: &mut Vec<f64>, from: &[T]| {
            to.clear();
            to.extend(from.iter().map(|x| x.value()));
        };
        value(&mut self.parameters.values, &system.parameters.values);
        value(&mut self.state.q, &state.q);
        value(&mut self.state.v, &state.v);
        value(&mut self.wrenches, wrenches);
        let System { model, settings, .. } = *system;
        let values = System { model, parameters: &self.parameters, settings };
        self.search.start(&values, &self.state);
        self.exact.start(system, state);
        for group in 0..count {
            let bodies = std::mem::take(&mut self.groups[group]);
            self.split_group(system, state, wrenches, motion, &bodies);
            self.groups[group] = bodies;
        }
    }

    /// The groups in flight that may strike something; returns how many there are.
    fn find_groups(&mut self, system: &System<T>, motion: &FreeMotion<T>) -> usize {
        let (islands, points) = self.contacts.candidates(system, motion);
        let mut count = 0;
        for island in islands {
            let gap = |&k: &usize| points[k].gap.value();
            let lone = island.trees.iter().all(|&tree| motion.lone_of(tree).is_some());
            if !lone || !island.constraints.iter().all(|k| gap(k) > 0.0) {
                continue;
            }
            if count == self.groups.len() {
                self.groups.push(Vec::new());
            }
            self.groups[count].clear();
            let bodies = island.trees.iter().map(|&tree| system.model.trees[tree].bodies[0]);
            self.groups[count].extend(bodies);
            count += 1;
        }
        count
    }

    fn split_group(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        wrenches: &[T],
        motion: &mut FreeMotion<T>,
        bodies: &[usize],
    ) {
        let step = system.settings.time_step;
        let Some((time, slope)) = self.time_of_impact(system, bodies) else { return };
        // Each Newton step in T with the slope of the values gains one order of derivatives, but for
        // the error of the slope; one more squares that.
        let mut exact = T::constant(time);
        let mut gap = T::zero();
        for _ in 0..T::ORDER + 2 {
            exact -= gap / slope;
            let Some(found) = self.exact.least_gap(system, state, wrenches, bodies, exact) else {
                return;
            };
            gap = found;
        }
        let closed = gap.value().max(0.0) + CLOSED * step * slope.abs();
        self.contacts.strike(system, &self.exact.motion, bodies, closed);
        let rebounds = |record: &ContactRecord| record.target == Target::Restitution;
        if !self.contacts.records.iter().any(rebounds) {
            return;
        }
        self.records.extend_from_slice(&self.contacts.records);
        self.reports.extend(self.contacts.reports());
        let rest = T::constant(step) - exact;
        for &body in bodies {
            let (model, parameters) = (system.model, system.parameters);
            let v = model.bodies[body].joint.v;
            self.exact.place(model, body, &self.contacts.velocities[v..v + NV]);
            let wrench = &wrenches[v..v + NV];
            let mut after = FreeBody::new(model, parameters, &self.exact.state, body, wrench, rest);
            // z + w t + a t²/2 with the velocity at the end of the rest, w + a t / 2.
            let acceleration = self.exact.accelerations[body];
            for (v, a) in after.free_velocity.iter_mut().zip(acceleration) {
                *v -= a * (rest * 0.5);
            }
            motion.replace(model, body, after);
            let tree = model.bodies[body].tree.unwrap_or(0);
            self.back.push((tree, acceleration.map(|a| a * (exact * -0.5))));
        }
    }

    /// When the first point of a group closes, s, and how fast, m/s; on values, by the secant method
    /// (Illinois). Nothing if none does, or next to the ends of the step.
    fn time_of_impact(&mut self, system: &System<T>, bodies: &[usize]) -> Option<(f64, f64)> {
        let step = system.settings.time_step;
        let Impacts { search, parameters, state, wrenches, .. } = self;
        let system = System { model: system.model, parameters, settings: system.settings };
        let mut gap = |time: f64| search.least_gap(&system, state, wrenches, bodies, time);
        let (mut low, mut high) = (0.0, step);
        let (mut at_low, mut at_high) = (gap(low)?, gap(high)?);
        if !(at_low > 0.0 && at_high < 0.0) {
            return None;
        }
        let (first, mut time) = (at_low, 0.0);
        for _ in 0..60 {
            time = (low * at_high - high * at_low) / (at_high - at_low);
            let at = gap(time)?;
            if at.abs() <= 1e-15 * first || high - low <= 1e-15 * step {
                break;
            }
            if at > 0.0 {
                (low, at_low) = (time, at);
                at_high *= 0.5;
            } else {
                (high, at_high) = (time, at);
                at_low *= 0.5;
            }
        }
        if time < EDGE * step || time > (1.0 - EDGE) * step {
            return None;
        }
        // Beyond the ends of the step, too: the motion goes on there.
        let width = WIDTH * step;
        let slope = (gap(time + width)? - gap(time - width)?) / (2.0 * width);
        (slope < 0.0).then_some((time, slope))
    }
}
