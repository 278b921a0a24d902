//! What a contact point does to given motions of its bodies: the rows of J contracted with velocities and
//! with impulses, as a function of the poses alone. Its derivative is all that Jacobians of a step need of
//! the geometry.

use nalgebra::{Matrix3, Vector3};

use super::constraint::{contact_frame, friction_heights};
use crate::ad::Real;
use crate::collision::ContactPoint;

/// How a body moves: velocity of its centre of mass (m/s) and angular velocity (rad/s), both in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Twist {
    /// Velocity of the centre of mass.
    pub linear: Vector3<f64>,
    /// Angular velocity.
    pub angular: Vector3<f64>,
}

/// What a point does at the poses it was found at. Sides that do not move have nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PointAction<T> {
    /// How fast the second side moves against the first, along the normal and both tangents, m/s.
    pub velocity: [T; 3],
    /// The same along the normal under each of two further motions.
    pub others: [T; 2],
    /// The impulse on the second body, in the world, N s; its opposite acts on the first.
    pub force: Vector3<T>,
    /// The moment of the impulse on each body about its centre of mass, in the world, N m s.
    pub moments: [Vector3<T>; 2],
}

/// Of `point`, found with bodies of these `rotations` (to the world; nothing for sides that do not move),
/// under `motions`: that of the velocities, and two others, of both sides; and an `impulse` along the contact
/// frame. Motions and impulse are held in the world.
pub(crate) fn point_action<T: Real>(
    point: &ContactPoint<T>,
    rotations: [Option<&Matrix3<T>>; 2],
    motions: &[[Twist; 2]; 3],
    impulse: [f64; 3],
) -> PointAction<T> {
    let normal = point.normal;
    let [t1, t2] = contact_frame(normal);
    let heights = friction_heights(point);
    let friction = t1 * T::constant(impulse[1]) + t2 * T::constant(impulse[2]);
    let pressure = normal * T::constant(impulse[0]);
    let mut action = PointAction {
        velocity: [T::zero(); 3],
        others: [T::zero(); 2],
        force: pressure + friction,
        moments: [Vector3::zeros(); 2],
    };
    for (side, sign) in [(0, -1.0), (1, 1.0)] {
        let Some(rotation) = rotations[side] else { continue };
        let own = rotation * point.arms[side];
        let level = own + normal * heights[side];
        let [velocity, others @ ..] = motions.map(|motion| motion[side]);
        action.velocity[0] += normal.dot(&at(velocity, &own)) * sign;
        let along = at(velocity, &level);
        action.velocity[1] += t1.dot(&along) * sign;
        action.velocity[2] += t2.dot(&along) * sign;
        for (sum, other) in action.others.iter_mut().zip(others) {
            if other != Twist::default() {
                *sum += normal.dot(&at(other, &own)) * sign;
            }
        }
        let moment = own.cross(&pressure) + level.cross(&friction);
        action.moments[side] = if side == 0 { -moment } else { moment };
    }
    action
}

/// The velocity at `arm` from the centre of mass, both in the world.
fn at<T: Real>(twist: Twist, arm: &Vector3<T>) -> Vector3<T> {
    let (v, w) = (twist.linear, twist.angular);
    Vector3::new(
        arm.z * w.y - arm.y * w.z + v.x,
        arm.x * w.z - arm.z * w.x + v.y,
        arm.y * w.x - arm.x * w.y + v.z,
    )
}
