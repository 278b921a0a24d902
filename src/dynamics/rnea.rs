//! Forces from accelerations: the recursive Newton-Euler algorithm (`Featherstone08`, section 5.3).

use super::Kinematics;
use super::links::NONE;
use crate::ad::Real;
use crate::model::{Model, Parameters};
use crate::spatial::{Force, Motion};

/// Scratch memory of [`inverse_dynamics`] and [`bias`].
#[derive(Clone, Debug, Default)]
pub struct Rnea<T> {
    acceleration: Vec<Motion<T>>,
    force: Vec<Force<T>>,
}

/// The generalised forces that give the accelerations `acceleration`: M a + bias, with the armature in
/// M.
pub fn inverse_dynamics<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    scratch: &mut Rnea<T>,
    forces: &mut [T],
) {
    let Rnea { acceleration: spatial, force } = scratch;
    let gravity = Motion::translation(parameters.gravity());
    spatial.clear();
    force.clear();
    for (body, link) in kinematics.bodies.iter().zip(&kinematics.links.bodies) {
        // Without the terms of the velocity, which the kinematics have summed.
        let mut a = if link.parent == NONE { Motion::zero() } else { spatial[link.parent] };
        for k in link.range() {
            a += kinematics.axes[k].motion * acceleration[k];
        }
        spatial.push(a);
        force.push(body.inertia_force(&(a + body.bias_acceleration - gravity)));
    }
    collect(kinematics, force, forces);
    for (index, link) in kinematics.links.bodies.iter().enumerate() {
        if link.nv == 0 {
            continue;
        }
        let armature = parameters.armature(model, index);
        for k in link.range() {
            forces[k] += armature * acceleration[k];
        }
    }
}

/// The generalised forces at which all accelerations are zero: gravity, centrifugal and Coriolis forces
/// with the sign they have in M a + bias = forces.
pub fn bias<T: Real>(
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    scratch: &mut Rnea<T>,
    forces: &mut [T],
) {
    let gravity = Motion::translation(parameters.gravity());
    scratch.force.clear();
    for body in &kinematics.bodies {
        scratch.force.push(body.inertia_force(&(body.bias_acceleration - gravity)));
    }
    collect(kinematics, &mut scratch.force, forces);
}

/// S' f for each velocity, where f sums the forces of the bodies it moves.
fn collect<T: Real>(kinematics: &Kinematics<T>, force: &mut [Force<T>], forces: &mut [T]) {
    for (index, link) in kinematics.links.bodies.iter().enumerate().rev() {
        let f = force[index];
        for k in link.range() {
            forces[k] = kinematics.axes[k].motion.dot(&f);
        }
        if link.parent != NONE {
            force[link.parent] += f;
        }
    }
}
