//! How bodies are turned, by quaternions.

use crate::ad::Real;
use crate::model::{JointKind, Model};
use crate::spatial::{Quaternion, product};
use crate::state::State;

/// Quaternion of a body in the world, by its joints.
pub(super) fn orientation<T: Real>(model: &Model, state: &State<T>, body: usize) -> Quaternion<T> {
    let entry = &model.bodies[body];
    let q = &state.q[entry.joint.q..];
    if entry.joint.kind == JointKind::Free {
        return [q[3], q[4], q[5], q[6]];
    }
    let base = match entry.parent {
        Some(parent) => orientation(model, state, parent),
        None => [T::one(), T::zero(), T::zero(), T::zero()],
    };
    let base = product(base, entry.joint.orientation.map(T::constant));
    match entry.joint.kind {
        JointKind::Ball => product(base, [q[0], q[1], q[2], q[3]]),
        kind if kind.turns() => {
            let half = q[0] * 0.5;
            let (sin, axis) = (half.sin(), entry.joint.axis);
            product(base, [half.cos(), sin * axis.x, sin * axis.y, sin * axis.z])
        }
        _ => base,
    }
}
