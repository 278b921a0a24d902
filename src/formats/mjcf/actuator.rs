//! `actuator` elements: motors, position and velocity servos, and what is affine in control, length and velocity.

use std::collections::HashMap;

use super::defaults::Given;
use super::reader::Reader;
use super::tree::Tree;
use crate::Error;
use crate::assemble::{ActuatorDescription, Description, Driven};
use crate::formats::xml::{Element, Remarks, Unfollowed};
use crate::model::{ActuatorKind, JointKind};

/// All kinds; their defaults are those of one and the same element.
pub(super) const TAGS: [&str; 14] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "orientation",
    "pid",
    "dcmotor",
    "plugin",
    "actuator",
];

const FOLLOWED: [&str; 21] = [
    "name",
    "class",
    "joint",
    "tendon",
    "jointinparent",
    "gear",
    "ctrllimited",
    "ctrlrange",
    "forcelimited",
    "forcerange",
    "kp",
    "kv",
    "gaintype",
    "gainprm",
    "biastype",
    "biasprm",
    "dyntype",
    "inheritrange",
    "dampratio",
    "timeconst",
    "dynprm",
];

const INERT: [&str; 8] =
    ["group", "user", "lengthrange", "cranklength", "interp", "nsample", "actdim", "actearly"];

const STATE: &str = "is not followed: actuators have no state";

const UNFOLLOWED: [Unfollowed; 6] = [
    Unfollowed { name: "actlimited", neutral: "false", instead: STATE },
    Unfollowed { name: "actrange", neutral: "0", instead: STATE },
    Unfollowed { name: "delay", neutral: "0", instead: "is not followed: actuators act at once" },
    Unfollowed {
        name: "damping",
        neutral: "0",
        instead: "is not followed: give the joint its damping",
    },
    Unfollowed {
        name: "armature",
        neutral: "0",
        instead: "is not followed: give the joint its armature",
    },
    Unfollowed { name: "input", neutral: "", instead: "is not followed" },
];

/// Remarks on what is not followed.
pub(super) fn remark(element: &Element, remarks: &mut Remarks) {
    if ["general", "motor", "position", "velocity", "damper"].contains(&element.tag.as_str()) {
        element.remark_on_others(&FOLLOWED, &INERT, &UNFOLLOWED, remarks);
    }
}

/// force = gain u + bias, without limits: the numbers that MuJoCo keeps of any actuator.
#[derive(Clone, Copy, Debug)]
struct Law {
    gain: f64,
    /// What length and velocity add to the gain.
    gain_by: [f64; 2],
    /// Constant, per length, per velocity.
    bias: [f64; 3],
    /// Whether there is more to it.
    known: bool,
}

/// Reads all actuators; says of each whether it is followed.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    root: &'a Element,
    (tree, tendons): (&Tree, &HashMap<&str, String>),
    description: &mut Description,
) -> Result<Vec<bool>, Error> {
    let mut followed = Vec::new();
    for element in root.all("actuator").flat_map(|section| &section.children) {
        if !TAGS.contains(&element.tag.as_str()) {
            reader.remarks.add(element, "", "is not known here, and ignored");
            continue;
        }
        remark(element, &mut reader.remarks);
        let actuator = match reader.flags.actuators {
            true => actuator(reader, element, (tree, tendons), description)?,
            false => {
                reader.remarks.add(element, "", "is left out: actuators are switched off");
                None
            }
        };
        followed.push(actuator.is_some());
        if let Some(actuator) = actuator {
            let count = followed.len();
            let name = element.get("name").map(str::to_string);
            let name = name.unwrap_or_else(|| format!("actuator{count}"));
            description.actuators.push(ActuatorDescription { name, ..actuator });
        }
    }
    Ok(followed)
}

