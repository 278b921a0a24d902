//! A free rigid body over one step, without contact.
//!
//! Inside a step its velocity is that of the centre of mass in the world and the angular velocity
//! in the body, in which the mass matrix is constant and block diagonal. The state's velocity is
//! that of the body origin; the change of coordinates happens here, at the start and at the end of
//! the step, each with the orientation of its time, so that its rate term is exact.
//!
//! # The gyroscopic term
//! Forces and contacts change the angular velocity to w with the body as it stands at the start, in which
//! they act; then the body turns freely. The free angular velocity w+ solves
//! I w+ = exp(-dt (w + w+) / 2) I w, and the body turns by dt (w + w+) / 2. Then the angular momentum in the
//! world, R I w, is conserved, and so is the energy: a rotation about w + w+ leaves (w + w+) . I w as it is,
//! hence w+ . I w+ = w . I w. (The explicit term gains energy, 28 % in a second for a spinning 1:2:4 box at
//! 10 ms; the implicit Euler one loses as much.) Turns of more than a radian are made in equal parts.
//!
//! Impacts and turns are apart because a thin body that lands rolls: at a radius of 1 mm by 10 rad in a step
//! of 10 ms. Its other two angular velocities, seen from the body, point somewhere else at the end of
//! such a step, and a contact that takes them for those at its start neither holds nor keeps energy.

use nalgebra::{Matrix3, Vector3};

use super::free_rotation::{FreeRotation, FreeRotationDerivative};
use crate::ad::Real;
use crate::linalg::{cholesky, solve_lower, solve_lower_transpose};
use crate::model::{Joint, Model, Parameters};
use crate::spatial::{Quaternion, cross_matrix, exp, normalized, product, rotation_matrix};
use crate::state::{NQ, NV, State};

/// The root of the mass of a body whose velocity is prescribed: so large that no impulse moves it by a bit, and small enough that no
/// product overflows.
pub(super) const PRESCRIBED_ROOT: f64 = 1e30;

/// A body at the start of a step, and its velocity at the end if nothing touches it.
///
/// One whose velocity is prescribed has that as its velocity without contact, and a mass of 1e60 kg: conditions and
/// their derivatives need not know of it.
#[derive(Clone, Debug)]
pub struct FreeBody<T> {
    /// Rotation from body to world.
    pub rotation: Matrix3<T>,
    /// Rotation from body to world, as a quaternion.
    pub orientation: Quaternion<T>,
    /// Position of the origin in the world, m.
    pub position: Vector3<T>,
    /// Centre of mass in the body, m.
    pub center_of_mass: Vector3<T>,
    /// Velocity at the start: of the centre of mass in the world, m/s; angular in the body, rad/s.
    pub velocity: [T; NV],
    /// Velocity at the end without contact, v_p of `LeLidec21`, in the same coordinates.
    pub free_velocity: [T; NV],
    /// How long the step is, s.
    pub duration: T,
    /// L with M = L L', row-major.
    pub mass_factor: [T; NV * NV],
    /// About the centre of mass, kg m².
    pub(super) inertia: Matrix3<T>,
    /// Whether mass and inertia are positive definite.
    pub admissible: bool,
    /// Whether its velocity is prescribed.
    pub prescribed: bool,
}

/// Derivatives of the momenta of a [`FreeBody`] without contact: linear in the world, angular in the body.
/// Turns are rotation vectors in the body. What is not here: both gain inputs
/// [so many times](FreeBody::momentum_by_input).
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeBodyDerivatives<T> {
    /// Derivative of the linear momentum in the velocity of the origin: the mass.
    pub linear_speed: T,
    /// Derivative of the linear momentum in turns.
    pub linear_turn: Matrix3<T>,
    /// Derivative of the linear momentum in the angular velocity.
    pub linear_spin: Matrix3<T>,
    /// Derivative of the angular momentum in turns.
    pub angular_turn: Matrix3<T>,
    /// Derivative of the angular momentum in the angular velocity: the inertia.
    pub angular_spin: Matrix3<T>,
    /// Derivative of the angular momentum in the force on the origin.
    pub angular_force: Matrix3<T>,
}

impl<T: Real> FreeBodyDerivatives<T> {
    /// Of a body whose velocity does not depend on the state.
    fn of_prescribed() -> Self {
        let zero = Matrix3::zeros();
        FreeBodyDerivatives {
            linear_speed: T::zero(),
            linear_turn: zero,
            linear_spin: zero,
            angular_turn: zero,
            angular_spin: zero,
            angular_force: zero,
        }
    }
}

/// Derivatives of the end of a step of a [`FreeBody`], in changes of its pose at the start and of the velocity
/// (v, w) of the centre of mass and angular, after all that acts on it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeBodyEnd<T> {
    rotation: FreeRotationDerivative<T>,
    center_turn: Matrix3<T>,
    center: Matrix3<T>,
    velocity_turn: Matrix3<T>,
    duration: T,
}

