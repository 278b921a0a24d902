//! Inverse dynamics is linear in the inertial parameters: forces = Y(q, v, a) p (`Atkeson86`).

use nalgebra::Vector3;

use super::links::NONE;
use super::{BodyKinematics, Kinematics};
use crate::ad::Real;
use crate::model::Parameters;
use crate::spatial::Motion;

/// Inertial parameters of a body in which the dynamics is linear: see
/// [`InertialParameters::linear`](super::InertialParameters::linear).
pub const INERTIAL_PARAMETERS: usize = 10;

/// The regressor Y: row-major, as many rows as there are velocities, ten columns a body; overwritten.
///
/// Y p with the [linear parameters](super::InertialParameters::linear) p of all bodies is what
/// [`inverse_dynamics`](super::inverse_dynamics) finds without the armature.
pub fn regressor<T: Real>(
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    scratch: &mut Vec<Motion<T>>,
    regressor: &mut [T],
) {
    regressor.fill(T::zero());
    accelerations(parameters, kinematics, acceleration, scratch);
    let columns = INERTIAL_PARAMETERS * kinematics.bodies.len();
    for (index, (body, a)) in kinematics.bodies.iter().zip(&*scratch).enumerate() {
        let local = LocalMotion::new(body, a);
        for &k in kinematics.path(index) {
            let row = local.gradient(body, &kinematics.axes[k].motion);
            let start = k * columns + INERTIAL_PARAMETERS * index;
            regressor[start..start + INERTIAL_PARAMETERS].copy_from_slice(&row);
        }
    }
}

/// The accelerations of all bodies less that of gravity, in the world about the origins of their trees.
pub(super) fn accelerations<T: Real>(
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    accelerations: &mut Vec<Motion<T>>,
) {
    let gravity = Motion::translation(parameters.gravity());
    accelerations.clear();
    for (body, link) in kinematics.bodies.iter().zip(&kinematics.links.bodies) {
        let mut a = body.bias_acceleration - gravity;
        if link.parent != NONE {
            let parent = &kinematics.bodies[link.parent];
            a += accelerations[link.parent] - (parent.bias_acceleration - gravity);
        }
        for k in link.range() {
            a += kinematics.axes[k].motion * acceleration[k];
        }
        accelerations.push(a);
    }
}

/// The motion of a body in its own frame, of its origin.
pub(super) struct LocalMotion<T> {
    /// Acceleration of the material point at the origin, less gravity.
    acceleration: Vector3<T>,
    angular_acceleration: Vector3<T>,
    angular_velocity: Vector3<T>,
}

impl<T: Real> LocalMotion<T> {
    pub(super) fn new(body: &BodyKinematics<T>, acceleration: &Motion<T>) -> Self {
        let arm = body.position - body.origin;
        let angular = &body.velocity.angular;
        let point = acceleration.at(&arm) + angular.cross(&body.velocity.at(&arm));
        LocalMotion {
            acceleration: body.rotation.tr_mul(&point),
            angular_acceleration: body.rotation.tr_mul(&acceleration.angular),
            angular_velocity: body.rotation.tr_mul(angular),
        }
    }

    /// How the power in the motion `m` (world, about the origin of the tree) of the force that the body
    /// needs changes with its ten linear parameters.
    ///
    /// force = m a + al x h + w x (w x h), moment = h x a + I al + w x I w, about the body's origin.
    #[inline]
    pub(super) fn gradient(&self, body: &BodyKinematics<T>, m: &Motion<T>) -> [T; 10] {
        let (a, al, w) = (&self.acceleration, &self.angular_acceleration, &self.angular_velocity);
        let linear = body.rotation.tr_mul(&m.at(&(body.position - body.origin)));
        let x = body.rotation.tr_mul(&m.angular);
        let h = linear.cross(al) + w.cross(&w.cross(&linear)) + a.cross(&x);
        let y = x.cross(w);
        let diagonal = |i: usize| x[i] * al[i] + y[i] * w[i];
        let off = |i: usize, k: usize| x[i] * al[k] + x[k] * al[i] + y[i] * w[k] + y[k] * w[i];
        [
            linear.dot(a),
            h.x,
            h.y,
            h.z,
            diagonal(0),
            diagonal(1),
            diagonal(2),
            off(0, 1),
            off(0, 2),
            off(1, 2),
        ]
    }
}
