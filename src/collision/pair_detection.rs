//! The points where two solids may touch, in the order of their features.

use nalgebra::Vector3;

use super::contact_point::ContactPoint;
use super::dispatch::{half_space_points, near_witnesses, round_witnesses};
use super::{Pose, SurfacePoint, WarmStart, Witness};
use crate::ad::Real;
use crate::dynamics::BodyPose;
use crate::model::{Plane, Solid, System};
use crate::spatial::rotation_matrix;

/// Finds the points of one pair. Holds memory for reuse and nothing else.
#[derive(Clone, Debug)]
pub(crate) struct PairDetection<T> {
    witnesses: Vec<Witness<T>>,
    surface: Vec<SurfacePoint<T>>,
}

impl<T> Default for PairDetection<T> {
    fn default() -> Self {
        PairDetection { witnesses: Vec::new(), surface: Vec::new() }
    }
}

impl<T: Real> PairDetection<T> {
    /// The points of a pair at the poses of the bodies of its two solids (nothing for the world), with
    /// `reach` as for [`witnesses`] and [`half_space_points`]. None of them counts as near. Points over a
    /// half-space whose gap is more than `most` are left out.
    pub fn points(
        &mut self,
        system: &System<T>,
        pair: usize,
        bodies: [Option<&BodyPose<T>>; 2],
        (reach, most): (f64, f64),
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        let (first, second) = model.solids(pair);
        let second_pose = pose(system, bodies[1], second);
        match first {
            Solid::HalfSpace(half_space) => {
                let plane = parameters.plane(model, half_space);
                if let Some(body) = bodies[1] {
                    self.land(system, pair, body, &second_pose, &plane, (reach, most), points);
                }
            }
            Solid::Collider(first) => {
                let poses = [&pose(system, bodies[0], first), &second_pose];
                let from = ([reach; 2], &mut WarmStart::default());
                let _apart = self.collide(system, pair, bodies, poses, from, points);
            }
        }
    }

    /// The points of two colliders, and what [`near_witnesses`] says.
    pub(super) fn collide(
        &mut self,
        system: &System<T>,
        pair: usize,
        poses: [Option<&BodyPose<T>>; 2],
        places: [&Pose<T>; 2],
        (reaches, warm): ([f64; 2], &mut WarmStart),
        points: &mut Vec<ContactPoint<T>>,
    ) -> f64 {
        let System { model, parameters, .. } = *system;
        let (Solid::Collider(first), second) = model.solids(pair) else { return 0.0 };
        let colliders = [first, second];
        self.witnesses.clear();
        let [(one, first_radius), (other, second_radius)] =
            colliders.map(|collider| parameters.core(model, collider));
        let radius = first_radius + second_radius;
        let apart = near_witnesses(
            warm,
            colliders.map(|collider| &model.colliders[collider].shape),
            places,
            [one, other],
            reaches.map(|reach| reach + radius.value()),
            &mut self.witnesses,
        );
        if colliders.iter().any(|&collider| model.colliders[collider].is_swept()) {
            // Cores in each other have points enough.
            if apart == 0.0 && self.witnesses.iter().all(|witness| witness.gap.value() > 0.0) {
                round_witnesses(
                    colliders.map(|collider| &model.colliders[collider].shape),
                    places,
                    [one, other],
                    reaches[1] + radius.value(),
                    &mut self.witnesses,
                );
            }
            for witness in &mut self.witnesses {
                witness.gap -= radius;
                witness.lowest -= radius;
                witness.points[0] += witness.normal * first_radius;
                witness.points[1] -= witness.normal * second_radius;
            }
        }
        let bodies = model.moving_bodies(Solid::Collider(first), second);
        for &Witness { feature, gap, normal, points: at, lowest } in &self.witnesses {
            let arm = |side: usize| {
                let (Some(_), Some(pose)) = (bodies[side], poses[side]) else {
                    return Vector3::zeros();
                };
                pose.rotation.transpose() * (at[side] - pose.position) - pose.center_of_mass
            };
            let arms = [arm(0), arm(1)];
            let near = false;
            points.push(ContactPoint { pair, bodies, feature, gap, lowest, normal, arms, near });
        }
        (apart - radius.value()).max(0.0)
    }

    /// The points of a collider over a half-space.
    #[expect(clippy::too_many_arguments, reason = "a pair, its two solids and how far to look")]
    pub(super) fn land(
        &mut self,
        system: &System<T>,
        pair: usize,
        body: &BodyPose<T>,
        place: &Pose<T>,
        plane: &Plane<T>,
        (reach, most): (f64, f64),
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        let (_, second) = model.solids(pair);
        let collider = &model.colliders[second];
        let (size, radius) = parameters.core(model, second);
        let surface = &mut self.surface;
        surface.clear();
        half_space_points(&collider.shape, size, place, plane, reach + radius.value(), surface);
        let normal = plane.normal;
        if collider.is_swept() {
            let down = place.rotation.transpose() * normal * -radius;
            for point in surface.iter_mut() {
                point.gap -= radius;
                point.lowest -= radius;
                point.at += down;
            }
        }
        let turned = collider.orientation != [1.0, 0.0, 0.0, 0.0];
        let turn = rotation_matrix(collider.orientation).map(T::constant);
        for &SurfacePoint { feature, gap, at, lowest } in surface.iter() {
            if gap.value() > most {
                continue;
            }
            let at = if turned { turn * at } else { at };
            let at = match collider.placed {
                true => at + parameters.collider_position(model, second),
                false => at,
            };
            let arms = [Vector3::zeros(), at - body.center_of_mass];
            let (bodies, near) = ([None, collider.body], false);
            points.push(ContactPoint { pair, bodies, feature, gap, lowest, normal, arms, near });
        }
    }
}

/// Where a collider of a body is, or of the world.
pub(super) fn pose<T: Real>(
    system: &System<T>,
    body: Option<&BodyPose<T>>,
    collider: usize,
) -> Pose<T> {
    let System { model, parameters, .. } = *system;
    let entry = &model.colliders[collider];
    let turned = entry.orientation != [1.0, 0.0, 0.0, 0.0];
    let turn = || rotation_matrix(entry.orientation).map(T::constant);
    let at = || parameters.collider_position(model, collider);
    let Some(&BodyPose { rotation, position, .. }) = body else {
        return Pose { rotation: turn(), position: at() };
    };
    Pose {
        rotation: if turned { rotation * turn() } else { rotation },
        position: if entry.placed { position + rotation * at() } else { position },
    }
}
