//! How motions of the bodies of a tree, and forces on them, change with its configuration at fixed
//! velocities.
//!
//! The subtree of a joint that moves by S moves along with it, its axes too: with `base` the velocity of the frame
//! that the joint moves against, the velocity V of a body changes by S x (V - base). Translations of a free joint
//! are along axes fixed in the world, which move with nothing.

use super::Kinematics;
use super::links::NONE;
use crate::ad::Real;
use crate::spatial::{Force, Motion};

/// Scratch memory of [`Kinematics::kinetic_energy_gradient`].
#[derive(Clone, Debug, Default)]
pub(crate) struct EnergyGradient<T> {
    velocities: Vec<Motion<T>>,
    bases: Vec<Motion<T>>,
    momenta: Vec<Force<T>>,
}

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

    /// The gradient of the kinetic energy of a tree of `bodies` under `velocities` (the first of which is
    /// `first`) in its configuration: half of v' dM v.
    pub(crate) fn kinetic_energy_gradient(
        &self,
        bodies: &[usize],
        (first, velocities): (usize, &[T]),
        scratch: &mut EnergyGradient<T>,
        gradient: &mut [T],
    ) {
        let EnergyGradient { velocities: moved, bases, momenta } = scratch;
        moved.clear();
        bases.clear();
        momenta.clear();
        let place = |body: usize| bodies.binary_search(&body).ok();
        for &body in bodies {
            let link = &self.links.bodies[body];
            let mut velocity = match place(link.parent) {
                Some(parent) => moved[parent],
                None => Motion::zero(),
            };
            for k in link.fixed() {
                velocity += self.axes[k].motion * velocities[k - first];
            }
            bases.push(velocity);
            for k in link.v + link.fixed_axes..link.v + link.nv {
                velocity += self.axes[k].motion * velocities[k - first];
            }
            moved.push(velocity);
            momenta.push(self.bodies[body].inertia * velocity);
        }
        for (at, &body) in bodies.iter().enumerate().rev() {
            let link = &self.links.bodies[body];
            for k in link.range() {
                gradient[k - first] = bases[at].cross(&self.axes[k].motion).dot(&momenta[at]);
            }
            if let Some(parent) = place(link.parent) {
                let own = momenta[at];
                momenta[parent] += own;
            }
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
