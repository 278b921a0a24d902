//! Accelerations from forces: the articulated-body algorithm (`Featherstone08`, section 7.3).
//!
//! In the common frame of [`Kinematics`] the terms of the velocity can be summed along the path beforehand,
//! and the velocities of a joint be eliminated one after the other, as if bodies without mass stood
//! between them: both save products, the result is the same.

use super::Kinematics;
use super::links::NONE;
use super::mass_factor::SINGULAR;
use crate::ad::Real;
use crate::linalg::FactorError;
use crate::model::{Model, Parameters};
use crate::spatial::{ArticulatedInertia, Force, Motion};

/// Scratch memory of [`forward_dynamics`].
#[derive(Clone, Debug, Default)]
pub struct Aba<T> {
    articulated: Vec<(ArticulatedInertia<T>, Force<T>)>,
    eliminated: Vec<Eliminated<T>>,
    acceleration: Vec<Motion<T>>,
}

/// What is left of a velocity after its elimination: its acceleration is `force - inertia . a` with
/// the acceleration a of what it moves against.
#[derive(Clone, Copy, Debug)]
struct Eliminated<T> {
    inertia: Force<T>,
    force: T,
}

/// The accelerations under the generalised forces `forces`: a = (M + diagonal)^-1 (forces - bias), with the
/// armature in M. A `diagonal` is what an implicit step adds for damping.
///
/// # Errors
/// [`FactorError::Pivot`] with the velocity that has no inertia: a body without mass, or with its mass
/// on the axis only, at the end of a tree. `acceleration` then has no meaning.
pub fn forward_dynamics<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    forces: &[T],
    diagonal: Option<&[T]>,
    scratch: &mut Aba<T>,
    acceleration: &mut [T],
) -> Result<(), FactorError> {
    let Aba { articulated, eliminated, acceleration: spatial } = scratch;
    let gravity = Motion::translation(parameters.gravity());
    articulated.clear();
    for body in &kinematics.bodies {
        let force = body.inertia_force(&(body.bias_acceleration - gravity));
        articulated.push((ArticulatedInertia::from(body.inertia), force));
    }
    let nothing = Eliminated { inertia: Force::zero(), force: T::zero() };
    eliminated.resize(kinematics.axes.len(), nothing);
    for (index, link) in kinematics.links.bodies.iter().enumerate().rev() {
        if !link.moves {
            continue;
        }
        let (mut inertia, mut force) = articulated[index];
        if link.nv > 0 {
            let armature = parameters.armature(model, index);
            // The inertia before the elimination gives the scale of rounding in the pivots.
            let whole = (inertia.linear.trace().value(), inertia.angular.trace().value());
            for k in link.range().rev() {
                let axis = &kinematics.axes[k].motion;
                let mut added = armature;
                if let Some(diagonal) = diagonal {
                    added += diagonal[k];
                }
                let u = inertia * *axis;
                let pivot = axis.dot(&u) + added;
                let bound = SINGULAR * (axis.magnitude(whole) + added.value());
                if !(pivot.value() > bound && pivot.value().is_finite()) {
                    return Err(FactorError::Pivot(k));
                }
                let inverse = pivot.recip();
                let scaled = u * inverse;
                let acceleration = (forces[k] - axis.dot(&force)) * inverse;
                eliminated[k] = Eliminated { inertia: scaled, force: acceleration };
                // The first velocity of a root leaves nothing to pass on.
                if k > link.v || link.parent != NONE {
                    inertia.subtract_square(&u, &scaled);
                    force += u * acceleration;
                }
            }
        }
        if link.parent != NONE {
            let parent = &mut articulated[link.parent];
            parent.0 += inertia;
            parent.1 += force;
        }
    }
    spatial.clear();
    for link in &kinematics.links.bodies {
        let mut a = if link.parent == NONE { Motion::zero() } else { spatial[link.parent] };
        for k in link.range() {
            let Eliminated { inertia, force } = &eliminated[k];
            acceleration[k] = *force - a.dot(inertia);
            a += kinematics.axes[k].motion * acceleration[k];
        }
        spatial.push(a);
    }
    Ok(())
}
