//! Steps split at the time of impact.
//!
//! The time-stepping map resolves the time of an impact to the step: a ball that is dropped from a little
//! higher strikes in the same step, from a little higher, so the derivative of its apex in the height of
//! the drop is 1, and not the e² of the continuous motion. With `split_impacts`, bodies that are in
//! flight and strike something go on freely up to the time of impact, rebound in an instant, and make
//! the rest of the step as any other. The time is a number like all others, with derivatives.
//!
//! Split are groups of bodies whose first impact has restitution that outlasts the step; once a step. Everything
//! else is left to the step: trees with joints, impacts without restitution, and further impacts in the
//! rest of the step.
//!
//! Bodies that rest or slide on something when they strike something else go on up to the impact under the
//! forces with which it would hold them over the whole step, had they nothing to strike, and keep in touch
//! with it in the impact.
//!
//! # Velocities of half a step
//! The points of q+ = q + dt v+ lie on the parabola of the motion, whose velocity at the time of q is
//! v + a dt / 2, a the acceleration: v belongs to half a step before. Inside a split step bodies follow that
//! parabola, so that a bounce neither loses nor gains height by the steps, and have its velocity at
//! the impact; afterwards v is taken half a step back again.

use nalgebra::Vector3;

use super::flight::Flight;
use super::splits::Splits;
use crate::ad::Real;
use crate::argmin::Mode;
use crate::contact::{ContactRecord, Contacts, IslandReport, rebound_speed};
use crate::dynamics::{FreeBody, FreeMotion};
use crate::model::{Parameters, System};
use crate::state::{NV, State};

/// Bodies that may strike something in the step.
#[derive(Clone, Debug, Default)]
struct Group {
    bodies: Vec<usize>,
    /// Whether none of them touches anything.
    flies: bool,
    /// Pairs with restitution in which they are apart, and fast enough to rebound.
    apart: Vec<usize>,
}

