//! The numbers of a state, and what they are called in files.

use crate::model::{Body, Model};
use crate::state::{Coordinates, NQ, NV};

pub(super) const TIME: &str = "t";
const Q: [&str; NQ] = ["px", "py", "pz", "qw", "qx", "qy", "qz"];
const V: [&str; NV] = ["vx", "vy", "vz", "wx", "wy", "wz"];

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Time,
    /// A number of the configuration, by its place there.
    Q(usize),
    /// A velocity, by its place there.
    V(usize),
}

/// A number of a state, and what it is called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'a> {
    pub body: &'a str,
    pub field: &'static str,
    pub number: Number,
}

impl Column<'_> {
    /// The name in files, short if there is one joint only.
    pub fn name(&self, alone: bool) -> String {
        match alone {
            true => self.field.to_string(),
            false => format!("{}/{}", self.body, self.field),
        }
    }

    /// Whether this is what a name stands for.
    pub fn is(&self, name: &str, alone: bool) -> bool {
        let own = name.strip_prefix(self.body).and_then(|rest| rest.strip_prefix('/'));
        own == Some(self.field) || alone && name == self.field
    }
}

/// The bodies that have numbers in the state.
pub(super) fn joints(model: &Model) -> impl Iterator<Item = (&Body, Coordinates)> {
    model.bodies.iter().filter_map(|body| Some((body, body.joint.kind.coordinates()?)))
}

/// The numbers of a joint: the configuration, then the velocities.
pub(super) fn of_joint(body: &Body, kind: Coordinates) -> impl Iterator<Item = Column<'_>> {
    let (q, v): (&[&str], &[&str]) = match kind {
        Coordinates::Pose => (&Q, &V),
        Coordinates::Rotation => (&Q[3..], &V[3..]),
        Coordinates::Number => (&["q"], &["v"]),
    };
    let numbers = (body.joint.q..).map(Number::Q).take(q.len());
    let numbers = numbers.chain((body.joint.v..).map(Number::V).take(v.len()));
    let named = numbers.zip(q.iter().chain(v));
    named.map(|(number, field)| Column { body: &body.name, field, number })
}

/// All numbers of a state, joint by joint.
pub(super) fn all(model: &Model) -> impl Iterator<Item = Column<'_>> {
    joints(model).flat_map(|(body, kind)| of_joint(body, kind))
}

/// Whether there is one joint only, whose name may be left out.
pub(super) fn alone(model: &Model) -> bool {
    joints(model).count() == 1
}

/// The numbers of a body; none if there is no such body, or it is fixed.
pub(super) fn of_body<'a>(model: &'a Model, name: &str) -> Vec<Column<'a>> {
    all(model).filter(|column| column.body == name).collect()
}

/// The number that a name stands for.
pub(super) fn by_name<'a>(model: &'a Model, name: &str) -> Option<Column<'a>> {
    let alone = alone(model);
    all(model).find(|column| column.is(name, alone))
}

/// What to say about a name that stands for nothing.
pub(super) fn unknown(model: &Model, name: &str) -> String {
    const MOST: usize = 20;
    let list = |names: Vec<&str>| match names.len() {
        0..=MOST => names.join(", "),
        more => format!("{}, and {} more", names[..MOST].join(", "), more - MOST),
    };
    let body = name.rsplit_once('/').map_or("", |(body, _)| body);
    let fields: Vec<&str> = of_body(model, body).iter().map(|column| column.field).collect();
    if fields.is_empty() {
        let moving = joints(model).map(|(body, _)| body.name.as_str()).collect();
        format!("no number of the scene has this name; the bodies that move are {}", list(moving))
    } else {
        format!("no number of the scene has this name; {body:?} has {}", list(fields))
    }
}
