//! `equality` elements: closed loops, and joints that follow others.

use std::collections::HashMap;

use nalgebra::{Isometry3, Point3};

use super::defaults::Given;
use super::orientation::unit;
use super::reader::Reader;
use super::tree::Tree;
use crate::Error;
use crate::assemble::{Description, EqualityDescription, TendonPathDescription};
use crate::formats::pose::wxyz;
use crate::formats::xml::{Element, Unfollowed};
use crate::model::{EqualityKind, JointKind};

const RIGID: &str = "is not followed: closed loops are rigid";

const UNFOLLOWED: [Unfollowed; 3] = [
    Unfollowed { name: "solref", neutral: "", instead: RIGID },
    Unfollowed { name: "solimp", neutral: "", instead: RIGID },
    Unfollowed { name: "torquescale", neutral: "1", instead: RIGID },
];

const FOLLOWED: [&str; 15] = [
    "name", "class", "active", "body1", "body2", "site1", "site2", "anchor", "relpose", "joint1",
    "joint2", "polycoef", "data", "tendon1", "tendon2",
];

/// Two bodies, each with a pose: of the body in the world where all joints have their reference numbers, or of
/// a site in the body.
struct Two {
    bodies: [Option<usize>; 2],
    poses: [Isometry3<f64>; 2],
}

/// Reads all equalities.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    root: &'a Element,
    (tree, tendons): (&Tree, &HashMap<&str, String>),
    description: &mut Description,
) -> Result<(), Error> {
    for element in root.all("equality").flat_map(|section| &section.children) {
        element.remark_on_others(&FOLLOWED, &[], &UNFOLLOWED, &mut reader.remarks);
        if !reader.flags.equalities {
            continue;
        }
        let given = reader.defaults.given_as(element, None, &[element.tag.as_str(), "equality"])?;
        if given.at("active").boolean("active")? == Some(false) {
            let message = "is left out: it is not active at the start";
            reader.remarks.add(given.at("active"), "active", message);
            continue;
        }
        let equality = match element.tag.as_str() {
            "connect" => Some(connect(element, tree)?),
            "weld" => Some(weld(element, tree)?),
            "joint" => joint(reader, &given, tree)?,
            "tendon" => {
                hold_tendon(reader, &given, (tree, tendons), description)?;
                None
            }
            _ => {
                reader.remarks.add(element, "", "is not followed, and left out");
                None
            }
        };
        if let Some(equality) = equality {
            let count = description.equalities.len() + 1;
            let name = element.get("name").map(str::to_string);
            let name = name.unwrap_or_else(|| format!("{}{count}", element.tag));
            description.equalities.push(EqualityDescription { name, ..equality });
        }
    }
    Ok(())
}

/// A tendon of joints that is as long as in the reference configuration is one with a range of no width.
fn hold_tendon(
    reader: &mut Reader,
    given: &Given,
    (tree, tendons): (&Tree, &HashMap<&str, String>),
    description: &mut Description,
) -> Result<(), Error> {
    let element = given.own();
    let name = tendons.get(element.required("tendon1")?);
    let found = description.tendons.iter_mut().find(|tendon| Some(&tendon.name) == name);
    let polynomial = element.list("polycoef")?.unwrap_or_default();
    let held = found.and_then(|tendon| match &tendon.path {
        TendonPathDescription::Joints(joints) => {
            let reference = |(joint, coefficient): &(String, f64)| {
                tree.joint(joint).map(|(_, reference)| reference * coefficient)
            };
            let length = joints.iter().map(reference).sum::<Option<f64>>()?;
            let length = length + polynomial.first().copied().unwrap_or(0.0);
            let within = |[lower, upper]: [f64; 2]| lower <= length && length <= upper;
            tendon.range.is_none_or(within).then_some((tendon, length))
        }
        _ => None,
    });
    match held {
        Some((tendon, length)) if element.get("tendon2").is_none() => {
            tendon.range = Some([length; 2]);
        }
        _ => {
            let message =
                "is left out: tendons of joints can be held, alone, at lengths that they may have";
            reader.remarks.add(element, "tendon1", message);
        }
    }
    Ok(())
}

fn empty(element: &Element, kind: EqualityKind) -> EqualityDescription {
    EqualityDescription {
        line: Some(element.line),
        name: String::new(),
        kind,
        bodies: [None, None],
        anchors: [[0.0; 3]; 2],
        orientation: [1.0, 0.0, 0.0, 0.0],
        axis: [0.0; 3],
        distance: 0.0,
        joints: [String::new(), String::new()],
        offset: 0.0,
        ratio: 0.0,
        stiffness: None,
        damping: 0.0,
    }
}

