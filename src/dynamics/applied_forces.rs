//! What drives joints besides gravity: inputs, motors, springs, damping.

use crate::ad::Real;
use crate::model::{ActuatorKind, Joint, Model, Parameters};
use crate::state::State;

/// Writes the generalised forces in a state: what `inputs` add, directly and by motors (see
/// [`step`](crate::simulation::step)), springs and damping.
pub fn applied_forces<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    inputs: &[T],
    forces: &mut [T],
) {
    let nv = model.nv();
    forces.copy_from_slice(&inputs[..nv]);
    for (index, body) in model.bodies.iter().enumerate() {
        let joint = &body.joint;
        let damping = parameters.damping(model, index);
        let range = joint.v..joint.v + joint.kind.nv();
        for (force, &v) in forces[range.clone()].iter_mut().zip(&state.v[range]) {
            *force -= damping * v;
        }
        if joint.kind.has_axis() {
            let stretch = state.q[joint.q] - parameters.rest(model, index);
            forces[joint.v] -= parameters.stiffness(model, index) * stretch;
        }
    }
    for (index, joint, control) in controls(model, inputs) {
        let (q, v) = (state.q[joint.q], state.v[joint.v]);
        forces[joint.v] +=
            parameters.gear(model, index) * motor_force(model, parameters, index, control, q, v);
    }
}

/// The actuators of joints, each with its joint and its control among the inputs of a step.
fn controls<'a, T: Real>(
    model: &'a Model,
    inputs: &'a [T],
) -> impl Iterator<Item = (usize, &'a Joint, T)> {
    let controls = inputs[model.nv()..].iter().enumerate().take(model.actuators.len());
    controls.filter_map(|(index, &control)| Some((index, model.driven_joint(index)?, control)))
}

/// The force of an actuator at its joint's coordinate and rate, or at the length of its tendon and its rate.
pub(super) fn motor_force<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    index: usize,
    control: T,
    q: T,
    v: T,
) -> T {
    let force = unlimited_motor_force(model, parameters, index, control, q, v);
    match model.actuators[index].limits_force {
        true => clamped(force, parameters.force_range(model, index)),
        false => force,
    }
}

/// The force of an actuator, without the limits of its force.
fn unlimited_motor_force<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    index: usize,
    control: T,
    q: T,
    v: T,
) -> T {
    let actuator = &model.actuators[index];
    let mut u = control;
    if actuator.limits_control {
        u = clamped(u, parameters.control_range(model, index));
    }
    let gear = parameters.gear(model, index);
    let damping = |target: T| (target - gear * v) * parameters.kd(model, index);
    match actuator.kind {
        ActuatorKind::Motor => u,
        ActuatorKind::Position => parameters.kp(model, index) * (u - gear * q) + damping(T::zero()),
        ActuatorKind::Velocity => damping(u),
        ActuatorKind::Affine => {
            let bias = parameters.gain_and_bias(model, index)[1];
            gain(model, parameters, index, q, v) * u + bias - parameters.kp(model, index) * gear * q
                + damping(T::zero())
        }
    }
}

/// The gain of an affine actuator.
fn gain<T: Real>(model: &Model, parameters: &Parameters<T>, index: usize, q: T, v: T) -> T {
    let [gain, _] = parameters.gain_and_bias(model, index);
    if !model.actuators[index].gain_varies {
        return gain;
    }
    let [by_length, by_velocity] = parameters.gain_by(model, index);
    gain + parameters.gear(model, index) * (by_length * q + by_velocity * v)
}

/// How the applied forces change: each with its own coordinate, its own velocity, and with controls.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppliedForceDerivatives<T> {
    /// Derivative of the force along each velocity in the coordinate that this velocity moves.
    pub by_q: Vec<T>,
    /// Derivative of the force along each velocity in that velocity.
    pub by_v: Vec<T>,
    /// Derivative of the force of each actuator on its joint in its control.
    pub by_control: Vec<T>,
}

impl<T: Real> AppliedForceDerivatives<T> {
    /// Of a model that nothing drives.
    pub fn clear(&mut self, model: &Model) {
        let (nv, nu) = (model.nv(), model.nu());
        for (numbers, size) in
            [(&mut self.by_q, nv), (&mut self.by_v, nv), (&mut self.by_control, nu)]
        {
            numbers.clear();
            numbers.resize(size, T::zero());
        }
    }