/// Memory for what happens before the rest of a step.
pub(super) struct Impacts<T: Real> {
    contacts: Contacts<T>,
    groups: Vec<Group>,
    /// The motion up to the impact, on values and in T.
    search: Flight<f64>,
    exact: Flight<T>,
    parameters: Parameters<f64>,
    state: State<f64>,
    inputs: Vec<f64>,
    /// The inputs with what bodies are held by, group by group: none looks at those of another.
    acting: Vec<T>,
    /// The points that hold them, pair and feature.
    holding: Vec<(usize, usize)>,
    /// What these would do over the whole step.
    held: Vec<(usize, Vector3<T>)>,
    /// Of each tree that was split what takes its velocity half a step back, if it ends in flight.
    pub back: Vec<(usize, [T; 3])>,
    /// What struck in the step.
    pub records: Vec<ContactRecord>,
    /// The impulses of these, and of what held bodies up to them, on the second solid of each pair, in the world, N s.
    pub impulses: Vec<(usize, Vector3<T>)>,
    /// How the impacts were solved.
    pub reports: Vec<IslandReport>,
    /// When it was split, and what.
    pub splits: Splits,
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
            inputs: Vec::new(),
            acting: Vec::new(),
            holding: Vec::new(),
            held: Vec::new(),
            back: Vec::new(),
            records: Vec::new(),
            impulses: Vec::new(),
            reports: Vec::new(),
            splits: Splits::default(),
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
        self.impulses.clear();
        self.reports.clear();
        self.splits.clear();
    }

    /// Replaces the bodies of `motion` that strike something within the step by themselves after the
    /// impact, with the rest of the step before them. `known` is where the same step was split on values.
    pub fn split(
        &mut self,
        system: &System<T>,
        state: &State<T>,
        motion: &mut FreeMotion<T>,
        known: Option<&Splits>,
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
        let System { model, settings, .. } = *system;
        let values = System { model, parameters: &self.parameters, settings };
        self.search.start(&values, &self.state);
        self.exact.start(system, state);
        let inputs = std::mem::take(&mut motion.inputs);
        value(&mut self.inputs, &inputs);
        self.acting.clear();
        self.acting.extend_from_slice(&inputs);
        let start = (state, &inputs[..]);
        for index in 0..count {
            let group = std::mem::take(&mut self.groups[index]);
            self.holding.clear();
            self.held.clear();
            let split =
                group.flies && self.split_group(system, start, motion, (&group, None), known);
            if !split && !group.apart.is_empty() {
                self.hold(system, motion, &group);
                let pairs = Some(&group.apart[..]);
                self.split_group(system, start, motion, (&group, pairs), known);
            }
            self.groups[index] = group;
        }
        motion.inputs = inputs;
    }

    /// The groups that may strike something; returns how many there are.
    fn find_groups(&mut self, system: &System<T>, motion: &FreeMotion<T>) -> usize {
        let System { model, parameters, settings } = *system;
        let weight = parameters.gravity().map(|x| x.value()).norm() * settings.time_step;
        let (islands, points) = self.contacts.candidates(system, motion);
        let mut count = 0;
        for island in islands {
            let flies = |&tree: &usize| motion.lone_of(tree).is_some_and(|free| !free.prescribed);
            if !island.trees.iter().all(flies) {
                continue;
            }
            if count == self.groups.len() {
                self.groups.push(Group::default());
            }
            let group = &mut self.groups[count];
            let own = || island.constraints.iter().filter_map(|&k| points.get(k));
            group.flies = own().all(|point| point.gap.value() > 0.0);
            group.apart.clear();
            for point in own() {
                let sides = point.bodies.iter().zip(&point.arms);
                let speed: f64 = sides
                    .filter_map(|(body, arm)| {
                        let pose = &motion.bodies[(*body)?];
                        let arm = arm.map(|x| x.value()).norm();
                        Some(pose.speed.linear + pose.speed.angular * arm)
                    })
                    .sum();
                let rebound = rebound_speed(system, point.pair, T::constant(speed));
                if rebound.value() > weight && !group.apart.contains(&point.pair) {
                    group.apart.push(point.pair);
                }
            }
            group.apart.retain(|&pair| {
                own().filter(|point| point.pair == pair).all(|point| point.gap.value() > 0.0)
            });
            if group.flies || !group.apart.is_empty() {
                group.bodies.clear();
                group.bodies.extend(island.trees.iter().map(|&tree| model.trees[tree].bodies[0]));
                count += 1;
            }
        }
        count
    }

    /// Adds to the inputs on a group what would hold it over the step if it struck nothing.
    fn hold(&mut self, system: &System<T>, motion: &FreeMotion<T>, group: &Group) {
        let System { model, parameters, settings } = *system;
        self.contacts.resolve_without(system, motion, &group.bodies, &group.apart);
        self.held.extend(self.contacts.world_impulses(system, motion));
        let touching = self.contacts.records.iter().filter(|record| record.mode != Mode::Break);
        self.holding.extend(touching.map(|record| (record.pair, record.feature)));
        for &body in &group.bodies {
            let Some(free) = model.bodies[body].tree.and_then(|tree| motion.lone_of(tree)) else {
                continue;
            };
            let v = model.bodies[body].joint.v;
            let change: [T; NV] =
                std::array::from_fn(|k| self.contacts.velocities[v + k] - free.free_velocity[k]);
            let mass = parameters.mass(model, body) / settings.time_step;
            let force = Vector3::new(change[0], change[1], change[2]) * mass;
            let turn = Vector3::new(change[3], change[4], change[5]);
            // The wrench is about the origin of the body.
            let torque = parameters.inertia(model, body) * turn / T::constant(settings.time_step)
                + free.center_of_mass.cross(&(free.rotation.transpose() * force));
            let acting = force.iter().chain(torque.iter());
            for (wrench, &own) in self.acting[v..v + NV].iter_mut().zip(acting) {
                *wrench += own;
            }
        }
    }

    /// Splits the step of a group at its first impact (in `pairs`, where given); whether there is one that
    /// rebounds.
    fn split_group(
        &mut self,
        system: &System<T>,
        (state, inputs): (&State<T>, &[T]),
        motion: &mut FreeMotion<T>,
        (group, pairs): (&Group, Option<&[usize]>),
        known: Option<&Splits>,
    ) -> bool {
        let step = system.settings.time_step;
        let bodies = &group.bodies[..];
        for &body in bodies {
            let v = system.model.bodies[body].joint.v;
            let acting = self.acting[v..v + NV].iter();
            self.inputs[v..v + NV].iter_mut().zip(acting).for_each(|(to, x)| *to = x.value());
        }
        let found = match known {
            Some(known) => known.times.get(self.splits.times.len()).copied().flatten(),
            None => self.time_of_impact(system, (bodies, pairs)),
        };
        self.splits.times.push(found);
        let Some((time, slope)) = found else { return false };
        // Each Newton step in T with the slope of the values gains one order of derivatives, but for
        // the error of the slope; one more squares that.
        let mut exact = T::constant(time);
        let mut gap = T::zero();
        for _ in 0..T::ORDER + 2 {
            exact -= gap / slope;
            let among = (bodies, pairs);
            let Some(found) = self.exact.least_gap(system, state, &self.acting, among, exact)
            else {
                return false;
            };
            gap = found;
        }
        // Faces that meet squarely do so at once, whatever rounding says: with bodies that rest on something,
        // what is less than a step behind strikes with the first.
        let late = if pairs.is_some() { 1.0 } else { CLOSED };
        let closed = gap.value().max(0.0) + late * step * slope.abs();
        let holding = &self.holding;
        self.contacts.strike(system, &self.exact.motion, bodies, |point| {
            match pairs.is_none_or(|pairs| pairs.contains(&point.pair)) {
                true => point.gap.value() <= closed,
                false => holding.contains(&(point.pair, point.feature)),
            }
        });
        if !self.contacts.records.iter().any(|record| record.target.rebounds()) {
            return false;
        }
        self.records.extend_from_slice(&self.contacts.records);
        self.impulses.extend(self.contacts.world_impulses(system, &self.exact.motion));
        // Up to the impact bodies are held.
        let part = exact / step;
        self.impulses.extend(self.held.iter().map(|&(pair, impulse)| (pair, impulse * part)));
        self.reports.extend(self.contacts.reports());
        let rest = T::constant(step) - exact;
        for &body in bodies {
            let (model, parameters) = (system.model, system.parameters);
            let v = model.bodies[body].joint.v;
            self.exact.place(model, body, &self.contacts.velocities[v..v + NV]);
            let wrench = &inputs[v..v + NV];
            let driven = (wrench, motion.damping(v..v + NV));
            let mut after = FreeBody::new(model, parameters, &self.exact.state, body, driven, rest);
            let acting = self.acting[v..v + NV].iter();
            if acting.zip(wrench).all(|(a, b)| a.value() == b.value()) {
                // z + w t + a t²/2 with the velocity at the end of the rest, w + a t / 2.
                let acceleration = self.exact.accelerations[body];
                for (v, a) in after.free_velocity.iter_mut().zip(acceleration) {
                    *v -= a * (rest * 0.5);
                }
                let tree = model.bodies[body].tree.unwrap_or(0);
                self.back.push((tree, acceleration.map(|a| a * (exact * -0.5))));
            }
            self.splits.trees.extend(model.bodies[body].tree);
            motion.replace(model, body, after);
        }
        true
    }

    /// Takes the velocities of a tree that was split half a step back, where it ends in flight.
    pub fn take_back(&self, tree: usize, velocities: &mut [T]) {
        if let Some((_, back)) = self.back.iter().find(|(split, _)| *split == tree) {
            velocities.iter_mut().zip(back).for_each(|(v, &back)| *v += back);
        }
    }

    /// When the first point of a group closes, s, and how fast, m/s; on values, by the secant method
    /// (Illinois). Nothing if none does, or next to the ends of the step.
    fn time_of_impact(
        &mut self,
        system: &System<T>,
        among: (&[usize], Option<&[usize]>),
    ) -> Option<(f64, f64)> {
        let step = system.settings.time_step;
        let Impacts { search, parameters, state, inputs, .. } = self;
        let system = System { model: system.model, parameters, settings: system.settings };
        let mut gap = |time: f64| search.least_gap(&system, state, inputs, among, time);
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
