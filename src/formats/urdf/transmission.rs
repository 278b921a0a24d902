//! What drives joints as the file states it: `transmission` elements of ros_control, command interfaces of ros2_control.

use std::collections::HashMap;

use super::joint::Joint;
use crate::Error;
use crate::assemble::StatedDrive;
use crate::formats::xml::{Element, Remarks};
use crate::model::ActuatorKind;

/// Drives by the names of their joints; the first that is stated of one counts.
pub(super) fn read<'a>(
    root: &'a Element,
    remarks: &mut Remarks,
) -> Result<HashMap<&'a str, StatedDrive>, Error> {
    let mut drives = HashMap::new();
    let commanded = root.all("ros2_control").flat_map(|control| control.all("joint"));
    for joint in commanded {
        let name = joint.required("name")?;
        let mut interfaces = joint.all("command_interface");
        let Some(interface) = interfaces.next() else { continue };
        let Some(kind) = kind(interface.required("name")?) else {
            remarks.add(
                interface,
                "name",
                "is not followed: it is no position, velocity or effort",
            );
            continue;
        };
        if interfaces.next().is_some() {
            let message = format!("of {name:?} is the first of several: only it is followed");
            remarks.add(interface, "", message);
        }
        let (least, most) = (limit(interface, "min")?, limit(interface, "max")?);
        let range = least.zip(most).map(|(least, most)| [least, most]);
        if range.is_some_and(|[least, most]| least > most) {
            return Err(interface.error("min", "must be at most max"));
        }
        drives.entry(name).or_insert(StatedDrive { kind, range });
    }
    for transmission in root.all("transmission") {
        let simple = transmission.child("type").is_none_or(|kind| kind.text.contains("Simple"));
        if !simple {
            remarks.add(transmission, "type", "is not followed: only simple transmissions are");
            continue;
        }
        for joint in transmission.all("joint") {
            let name = joint.required("name")?;
            let of = |element: &Element| {
                element.child("hardwareInterface").map(|interface| interface.text.clone())
            };
            let stated = of(joint).or_else(|| transmission.all("actuator").find_map(of));
            let Some(kind) = stated.as_deref().and_then(kind) else {
                let message = "is missing, or none of position, velocity or effort: the joint has no motor by it";
                remarks.add(joint, "hardwareInterface", message);
                continue;
            };
            drives.entry(name).or_insert(StatedDrive { kind, range: None });
        }
    }
    Ok(drives)
}

/// An error if something drives a joint that is not there.
pub(super) fn check(
    root: &Element,
    joints: &[Joint],
    drives: &HashMap<&str, StatedDrive>,
) -> Result<(), Error> {
    let known = |name: &str| joints.iter().any(|joint| joint.name == name);
    let driving = root
        .children
        .iter()
        .filter(|child| ["transmission", "ros2_control"].contains(&child.tag.as_str()));
    for joint in driving.flat_map(|element| element.all("joint")) {
        if let Some(name) =
            joint.get("name").filter(|name| drives.contains_key(name) && !known(name))
        {
            return Err(joint.error("name", format!("there is no joint {name:?}")));
        }
    }
    Ok(())
}

/// Says of what nobody asked for that it is not followed.
pub(super) fn remark_unasked(element: &Element, remarks: &mut Remarks) {
    const MESSAGE: &str = "is not followed: give joints an [[actuator]] each, or those of the file by `import --actuators file`";
    remarks.add(element, "", MESSAGE);
}

/// `position`, or `hardware_interface/PositionJointInterface`.
fn kind(interface: &str) -> Option<ActuatorKind> {
    let name = interface.trim().rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    match name.strip_suffix("jointinterface").unwrap_or(&name) {
        "position" => Some(ActuatorKind::Position),
        "velocity" => Some(ActuatorKind::Velocity),
        "effort" => Some(ActuatorKind::Motor),
        _ => None,
    }
}

/// The number of a `param` of a command interface.
fn limit(interface: &Element, name: &str) -> Result<Option<f64>, Error> {
    let Some(given) = interface.all("param").find(|param| param.get("name") == Some(name)) else {
        return Ok(None);
    };
    match given.text.trim().parse() {
        Ok(number) if f64::is_finite(number) => Ok(Some(number)),
        _ => {
            Err(given
                .error(name, format!("must be a finite number, found {:?}", given.text.trim())))
        }
    }
}
