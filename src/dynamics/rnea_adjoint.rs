//! Inverse dynamics backwards: gradients of weighted forces in state, accelerations and parameters.

use nalgebra::Vector3;

use super::Kinematics;
use super::coriolis::Coriolis;
use super::derivatives::base;
use super::inertial::InertialParameters;
use super::links::NONE;
use super::regressor::{LocalMotion, accelerations};
use super::rnea_tangent::frame_before_joint;
use crate::ad::Real;
use crate::model::{Model, Parameters};
use crate::spatial::{Force, Motion};

/// Scratch memory of [`inverse_dynamics_vjp`].
#[derive(Clone, Debug, Default)]
pub struct RneaAdjoint<T> {
    acceleration: Vec<Motion<T>>,
    /// The velocity that each body would have if the weights were velocities.
    weight: Vec<Motion<T>>,
    sums: Vec<Sums<T>>,
}

/// Sums over the bodies that hang on one: the force f; I W; 2 B' W.
#[derive(Clone, Copy, Debug)]
struct Sums<T> {
    force: Force<T>,
    inertia: Force<T>,
    coriolis: Vector3<T>,
}

impl<T: Real> Sums<T> {
    /// Z, with Z . S the derivative of the weighted forces as a body is moved by S with all that hang on it,
    /// against something with velocity `v`, acceleration `a` and weight `w`.
    ///
    /// w . (S x* f) + (I W) . (a x S + v x (v x S)) + (2 B' W) . (v x S): see
    /// [`inverse_dynamics_derivatives`](super::inverse_dynamics_derivatives).
    fn displacement(&self, w: &Motion<T>, v: &Motion<T>, a: &Motion<T>) -> Force<T> {
        let by_rate = self.coriolis() - v.cross_force(&self.inertia);
        -w.cross_force(&self.force) - a.cross_force(&self.inertia) - v.cross_force(&by_rate)
    }

    fn coriolis(&self) -> Force<T> {
        Force { linear: Vector3::zeros(), angular: self.coriolis }
    }
}

/// Adjoints of what inverse dynamics depends on; added to.
#[derive(Debug)]
pub struct Gradient<'a, T> {
    /// Gradient in the configuration, by the tangent vector of [`State::moved`](crate::state::State::moved).
    pub q: &'a mut [T],
    /// Gradient in the velocity.
    pub v: &'a mut [T],
    /// Gradient in the acceleration.
    pub a: &'a mut [T],
    /// Gradient in the values of all parameters.
    pub parameters: &'a mut [T],
}

/// The gradient of `weights . forces` of [`inverse_dynamics`](super::inverse_dynamics), in time linear in
/// the number of bodies. `acceleration` is that it is at.
pub fn inverse_dynamics_vjp<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    kinematics: &Kinematics<T>,
    acceleration: &[T],
    weights: &[T],
    scratch: &mut RneaAdjoint<T>,
    gradient: Gradient<T>,
) {
    let RneaAdjoint { acceleration: spatial, weight, sums } = scratch;
    accelerations(parameters, kinematics, acceleration, spatial);
    weight.clear();
    sums.clear();
    let bodies = || kinematics.bodies.iter().zip(&kinematics.links.bodies).enumerate();
    for (index, (body, link)) in bodies() {
        let mut w = if link.parent == NONE { Motion::zero() } else { weight[link.parent] };
        for k in link.range() {
            w += kinematics.axes[k].motion * weights[k];
        }
        weight.push(w);
        sums.push(Sums {
            force: body.inertia_force(&spatial[index]),
            inertia: body.inertia * w,
            coriolis: Coriolis::new(body).twice_transposed(&w),
        });
        if !link.moves {
            continue;
        }
        let local = LocalMotion::new(body, &spatial[index]);
        let own = InertialParameters::of(model, parameters, index);
        let slot = model.body_slot(index);
        let added = own.pull_back(&local.gradient(body, &w));
        for (gradient, added) in gradient.parameters[slot..].iter_mut().zip(added) {
            *gradient += added;
        }
    }
    for (index, (body, link)) in bodies().rev() {
        if !link.moves {
            continue;
        }
        let own = sums[index];
        let gravity = Motion::translation(parameters.gravity());
        let mut w = Motion::zero();
        let mut above = -gravity;
        if link.parent != NONE {
            let parent = &mut sums[link.parent];
            parent.force += own.force;
            parent.inertia += own.inertia;
            parent.coriolis += own.coriolis;
            (w, above) = (weight[link.parent], spatial[link.parent]);
        } else {
            for k in 0..3 {
                gradient.parameters[k] -= own.inertia.linear[k];
            }
        }
        let (velocity, accelerated) = base(kinematics, body, link, above, acceleration);
        for (axis, &weight) in kinematics.axes[link.fixed()].iter().zip(&weights[link.fixed()]) {
            w += axis.motion * weight;
        }
        let moved = own.displacement(&w, &velocity, &accelerated);
        let by_rate = own.coriolis() - velocity.cross_force(&own.inertia);
        let joint = model.joint_slots(index);
        for k in link.range() {
            let axis = &kinematics.axes[k];
            gradient.q[k] += axis.motion.dot(&moved);
            gradient.v[k] += axis.rate.dot(&own.inertia) + axis.motion.dot(&by_rate);
            gradient.a[k] +=
                axis.motion.dot(&own.inertia) + parameters.armature(model, index) * weights[k];
            if let Some(slots) = &joint {
                gradient.parameters[slots.armature] += weights[k] * acceleration[k];
            }
        }
        let Some(slots) = joint.filter(|_| link.fixed_axes == 0) else { continue };
        let (parent, before) = frame_before_joint(model, kinematics, index);
        let after = own.displacement(&weight[index], &body.velocity, &spatial[index]);
        let place = parent.tr_mul(&moved.linear);
        let anchor = before.tr_mul(&moved.linear) - body.rotation.tr_mul(&after.linear);
        for k in 0..3 {
            gradient.parameters[slots.position + k] += place[k];
            gradient.parameters[slots.anchor + k] += anchor[k];
        }
    }
}
