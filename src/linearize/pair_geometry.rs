//! The geometry of a pair of solids in contact on duals: how its points change with the pose of a body, six lanes
//! of displacements, or with the numbers of both solids, six lanes at most.

use nalgebra::Matrix3;

use super::pose_lanes::{LANES, Lanes, constant, displaced};
use crate::ad::Real;
use crate::collision::{ContactPoint, PairDetection};
use crate::contact::{Constraint, Contacts, Island};
use crate::dynamics::FreeMotion;
use crate::model::{Parameters, Solid, System};

/// Scratch memory.
#[derive(Default)]
pub(super) struct PairGeometry {
    parameters: Parameters<Lanes>,
    values: Vec<f64>,
    pair: PairDetection<Lanes>,
}

/// A pair of a step that was solved, and how far away its furthest point is.
pub(super) struct PairOf<'a> {
    pub system: &'a System<'a, f64>,
    pub motion: &'a FreeMotion<f64>,
    pub contacts: &'a Contacts<f64>,
    pub pair: usize,
    pub furthest: f64,
}

impl<'a> PairOf<'a> {
    /// A pair that has points in an island.
    pub fn new(
        system: &'a System<'a, f64>,
        (motion, contacts): (&'a FreeMotion<f64>, &'a Contacts<f64>),
        island: &Island,
        pair: usize,
    ) -> Self {
        let points = island.constraints.iter().filter_map(|&k| match contacts.constraint(k) {
            Constraint::Point(point) if point.pair == pair => Some(point.gap),
            _ => None,
        });
        let furthest = points.fold(f64::NEG_INFINITY, f64::max);
        PairOf { system, motion, contacts, pair, furthest }
    }
}

/// The first of three slots of each solid of a pair that its points depend on: sizes of a collider, offset and tilts
/// of a half-space.
pub(super) fn solid_slots(system: &System<f64>, pair: usize) -> [usize; 2] {
    let model = system.model;
    let (first, second) = model.solids(pair);
    let first = match first {
        Solid::HalfSpace(half_space) => model.half_space_slot(half_space),
        Solid::Collider(first) => model.collider_slot(first),
    };
    [first, model.collider_slot(second)]
}

impl PairGeometry {
    /// Takes the parameters of a system.
    pub fn start(&mut self, system: &System<f64>) {
        if self.values != system.parameters.values {
            self.values.clone_from(&system.parameters.values);
            system.parameters.cast_into(&mut self.parameters);
        }
    }

    /// The points where the body of side `moving` is displaced, with the rotations of both bodies.
    pub fn displaced(
        &mut self,
        of: &PairOf,
        moving: usize,
        points: &mut Vec<ContactPoint<Lanes>>,
        rotations: &mut [Option<Matrix3<Lanes>>; 2],
    ) {
        self.find(of, Some(moving), points, Some(rotations));
    }

    /// The points where the numbers of both solids vary, in the order of [`solid_slots`], three lanes each.
    pub fn resized(&mut self, of: &PairOf, points: &mut Vec<ContactPoint<Lanes>>) {
        let slots = solid_slots(of.system, of.pair);
        for (solid, slot) in slots.into_iter().enumerate() {
            for k in 0..LANES / 2 {
                let value = self.values[slot + k];
                self.parameters.values[slot + k] = Lanes::variable(value, LANES / 2 * solid + k);
            }
        }
        self.find(of, None, points, None);
        for slot in slots {
            for k in slot..slot + LANES / 2 {
                self.parameters.values[k] = Lanes::constant(self.values[k]);
            }
        }
    }

    fn find(
        &mut self,
        of: &PairOf,
        moving: Option<usize>,
        points: &mut Vec<ContactPoint<Lanes>>,
        rotations: Option<&mut [Option<Matrix3<Lanes>>; 2]>,
    ) {
        points.clear();
        let System { model, settings, .. } = *of.system;
        let (first, second) = model.solids(of.pair);
        let bodies = model.moving_bodies(first, second);
        let owners = [
            match first {
                Solid::Collider(first) => model.colliders[first].body,
                Solid::HalfSpace(_) => None,
            },
            model.colliders[second].body,
        ];
        let pose = |side: usize| {
            let body = &of.motion.bodies[owners[side]?];
            Some(if moving == Some(side) { displaced(body) } else { constant(body) })
        };
        // One by one: arrays of such size are slow to be passed about.
        let (first, second) = (pose(0), pose(1));
        let poses = [first.as_ref(), second.as_ref()];
        if let Some(rotations) = rotations {
            for (turn, (body, pose)) in rotations.iter_mut().zip(bodies.iter().zip(poses)) {
                *turn = body.and(pose).map(|pose| pose.rotation);
            }
        }
        let reach = of.contacts.reach(of.system, of.motion, of.pair);
        // Not to lose the furthest by rounding.
        let reach = (reach, of.furthest + 1e-9 * of.furthest.abs());
        let system = System { model, parameters: &self.parameters, settings };
        self.pair.points(&system, of.pair, poses, reach, points);
    }
}
