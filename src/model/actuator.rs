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
}

impl ActuatorKind {
    /// The name in scene files.
    pub fn name(self) -> &'static str {
        match self {
            ActuatorKind::Motor => "motor",
            ActuatorKind::Position => "position",
            ActuatorKind::Velocity => "velocity",
        }
    }
}

/// A motor at a joint with one coordinate. Its force is gear times what its kind says, the control and the
/// force clamped to their ranges.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Its name.
    pub name: String,
    /// The body whose joint it drives.
    pub body: usize,
    /// What its control means.
    pub kind: ActuatorKind,
    /// Whether the control is clamped.
    pub limits_control: bool,
    /// Whether the force is clamped.
    pub limits_force: bool,
}
