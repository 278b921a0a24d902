//! Motors.

/// What the control of an actuator means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActuatorKind {
    /// A force: u.
    Motor,
    /// A position, held by kp (u - gear q) - kd gear v.
    Position,
    /// A velocity, held by kd (u - gear v).
    Velocity,
    /// A force that is affine in all of them: gain u + bias - kp gear q - kd gear v, with a gain that may be affine too:
    /// gain + gain_length gear q + gain_velocity gear v in its place.
    Affine,
}

impl ActuatorKind {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            ActuatorKind::Motor => "motor",
            ActuatorKind::Position => "position",
            ActuatorKind::Velocity => "velocity",
            ActuatorKind::Affine => "affine",
        }
    }
}

/// What a motor pulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// The joint of a body, which has one coordinate q.
    Joint(usize),
    /// A tendon, whose length q is here; a positive force makes it longer.
    Tendon(usize),
}

/// A motor at a joint with one coordinate, or at a tendon. Its force is gear times what its kind says, the control and the
/// force clamped to their ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Its name.
    pub name: String,
    /// What it drives.
    pub drives: Transmission,
    /// What its control means.
    pub kind: ActuatorKind,
    /// Whether the control is clamped.
    pub limits_control: bool,
    /// Whether the force is clamped.
    pub limits_force: bool,
    /// Whether the gain of an affine force depends on length and velocity. What a control adds to the damping by it is explicit in steps of all
    /// integrators.
    pub gain_varies: bool,
}
