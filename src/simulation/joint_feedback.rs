//! Motors that hold a configuration.

use crate::ad::Real;
use crate::model::{Actuator, ActuatorKind, Model, Transmission};
use crate::state::State;

/// Proportional and derivative gains of all motors about a configuration, taken at the start of each
/// step.
///
/// Other than actuators of positions, whose gains are in the model, they are not limited by damping that is
/// integrated implicitly: large gains need short steps.
#[derive(Clone, Debug, PartialEq)]
pub struct JointFeedback {
    /// Gain in the coordinates of joints, N m/rad or N/m.
    pub kp: f64,
    /// Gain in their rates, N m s/rad or N s/m.
    pub kd: f64,
    /// The configuration to hold, as in [`State::q`].
    pub target: Vec<f64>,
}

impl JointFeedback {
    /// Whether an actuator is driven: a motor, at a joint with one coordinate.
    pub fn drives(model: &Model, actuator: &Actuator) -> bool {
        let Transmission::Joint(body) = actuator.drives else { return false };
        actuator.kind == ActuatorKind::Motor && model.bodies[body].joint.kind.has_axis()
    }

    /// Adds to the control of each motor among the inputs of a step.
    pub fn add<T: Real>(&self, model: &Model, state: &State<T>, inputs: &mut [T]) {
        for (index, actuator) in model.actuators.iter().enumerate() {
            let driven = model.driven_joint(index);
            let Some(joint) = driven.filter(|_| JointFeedback::drives(model, actuator)) else {
                continue;
            };
            // u = kp (q0 - q) - kd v
            let away = T::constant(self.target[joint.q]) - state.q[joint.q];
            inputs[model.nv() + index] += away * self.kp - state.v[joint.v] * self.kd;
        }
    }
}