    /// Computes the derivatives of [`applied_forces`], but for the damping of joints.
    pub fn update(
        &mut self,
        model: &Model,
        parameters: &Parameters<T>,
        state: &State<T>,
        inputs: &[T],
    ) {
        self.clear(model);
        for (index, body) in model.bodies.iter().enumerate() {
            let joint = &body.joint;
            if joint.kind.has_axis() {
                self.by_q[joint.v] = -parameters.stiffness(model, index);
            }
        }
        for (index, joint, control) in controls(model, inputs) {
            let actuator = &model.actuators[index];
            let (q, v) = (state.q[joint.q], state.v[joint.v]);
            let inside = |x: T, [least, most]: [T; 2]| {
                least.value() <= x.value() && x.value() <= most.value()
            };
            let force = unlimited_motor_force(model, parameters, index, control, q, v);
            let gear = parameters.gear(model, index);
            let free =
                !actuator.limits_force || inside(force, parameters.force_range(model, index));
            let follows =
                !actuator.limits_control || inside(control, parameters.control_range(model, index));
            let slopes = match actuator.kind {
                ActuatorKind::Motor => [T::zero(), T::zero(), T::one()],
                ActuatorKind::Position => {
                    let (kp, kd) = (parameters.kp(model, index), parameters.kd(model, index));
                    [-kp * gear, -kd * gear, kp]
                }
                ActuatorKind::Velocity => {
                    let kd = parameters.kd(model, index);
                    [T::zero(), -kd * gear, kd]
                }
                ActuatorKind::Affine => {
                    let (kp, kd) = (parameters.kp(model, index), parameters.kd(model, index));
                    let gain = gain(model, parameters, index, q, v);
                    if actuator.gain_varies {
                        let u = match actuator.limits_control {
                            true => clamped(control, parameters.control_range(model, index)),
                            false => control,
                        };
                        let [by_length, by_velocity] = parameters.gain_by(model, index);
                        [(by_length * u - kp) * gear, (by_velocity * u - kd) * gear, gain]
                    } else {
                        [-kp * gear, -kd * gear, gain]
                    }
                }
            };
            let [by_q, by_v, by_u] = slopes.map(|x| if free { x * gear } else { T::zero() });
            self.by_q[joint.v] += by_q;
            self.by_v[joint.v] += by_v;
            self.by_control[index] = if follows { by_u } else { T::zero() };
        }
    }
}

/// The gradient of `weights . forces` of [`applied_forces`], but for the damping of joints, of which
/// `derivatives` are: added to the adjoints of coordinates, velocities, inputs and parameters.
pub(crate) fn applied_forces_vjp<T: Real>(
    (model, parameters): (&Model, &Parameters<T>),
    (state, inputs): (&State<T>, &[T]),
    derivatives: &AppliedForceDerivatives<T>,
    weights: &[T],
    [to_q, to_v, to_inputs, to_parameters]: [&mut [T]; 4],
) {
    let nv = model.nv();
    for (k, &weight) in weights.iter().enumerate() {
        to_q[k] += derivatives.by_q[k] * weight;
        to_v[k] += derivatives.by_v[k] * weight;
        to_inputs[k] += weight;
    }
    for (index, body) in model.bodies.iter().enumerate() {
        let joint = &body.joint;
        let Some(slots) = model.joint_slots(index).filter(|_| joint.kind.has_axis()) else {
            continue;
        };
        let weight = weights[joint.v];
        to_parameters[slots.stiffness] -=
            weight * (state.q[joint.q] - parameters.rest(model, index));
        to_parameters[slots.rest] += weight * parameters.stiffness(model, index);
    }
    for (index, joint, control) in controls(model, inputs) {
        let actuator = &model.actuators[index];
        let slots = model.actuator_slots(index);
        let (q, v, weight) = (state.q[joint.q], state.v[joint.v], weights[joint.v]);
        to_inputs[nv + index] += derivatives.by_control[index] * weight;
        let gear = parameters.gear(model, index);
        let force = motor_force(model, parameters, index, control, q, v);
        to_parameters[slots.gear] += weight * force;
        let pulled = weight * gear;
        let unlimited = unlimited_motor_force(model, parameters, index, control, q, v);
        if actuator.limits_force
            && let Some(end) = beyond(unlimited, parameters.force_range(model, index))
        {
            to_parameters[slots.force_range + end] += pulled;
            continue;
        }
        let end = match actuator.limits_control {
            true => beyond(control, parameters.control_range(model, index)),
            false => None,
        };
        let (kp, kd) = (parameters.kp(model, index), parameters.kd(model, index));
        let u = match end {
            Some(end) => parameters.control_range(model, index)[end],
            None => control,
        };
        let by_u = match actuator.kind {
            ActuatorKind::Motor => T::one(),
            ActuatorKind::Position => {
                to_parameters[slots.kp] += pulled * (u - gear * q);
                to_parameters[slots.kd] -= pulled * gear * v;
                to_parameters[slots.gear] -= pulled * (kp * q + kd * v);
                kp
            }
            ActuatorKind::Velocity => {
                to_parameters[slots.kd] += pulled * (u - gear * v);
                to_parameters[slots.gear] -= pulled * kd * v;
                kd
            }
            ActuatorKind::Affine => {
                to_parameters[slots.gain] += pulled * u;
                to_parameters[slots.bias] += pulled;
                to_parameters[slots.kp] -= pulled * gear * q;
                to_parameters[slots.kd] -= pulled * gear * v;
                to_parameters[slots.gear] -= pulled * (kp * q + kd * v);
                if actuator.gain_varies {
                    let [by_length, by_velocity] = parameters.gain_by(model, index);
                    to_parameters[slots.gain_by] += pulled * gear * q * u;
                    to_parameters[slots.gain_by + 1] += pulled * gear * v * u;
                    to_parameters[slots.gear] += pulled * u * (by_length * q + by_velocity * v);
                }
                gain(model, parameters, index, q, v)
            }
        };
        if let Some(end) = end {
            to_parameters[slots.control_range + end] += pulled * by_u;
        }
    }
}

