//! Equalities between points as contacts that hold both ways: the rows of a pair of points that coincide are those of a
//! contact whose normal is the x axis, that of a distance is the normal row of a contact along the line between both.
//! What welds have besides, turns, is about the axes of the world.

use nalgebra::{Matrix3, Vector3};

use super::pose_lanes::{Lanes, constant, displaced};
use crate::ad::Real;
use crate::collision::ContactPoint;
use crate::dynamics::FreeMotion;
use crate::linalg::norm;
use crate::model::{EqualityKind, System};
use crate::spatial::left_jacobian;

/// Where an equality holds two points.
pub(super) struct EqualityGeometry {
    pub kind: EqualityKind,
    /// As a contact.
    pub point: ContactPoint<f64>,
    /// The bodies, fixed ones too; nothing is the world.
    pub owners: [Option<usize>; 2],
    /// Both points, each in its body.
    pub anchors: [Vector3<f64>; 2],
    /// From the first to the second in the world.
    apart: Vector3<f64>,
}

impl EqualityGeometry {
    /// Of an equality that is not of joints. Nothing if its row has no derivative: two points at one place have no
    /// direction between them.
    pub fn new(system: &System<f64>, motion: &FreeMotion<f64>, equality: usize) -> Option<Self> {
        let System { model, parameters, .. } = *system;
        let entry = &model.equalities[equality];
        let anchors = parameters.anchors(model, equality);
        let places = [0, 1].map(|k| match entry.bodies[k] {
            Some(body) => motion.bodies[body].position + motion.bodies[body].rotation * anchors[k],
            None => anchors[k],
        });
        let apart = places[1] - places[0];
        let normal = match entry.kind {
            EqualityKind::Distance => apart.try_normalize(0.0)?,
            _ => Vector3::x(),
        };
        let bodies = entry.bodies.map(|body| body.filter(|&b| model.bodies[b].tree.is_some()));
        let arms = [0, 1].map(|k| match bodies[k] {
            Some(body) => anchors[k] - motion.bodies[body].center_of_mass,
            None => Vector3::zeros(),
        });
        let (pair, feature, near) = (usize::MAX, 0, true);
        let point =
            ContactPoint { pair, bodies, feature, gap: 0.0, lowest: 0.0, normal, arms, near };
        Some(EqualityGeometry { kind: entry.kind, point, owners: entry.bodies, anchors, apart })
    }

    /// The same where the body of side `moving` is displaced, with the rotations of both bodies that move.
    pub fn displaced(
        &self,
        motion: &FreeMotion<f64>,
        moving: usize,
    ) -> (ContactPoint<Lanes>, [Option<Matrix3<Lanes>>; 2]) {
        let mut rotations = [None, None];
        let mut normal = self.point.normal.map(Lanes::constant);
        for (side, body) in self.point.bodies.into_iter().enumerate() {
            let Some(body) = body else { continue };
            let body = &motion.bodies[body];
            if side != moving {
                rotations[side] = Some(body.rotation.map(Lanes::constant));
                continue;
            }
            let pose = displaced(body);
            rotations[side] = Some(pose.rotation);
            if self.kind == EqualityKind::Distance {
                let place = |position: Vector3<Lanes>, rotation: Matrix3<Lanes>| {
                    position + rotation * self.anchors[side].map(Lanes::constant)
                };
                let still = constant(body);
                let shift =
                    place(pose.position, pose.rotation) - place(still.position, still.rotation);
                let apart = self.apart.map(Lanes::constant);
                let apart = if side == 0 { apart - shift } else { apart + shift };
                normal = apart / norm(apart.as_slice());
            }
        }
        let ContactPoint { pair, bodies, feature, near, .. } = self.point;
        let zero = Lanes::constant(0.0);
        let arms = self.point.arms.map(|arm| arm.map(Lanes::constant));
        let point =
            ContactPoint { pair, bodies, feature, gap: zero, lowest: zero, normal, arms, near };
        (point, rotations)
    }

    /// The gradient of a number in the way between both points, from that in the direction of a distance.
    pub fn along_line(&self, direction: Vector3<f64>) -> Vector3<f64> {
        let normal = self.point.normal;
        (direction - normal * normal.dot(&direction)) / self.apart.norm()
    }
}

/// How the rotation vector of a weld that is turned by `turned` grows with turns of both bodies, in the world.
pub(super) fn weld_rates(turned: Vector3<f64>) -> Option<[Matrix3<f64>; 2]> {
    // d log(exp(a) R exp(-b)) = J(turned)^-1 a - J(-turned)^-1 b, J the left Jacobian of exp
    let [first, second] = [-turned, turned].map(|x| left_jacobian(x).try_inverse());
    Some([-first?, second?])
}
