//! What a motor does in a state.

use super::Kinematics;
use super::applied_forces::motor_force;
use super::tendon_pull::tendon_length;
use crate::ad::Real;
use crate::model::{Model, Parameters, Transmission};
use crate::state::State;

/// The force or torque of an actuator on its joint, or on its tendon, in a state under inputs of a step.
pub fn actuator_force<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    inputs: &[T],
    actuator: usize,
) -> T {
    let (q, v) = match model.actuators[actuator].drives {
        Transmission::Joint(body) => {
            let joint = &model.bodies[body].joint;
            (state.q[joint.q], state.v[joint.v])
        }
        Transmission::Tendon(tendon) => {
            let kinematics = Kinematics::new(model, parameters, state);
            let mut slopes = Vec::new();
            let at = (&kinematics, state);
            let length = tendon_length(model, parameters, at, tendon, &mut slopes);
            (length, slopes.iter().fold(T::zero(), |sum, &(k, slope)| sum + slope * state.v[k]))
        }
    };
    let control = inputs[model.nv() + actuator];
    parameters.gear(model, actuator) * motor_force(model, parameters, actuator, control, q, v)
}
