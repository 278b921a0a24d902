//! What drives joints as the file states it: `transmission` elements of ros_control, command interfaces of ros2_control.

use super::joint::Joint;
use crate::Error;
use crate::assemble::StatedDrive;
use crate::formats::xml::{Element, Remarks};
use crate::model::ActuatorKind;

/// Gives joints what drives them; the first that is stated of one counts.
pub(super) fn drive(
    root: &Element,
    joints: &mut [Joint],
    remarks: &mut Remarks,
) -> Result<(), Error> {
    let commanded = root.all("ros2_control").flat_map(|control| control.all("joint"));
    for joint in commanded {
        let name = joint.required("name")?;
        let mut interfaces = joint.all("command_interface");
        let Some(interface) = interfaces.next() else { continue };
        let Some(kind) = kind(interface.required("name")?) else {
            let message = "is not followed: it is no position, velocity or effort";
            remarks.add(interface, "name", message);
            continue;
        };
        if interfaces.next().is_some() {
            let message = format!("of {name:?} is the first of several: only it is followed");
            remarks.add(interface, "", message);
        }
        let [least, most] = [limit(interface, "min")?, limit(interface, "max")?];
        if least.zip(most).is_some_and(|(least, most)| least > most) {
            return Err(interface.error("", "has a min that is more than its max"));
        }
        let range = match (least, most) {
            (None, None) => None,
            _ => Some([least.unwrap_or(f64::NEG_INFINITY), most.unwrap_or(f64::INFINITY)]),
        };
        let drive = StatedDrive { kind, range };
        give(joints, (joint, name), drive, remarks);
    }
    for transmission in root.all("transmission") {
        let simple = transmission.child("type").is_none_or(|kind| kind.text.contains("Simple"));
        if !simple {
            let message = "is not followed: only simple transmissions are";
            remarks.add(transmission, "type", message);
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
            give(joints, (joint, name), StatedDrive { kind, range: None }, remarks);
        }
    }
    Ok(())
}

/// Gives a joint a drive, where it can have one and has none.
fn give(
    joints: &mut [Joint],
    (element, name): (&Element, &str),
    drive: StatedDrive,
    remarks: &mut Remarks,
) {
    let place = joints.iter().position(|joint| joint.name == name);
    let reason = match place.map(|place| &joints[place]) {
        None => "there is no such joint",
        Some(joint) if !joint.has_axis() => "the joint has not one coordinate",
        Some(joint) if joint.leader(joints).is_some() => "the joint follows another one",
        Some(_) => "",
    };
    let Some(joint) = place.map(|place| &mut joints[place]).filter(|_| reason.is_empty()) else {
        return remarks.add(element, "", format!("{name:?} is not driven: {reason}"));
    };
    // The other end is that of the joint.
    let has_other = match drive.kind {
        ActuatorKind::Position => joint.is_limited(false),
        ActuatorKind::Velocity => joint.is_limited(true),
        ActuatorKind::Motor | ActuatorKind::Affine => false,
    };
    let whole = |range: [f64; 2]| range.iter().all(|end| end.is_finite());
    if drive.range.is_some_and(|range| !whole(range) && !has_other) {
        remarks.add(element, "", format!("the range of {name:?} has one end, and is not followed"));
    }
    joint.drive(drive);
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
        "position" | "posvel" | "posveleffort" => Some(ActuatorKind::Position),
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
    let found = given.text.trim();
    match found.parse() {
        Ok(number) if f64::is_finite(number) => Ok(Some(number)),
        _ => Err(given.error("", format!("must be a finite number, found {found:?}"))),
    }
}
