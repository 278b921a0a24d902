//! What the inputs of a step are called in files.

use super::column_names::{joints, named};
use super::units::Quantity;
use crate::model::Model;

/// Which input of a step a name stands for: a force along a velocity (`box/fx`, `arm/f`), an actuator or a push, with or without `/u`.
pub fn input_named(model: &Model, name: &str) -> Option<usize> {
    let bare = name.strip_suffix("/u").unwrap_or(name);
    let actuators = model.actuators.iter().map(|actuator| &actuator.name);
    let mut controls = actuators.chain(model.pushes.iter().map(|push| &push.name));
    match controls.position(|known| known == name || known == bare) {
        Some(control) => Some(model.nv() + control),
        None => model.input_names()[..model.nv()].iter().position(|force| force == name),
    }
}

/// What inputs there are, for messages.
pub fn known_inputs(model: &Model) -> String {
    const MOST: usize = 20;
    let list = |names: Vec<&str>| match names.len() {
        0 => "none".to_string(),
        1..=MOST => names.join(", "),
        more => format!("{}, and {} more", names[..MOST].join(", "), more - MOST),
    };
    let names = model.input_names();
    format!(
        "actuators: {}; pushes: {}; forces: {}",
        list(model.actuators.iter().map(|actuator| actuator.name.as_str()).collect()),
        list(model.pushes.iter().map(|push| push.name.as_str()).collect()),
        list(names[..model.nv()].iter().map(String::as_str).collect())
    )
}

/// What the number of the state, or the input of a step, of a name measures; nothing if there is none.
pub fn quantity_of(model: &Model, name: &str) -> Option<Quantity> {
    if let [column] = named(model, name)[..] {
        return Some(column.quantity());
    }
    let place = input_named(model, name)?;
    let force = joints(model).find_map(|(body, kind)| {
        let k = place.checked_sub(body.joint.v).filter(|&k| k < kind.nv())?;
        let turns = match kind.quaternion() {
            Some((_, turn)) => k >= turn,
            None => body.joint.kind.turns(),
        };
        Some(match (turns, body.joint.prescribed) {
            (true, true) => Quantity::AngularSpeed,
            (false, true) => Quantity::Speed,
            (true, false) => Quantity::Torque,
            (false, false) => Quantity::Force,
        })
    });
    Some(force.unwrap_or(Quantity::Control))
}