fn actuator<'a>(
    reader: &mut Reader<'a>,
    element: &'a Element,
    (tree, tendons): (&Tree, &HashMap<&str, String>),
    description: &Description,
) -> Result<Option<ActuatorDescription>, Error> {
    let given = reader.defaults.given_as(element, None, &TAGS)?;
    let Some(drives) = driven(reader, element, tree, tendons)? else { return Ok(None) };
    let law = law(reader, &given)?;
    if !law.known {
        let message = "is left out: it is no motor, position or velocity servo";
        reader.remarks.add(element, "", message);
        return Ok(None);
    }
    let gear = given.at("gear").list("gear")?.and_then(|gear| gear.first().copied());
    let mut gear = gear.unwrap_or(1.0);
    let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
    let range = |limited: &str, name: &str| {
        let range: Option<[f64; 2]> = given.at(name).numbers(name)?;
        let limited = given.at(limited).word(limited, &words)?.flatten();
        if !reader.compiler.limits(limited, range.is_some()) {
            return Ok(None);
        }
        match range {
            Some([least, most]) if least <= most => Ok(Some([least, most])),
            Some(_) => Err(given.at(name).error(name, "must be a least and a largest number")),
            None => Err(given.own().error(name, "is missing, and the actuator is limited")),
        }
    };
    let mut control_range = match element.tag == "damper" {
        true => Some(damper_range(&given)?),
        false => range("ctrllimited", "ctrlrange")?,
    };
    let mut force_range = range("forcelimited", "forcerange")?;
    let inherit = given.at("inheritrange").amount("inheritrange")?.unwrap_or(0.0);
    if inherit > 0.0 && element.tag == "position" {
        let joints = tree.links.iter().flat_map(|link| &link.joints);
        let limits = match &drives {
            Driven::Joint(joint) => joints
                .filter(|other| other.numbers.name == *joint)
                .find_map(|other| other.numbers.limits),
            Driven::Tendon(tendon) => description
                .tendons
                .iter()
                .find(|other| other.name == *tendon)
                .and_then(|other| other.range),
        };
        if let Some([lower, upper]) = limits {
            let (middle, half) = ((lower + upper) / 2.0, (upper - lower) / 2.0 * inherit);
            control_range = Some([middle - half, middle + half]);
        }
    }
    if !reader.flags.clamp_controls {
        control_range = None;
    }
    let Law { gain, gain_by, bias: [constant, per_length, per_velocity], .. } = law;
    let (kind, kp, kd) = if gain_by != [0.0; 2] {
        (ActuatorKind::Affine, 0.0 - per_length, 0.0 - per_velocity)
    } else if constant == 0.0 && per_length == 0.0 && per_velocity == 0.0 {
        // gear g u is the motor of gear times g, its force range by g.
        if gain != 1.0 {
            gear *= gain;
            force_range = match gain == 0.0 {
                true => None,
                false => force_range.map(|[least, most]| {
                    let (a, b) = (least / gain, most / gain);
                    [a.min(b), a.max(b)]
                }),
            };
        }
        (ActuatorKind::Motor, 0.0, 0.0)
    } else if constant == 0.0 && per_length != 0.0 && per_length == -gain {
        (ActuatorKind::Position, gain, 0.0 - per_velocity)
    } else if constant == 0.0 && per_length == 0.0 && per_velocity == -gain {
        (ActuatorKind::Velocity, 0.0, gain)
    } else {
        (ActuatorKind::Affine, 0.0 - per_length, 0.0 - per_velocity)
    };
    if kp < 0.0 || kd < 0.0 {
        let message = "is left out: its force grows with its length or its velocity";
        reader.remarks.add(element, "", message);
        return Ok(None);
    }
    if gain_by[1] != 0.0 && description.settings.integrator.damps_by_motors() {
        let message = "damps by its control, in which steps are explicit here by any integrator";
        reader.remarks.add(element, "", message);
    }
    Ok(Some(ActuatorDescription {
        line: Some(element.line),
        name: String::new(),
        drives,
        kind,
        gear,
        kp,
        kd,
        gain: if kind == ActuatorKind::Affine { gain } else { 1.0 },
        bias: if kind == ActuatorKind::Affine { constant } else { 0.0 },
        gain_by,
        control_range,
        force_range,
        control: 0.0,
    }))
}

/// The range of the controls of a damper, which it always has.
fn damper_range(given: &Given) -> Result<[f64; 2], Error> {
    match given.at("ctrlrange").numbers("ctrlrange")? {
        Some([least, most]) if 0.0 <= least && least <= most => Ok([least, most]),
        Some(_) => {
            let message = "must be two numbers, 0 or more, the least first";
            Err(given.at("ctrlrange").error("ctrlrange", message))
        }
        None => Err(given.own().error("ctrlrange", "is missing: a damper has one")),
    }
}

/// The joint or the tendon that an actuator acts on; nothing, with a remark, where that is neither.
fn driven<'a>(
    reader: &mut Reader<'a>,
    element: &'a Element,
    tree: &Tree,
    tendons: &HashMap<&str, String>,
) -> Result<Option<Driven>, Error> {
    if let Some(tendon) = element.get("tendon") {
        if let Some(name) = tendons.get(tendon) {
            return Ok(Some(Driven::Tendon(name.clone())));
        }
        // One that has no length is left out, with a remark on it.
        reader.remarks.add(element, "tendon", "is left out: its tendon is not there");
        return Ok(None);
    }
    let Some(joint) = element.get("joint").or(element.get("jointinparent")) else {
        reader.remarks.add(element, "", "is left out: it does not act on a joint or a tendon");
        return Ok(None);
    };
    let Some((kind, _)) = tree.joint(joint) else {
        return Err(element.error("joint", format!("there is no joint {joint:?}")));
    };
    if ![JointKind::Revolute, JointKind::Prismatic].contains(&kind) {
        reader.remarks.add(element, "joint", "is left out: it does not act on a hinge or slide");
        return Ok(None);
    }
    Ok(Some(Driven::Joint(joint.to_string())))
}

