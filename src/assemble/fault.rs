//! What is wrong with a description, and where.

use super::Description;
use crate::Error;
use crate::state::unit_quaternion;

/// What something wrong belongs to, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Scene,
    HalfSpace(usize),
    /// A shape of the world.
    Collider(usize),
    Body(usize),
    Contact(usize),
    Actuator(usize),
    Equality(usize),
    Push(usize),
    Camera(usize),
    Learned(usize),
    Tendon(usize),
    Keyframe,
}

impl Owner {
    /// Its line, and what messages call it.
    pub fn place(self, description: &Description) -> (Option<usize>, String) {
        let named = |line, kind: &str, name: &str| (line, format!("{kind}.{name}"));
        match self {
            Owner::Scene => (None, String::new()),
            Owner::HalfSpace(k) => {
                let half_space = &description.half_spaces[k];
                named(half_space.line, "half_space", &half_space.name)
            }
            Owner::Collider(k) => {
                let collider = &description.colliders[k];
                named(collider.line, "shape", &collider.name)
            }
            Owner::Body(k) => {
                let body = &description.bodies[k];
                named(body.line, "body", &body.name)
            }
            Owner::Contact(k) => {
                let contact = &description.contacts[k];
                named(contact.line, "contact", &contact.pair)
            }
            Owner::Actuator(k) => {
                let actuator = &description.actuators[k];
                named(actuator.line, "actuator", &actuator.name)
            }
            Owner::Equality(k) => {
                let equality = &description.equalities[k];
                named(equality.line, "equality", &equality.name)
            }
            Owner::Push(k) => {
                let push = &description.pushes[k];
                named(push.line, "push", &push.name)
            }
            Owner::Tendon(k) => {
                let tendon = &description.tendons[k];
                named(tendon.line, "tendon", &tendon.name)
            }
            Owner::Camera(k) => {
                let camera = &description.cameras[k];
                named(camera.line, "camera", &camera.name)
            }
            Owner::Learned(k) => {
                let learned = &description.learned[k];
                named(learned.line, "learned", &learned.name)
            }
            Owner::Keyframe => (None, "keyframe".to_string()),
        }
    }
}

/// What is wrong with a description.
#[derive(Clone, Debug)]
pub struct Fault {
    pub owner: Owner,
    pub field: &'static str,
    pub message: String,
    /// What it is at odds with, and in which field.
    pub with: Option<(Owner, &'static str)>,
}

impl Fault {
    pub(super) fn new(owner: Owner, field: &'static str, message: impl Into<String>) -> Fault {
        Fault { owner, field, message: message.into(), with: None }
    }

    /// The same at odds with a field of another.
    pub(super) fn with(self, owner: Owner, field: &'static str) -> Fault {
        Fault { with: Some((owner, field)), ..self }
    }

    /// The fault as an error, where `error` makes one of an owner, a field and a message.
    pub fn error(self, error: impl Fn(Owner, &str, &str) -> Error) -> Error {
        let Fault { owner, field, mut message, with } = self;
        if let Some((owner, field)) = with {
            let other = error(owner, field, "");
            let line = other.line().map_or(String::new(), |line| format!(", line {line}"));
            message += &format!(" (the other: {}{line})", other.field());
        }
        error(owner, field, &message)
    }

    /// `demand`, what was found instead and its unit as an error, unless `met`.
    pub(super) fn unless(
        met: bool,
        (owner, field): (Owner, &'static str),
        demand: &str,
        found: f64,
        unit: &str,
    ) -> Result<(), Fault> {
        if met {
            return Ok(());
        }
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        Err(Fault::new(owner, field, format!("{demand}, found {found}{unit}")))
    }
}

/// A unit quaternion, up to rounding made one, or the fault that it is none.
pub(super) fn unit(
    quaternion: [f64; 4],
    owner: Owner,
    field: &'static str,
) -> Result<[f64; 4], Fault> {
    unit_quaternion(quaternion).map_err(|norm| {
        let message = format!("must be a unit quaternion [w, x, y, z], found one of norm {norm}");
        Fault::new(owner, field, message)
    })
}
