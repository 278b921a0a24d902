//! Joints: `joint = { .. }` of a body, read and written.

use super::toml_values::{list, number, string};
use crate::Error;
use crate::assemble::JointDescription;
use crate::model::JointKind;
use crate::table::Table;

const FIELDS: [&str; 14] = [
    "type",
    "name",
    "axis",
    "pitch",
    "anchor",
    "limits",
    "max_speed",
    "armature",
    "damping",
    "friction",
    "stiffness",
    "rest",
    "q",
    "v",
];

/// Reads the joint of a body; `hangs`: whether the body has a parent.
pub(super) fn read(table: &Table, hangs: bool) -> Result<JointDescription, Error> {
    let Some(joint) = table.table("joint")? else {
        if hangs {
            let message = "is missing: with a parent, a body has joint = { type = .. }";
            return Err(table.error("joint", message));
        }
        return Ok(JointDescription::new(JointKind::Free));
    };
    joint.only(&FIELDS)?;
    let kind = read_kind(&joint)?;
    let mut described = JointDescription::new(kind);
    if kind.has_axis() {
        described.axis = joint.required("axis", joint.numbers("axis")?)?;
    }
    described.name = joint.string("name")?.unwrap_or("").to_string();
    described.anchor = joint.numbers("anchor")?.unwrap_or([0.0; 3]);
    described.limits = joint.numbers("limits")?;
    described.max_speed = joint.number("max_speed")?;
    for (field, number) in [
        ("armature", &mut described.armature),
        ("damping", &mut described.damping),
        ("friction", &mut described.friction),
        ("stiffness", &mut described.stiffness),
        ("rest", &mut described.rest),
    ] {
        *number = joint.number(field)?.unwrap_or(0.0);
    }
    described.q = joint.list("q")?.unwrap_or_default();
    described.v = joint.list("v")?.unwrap_or_default();
    Ok(described)
}

fn read_kind(joint: &Table) -> Result<JointKind, Error> {
    let found = joint.required("type", joint.string("type")?)?;
    // URDF's word for one without limits.
    let name = if found == "continuous" { JointKind::Revolute.name() } else { found };
    let pitch = joint.number("pitch")?;
    let helical = JointKind::Helical { pitch: pitch.unwrap_or(0.0) };
    let known = || JointKind::PLAIN.into_iter().chain([helical]);
    let Some(kind) = known().find(|kind| kind.name() == name) else {
        let names: Vec<String> = known().map(|kind| format!("{:?}", kind.name())).collect();
        let message = format!("must be one of {}, found {found:?}", names.join(", "));
        return Err(joint.error("type", message));
    };
    if let JointKind::Helical { .. } = kind {
        joint.required("pitch", pitch)?;
    } else if pitch.is_some() {
        return Err(joint.error("pitch", format!("has no meaning for a joint that is {found}")));
    }
    Ok(kind)
}

/// The joint in one line; nothing for a free one with nothing special.
pub(super) fn inline_table(joint: &JointDescription) -> Option<String> {
    let free = joint.kind == JointKind::Free;
    let mut entries = vec![format!("type = {}", string(joint.kind.name()))];
    if !joint.name.is_empty() {
        entries.push(format!("name = {}", string(&joint.name)));
    }
    if joint.kind.has_axis() {
        entries.push(format!("axis = {}", list(&joint.axis)));
    }
    if let JointKind::Helical { pitch } = joint.kind {
        entries.push(format!("pitch = {}", number(pitch)));
    }
    if !free && joint.anchor != [0.0; 3] {
        entries.push(format!("anchor = {}", list(&joint.anchor)));
    }
    if let Some(limits) = &joint.limits {
        entries.push(format!("limits = {}", list(limits)));
    }
    if let Some(speed) = joint.max_speed {
        entries.push(format!("max_speed = {}", number(speed)));
    }
    for (name, value) in [
        ("armature", joint.armature),
        ("damping", joint.damping),
        ("friction", joint.friction),
        ("stiffness", joint.stiffness),
        ("rest", joint.rest),
    ] {
        if value != 0.0 {
            entries.push(format!("{name} = {}", number(value)));
        }
    }
    // A free body starts at its position, with its velocity.
    for (name, numbers) in [("q", &joint.q), ("v", &joint.v)] {
        match numbers.as_slice() {
            _ if free => {}
            [] | [0.0] => {}
            [x] => entries.push(format!("{name} = {}", number(*x))),
            numbers => entries.push(format!("{name} = {}", list(numbers))),
        }
    }
    (!free || entries.len() > 1).then(|| format!("{{ {} }}", entries.join(", ")))
}
