//! A contact point in numbers of the world: how it meets motions of its bodies, and what its geometry does to that.

use nalgebra::{Matrix3, Vector3};

use super::pose_lanes::{LANES, Lanes};
use crate::collision::ContactPoint;
use crate::contact::{Twist, contact_frame, contact_frame_vjp, friction_heights};
use crate::spatial::Force;

/// The frame of a point and where it is felt on each body, in the world.
pub(super) struct PointFrame {
    /// Normal and both tangents.
    pub directions: [Vector3<f64>; 3],
    /// Of each side, from the centre of mass: along the normal, along the tangents.
    arms: [[Vector3<f64>; 2]; 2],
}

/// The gradient of a number in the geometry of a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PointAdjoint {
    pub normal: Vector3<f64>,
    pub gap: f64,
    pub lowest: f64,
    /// In the bodies.
    pub arms: [Vector3<f64>; 2],
    /// Of turns of each body that leave arms and normal as they are, in the world.
    pub turns: [Vector3<f64>; 2],
}

impl PointAdjoint {
    /// The derivatives of the number in the lanes of a point.
    pub fn along(&self, point: &ContactPoint<Lanes>) -> [f64; LANES] {
        let mut sum = [0.0; LANES];
        let mut add = |weight: f64, number: &Lanes| {
            if weight != 0.0 {
                for (sum, tangent) in sum.iter_mut().zip(number.tangent) {
                    *sum += weight * tangent;
                }
            }
        };
        add(self.gap, &point.gap);
        add(self.lowest, &point.lowest);
        for k in 0..3 {
            add(self.normal[k], &point.normal[k]);
            for (adjoint, arm) in self.arms.iter().zip(&point.arms) {
                add(adjoint[k], &arm[k]);
            }
        }
        sum
    }
}

impl PointFrame {
    /// Of a point between bodies of these rotations (nothing for sides that do not move).
    pub fn new(point: &ContactPoint<f64>, rotations: [Option<&Matrix3<f64>>; 2]) -> Self {
        let [t1, t2] = contact_frame(point.normal);
        let heights = friction_heights(point);
        let arms = [0, 1].map(|side| {
            let own = rotations[side].map_or(Vector3::zeros(), |r| r * point.arms[side]);
            [own, own + point.normal * heights[side]]
        });
        PointFrame { directions: [point.normal, t1, t2], arms }
    }

    /// How fast a side goes along direction `r` under a motion of its body, the first against it.
    pub fn felt(&self, side: usize, r: usize, motion: &Option<Twist>) -> f64 {
        let Some(motion) = motion else { return 0.0 };
        let arm = &self.arms[side][r.min(1)];
        let speed = self.directions[r].dot(&(motion.linear + motion.angular.cross(arm)));
        if side == 0 { -speed } else { speed }
    }

    /// The force on a side, about its centre of mass, that pulls by `weights` along the directions: the gradient
    /// of the sum of [`felt`](Self::felt) with these weights in the motion of the body.
    pub fn pull(&self, side: usize, weights: [f64; 3]) -> Force<f64> {
        let sign = if side == 0 { -1.0 } else { 1.0 };
        let mut force = Force::zero();
        for (r, weight) in weights.into_iter().enumerate().filter(|(_, weight)| *weight != 0.0) {
            force += Force::at(self.directions[r] * (sign * weight), &self.arms[side][r.min(1)]);
        }
        force
    }

    /// The gradient of the sum over all directions and sides of [`felt`](Self::felt), each under a motion of its own,
    /// in the geometry of the point.
    pub fn adjoint(
        &self,
        point: &ContactPoint<f64>,
        rotations: [Option<&Matrix3<f64>>; 2],
        motions: &[[Twist; 3]; 2],
    ) -> PointAdjoint {
        let mut adjoint = PointAdjoint::default();
        let mut directions = [Vector3::zeros(); 3];
        let by_gap = friction_heights(&ContactPoint { gap: 1.0, lowest: 0.0, ..*point });
        let by_lowest = friction_heights(&ContactPoint { gap: 0.0, lowest: 1.0, ..*point });
        let heights = friction_heights(point);
        for side in 0..2 {
            let Some(rotation) = rotations[side] else { continue };
            let sign = if side == 0 { -1.0 } else { 1.0 };
            let [own, level] = self.arms[side];
            let mut arms = [Vector3::zeros(); 2];
            for (r, motion) in motions[side].iter().enumerate() {
                let arm = if r == 0 { own } else { level };
                directions[r] += (motion.linear + motion.angular.cross(&arm)) * sign;
                arms[r.min(1)] += self.directions[r].cross(&motion.angular) * sign;
            }
            let height = point.normal.dot(&arms[1]);
            adjoint.normal += arms[1] * heights[side];
            adjoint.gap += height * by_gap[side];
            adjoint.lowest += height * by_lowest[side];
            let moved = arms[0] + arms[1];
            adjoint.arms[side] = rotation.tr_mul(&moved);
            adjoint.turns[side] = own.cross(&moved);
        }
        let [normal, t1, t2] = self.directions;
        adjoint.normal +=
            directions[0] + contact_frame_vjp(normal, [t1, t2], [directions[1], directions[2]]);
        adjoint
    }
}
