//! How motions of the bodies of a tree, and forces on them, change with its configuration at fixed
//! velocities.
//!
//! The subtree of a joint that moves by S moves along with it, its axes too: with `base` the velocity of the frame
//! that the joint moves against, the velocity V of a body changes by S x (V - base). Translations of a free joint
//! are along axes fixed in the world, which move with nothing.

use nalgebra::Vector3;

use super::Kinematics;
use super::links::NONE;
use super::rnea_tangent::frame_before_joint;
use crate::ad::Real;
use crate::model::Model;
use crate::spatial::{Force, Motion};

/// Velocities of the tree that are held, and the force whose power in them counts.
pub(crate) type HeldMotion<'a, T> = (&'a [T], Force<T>);

impl<T: Real> Kinematics<T> {
    /// The velocity of a body under `velocities` (those of its tree, the first of which is `first`) and, for
    /// each velocity on its [`path`](Self::path), how it changes with the coordinate that this one moves. Both
    /// in the world about the origin of the tree.
    pub(crate) fn motion_derivatives(
        &self,
        body: usize,
        (first, velocities): (usize, &[T]),
        changes: &mut Vec<(usize, Motion<T>)>,
    ) -> Motion<T> {
        changes.clear();
        let mut below = Motion::zero();
        let mut index = body;
        while index != NONE {
            let link = &self.links.bodies[index];
            for k in link.v + link.fixed_axes..link.v + link.nv {
                below += self.axes[k].motion * velocities[k - first];
            }
            for k in link.range().rev() {
                changes.push((k, self.axes[k].motion.cross(&below)));
            }
            for k in link.fixed() {
                below += self.axes[k].motion * velocities[k - first];
            }
            index = link.parent;
        }
        below
    }

    /// The transpose of [`motion_derivatives`](Self::motion_derivatives), of a body that is displaced besides: the
    /// gradient of the power of each force in the motion of `body` under its velocities (as there), with
    /// `displacement` what a displacement of the body adds to it, both in the world about the origin of the tree. Added
    /// to the adjoints of the coordinates of all joints and of all parameters. Returns the same of displacements of the
    /// whole tree. `scratch` holds a motion for each force.
    pub(crate) fn motion_vjp(
        &self,
        model: &Model,
        body: usize,
        (first, held): (usize, &[HeldMotion<T>]),
        displacement: Force<T>,
        scratch: &mut Vec<Motion<T>>,
        (to_q, to_parameters): (&mut [T], &mut [T]),
    ) -> Vector3<T> {
        scratch.clear();
        scratch.resize(held.len(), Motion::zero());
        let moved = |below: &[Motion<T>]| {
            let terms = below.iter().zip(held);
            terms.fold(displacement, |sum, (below, (_, force))| sum + below.cross_force(force))
        };
        let mut index = body;
        loop {
            let link = &self.links.bodies[index];
            let after = moved(scratch);
            for (below, (velocities, _)) in scratch.iter_mut().zip(held) {
                for k in link.v + link.fixed_axes..link.v + link.nv {
                    *below += self.axes[k].motion * velocities[k - first];
                }
            }
            let carried = moved(scratch);
            for k in link.range() {
                to_q[k] += self.axes[k].motion.dot(&carried);
            }
            for (below, (velocities, _)) in scratch.iter_mut().zip(held) {
                for k in link.fixed() {
                    *below += self.axes[k].motion * velocities[k - first];
                }
            }
            if link.fixed_axes == 0 {
                let shifts = (&carried.linear, &after.linear);
                self.add_place(model, index, shifts, to_parameters);
            }
            if link.parent == NONE {
                return carried.linear;
            }
            index = link.parent;
        }
    }

    /// Adds the adjoints of the position and the anchor of a body's joint where displacements of what hangs on it count
    /// by `carried`, and those of the body against its joint by `after` less.
    pub(super) fn add_place(
        &self,
        model: &Model,
        body: usize,
        (carried, after): (&Vector3<T>, &Vector3<T>),
        to_parameters: &mut [T],
    ) {
        let Some(slots) = model.joint_slots(body) else { return };
        let (parent, before) = frame_before_joint(model, self, body);
        let place = parent.tr_mul(carried);
        let anchor = before.tr_mul(carried) - self.bodies[body].rotation.tr_mul(after);
        for k in 0..3 {
            to_parameters[slots.position + k] += place[k];
            to_parameters[slots.anchor + k] += anchor[k];
        }
    }

    /// How the generalised forces of `forces` change with the configuration, each of which acts on one of the
    /// `bodies` of a tree and is fixed in the world (about the origin of the tree): calls `add(j, k, change)`
    /// with the change of the force along velocity j with the coordinate that velocity k moves. `forces` is
    /// used up.
    pub(crate) fn force_derivatives(
        &self,
        bodies: &[usize],
        forces: &mut [Force<T>],
        mut add: impl FnMut(usize, usize, T),
    ) {
        for (at, &body) in bodies.iter().enumerate().rev() {
            let link = &self.links.bodies[body];
            let force = forces[at];
            for j in link.v + link.fixed_axes..link.v + link.nv {
                // (S_k x S_j) . f = (S_j x* f) . S_k
                let turned = self.axes[j].motion.cross_force(&force);
                for &k in self.links.path(link.last) {
                    add(j, k, self.axes[k].motion.dot(&turned));
                }
            }
            if let Ok(parent) = bodies.binary_search(&link.parent) {
                forces[parent] += force;
            }
        }
    }
}