/// The bodies that an element names; the second may be the world.
fn bodies(element: &Element, tree: &Tree) -> Result<Two, Error> {
    element.required("body1")?;
    let (mut bodies, mut poses) = ([None; 2], [Isometry3::identity(); 2]);
    for (k, name) in ["body1", "body2"].into_iter().enumerate() {
        match element.get(name) {
            None | Some("world") => {}
            Some(body) => {
                let Some(&index) = tree.places.get(body) else {
                    return Err(element.error(name, format!("there is no body {body:?}")));
                };
                (bodies[k], poses[k]) = (Some(index), tree.links[index].world);
            }
        }
    }
    Ok(Two { bodies, poses })
}

/// The bodies of two sites, and the sites in them.
fn sites(element: &Element, tree: &Tree) -> Result<Two, Error> {
    let (mut bodies, mut poses) = ([None; 2], [Isometry3::identity(); 2]);
    for (k, name) in ["site1", "site2"].into_iter().enumerate() {
        let site = element.required(name)?;
        let Some(&(body, pose)) = tree.sites.get(site) else {
            return Err(element.error(name, format!("there is no site {site:?}")));
        };
        (bodies[k], poses[k]) = (body, pose);
    }
    Ok(Two { bodies, poses })
}

fn names(bodies: [Option<usize>; 2], tree: &Tree) -> [Option<String>; 2] {
    bodies.map(|body| body.map(|body| tree.links[body].name.clone()))
}

fn connect(element: &Element, tree: &Tree) -> Result<EqualityDescription, Error> {
    let equality = empty(element, EqualityKind::Connect);
    if element.get("site1").is_some() {
        let Two { bodies, poses } = sites(element, tree)?;
        let anchors = poses.map(|pose| pose.translation.vector.into());
        return Ok(EqualityDescription { bodies: names(bodies, tree), anchors, ..equality });
    }
    let Two { bodies, poses: world } = bodies(element, tree)?;
    let Some(anchor) = element.numbers("anchor")? else {
        return Err(element.error("anchor", "is missing"));
    };
    // The point of the second body that is there at the start.
    let second = world[1].inverse() * (world[0] * Point3::from(anchor));
    let anchors = [anchor, second.coords.into()];
    Ok(EqualityDescription { bodies: names(bodies, tree), anchors, ..equality })
}

fn weld(element: &Element, tree: &Tree) -> Result<EqualityDescription, Error> {
    let equality = empty(element, EqualityKind::Weld);
    if element.get("site1").is_some() {
        let Two { bodies, poses } = sites(element, tree)?;
        let anchors = poses.map(|pose| pose.translation.vector.into());
        // R1 S1 = R2 S2
        let orientation = wxyz(&(poses[0].rotation * poses[1].rotation.inverse()));
        let bodies = names(bodies, tree);
        return Ok(EqualityDescription { bodies, anchors, orientation, ..equality });
    }
    let Two { bodies, poses: world } = bodies(element, tree)?;
    let anchor = element.numbers("anchor")?.unwrap_or([0.0; 3]);
    let [x, y, z, w, i, j, k] =
        element.numbers("relpose")?.unwrap_or([0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let relative = world[0].inverse() * world[1];
    // Without a quaternion, the bodies stay as they are at the start.
    let (first, orientation) = match unit([w, i, j, k]) {
        Some(orientation) => ([x, y, z], orientation),
        None => ((relative * Point3::from(anchor)).coords.into(), relative.rotation),
    };
    let (bodies, anchors) = (names(bodies, tree), [first, anchor]);
    Ok(EqualityDescription { bodies, anchors, orientation: wxyz(&orientation), ..equality })
}

/// y - y0 = a0 + a1 (x - x0)
fn joint(
    reader: &mut Reader,
    given: &Given,
    tree: &Tree,
) -> Result<Option<EqualityDescription>, Error> {
    let element = given.own();
    let joint = |name: &str| {
        let joint = element.required(name)?;
        match tree.joint(joint) {
            Some((JointKind::Revolute | JointKind::Prismatic, reference)) => {
                Ok((joint.to_string(), reference))
            }
            _ => Err(element.error(name, format!("there is no hinge or slide joint {joint:?}"))),
        }
    };
    let (first, y0) = joint("joint1")?;
    if element.get("joint2").is_none() {
        let message = "is left out: it holds one joint; give that joint no freedom instead";
        reader.remarks.add(element, "joint1", message);
        return Ok(None);
    }
    let (second, x0) = joint("joint2")?;
    let coefficients = element.list("polycoef")?.unwrap_or_else(|| vec![0.0, 1.0]);
    let [a0, a1, others @ ..] = coefficients.as_slice() else {
        return Err(element.error("polycoef", "must be two numbers or more"));
    };
    if others.iter().any(|&a| a != 0.0) {
        let message = "is followed in its first two numbers only: one joint follows another in \
                       proportion";
        reader.remarks.add(element, "polycoef", message);
    }
    Ok(Some(EqualityDescription {
        joints: [first, second],
        offset: y0 + a0 - a1 * x0,
        ratio: *a1,
        ..empty(element, EqualityKind::Joint)
    }))
}
