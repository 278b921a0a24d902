//! A step of a free body backwards: adjoints of what it starts from, by the transposes of the derivatives in
//! [`free_body`](super::free_body), in all numbers of the body besides.

use nalgebra::{Matrix3, Vector3};

use super::FreeBody;
use crate::ad::Real;
use crate::model::{Model, Parameters};
use crate::spatial::rotation_matrix;
use crate::state::NV;

/// Adjoints of what a step of a [`FreeBody`] depends on; they are added to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FreeBodyAdjoint<T> {
    /// Of the position of the origin.
    pub position: Vector3<T>,
    /// Of turns, as rotation vectors in the body.
    pub turn: Vector3<T>,
    /// Of the velocity of the origin.
    pub velocity: Vector3<T>,
    /// Of the angular velocity.
    pub spin: Vector3<T>,
    /// Of the duration, as far as the end of the step goes.
    pub duration: T,
    /// Of the force on the origin.
    pub force: Vector3<T>,
    /// Of the torque.
    pub torque: Vector3<T>,
    /// Of gravity.
    pub gravity: Vector3<T>,
    /// Of the mass.
    pub mass: T,
    /// Of the centre of mass.
    pub center: Vector3<T>,
    /// Of the inertia, b a' for each b . (inertia a).
    pub inertia: Matrix3<T>,
}

impl<T: Real> Default for FreeBodyAdjoint<T> {
    fn default() -> Self {
        let zero = Vector3::zeros();
        FreeBodyAdjoint {
            position: zero,
            turn: zero,
            velocity: zero,
            spin: zero,
            duration: T::zero(),
            force: zero,
            torque: zero,
            gravity: zero,
            mass: T::zero(),
            center: zero,
            inertia: Matrix3::zeros(),
        }
    }
}

impl<T: Real> FreeBodyAdjoint<T> {
    /// Of the velocity of the centre of mass at the start.
    pub fn add_center_velocity(&mut self, free: &FreeBody<T>, adjoint: Vector3<T>) {
        let (c, w) = (free.center_of_mass, spin(&free.velocity));
        // v of the centre of mass is that of the origin and R (w x c).
        let local = free.rotation.tr_mul(&adjoint);
        self.velocity += adjoint;
        self.spin += c.cross(&local);
        self.turn += w.cross(&c).cross(&local);
        self.center += local.cross(&w);
    }

    /// Takes the `scale`-fold of b . M a apart: with what mass and inertia it grows.
    pub fn add_momentum(&mut self, scale: T, b: &[T], a: &[T]) {
        for k in 0..3 {
            self.mass += scale * b[k] * a[k];
        }
        self.add_inertia(spin(b) * scale, spin(a));
    }

    fn add_inertia(&mut self, b: Vector3<T>, a: Vector3<T>) {
        self.inertia += b * a.transpose();
    }

    /// Adds what is of the body's numbers to the adjoints of all parameters; of one that is led these do not count.
    pub fn add_parameters(&self, model: &Model, body: usize, parameters: &mut [T]) {
        if model.is_prescribed(body) {
            return;
        }
        for (adjoint, &gravity) in parameters.iter_mut().zip(&self.gravity) {
            *adjoint += gravity;
        }
        let own = &mut parameters[model.body_slot(body)..];
        let i = &self.inertia;
        let numbers = [
            self.mass,
            self.center.x,
            self.center.y,
            self.center.z,
            i[(0, 0)],
            i[(1, 1)],
            i[(2, 2)],
            i[(0, 1)] + i[(1, 0)],
            i[(0, 2)] + i[(2, 0)],
            i[(1, 2)] + i[(2, 1)],
        ];
        own.iter_mut().zip(numbers).for_each(|(sum, x)| *sum += x);
    }
}

