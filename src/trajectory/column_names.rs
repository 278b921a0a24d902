//! The numbers of a state, and what they are called in files.

use super::units::Quantity;
use crate::model::{Body, Model};
use crate::state::{Coordinates, NQ, NV};

pub(super) const TIME: &str = "t";
/// What tells the recordings of a table apart.
pub(super) const RECORDING: &str = "recording";

/// The topic that a column of messages is of.
pub(super) fn topic_of(column: &str) -> Option<&str> {
    let (topic, _) = column.split_once('.').filter(|_| column.starts_with('/'))?;
    Some(topic)
}
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
    /// Whether it is of a turn: an angle or its rate, and else a length or its rate.
    turns: bool,
}

impl Column<'_> {
    /// What it measures; the numbers of a quaternion count as lengths of a metre.
    pub fn quantity(&self) -> Quantity {
        match (self.number, self.turns) {
            (Number::Time, _) => Quantity::Time,
            (Number::Q(_), false) => Quantity::Length,
            (Number::Q(_), true) => Quantity::Angle,
            (Number::V(_), false) => Quantity::Speed,
            (Number::V(_), true) => Quantity::AngularSpeed,
        }
    }

    /// Whether it is a velocity.
    pub fn is_rate(&self) -> bool {
        matches!(self.number, Number::V(_))
    }

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
    let hinge = body.joint.kind.has_axis() && body.joint.kind.turns();
    named.map(move |(number, &field)| {
        let turns = hinge || field.starts_with('w');
        Column { body: &body.name, field, number, turns }
    })
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

/// Numbers of a body that are named together, and the fields that each stands for.
const GROUPS: [(&str, &[&str]); 4] = [
    ("position", &["px", "py", "pz"]),
    ("orientation", &["qw", "qx", "qy", "qz"]),
    ("velocity", &["vx", "vy", "vz"]),
    ("angular_velocity", &["wx", "wy", "wz"]),
];

/// The numbers that a name stands for: one, or `body/position` and so on.
pub(super) fn named<'a>(model: &'a Model, name: &str) -> Vec<Column<'a>> {
    let group = name.rsplit_once('/').and_then(|(body, group)| {
        let (_, fields) = GROUPS.iter().find(|(known, _)| *known == group)?;
        Some((body, fields))
    });
    match group {
        Some((body, fields)) => {
            let mut found = of_body(model, body);
            found.retain(|column| fields.contains(&column.field));
            found
        }
        None => by_name(model, name).into_iter().collect(),
    }
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
        let groups = GROUPS.iter().filter(|(_, of)| of.iter().all(|field| fields.contains(field)));
        let groups = groups.map(|(group, _)| *group);
        let fields: Vec<&str> = fields.iter().copied().chain(groups).collect();
        format!("no number of the scene has this name; {body:?} has {}", list(fields))
    }
}
