//! Steps split at the time of impact.
//!
//! The time-stepping map resolves the time of an impact to the step: a ball that is dropped from a little
//! higher strikes in the same step, from a little higher, so the derivative of its apex in the height of
//! the drop is 1, and not the e² of the continuous motion. With `split_impacts`, bodies that are in
//! flight and strike something go on freely up to the time of impact, rebound in an instant, and make
//! the rest of the step as any other. The time is a number like all others, with derivatives.
//!
//! Split are groups of bodies of which nothing touches at the start of the step, and whose first impact
//! has restitution; once a step. Everything else is left to the step: bodies that rest on something while
//! something strikes them, and further impacts in the rest of the step.

use crate::ad::Real;
use crate::contact::{ContactRecord, Contacts, IslandReport};
use crate::dynamics::FreeBody;
use crate::model::System;
use crate::state::{NV, State};

/// Memory for what happens before the rest of a step.
pub(super) struct Impacts<T: Real> {
    contacts: Contacts<T>,
    strike: Contacts<T>,
    groups: Vec<Vec<usize>>,
    free: Vec<FreeBody<T>>,
    state: State<T>,
    /// What struck in the step.
    pub records: Vec<ContactRecord>,
    /// How the impacts were solved.
    pub reports: Vec<IslandReport>,
}

impl<T: Real> Default for Impacts<T> {
    fn default() -> Self {
        Impacts {
            contacts: Contacts::default(),
            strike: Contacts::default(),
            groups: Vec::new(),
            free: Vec::new(),
            state: State { q: Vec::new(), v: Vec::new() },
            records: Vec::new(),
            reports: Vec::new(),
        }
    }
}

/// Gaps that are closed at the time of impact, relative to the way that its speed makes in the step.
const CLOSED: f64 = 1e-9;
/// Impacts closer than this to an end of the step, as a fraction of it, are left to the step.
const EDGE: f64 = 1e-6;

impl<T: Real> Impacts<T> {
    /// Replaces the bodies of `free` that strike something within the step by themselves after the
    /// impact, with the rest of the step before them.
    pub fn split(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        wrenches: &[T],
        free: &mut [FreeBody<T>],
    ) {
        self.records.clear();
        self.reports.clear();
        let count = self.find_groups(system, free);
        for group in 0..count {
            let bodies = std::mem::take(&mut self.groups[group]);
            self.split_group(system, state, wrenches, free, &bodies);
            self.groups[group] = bodies;
        }
    }

    /// The groups in flight that may strike something; returns how many there are.
    fn find_groups(&mut self, system: &System<T>, free: &[FreeBody<T>]) -> usize {
        let (islands, points) = self.contacts.candidates(system, free);
        let mut count = 0;
        for island in islands {
            let gap = |&k: &usize| points[k].gap.value();
            if !island.points.iter().all(|k| gap(k) > 0.0) {
                continue;
            }
            if count == self.groups.len() {
                self.groups.push(Vec::new());
            }
            self.groups[count].clear();
            self.groups[count].extend_from_slice(island.bodies);
            count += 1;
        }
        count
    }

    fn split_group(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        wrenches: &[T],
        free: &mut [FreeBody<T>],
        bodies: &[usize],
    ) {
        let step = system.settings.time_step;
        let Some((time, slope)) = self.time_of_impact(system, state, wrenches, free, bodies) else {
            return;
        };
        // Each Newton step in T with the slope of the values gains one order of derivatives.
        let mut exact = T::constant(time);
        for _ in 0..T::ORDER {
            let Some(gap) = self.least_gap(system, state, wrenches, free, bodies, exact) else {
                return;
            };
            exact -= gap / slope;
        }
        let Some(gap) = self.least_gap(system, state, wrenches, free, bodies, exact) else {
            return;
        };
        let closed = gap.value().max(0.0) + CLOSED * step * slope.abs();
        self.strike.strike(system, &self.free, bodies, closed);
        let rebounds =
            |record: &ContactRecord| record.target == crate::contact::Target::Restitution;
        if !self.strike.records.iter().any(rebounds) {
            return;
        }
        self.records.extend_from_slice(&self.strike.records);
        self.reports.extend(self.strike.reports());
        let rest = T::constant(step) - exact;
        for &body in bodies {
            let velocity = self.strike.velocities[body];
            self.free[body].duration = T::zero();
            self.free[body].advance(&velocity, body, &mut self.state);
            let wrench = &wrenches[NV * body..NV * (body + 1)];
            free[body] = FreeBody::new(system.parameters, &self.state, body, wrench, rest);
        }
    }

    /// When the first point of a group closes, s, and how fast, m/s; on values, by the secant method
    /// (Illinois). Nothing if none does, or next to the ends of the step.
    fn time_of_impact(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        wrenches: &[T],
        free: &[FreeBody<T>],
        bodies: &[usize],
    ) -> Option<(f64, f64)> {
        let step = system.settings.time_step;
        let mut gap = |time: f64| {
            let time = T::constant(time);
            self.least_gap(system, state, wrenches, free, bodies, time).map(|gap| gap.value())
        };
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
        // The gap is a parabola but for rotation, for which the step is short.
        let width = 1e-4 * time.min(step - time);
        let slope = (gap(time + width)? - gap(time - width)?) / (2.0 * width);
        (slope < 0.0).then_some((time, slope))
    }

    /// The least gap between bodies of the group and anything after they have moved freely for `time`;
    /// leaves them there, in `state` and `free`.
    fn least_gap(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        wrenches: &[T],
        free: &[FreeBody<T>],
        bodies: &[usize],
        time: T,
    ) -> Option<T> {
        self.state.q.clone_from(&state.q);
        self.state.v.clone_from(&state.v);
        self.free.clear();
        self.free.extend_from_slice(free);
        for &body in bodies {
            let wrench = &wrenches[NV * body..NV * (body + 1)];
            let flight = FreeBody::new(system.parameters, state, body, wrench, time);
            flight.advance(&flight.free_velocity, body, &mut self.state);
            let still = [T::zero(); NV];
            let mut landed = FreeBody::new(system.parameters, &self.state, body, &still, T::zero());
            // Points are looked for as far as the step reaches.
            landed.duration = T::constant(system.settings.time_step);
            self.free[body] = landed;
        }
        let involved = |body: usize| bodies.contains(&body);
        let (_, points) = self.contacts.candidates(system, &self.free);
        let own = points.iter().filter(|point| point.bodies().all(involved));
        own.map(|point| point.gap).min_by(|a, b| a.value().total_cmp(&b.value()))
    }
}
