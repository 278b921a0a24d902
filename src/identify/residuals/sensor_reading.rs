//! What sensors read of a simulated motion.

use nalgebra::{Matrix3, Vector3};

use super::replay::{StepEnds, StepInputs};
use crate::ad::Real;
use crate::dynamics::{Kinematics, actuator_force};
use crate::identify::experiment::{LoadedSolid, Reading, Sensor, StateNumber, StepLoad};
use crate::model::{Model, Parameters};
use crate::state::State;

/// Reads sensors in a window.
pub(super) struct SensorReader<'a, T> {
    model: &'a Model,
    parameters: &'a Parameters<T>,
    inputs: StepInputs<'a, T>,
    /// s.
    step: f64,
    kinematics: Kinematics<T>,
}

impl<'a, T: Real> SensorReader<'a, T> {
    /// Of a simulation under these inputs, by steps of `step` (s).
    pub fn new(
        model: &'a Model,
        parameters: &'a Parameters<T>,
        inputs: StepInputs<'a, T>,
        step: f64,
    ) -> Self {
        SensorReader { model, parameters, inputs, step, kinematics: Kinematics::default() }
    }

    /// What a sensor reads in the state at a time after the start of the window, s. `motion`: the states around it.
    pub fn read(
        &mut self,
        sensor: &Sensor,
        (time, state): (T, &State<T>),
        motion: Option<&StepEnds<T>>,
    ) -> Vec<T> {
        let model = self.model;
        match &sensor.reads {
            Reading::Marker { body } => self.place(sensor, *body, state).iter().copied().collect(),
            Reading::Numbers(numbers) => {
                let number = |number: &StateNumber| match *number {
                    StateNumber::Q(k) => state.q[k],
                    StateNumber::V(k) => state.v[k],
                };
                numbers.iter().map(number).collect()
            }
            Reading::Gyroscope { body } => {
                self.kinematics.update(model, self.parameters, state);
                let body = &self.kinematics.bodies[*body];
                let spin = body.rotation.tr_mul(&body.velocity.angular);
                along(&sensor.axes, &spin)
            }
            Reading::Accelerometer { body } => {
                let Some(motion) = motion else { return vec![T::constant(f64::NAN); 3] };
                let step = self.step;
                let mut at = |time: T| {
                    let state = motion.at(model.coordinates(), time);
                    self.place(sensor, *body, &state)
                };
                // Places of steps q+ = q + dt v+ are those of their times to second order, and so is this.
                let (before, after) = (at(time - T::constant(step)), at(time + T::constant(step)));
                let here = self.place(sensor, *body, state);
                let acceleration =
                    (after - here * T::constant(2.0) + before) / T::constant(step * step);
                let gravity = self.parameters.gravity();
                let turn = &self.kinematics.bodies[*body].rotation;
                along(&sensor.axes, &turn.tr_mul(&(acceleration - gravity)))
            }
            Reading::Load(load) => {
                let Some(found) = motion.and_then(|motion| motion.load(*load, time)) else {
                    return vec![T::constant(f64::NAN); load.channels()];
                };
                let StepLoad::Contacts(LoadedSolid::Body(body)) = *load else { return found };
                self.kinematics.update(model, self.parameters, state);
                let force = Vector3::new(found[0], found[1], found[2]);
                along(&sensor.axes, &self.kinematics.bodies[body].rotation.tr_mul(&force))
            }
            Reading::Effort { actuator } => {
                let inputs = self.inputs.at(self.parameters, time);
                vec![actuator_force(model, self.parameters, state, inputs, *actuator)]
            }
        }
    }

    /// Where the place of a sensor is in the world.
    fn place(&mut self, sensor: &Sensor, body: usize, state: &State<T>) -> Vector3<T> {
        self.kinematics.update(self.model, self.parameters, state);
        let place = sensor.position(self.parameters);
        self.kinematics.point(body, &place)
    }
}

/// A vector of a body along the axes of a sensor.
fn along<T: Real>(axes: &Matrix3<f64>, vector: &Vector3<T>) -> Vec<T> {
    let along = |k: usize| (0..3).map(|i| vector[i] * axes[(i, k)]).fold(T::zero(), |a, b| a + b);
    (0..3).map(along).collect()
}
