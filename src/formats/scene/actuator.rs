//! The `[[actuator]]` tables of a scene file.

use crate::Error;
use crate::assemble::{ActuatorDescription, Driven};
use crate::model::ActuatorKind;
use crate::table::Table;

/// Reads an actuator whose name is known.
pub(super) fn read(table: &Table, name: String) -> Result<ActuatorDescription, Error> {
    table.only(&[
        "name",
        "joint",
        "tendon",
        "type",
        "gear",
        "kp",
        "kd",
        "gain",
        "bias",
        "gain_length",
        "gain_velocity",
        "control_range",
        "force_range",
        "control",
    ])?;
    let kind = match table.string("type")?.unwrap_or("motor") {
        "motor" => ActuatorKind::Motor,
        "position" => ActuatorKind::Position,
        "velocity" => ActuatorKind::Velocity,
        "affine" => ActuatorKind::Affine,
        other => {
            let message = format!(
                "must be \"motor\", \"position\", \"velocity\" or \"affine\", found {other:?}"
            );
            return Err(table.error("type", message));
        }
    };
    let affine = kind == ActuatorKind::Affine;
    let needs = |field: &str, needed: bool| {
        let gain = table.number(field)?;
        match needed {
            true => Ok(gain.unwrap_or(0.0)),
            false if gain.is_some() => {
                let message = format!("has no meaning for a {}", kind.name());
                Err(table.error(field, message))
            }
            false => Ok(0.0),
        }
    };
    let kp = needs("kp", affine || kind == ActuatorKind::Position)?;
    if kind == ActuatorKind::Position {
        table.required("kp", table.number("kp")?)?;
    }
    if kind == ActuatorKind::Velocity {
        table.required("kd", table.number("kd")?)?;
    }
    Ok(ActuatorDescription {
        line: None,
        name,
        drives: match (table.string("joint")?, table.string("tendon")?) {
            (joint, None) => Driven::Joint(table.required("joint", joint)?.to_string()),
            (None, Some(tendon)) => Driven::Tendon(tendon.to_string()),
            (Some(_), Some(_)) => {
                return Err(table.error("tendon", "must not be given beside `joint`"));
            }
        },
        kind,
        gear: table.number("gear")?.unwrap_or(1.0),
        kp,
        kd: needs("kd", kind != ActuatorKind::Motor)?,
        gain: if table.has("gain") { needs("gain", affine)? } else { 1.0 },
        bias: needs("bias", affine)?,
        gain_by: [needs("gain_length", affine)?, needs("gain_velocity", affine)?],
        control_range: table.numbers("control_range")?,
        force_range: table.numbers("force_range")?,
        control: table.number("control")?.unwrap_or(0.0),
    })
}