impl<T: Real> FreeBodyEnd<T> {
    /// The change of position, orientation, velocity and angular velocity at the end, as tangent vectors of
    /// the state, that changes of position and orientation at the start make together with those of the
    /// velocities (v, w).
    pub fn change(
        &self,
        [position, turn]: [Vector3<T>; 2],
        [v, w]: [Vector3<T>; 2],
    ) -> [Vector3<T>; 4] {
        let turned = self.rotation.turn * turn + self.rotation.turn_by_spin * w;
        let w = self.rotation.spin * w;
        let center = position + self.center_turn * turn + v * self.duration;
        // The origin is the centre of mass less R+ c, and its velocity less R+ (w x c).
        [
            center + self.center * turned,
            turned,
            v + self.velocity_turn * turned + self.center * w,
            w,
        ]
    }
}

impl<T: Real> FreeBody<T> {
    /// The free body `body` of `state` over `duration` seconds under gravity and the generalised force
    /// `wrench` (force on the origin in the world, N; torque in the body, N m), or at that velocity (of the origin in the world, m/s;
    /// angular in the body, rad/s) if it is prescribed. `damping`: how the force falls with the velocities of
    /// the state, to which the step is implicit; empty if it does not.
    pub fn new(
        model: &Model,
        parameters: &Parameters<T>,
        state: &State<T>,
        body: usize,
        (wrench, damping): (&[T], &[T]),
        duration: T,
    ) -> Self {
        if model.is_prescribed(body) {
            return FreeBody::prescribed(&model.bodies[body].joint, state, wrench, duration);
        }
        let (mass, inertia) = (parameters.mass(model, body), parameters.inertia(model, body));
        let c = parameters.center_of_mass(model, body);
        let Joint { q, v, .. } = model.bodies[body].joint;
        let (q, v) = (&state.q[q..q + NQ], &state.v[v..v + NV]);
        let orientation = [q[3], q[4], q[5], q[6]];
        let rotation = rotation_matrix(orientation);
        let w = Vector3::new(v[3], v[4], v[5]);
        let v = Vector3::new(v[0], v[1], v[2]) + rotation * w.cross(&c);

        let zero = T::zero();
        let mut mass_factor = [zero; NV * NV];
        let root = mass.sqrt();
        let mut block = [zero; 9];
        for i in 0..3 {
            for k in 0..3 {
                block[3 * i + k] = inertia[(i, k)];
            }
        }
        // Checked positive definite on reading; if a fit has led out of that, say so.
        let mut admissible = mass.value() > 0.0 && cholesky(&mut block, 3);
        for i in 0..3 {
            mass_factor[i * NV + i] = root;
            for k in 0..=i {
                mass_factor[(3 + i) * NV + 3 + k] = block[3 * i + k];
            }
        }

        let force = Vector3::new(wrench[0], wrench[1], wrench[2]);
        let torque = Vector3::new(wrench[3], wrench[4], wrench[5]);
        // About the centre of mass, in the body.
        let mut kick = torque - c.cross(&(rotation.transpose() * force));
        if admissible {
            solve_lower(&block, 3, kick.as_mut_slice());
            solve_lower_transpose(&block, 3, kick.as_mut_slice());
        }
        let linear = v + (parameters.gravity() + force / mass) * duration;
        let angular = w + kick * duration;
        let mut free_velocity = [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z];
        if admissible && damping.iter().any(|x| !x.vanishes()) {
            // (M + dt T'D T) v_p = M v_p without damping; the origin goes at T v = [v + R (c x w); w].
            let arm = rotation * cross_matrix(c);
            let mut momentum = [zero; NV];
            let turned = inertia * angular;
            for i in 0..3 {
                momentum[i] = mass * linear[i];
                momentum[3 + i] = turned[i];
            }
            let mut damped = [zero; NV * NV];
            for i in 0..3 {
                damped[i * NV + i] = mass + duration * damping[i];
                damped[(3 + i) * NV + 3 + i] = duration * damping[3 + i];
                for k in 0..3 {
                    damped[(3 + i) * NV + k] = arm[(k, i)] * damping[k] * duration;
                    damped[(3 + i) * NV + 3 + k] += inertia[(i, k)];
                    for j in 0..3 {
                        damped[(3 + i) * NV + 3 + k] +=
                            arm[(j, i)] * damping[j] * arm[(j, k)] * duration;
                    }
                }
            }
            admissible = cholesky(&mut damped, NV);
            if admissible {
                mass_factor = damped;
                solve_lower(&mass_factor, NV, &mut momentum);
                solve_lower_transpose(&mass_factor, NV, &mut momentum);
                free_velocity = momentum;
            }
        }
        FreeBody {
            rotation,
            orientation,
            position: Vector3::new(q[0], q[1], q[2]),
            center_of_mass: c,
            velocity: [v.x, v.y, v.z, w.x, w.y, w.z],
            free_velocity,
            duration,
            mass_factor,
            inertia,
            admissible,
            prescribed: false,
        }
    }

