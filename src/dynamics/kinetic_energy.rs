//! How twice the kinetic energy of a tree, v' M v, changes with its configuration and its numbers at fixed velocities.

use nalgebra::Vector3;

use super::links::NONE;
use super::{InertialParameters, Kinematics};
use crate::ad::Real;
use crate::model::{Model, Parameters};
use crate::spatial::{Force, Motion, Symmetric};

/// Scratch memory of [`Kinematics::kinetic_energy_gradient`]: what each body of the model does.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnergyGradient<T> {
    moves: Vec<Moving<T>>,
}

/// How a body moves, about the origin of its tree.
#[derive(Clone, Copy, Debug)]
struct Moving<T> {
    velocity: Motion<T>,
    /// Of what its joint moves against.
    base: Motion<T>,
    /// With all that hang on it.
    momentum: Force<T>,
}

impl<T: Real> Moving<T> {
    fn still() -> Self {
        Moving { velocity: Motion::zero(), base: Motion::zero(), momentum: Force::zero() }
    }
}

/// Sums of gradients under many velocities: what is of each body is carried on to joints and parameters once.
#[derive(Clone, Debug, Default)]
pub(crate) struct EnergyAdjoint<T> {
    parts: EnergyGradient<T>,
    bodies: Vec<BodySums<T>>,
    /// Of each velocity.
    squares: Vec<T>,
}

/// Sums over the velocities, of one body, in the world.
#[derive(Clone, Copy, Debug)]
struct BodySums<T> {
    /// Of what hangs on its joint: the gradient in displacements of that.
    carried: Force<T>,
    /// The same if the joint moved too.
    after: Vector3<T>,
    /// v . v, v x w and w w' of its origin.
    mass: T,
    moment: Vector3<T>,
    inertia: Symmetric<T>,
}

impl<T: Real> BodySums<T> {
    fn zero() -> Self {
        BodySums {
            carried: Force::zero(),
            after: Vector3::zeros(),
            mass: T::zero(),
            moment: Vector3::zeros(),
            inertia: Symmetric::zero(),
        }
    }
}

impl<T: Real> EnergyAdjoint<T> {
    /// Forgets all sums.
    pub fn start(&mut self, model: &Model) {
        self.bodies.clear();
        self.bodies.resize(model.bodies.len(), BodySums::zero());
        self.squares.clear();
        self.squares.resize(model.nv(), T::zero());
    }

    /// The sum of `scale` v² of each velocity: how what was added changes with the diagonal of M.
    pub fn squares(&self) -> &[T] {
        &self.squares
    }
}

impl<T: Real> Kinematics<T> {
    /// The gradient of the kinetic energy of a tree of `bodies` under `velocities` (the first of which is
    /// `first`) in its configuration: half of v' dM v.
    pub(crate) fn kinetic_energy_gradient(
        &self,
        bodies: &[usize],
        (first, velocities): (usize, &[T]),
        scratch: &mut EnergyGradient<T>,
        gradient: &mut [T],
    ) {
        self.momenta(bodies, (first, velocities), scratch);
        for &body in bodies {
            let Moving { base, momentum, .. } = &scratch.moves[body];
            for k in self.links.bodies[body].range() {
                gradient[k - first] = base.cross(&self.axes[k].motion).dot(momentum);
            }
        }
    }

    /// Finds velocities and momenta of all bodies of a tree.
    fn momenta(
        &self,
        bodies: &[usize],
        (first, velocities): (usize, &[T]),
        scratch: &mut EnergyGradient<T>,
    ) {
        let moves = &mut scratch.moves;
        moves.resize(self.bodies.len(), Moving::still());
        for &body in bodies {
            let link = &self.links.bodies[body];
            let mut velocity = match link.parent {
                NONE => Motion::zero(),
                parent => moves[parent].velocity,
            };
            for k in link.fixed() {
                velocity += self.axes[k].motion * velocities[k - first];
            }
            let base = velocity;
            for k in link.v + link.fixed_axes..link.v + link.nv {
                velocity += self.axes[k].motion * velocities[k - first];
            }
            let momentum = self.bodies[body].inertia * velocity;
            moves[body] = Moving { velocity, base, momentum };
        }
        for &body in bodies.iter().rev() {
            let parent = self.links.bodies[body].parent;
            if parent != NONE {
                let own = moves[body].momentum;
                moves[parent].momentum += own;
            }
        }
    }

    /// Adds `scale` v' M v of a tree to what [`finish_kinetic_energy`](Self::finish_kinetic_energy) differentiates.
    pub(crate) fn add_kinetic_energy(
        &self,
        bodies: &[usize],
        (first, velocities): (usize, &[T]),
        scale: T,
        sums: &mut EnergyAdjoint<T>,
    ) {
        let EnergyAdjoint { parts, bodies: all, squares } = sums;
        self.momenta(bodies, (first, velocities), parts);
        let twice = -(scale + scale);
        for &body in bodies {
            let (own, sums) = (&self.bodies[body], &mut all[body]);
            let Moving { velocity, base, momentum } = &parts.moves[body];
            let momentum = *momentum * twice;
            // (base x S) . p = -S . (base x* p)
            sums.carried += base.cross_force(&momentum);
            sums.after += velocity.angular.cross(&momentum.linear);
            let (v, w) = (velocity.at(&(own.position - own.origin)), velocity.angular);
            sums.mass += scale * v.dot(&v);
            sums.moment += v.cross(&w) * scale;
            sums.inertia += Symmetric::square(scale, &w);
        }
        for (sum, &v) in squares[first..].iter_mut().zip(velocities) {
            *sum += scale * v * v;
        }
    }

    /// Adds the gradient of the energies that were added, M with armature, to the adjoints of coordinates and of all parameters. See
    /// [`EnergyAdjoint::squares`] for what is of damping.
    pub(crate) fn finish_kinetic_energy(
        &self,
        (model, parameters): (&Model, &Parameters<T>),
        bodies: &[usize],
        sums: &EnergyAdjoint<T>,
        (to_q, to_parameters): (&mut [T], &mut [T]),
    ) {
        for &body in bodies {
            let (link, own) = (&self.links.bodies[body], &sums.bodies[body]);
            for k in link.range() {
                to_q[k] += self.axes[k].motion.dot(&own.carried);
            }
            let rotation = &self.bodies[body].rotation;
            let h = rotation.tr_mul(&own.moment) * T::constant(2.0);
            let i = own.inertia.rotated(&rotation.transpose());
            let linear =
                [own.mass, h.x, h.y, h.z, i.xx, i.yy, i.zz, i.xy + i.xy, i.xz + i.xz, i.yz + i.yz];
            let added = InertialParameters::of(model, parameters, body).pull_back(&linear);
            let slot = model.body_slot(body);
            for (to, added) in to_parameters[slot..].iter_mut().zip(added) {
                *to += added;
            }
            let Some(slots) = model.joint_slots(body) else { continue };
            for &square in &sums.squares[link.range()] {
                to_parameters[slots.armature] += square;
            }
            if link.fixed_axes == 0 {
                let shifts = (&own.carried.linear, &own.after);
                self.add_place(model, body, shifts, to_parameters);
            }
        }
    }
}
