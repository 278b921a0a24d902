//! Free motion of a few bodies over a part of a step.

use crate::ad::Real;
use crate::collision::{ContactPoint, Detection};
use crate::dynamics::FreeBody;
use crate::model::{Parameters, System};
use crate::state::{NV, State};

/// Where bodies are after a part of a step, on the parabola that the points of the time-stepping map lie
/// on (see [`impacts`](super::impacts)).
pub(super) struct Flight<T: Real> {
    detection: Detection<T>,
    points: Vec<ContactPoint<T>>,
    /// All bodies; those asked about where they have moved to, the others where they started.
    pub state: State<T>,
    /// The same at that time, with nothing left of the step.
    pub free: Vec<FreeBody<T>>,
    /// Of each body without contact, of the centre of mass in the world, m/s².
    pub accelerations: Vec<[T; 3]>,
}

impl<T: Real> Default for Flight<T> {
    fn default() -> Self {
        Flight {
            detection: Detection::default(),
            points: Vec::new(),
            state: State::default(),
            free: Vec::new(),
            accelerations: Vec::new(),
        }
    }
}

impl<T: Real> Flight<T> {
    /// Puts all bodies where the step starts.
    pub fn start(&mut self, parameters: &Parameters<T>, state: &State<T>, step: T) {
        self.state.q.clone_from(&state.q);
        self.state.v.clone_from(&state.v);
        let still = [T::zero(); NV];
        self.free.clear();
        self.free.extend((0..state.bodies()).map(|body| {
            let mut free = FreeBody::new(parameters, state, body, &still, T::zero());
            free.duration = step;
            free
        }));
        self.accelerations.clear();
        self.accelerations.resize(state.bodies(), [T::zero(); 3]);
    }

    /// The least gap between `bodies` and anything of theirs after they have moved freely for `time`, m;
    /// leaves them there, with the velocities of that time. Nothing if there is no point near, or their
    /// motion is not found.
    pub fn least_gap(
        &mut self,
        system: &System<T>,
        start: &State<T>,
        wrenches: &[T],
        bodies: &[usize],
        time: T,
    ) -> Option<T> {
        let step = T::constant(system.settings.time_step);
        let still = [T::zero(); NV];
        for &body in bodies {
            let wrench = &wrenches[NV * body..NV * (body + 1)];
            let mut flight = FreeBody::new(system.parameters, start, body, wrench, time);
            if !flight.converged || !flight.admissible {
                return None;
            }
            let mass = system.parameters.mass(body);
            let gravity = system.parameters.gravity();
            let acceleration: [T; 3] = std::array::from_fn(|k| gravity[k] + wrench[k] / mass);
            // x(t) = x + (v + a dt / 2) t + a t² / 2
            for (k, &a) in acceleration.iter().enumerate() {
                flight.free_velocity[k] += a * ((step - time) * 0.5);
            }
            flight.advance(&flight.free_velocity, body, &mut self.state);
            // v(t) = v + a dt / 2 + a t
            for (k, &a) in acceleration.iter().enumerate() {
                self.state.v[NV * body + k] += a * (time * 0.5);
            }
            self.accelerations[body] = acceleration;
            let mut landed = FreeBody::new(system.parameters, &self.state, body, &still, T::zero());
            // Points are looked for as far as the step reaches.
            landed.duration = step;
            self.free[body] = landed;
        }
        self.detection.points_among(system, &self.free, bodies, &mut self.points);
        let gaps = self.points.iter().map(|point| point.gap);
        gaps.min_by(|a, b| a.value().total_cmp(&b.value()))
    }

    /// Gives a body another velocity where it is: that of the centre of mass in the world, angular in the
    /// body.
    pub fn place(&mut self, body: usize, velocity: &[T; NV]) {
        let free = &self.free[body];
        let angular = nalgebra::Vector3::new(velocity[3], velocity[4], velocity[5]);
        let turning = free.rotation * angular.cross(&free.center_of_mass);
        let v = &mut self.state.v[NV * body..NV * (body + 1)];
        v.copy_from_slice(velocity);
        for k in 0..3 {
            v[k] -= turning[k];
        }
    }
}