/// Which end of a range a number is beyond: 0 or 1.
fn beyond<T: Real>(x: T, [least, most]: [T; 2]) -> Option<usize> {
    if x.value() < least.value() {
        Some(0)
    } else if x.value() > most.value() {
        Some(1)
    } else {
        None
    }
}

/// x, or the end of the range that it is beyond; which of them is decided on values.
fn clamped<T: Real>(x: T, [least, most]: [T; 2]) -> T {
    match beyond(x, [least, most]) {
        Some(0) => least,
        Some(_) => most,
        None => x,
    }
}

/// Writes how each applied force falls with its own velocity: damping, and with `motors` the gains of
/// actuators that are not at the limit of their force.
pub(crate) fn damping<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    inputs: &[T],
    motors: bool,
    damping: &mut Vec<T>,
) {
    damping.clear();
    for (index, body) in model.bodies.iter().enumerate() {
        let own = parameters.damping(model, index);
        damping.extend(std::iter::repeat_n(own, body.joint.kind.nv()));
    }
    if motors {
        add_motor_damping(model, parameters, state, inputs, damping);
    }
}

/// Adds what actuators that are not at the limit of their force make of [`damping`].
pub(crate) fn add_motor_damping<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    inputs: &[T],
    damping: &mut [T],
) {
    for (index, joint, control) in controls(model, inputs) {
        if damps(model, parameters, state, (index, joint), control) {
            let gear = parameters.gear(model, index);
            damping[joint.v] += gear * gear * parameters.kd(model, index);
        }
    }
}

/// The gradient of `weights . damping` of [`damping`] without motors, added to the adjoints of all parameters.
pub(crate) fn damping_vjp<T: Real>(model: &Model, weights: &[T], to_parameters: &mut [T]) {
    for (index, body) in model.bodies.iter().enumerate() {
        let (joint, slots) = (&body.joint, model.joint_slots(index));
        let Some(slots) = slots.filter(|_| body.tree.is_some()) else { continue };
        for &weight in &weights[joint.v..joint.v + joint.kind.nv()] {
            to_parameters[slots.damping] += weight;
        }
    }
}

/// The gradient of `weights . damping` of what [`add_motor_damping`] adds, added to the adjoints of all parameters.
pub(crate) fn motor_damping_vjp<T: Real>(
    (model, parameters): (&Model, &Parameters<T>),
    (state, inputs): (&State<T>, &[T]),
    weights: &[T],
    to_parameters: &mut [T],
) {
    for (index, joint, control) in controls(model, inputs) {
        if !damps(model, parameters, state, (index, joint), control) {
            continue;
        }
        let weight = weights[joint.v];
        let slots = model.actuator_slots(index);
        let (gear, kd) = (parameters.gear(model, index), parameters.kd(model, index));
        to_parameters[slots.kd] += weight * gear * gear;
        to_parameters[slots.gear] += weight * (gear + gear) * kd;
    }
}

/// Whether an actuator damps its joint: it has a gain for that, and its force is not at its limit.
fn damps<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    (index, joint): (usize, &Joint),
    control: T,
) -> bool {
    let actuator = &model.actuators[index];
    if actuator.kind == ActuatorKind::Motor {
        return false;
    }
    let (q, v) = (state.q[joint.q], state.v[joint.v]);
    let force = motor_force(model, parameters, index, control, q, v).value();
    let [least, most] = parameters.force_range(model, index).map(|x| x.value());
    !actuator.limits_force || least < force && force < most
}