/// What an actuator inherits, or is.
#[derive(Clone, Copy)]
struct Inherited {
    law: Law,
    affine_gain: bool,
    affine_bias: bool,
    /// Whether there is nothing else to it.
    plain: bool,
}

/// The law of an actuator: defaults and its own attributes one after the other, as each kind understands
/// them. What a servo or damper inherits is that of its own kind and of `general`.
fn law(reader: &mut Reader, given: &Given) -> Result<Law, Error> {
    /// All others inherit what there is.
    const CHOOSY: [&str; 3] = ["position", "velocity", "damper"];
    let new = Inherited { law: NEW, affine_gain: false, affine_bias: false, plain: true };
    let (mut all, mut own) = (new, [new; CHOOSY.len()]);
    for &layer in given.layers.iter().rev() {
        let tag = layer.tag.as_str();
        let place = CHOOSY.iter().position(|&choosy| choosy == tag);
        let inherited = place.map_or(all, |place| own[place]);
        all = changed(reader, layer, inherited)?;
        for (&choosy, own) in CHOOSY.iter().zip(&mut own) {
            if choosy == tag || tag != "motor" && place.is_none() {
                *own = all;
            }
        }
    }
    let Inherited { mut law, affine_gain, affine_bias, plain } = all;
    if !affine_gain {
        law.gain_by = [0.0; 2];
    }
    if !affine_bias {
        law.bias = [0.0; 3];
    }
    law.known = plain;
    Ok(law)
}

/// That of an actuator about which nothing is said.
const NEW: Law = Law { gain: 1.0, gain_by: [0.0; 2], bias: [0.0; 3], known: true };

/// What an element makes of what it inherits.
fn changed(reader: &mut Reader, layer: &Element, inherited: Inherited) -> Result<Inherited, Error> {
    let Inherited { mut law, mut affine_gain, mut affine_bias, mut plain } = inherited;
    match layer.tag.as_str() {
        "general" | "actuator" => {
            let numbers = layer.list("gainprm")?;
            if let Some(first) = numbers.as_ref().and_then(|numbers| numbers.first()) {
                law.gain = *first;
            }
            for (slot, number) in law.gain_by.iter_mut().zip(numbers.iter().flatten().skip(1)) {
                *slot = *number;
            }
            if let Some(numbers) = layer.list("biasprm")? {
                for (slot, number) in law.bias.iter_mut().zip(&numbers) {
                    *slot = *number;
                }
            }
            match layer.get("biastype") {
                None => {}
                Some("none") => affine_bias = false,
                Some("affine") => affine_bias = true,
                Some(_) => plain = false,
            }
            match layer.get("gaintype") {
                None => {}
                Some("fixed") => affine_gain = false,
                Some("affine") => affine_gain = true,
                Some(_) => plain = false,
            }
            if layer.get("dyntype").is_some() {
                plain = layer.get("dyntype") == Some("none");
            }
        }
        "motor" => {
            law = NEW;
            (affine_gain, affine_bias, plain) = (false, false, true);
        }
        "position" => {
            if affine_gain {
                law = NEW;
            }
            law.gain = layer.amount("kp")?.unwrap_or(law.gain);
            let damping = if affine_bias { law.bias[2] } else { 0.0 };
            let damping = layer.amount("kv")?.map_or(damping, |kv| -kv);
            law.bias = [0.0, -law.gain, damping];
            (affine_gain, affine_bias, plain) = (false, true, true);
            if layer.amount("timeconst")?.unwrap_or(0.0) > 0.0 {
                let message = "is not followed: positions are demanded at once";
                reader.remarks.add(layer, "timeconst", message);
            }
            if layer.amount("dampratio")?.unwrap_or(0.0) > 0.0 {
                reader.remarks.add(layer, "dampratio", "is not followed: give kv");
            }
        }
        "velocity" => {
            if affine_gain {
                law = NEW;
            }
            law.gain = layer.amount("kv")?.unwrap_or(law.gain);
            law.bias = [0.0, 0.0, -law.gain];
            (affine_gain, affine_bias, plain) = (false, true, true);
        }
        // Its control, which is not negative, is a damping.
        "damper" => {
            let inherited = if affine_gain { law.gain_by[1] } else { 0.0 };
            let slope = layer.amount("kv")?.map_or(inherited, |kv| 0.0 - kv);
            if slope > 0.0 {
                return Err(layer.error("kv", format!("must not be negative, found {}", -slope)));
            }
            law = Law { gain: 0.0, gain_by: [0.0, slope], ..NEW };
            (affine_gain, affine_bias, plain) = (true, false, true);
        }
        _ => plain = false,
    }
    Ok(Inherited { law, affine_gain, affine_bias, plain })
}
