//! Between what the numbers of x and u are to stay, as the scene has it.

use super::Transition;
use crate::model::ActuatorKind;

/// Nothing is beyond.
const NONE: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

impl Transition {
    /// The least and the largest of each number of x: limits of joints, and the [speeds](crate::model::Joint::max_speed) that they are made for;
    /// infinite where there are none. A step keeps to the former.
    pub fn state_limits(&self) -> [Vec<f64>; 2] {
        let (model, values) = (&self.scene.model, &self.values);
        let mut limits = vec![NONE; self.nq() + self.nv()];
        for (body, entry) in model.bodies.iter().enumerate() {
            let joint = &entry.joint;
            if joint.limited {
                limits[joint.q] = [values.lower(model, body), values.upper(model, body)];
            }
            if let Some(most) = joint.max_speed {
                limits[model.nq() + joint.v] = [-most, most];
            }
        }
        [0, 1].map(|side| limits.iter().map(|limit| limit[side]).collect())
    }

    /// The least and the largest of each selected input that has an effect: what controls of motors are clamped to, or the forces of those
    /// whose control is their force; infinite where there are none.
    pub fn input_limits(&self) -> [Vec<f64>; 2] {
        let (model, values) = (&self.scene.model, &self.values);
        let limit = |&input: &usize| {
            let index = input.checked_sub(model.nv());
            let Some((index, motor)) = index.and_then(|k| Some((k, model.actuators.get(k)?)))
            else {
                return NONE;
            };
            let control = match motor.limits_control {
                true => values.control_range(model, index),
                false => NONE,
            };
            let force = match motor.limits_force && motor.kind == ActuatorKind::Motor {
                true => values.force_range(model, index),
                false => NONE,
            };
            // Where they do not meet the control says nothing; the force is the same all over its range.
            let both = [control[0].max(force[0]), control[1].min(force[1])];
            if both[0] <= both[1] { both } else { control }
        };
        let limits: Vec<[f64; 2]> = self.inputs.iter().map(limit).collect();
        [0, 1].map(|side| limits.iter().map(|limit| limit[side]).collect())
    }
}