impl<T: Real> FreeBody<T> {
    /// The transpose of [`end_derivatives`](Self::end_derivatives), in the inertia too: from the adjoints of the state at
    /// the end (position, turn, velocity, angular velocity) those of the velocities (v, w) after all that acts, which
    /// are `velocity`. Nothing if the free rotation has no derivative.
    pub(crate) fn end_vjp(
        &self,
        velocity: &[T],
        [position, turned, linear, angular]: [Vector3<T>; 4],
        adjoint: &mut FreeBodyAdjoint<T>,
    ) -> Option<[Vector3<T>; 2]> {
        let (c, dt) = (self.center_of_mass, self.duration);
        let turns = self.free_rotation(velocity);
        let (step, w) = turns.end()?;
        let rotation = self.rotation * rotation_matrix(step);
        // In the body at the end: the origin is the centre of mass less R+ c, its velocity less R+ (w x c).
        let [at_end, driven] = [rotation.tr_mul(&position), rotation.tr_mul(&linear)];
        let at_start = self.rotation.tr_mul(&position);
        let turned = turned - c.cross(&at_end) - w.cross(&c).cross(&driven);
        let ends = [turned, angular - c.cross(&driven)];
        let [turn, spin] = turns.vjp(ends, |b, a| adjoint.add_inertia(b, a))?;
        // What turns is the angular velocity times the duration, at the end divided by it again.
        let [first, last] = [self::spin(velocity).dot(&spin), w.dot(&ends[1])];
        if dt.value() > 0.0 {
            let start = Vector3::new(velocity[0], velocity[1], velocity[2]);
            adjoint.duration += position.dot(&start) + (first - last) / dt;
        }
        adjoint.position += position;
        adjoint.turn += turn + c.cross(&at_start);
        adjoint.center += at_start - at_end - driven.cross(&w);
        Some([position * dt + linear, spin])
    }

    /// As [`momentum_vjp`](Self::momentum_vjp), where what the body would do without contact is differentiated by others:
    /// adds what the weights make of -dM (v+ - v_p), and returns M a.
    pub(crate) fn change_vjp(
        &self,
        velocity: &[T],
        a: &[T],
        adjoint: &mut FreeBodyAdjoint<T>,
    ) -> [T; NV] {
        let change: [T; NV] = std::array::from_fn(|k| velocity[k] - self.free_velocity[k]);
        adjoint.add_momentum(-T::one(), a, &change);
        let mass = self.mass_factor[0] * self.mass_factor[0];
        let turning = self.inertia * spin(a);
        std::array::from_fn(|k| if k < 3 { mass * a[k] } else { turning[k - 3] })
    }

    /// The transpose of [`momentum_derivatives`](Self::momentum_derivatives), in mass and inertia too: adds what the weights
    /// `a` make of d(M v_p) - dM v+ where `velocity` is v+.
    pub(crate) fn momentum_vjp(
        &self,
        (model, body): (&Model, usize),
        parameters: &Parameters<T>,
        (velocity, load): (&[T], &[T]),
        a: &[T],
        adjoint: &mut FreeBodyAdjoint<T>,
    ) {
        if self.prescribed {
            let by_input = self.momentum_by_input();
            adjoint.force += Vector3::new(a[0], a[1], a[2]) * by_input;
            adjoint.torque += spin(a) * by_input;
            return;
        }
        let mass = parameters.mass(model, body);
        let (c, dt, w) = (self.center_of_mass, self.duration, spin(&self.velocity));
        let (linear, angular) = (Vector3::new(a[0], a[1], a[2]), spin(a));
        // m (v + g dt) + f dt, at the centre of mass
        let start = Vector3::new(self.velocity[0], self.velocity[1], self.velocity[2]);
        let last = Vector3::new(velocity[0], velocity[1], velocity[2]);
        adjoint.mass += linear.dot(&(start + parameters.gravity() * dt - last));
        adjoint.gravity += linear * (mass * dt);
        adjoint.add_center_velocity(self, linear * mass);
        // I w + (torque - c x R'f) dt
        adjoint.spin += self.inertia * angular;
        adjoint.add_inertia(angular, w - spin(velocity));
        let force = self.rotation.tr_mul(&Vector3::new(load[0], load[1], load[2]));
        let arm = angular.cross(&c) * dt;
        adjoint.force += linear * dt - self.rotation * arm;
        adjoint.torque += angular * dt;
        adjoint.turn += force.cross(&arm);
        adjoint.center -= force.cross(&angular) * dt;
    }
}

/// The last three of six numbers.
fn spin<T: Real>(numbers: &[T]) -> Vector3<T> {
    Vector3::new(numbers[3], numbers[4], numbers[5])
}
