//! Poses of bodies on duals: three displacements of the centre of mass and three turns, in the world.

use nalgebra::{Matrix3, Vector3};

use crate::ad::{Dual, Real};
use crate::contact::Twist;
use crate::dynamics::BodyPose;

/// Three displacements, three turns.
pub(super) const LANES: usize = 6;
pub(super) type Lanes = Dual<f64, LANES>;

/// The lanes of a dual along a displacement.
pub(super) fn along(tangent: &[f64; LANES], pose: &Twist) -> f64 {
    let [a, b, c, d, e, f] = *tangent;
    a * pose.linear.x
        + b * pose.linear.y
        + c * pose.linear.z
        + d * pose.angular.x
        + e * pose.angular.y
        + f * pose.angular.z
}

/// The rotation of a body, turned in the last three lanes about the axes of the world.
fn turned(body: &BodyPose<f64>) -> Matrix3<Lanes> {
    let r = &body.rotation;
    // d(R) = e_k x R
    Matrix3::from_fn(|i, j| {
        let column = [r[(0, j)], r[(1, j)], r[(2, j)]];
        Lanes::new(r[(i, j)], lanes(i, Vector3::from(column)))
    })
}

/// Component `i` of e_k x `arm` in the lanes of turns.
fn lanes(i: usize, arm: Vector3<f64>) -> [f64; LANES] {
    let mut tangent = [0.0; LANES];
    for k in 0..3 {
        let mut unit = Vector3::zeros();
        unit[k] = 1.0;
        tangent[3 + k] = unit.cross(&arm)[i];
    }
    tangent
}

/// A body displaced and turned about its centre of mass.
pub(super) fn displaced(body: &BodyPose<f64>) -> BodyPose<Lanes> {
    let arm = body.rotation * -body.center_of_mass;
    let position = Vector3::from_fn(|i, _| {
        let mut tangent = lanes(i, arm);
        tangent[i] = 1.0;
        Lanes::new(body.position[i], tangent)
    });
    BodyPose { rotation: turned(body), position, ..constant(body) }
}

/// A body that stays.
pub(super) fn constant(body: &BodyPose<f64>) -> BodyPose<Lanes> {
    BodyPose {
        rotation: body.rotation.map(Lanes::constant),
        position: body.position.map(Lanes::constant),
        center_of_mass: body.center_of_mass.map(Lanes::constant),
        tree: body.tree,
        speed: body.speed,
    }
}