    /// A body that goes at a given velocity.
    fn prescribed(joint: &Joint, state: &State<T>, velocity: &[T], duration: T) -> Self {
        let (q, v) = (&state.q[joint.q..joint.q + NQ], &state.v[joint.v..joint.v + NV]);
        let orientation = [q[3], q[4], q[5], q[6]];
        let mut mass_factor = [T::zero(); NV * NV];
        (0..NV).for_each(|i| mass_factor[i * NV + i] = T::constant(PRESCRIBED_ROOT));
        FreeBody {
            rotation: rotation_matrix(orientation),
            orientation,
            position: Vector3::new(q[0], q[1], q[2]),
            center_of_mass: Vector3::zeros(),
            velocity: std::array::from_fn(|k| v[k]),
            free_velocity: std::array::from_fn(|k| velocity[k]),
            duration,
            mass_factor,
            // It turns about one axis.
            inertia: Matrix3::identity(),
            admissible: true,
            prescribed: true,
        }
    }

    /// How its momentum without contact grows with an input, along that: by the time that a force acts, or the mass for a velocity.
    pub(crate) fn momentum_by_input(&self) -> T {
        match self.prescribed {
            true => T::constant(PRESCRIBED_ROOT * PRESCRIBED_ROOT),
            false => self.duration,
        }
    }

    /// How the momenta without contact, M v_p, change with the state and the applied force.
    pub(crate) fn momentum_derivatives(&self, mass: T, wrench: &[T]) -> FreeBodyDerivatives<T> {
        if self.prescribed {
            return FreeBodyDerivatives::of_prescribed();
        }
        let (r, c, dt) = (self.rotation, self.center_of_mass, self.duration);
        let w = Vector3::new(self.velocity[3], self.velocity[4], self.velocity[5]);
        let force = r.transpose() * Vector3::new(wrench[0], wrench[1], wrench[2]);
        FreeBodyDerivatives {
            linear_speed: mass,
            linear_turn: r * cross_matrix(w.cross(&c)) * -mass,
            linear_spin: r * cross_matrix(c) * -mass,
            // The torque of a force at the origin is -c x R'f.
            angular_turn: cross_matrix(c) * cross_matrix(force) * -dt,
            angular_spin: self.inertia,
            angular_force: cross_matrix(c) * r.transpose() * -dt,
        }
    }

    /// How the state at the end of the step changes with that at its start and with the velocity
    /// `velocity` after all that acts, as [`advance`](Self::advance) goes. Nothing if the free rotation has no
    /// derivative.
    pub(crate) fn end_derivatives(&self, velocity: &[T]) -> Option<FreeBodyEnd<T>> {
        let c = self.center_of_mass;
        let turns = self.free_rotation(velocity);
        let (step, angular) = turns.end()?;
        let rotation = self.rotation * rotation_matrix(step);
        Some(FreeBodyEnd {
            rotation: turns.derivative()?,
            center_turn: self.rotation * cross_matrix(c) * -T::one(),
            center: rotation * cross_matrix(c),
            velocity_turn: rotation * cross_matrix(angular.cross(&c)),
            duration: self.duration,
        })
    }

    /// The free rotation that a step ends with.
    pub(super) fn free_rotation(&self, velocity: &[T]) -> FreeRotation<T> {
        let spin = Vector3::new(velocity[3], velocity[4], velocity[5]);
        FreeRotation::new(self.inertia, spin, self.duration)
    }

    /// Writes the body's part of the state at the end of the step, which starts at `q` and `v` there,
    /// given its velocity after all that acts: q+ = q (+) dt v+. False if its rotation is not found; then it goes
    /// on turning as at the start.
    #[must_use]
    pub fn advance(&self, velocity: &[T], q: usize, v: usize, next: &mut State<T>) -> bool {
        let dt = self.duration;
        let linear = Vector3::new(velocity[0], velocity[1], velocity[2]);
        let c = self.center_of_mass;
        let center = self.position + self.rotation * c + linear * dt;
        let turns = self.free_rotation(velocity);
        let found = turns.end();
        let (turn, angular) = found.unwrap_or_else(|| (exp(turns.spin * dt), turns.spin));
        let orientation = normalized(product(self.orientation, turn));
        let rotation = rotation_matrix(orientation);
        let origin = center - rotation * c;
        let velocity = linear - rotation * angular.cross(&c);
        next.q[q..q + 3].copy_from_slice(origin.as_slice());
        next.q[q + 3..q + NQ].copy_from_slice(&orientation);
        next.v[v..v + 3].copy_from_slice(velocity.as_slice());
        next.v[v + 3..v + NV].copy_from_slice(angular.as_slice());
        found.is_some()
    }
}
