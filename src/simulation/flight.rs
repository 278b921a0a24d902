//! Free motion of a few bodies over a part of a step.

use crate::ad::Real;
use crate::collision::{ContactPoint, Detection};
use crate::dynamics::{BodyPose, FreeBody, FreeMotion};
use crate::model::{Joint, Model, System};
use crate::state::{NV, State};

/// Where bodies are after a part of a step, on the parabola that the points of the time-stepping map lie
/// on (see [`impacts`](super::impacts)).
pub(super) struct Flight<T: Real> {
    detection: Detection<T>,
    points: Vec<ContactPoint<T>>,
    /// All bodies; those asked about where they have moved to, the others where they started.
    pub state: State<T>,
    /// The same at that time, with nothing left of the step.
    pub motion: FreeMotion<T>,
    still: Vec<T>,
    /// Of each body without contact, of the centre of mass in the world, m/s².
    pub accelerations: Vec<[T; 3]>,
}

impl<T: Real> Default for Flight<T> {
    fn default() -> Self {
        Flight {
            detection: Detection::default(),
            points: Vec::new(),
            state: State::default(),
            motion: FreeMotion::default(),
            still: Vec::new(),
            accelerations: Vec::new(),
        }
    }
}

impl<T: Real> Flight<T> {
    /// Puts all bodies where the step starts.
    pub fn start(&mut self, system: &System<T>, state: &State<T>) {
        self.state.q.clone_from(&state.q);
        self.state.v.clone_from(&state.v);
        self.still.clear();
        self.still.resize(system.model.nv() + system.model.nu(), T::zero());
        self.motion.start(system, state, &self.still, T::zero());
        for free in &mut self.motion.lone {
            free.duration = T::constant(system.settings.time_step);
        }
        self.accelerations.clear();
        self.accelerations.resize(system.model.bodies.len(), [T::zero(); 3]);
    }

    /// The least gap between `bodies` and anything of theirs (of `pairs` only, where given) after they have
    /// moved for `time` under `inputs` alone, m; leaves them there, with the velocities of that time.
    /// Nothing if there is no point near, or their motion is not found.
    pub fn least_gap(
        &mut self,
        system: &System<T>,
        start: &State<T>,
        inputs: &[T],
        (bodies, pairs): (&[usize], Option<&[usize]>),
        time: T,
    ) -> Option<T> {
        let step = T::constant(system.settings.time_step);
        let still = [T::zero(); NV];
        for &body in bodies {
            let (model, parameters) = (system.model, system.parameters);
            let Joint { q, v, .. } = model.bodies[body].joint;
            let wrench = &inputs[v..v + NV];
            let mut flight = FreeBody::new(model, parameters, start, body, (wrench, &[]), time);
            if !flight.admissible {
                return None;
            }
            let mass = parameters.mass(model, body);
            let gravity = parameters.gravity();
            let acceleration: [T; 3] = std::array::from_fn(|k| gravity[k] + wrench[k] / mass);
            // x(t) = x + (v + a dt / 2) t + a t² / 2
            for (k, &a) in acceleration.iter().enumerate() {
                flight.free_velocity[k] += a * ((step - time) * 0.5);
            }
            if !flight.advance(&flight.free_velocity, q, v, &mut self.state) {
                return None;
            }
            // v(t) = v + a dt / 2 + a t
            for (k, &a) in acceleration.iter().enumerate() {
                self.state.v[v + k] += a * (time * 0.5);
            }
            self.accelerations[body] = acceleration;
            let zero = T::zero();
            let mut landed =
                FreeBody::new(model, parameters, &self.state, body, (&still, &[]), zero);
            // Points are looked for as far as the step reaches.
            landed.duration = step;
            self.motion.replace(model, body, landed);
        }
        self.detection.points_among(system, &self.motion, bodies, &mut self.points);
        let counts = |point: &&ContactPoint<T>| pairs.is_none_or(|p| p.contains(&point.pair));
        let gaps = self.points.iter().filter(counts).map(|point| point.gap);
        gaps.min_by(|a, b| a.value().total_cmp(&b.value()))
    }

    /// Gives a body another velocity where it is: that of the centre of mass in the world, angular in the
    /// body.
    pub fn place(&mut self, model: &Model, body: usize, velocity: &[T]) {
        let BodyPose { rotation, center_of_mass, .. } = &self.motion.bodies[body];
        let angular = nalgebra::Vector3::new(velocity[3], velocity[4], velocity[5]);
        let turning = rotation * angular.cross(center_of_mass);
        let first = model.bodies[body].joint.v;
        let v = &mut self.state.v[first..first + NV];
        v.copy_from_slice(velocity);
        for k in 0..3 {
            v[k] -= turning[k];
        }
    }
}
