//! What no body does, and how often it was seen.

use std::fmt;

use serde_json::{Value, json};

use crate::model::Model;
use crate::packed::{Packed, packed};

/// What no body does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Oddity {
    /// A number of the state is not finite.
    NotFinite,
    /// An impulse was found that nothing could have.
    Impulse,
    /// A velocity (m/s or rad/s) is beyond that of light.
    Speed(f64),
    /// Contacts and joints left the kinetic energy `left` (J), where no more than `given` was there and asked for.
    Energy {
        /// Kinetic energy of bodies that touch, at the end of the step, J.
        left: f64,
        /// What it would be without contacts, and what their targets ask for, J.
        given: f64,
    },
    /// It is deeper in something (m) than it is thick.
    Depth(f64),
}

/// A step that is not plausible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Implausible {
    /// The body that shows it most.
    pub body: usize,
    /// What it does.
    pub oddity: Oddity,
}

/// The steps that are not plausible, of some.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plausibility {
    /// How many there are.
    pub steps: usize,
    /// Which was the first, counted from 1, and what it did.
    pub first: Option<(usize, Implausible)>,
}

impl Plausibility {
    /// Adds what was found of the `step`-th.
    pub(super) fn add(&mut self, step: usize, found: Option<Implausible>) {
        let Some(found) = found else { return };
        self.steps += 1;
        self.first.get_or_insert((step, found));
    }

    /// Adds other steps, after `before` of these.
    pub fn merge(&mut self, other: &Plausibility, before: usize) {
        self.steps += other.steps;
        let first = other.first.map(|(step, found)| (before + step, found));
        self.first = self.first.or(first);
    }

    /// Whether all are.
    pub fn is_whole(&self) -> bool {
        self.steps == 0
    }

    /// As JSON has it: null where all is well, or `steps`, and of the first its `time` (s), the `body` and `what` it did.
    pub fn json(&self, model: &Model, time_step: f64) -> Value {
        let Some((step, Implausible { body, oddity })) = &self.first else { return Value::Null };
        json!({
            "steps": self.steps,
            "time": *step as f64 * time_step,
            "body": model.bodies.get(*body).map(|body| &body.name),
            "what": oddity.to_string(),
        })
    }

    /// What to know of a simulation of `model` in steps of `time_step` s, in a sentence; nothing if all is well.
    pub fn sentence(&self, model: &Model, time_step: f64) -> Option<String> {
        let (step, Implausible { body, oddity }) = self.first?;
        let body = model.bodies.get(body).map_or("", |body| &body.name);
        let steps = match self.steps {
            1 => "1 step is not plausible".to_string(),
            steps => format!("{steps} steps are not plausible"),
        };
        let time = step as f64 * time_step;
        Some(format!(
            "{steps}, the first to {time} s: {body:?}: {oddity}; from there on the motion is not to be trusted: try a \
             shorter time step, and look at what that body touches"
        ))
    }
}

impl fmt::Display for Oddity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Oddity::NotFinite => write!(f, "its motion is not finite"),
            Oddity::Impulse => write!(f, "it has an impulse that nothing could have"),
            Oddity::Speed(speed) => write!(f, "its velocity is {speed:.1e} m/s or rad/s"),
            Oddity::Energy { left, given } => write!(
                f,
                "contacts and joints leave it and what it touches {left:.1e} J of kinetic energy, where {given:.1e} \
                 J were there and asked for"
            ),
            Oddity::Depth(depth) => {
                write!(f, "it is {depth:.1e} m deep in something, more than the thinner is thick")
            }
        }
    }
}

packed!(Plausibility { steps, first });
packed!(Implausible { body, oddity });

impl Packed for Oddity {
    fn pack(&self, to: &mut Vec<u8>) {
        let (kind, numbers) = match *self {
            Oddity::NotFinite => (0u8, [0.0; 2]),
            Oddity::Impulse => (1, [0.0; 2]),
            Oddity::Speed(speed) => (2, [speed, 0.0]),
            Oddity::Energy { left, given } => (3, [left, given]),
            Oddity::Depth(depth) => (4, [depth, 0.0]),
        };
        (kind, numbers).pack(to);
    }

    fn unpack(from: &mut &[u8]) -> Option<Self> {
        let (kind, [first, second]) = <(u8, [f64; 2])>::unpack(from)?;
        Some(match kind {
            0 => Oddity::NotFinite,
            1 => Oddity::Impulse,
            2 => Oddity::Speed(first),
            3 => Oddity::Energy { left: first, given: second },
            4 => Oddity::Depth(first),
            _ => return None,
        })
    }
}
