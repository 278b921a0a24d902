//! Inverse dynamics in one direction: how the forces change with state, accelerations and parameters.

use nalgebra::{Matrix3, Vector3};

use super::Kinematics;
use super::inertial::InertialParameters;
use super::kinematics::rotated_by_constant;
use super::links::NONE;
use super::regressor::accelerations;
use crate::ad::Real;
use crate::model::{Model, Parameters};
use crate::spatial::{Force, Motion, Symmetric, rotation_matrix};

/// Scratch memory of [`inverse_dynamics_jvp`].
#[derive(Clone, Debug, Default)]
pub struct RneaTangent<T> {
    acceleration: Vec<Motion<T>>,
    bodies: Vec<Change<T>>,
    force: Vec<(Force<T>, Force<T>)>,
    axes: Vec<Motion<T>>,
}

/// How a body is moved, and how its velocity and acceleration change.
#[derive(Clone, Copy, Debug)]
struct Change<T> {
    displacement: Motion<T>,
    velocity: Motion<T>,
    acceleration: Motion<T>,
}

/// A point or a direction in the space of what inverse dynamics depends on.
#[derive(Clone, Copy, Debug)]
pub struct Direction<'a, T> {
    /// Change of the configuration, as the tangent vector of [`State::moved`](crate::state::State::moved).
    pub dq: &'a [T],
    /// Change of the velocity.
    pub dv: &'a [T],
    /// Change of the acceleration.
    pub da: &'a [T],
    /// Change of all parameters.
    pub parameters: &'a Parameters<T>,
}

/// `d forces` of [`inverse_dynamics`](super::inverse_dynamics) in a direction, in time linear in the
/// number of bodies; overwritten. `acceleration` is that it is at.
pub fn inverse_dynamics_jvp<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    direction: Direction<T>,
    scratch: &mut RneaTangent<T>,
    dforces: &mut [T],
) {
    let Direction { dq, dv, da, parameters: change } = direction;
    let velocity = &kinematics.velocity;
    let RneaTangent { acceleration: spatial, bodies, force, axes } = scratch;
    accelerations(parameters, kinematics, acceleration, spatial);
    bodies.clear();
    force.clear();
    axes.clear();
    let gravity = Motion::translation(change.gravity());
    for (index, (body, link)) in kinematics.bodies.iter().zip(&kinematics.links.bodies).enumerate()
    {
        let mut d = match link.parent {
            NONE => Change {
                displacement: Motion::zero(),
                velocity: Motion::zero(),
                acceleration: -gravity,
            },
            parent => bodies[parent],
        };
        // The axis moves with the body, but where the anchor changes also against it.
        let mut against = Motion::zero();
        if link.fixed_axes == 0 {
            let (parent, before) = frame_before_joint(model, kinematics, index);
            let (place, anchor) = (change.position(model, index), change.anchor(model, index));
            against.linear = body.rotation * anchor;
            d.displacement.linear += parent * place + before * anchor - against.linear;
        }
        for k in link.range() {
            d.displacement += kinematics.axes[k].motion * dq[k];
        }
        let carried_by = d.displacement + against;
        for k in link.range() {
            let axis = &kinematics.axes[k].motion;
            let fixed = k < link.v + link.fixed_axes;
            let moved = if fixed { Motion::zero() } else { carried_by.cross(axis) };
            d.velocity += moved * velocity[k] + *axis * dv[k];
            axes.push(moved);
        }
        for k in link.range() {
            let (axis, moved) = (&kinematics.axes[k], axes[k]);
            d.acceleration += moved * acceleration[k] + axis.motion * da[k] + axis.rate * dv[k];
            if k >= link.v + link.fixed_axes {
                let rate = d.velocity.cross(&axis.motion) + body.velocity.cross(&moved);
                d.acceleration += rate * velocity[k];
            }
        }
        bodies.push(d);

        let (v, a, x) = (&body.velocity, &spatial[index], &d.displacement);
        let own = InertialParameters {
            mass: parameters.mass(model, index),
            center_of_mass: parameters.center_of_mass(model, index),
            inertia: Symmetric::from_lower(&parameters.inertia(model, index)),
        };
        let by = InertialParameters {
            mass: change.mass(model, index),
            center_of_mass: change.center_of_mass(model, index),
            inertia: Symmetric::from_lower(&change.inertia(model, index)),
        };
        let arm = body.position - body.origin;
        let dinertia = own.linear_tangent(&by).rotated(&body.rotation).shifted(&arm);
        // d(I m) = X x* I m - I (X x m) + dI m + I dm
        let product = |m: &Motion<T>, dm: &Motion<T>| {
            x.cross_force(&(body.inertia * *m)) + body.inertia * (*dm - x.cross(m)) + dinertia * *m
        };
        let momentum = body.inertia * *v;
        let df = product(a, &d.acceleration)
            + d.velocity.cross_force(&momentum)
            + v.cross_force(&product(v, &d.velocity));
        force.push((body.inertia_force(a), df));
    }
    for (index, link) in kinematics.links.bodies.iter().enumerate().rev() {
        let (f, df) = force[index];
        if link.parent != NONE {
            let parent = &mut force[link.parent];
            parent.0 += f;
            parent.1 += df;
        }
        for k in link.range() {
            dforces[k] = axes[k].dot(&f)
                + kinematics.axes[k].motion.dot(&df)
                + parameters.armature(model, index) * da[k]
                + change.armature(model, index) * acceleration[k];
        }
    }
}

/// Rotations to the world of a body's parent, and of the body if its joint were at 0.
pub(super) fn frame_before_joint<T: Real>(
    model: &Model,
    kinematics: &Kinematics<T>,
    index: usize,
) -> (Matrix3<T>, Matrix3<T>) {
    let body = &model.bodies[index];
    match body.parent {
        Some(parent) => {
            let parent = kinematics.bodies[parent].rotation;
            (parent, rotated_by_constant(&parent, body.joint.orientation))
        }
        None => (Matrix3::identity(), rotation_matrix(body.joint.orientation.map(T::constant))),
    }
}

/// The rotation vector (rad, body) of a change `dq` of the quaternion `q`: 2 conj(q) dq without its real
/// part, which leaves the unit quaternions.
pub(super) fn turn_of<T: Real>(q: &[T], dq: &[T]) -> Vector3<T> {
    let twice = |x: T| x + x;
    Vector3::new(
        twice(q[0] * dq[1] - q[1] * dq[0] - q[2] * dq[3] + q[3] * dq[2]),
        twice(q[0] * dq[2] + q[1] * dq[3] - q[2] * dq[0] - q[3] * dq[1]),
        twice(q[0] * dq[3] - q[1] * dq[2] + q[2] * dq[1] - q[3] * dq[0]),
    )
}
