//! `tendon` elements, fixed and spatial.

use std::collections::HashMap;

use nalgebra::Vector3;

use super::defaults::Given;
use super::joint::within;
use super::reader::Reader;
use super::tree::{Link, Tree};
use crate::Error;
use crate::assemble::{Description, TendonDescription, TendonPathDescription};
use crate::formats::xml::{Element, Unfollowed};
use crate::model::JointKind;

const RIGID: &str = "is not followed: limits and dry friction are rigid";

const UNFOLLOWED: [Unfollowed; 8] = [
    Unfollowed { name: "armature", neutral: "0", instead: "is not followed: give joints theirs" },
    Unfollowed { name: "solreflimit", neutral: "", instead: RIGID },
    Unfollowed { name: "solimplimit", neutral: "", instead: RIGID },
    Unfollowed { name: "solreffriction", neutral: "", instead: RIGID },
    Unfollowed { name: "solimpfriction", neutral: "", instead: RIGID },
    Unfollowed {
        name: "actuatorfrclimited",
        neutral: "false",
        instead: "is not followed: limit the forces of the motors",
    },
    Unfollowed {
        name: "actuatorfrcrange",
        neutral: "0",
        instead: "is not followed: limit the forces of the motors",
    },
    Unfollowed { name: "dampingratio", neutral: "0", instead: "is not followed: give damping" },
];

const FOLLOWED: [&str; 9] = [
    "name",
    "class",
    "limited",
    "margin",
    "range",
    "stiffness",
    "damping",
    "springlength",
    "frictionloss",
];

const SEEN: [&str; 5] = ["group", "material", "rgba", "user", "width"];

/// Reads all tendons that act, or that something drives or holds. In a scene they are called otherwise than bodies, whose numbers have
/// names like theirs; what they are called there is in the answer.
pub(super) fn read<'a>(
    reader: &mut Reader<'a>,
    root: &'a Element,
    tree: &Tree,
    description: &mut Description,
) -> Result<HashMap<&'a str, String>, Error> {
    let mut called = HashMap::new();
    let named = |section: &'a str, attribute: &'a str| {
        let all = root.all(section).flat_map(|section| &section.children);
        all.filter_map(move |element| element.get(attribute))
    };
    let used: Vec<&str> = named("actuator", "tendon").chain(named("equality", "tendon1")).collect();
    for element in root.all("tendon").flat_map(|section| &section.children) {
        if !["fixed", "spatial"].contains(&element.tag.as_str()) {
            reader.remarks.add(element, "", "is not known here, and ignored");
            continue;
        }
        let given = reader.defaults.given_as(element, None, &[element.tag.as_str(), "tendon"])?;
        let (mut tendon, links) = tendon(reader, &given, tree)?;
        let acts = tendon.range.is_some()
            || tendon.stiffness > 0.0
            || tendon.damping > 0.0
            || tendon.friction > 0.0;
        let is_used = element.get("name").is_some_and(|name| used.contains(&name));
        let passive = !(acts || is_used);
        if passive || !followed(reader, element, &tendon) {
            continue;
        }
        let wholes: Vec<Option<usize>> =
            links.iter().map(|link| link.and_then(|link| tree.whole(link))).collect();
        if element.tag == "spatial" && wholes.iter().all(|whole| *whole == wholes[0]) {
            let message = "is left out: all its sites are on one body, or on the world";
            reader.remarks.add(element, "", message);
            continue;
        }
        let mut trees: Vec<usize> =
            wholes.into_iter().flatten().map(|link| topmost(tree, link)).collect();
        trees.sort_unstable();
        trees.dedup();
        let conditions = tendon.range.is_some() || tendon.friction > 0.0;
        if trees.len() > 2 && conditions {
            let message = "is followed without its limits and its friction loss, which are for two bodies or robots that move on \
                           their own";
            reader.remarks.add(element, "", message);
            (tendon.range, tendon.friction) = (None, 0.0);
        }
        let layers = given.layers.iter().copied();
        for layer in layers {
            layer.remark_on_others(&FOLLOWED, &SEEN, &UNFOLLOWED, &mut reader.remarks);
        }
        let count = description.tendons.len() + 1;
        let own = element.get("name");
        let mut name = own.map_or_else(|| format!("tendon{count}"), str::to_string);
        let taken = |name: &str| {
            let mut others = description.tendons.iter();
            tree.links.iter().any(|link| link.name == name) || others.any(|own| own.name == name)
        };
        while taken(&name) {
            name += "_tendon";
        }
        called.extend(own.map(|own| (own, name.clone())));
        description.tendons.push(TendonDescription { name, ..tendon });
    }
    Ok(called)
}

/// The first body of those that a body hangs on which moves.
fn topmost(tree: &Tree, mut link: usize) -> usize {
    while let Some(above) = tree.links[link].parent.and_then(|parent| tree.whole(parent)) {
        link = above;
    }
    link
}

/// Whether what its length is can be followed.
fn followed<'a>(reader: &mut Reader<'a>, element: &'a Element, tendon: &TendonDescription) -> bool {
    let known = match &tendon.path {
        TendonPathDescription::Joints(joints) => !joints.is_empty(),
        TendonPathDescription::Points(points) => points.len() > 1,
    };
    let others =
        element.children.iter().filter(|child| child.tag != "site" && child.tag != "joint");
    for child in others {
        let message = match child.tag.as_str() {
            "geom" => {
                "is not followed: the tendon goes straight on; what it would wrap is left out"
            }
            _ => "is not followed: the tendon goes on as if it were not there",
        };
        reader.remarks.add(child, "", message);
    }
    if !known {
        reader.remarks.add(element, "", "is left out: it has no length");
    }
    known
}

fn tendon<'a>(
    reader: &mut Reader<'a>,
    given: &Given<'a>,
    tree: &Tree,
) -> Result<(TendonDescription, Vec<Option<usize>>), Error> {
    let element = given.own();
    // In the reference configuration.
    let mut length = 0.0;
    let mut links = Vec::new();
    let path = if element.tag == "fixed" {
        let mut joints: Vec<(String, f64)> = Vec::new();
        for child in element.all("joint") {
            let joint = child.required("joint")?;
            let Some((JointKind::Revolute | JointKind::Prismatic, reference)) = tree.joint(joint)
            else {
                let message = format!("there is no hinge or slide joint {joint:?}");
                return Err(child.error("joint", message));
            };
            let coefficient = child.number("coef")?.unwrap_or(1.0);
            if coefficient != 0.0 {
                length += coefficient * reference;
                let has = |link: &Link| link.joints.iter().any(|own| own.numbers.name == joint);
                links.push(tree.links.iter().position(has));
                match joints.iter_mut().find(|(known, _)| known == joint) {
                    Some((_, sum)) => *sum += coefficient,
                    None => joints.push((joint.to_string(), coefficient)),
                }
            }
        }
        TendonPathDescription::Joints(joints)
    } else {
        let (mut points, mut last) = (Vec::new(), None::<Vector3<f64>>);
        for child in element.all("site") {
            let site = child.required("site")?;
            let Some(&(body, pose)) = tree.sites.get(site) else {
                return Err(child.error("site", format!("there is no site {site:?}")));
            };
            let place = body.map_or(pose, |body| tree.links[body].world * pose);
            let place = place.translation.vector;
            if let Some(last) = last {
                length += (place - last).norm();
            }
            last = Some(place);
            links.push(body);
            let body = body.map(|body| tree.links[body].name.clone());
            points.push((body, pose.translation.vector.into()));
        }
        TendonPathDescription::Points(points)
    };
    let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
    let range: Option<[f64; 2]> = given.at("range").numbers("range")?;
    let limited = given.at("limited").word("limited", &words)?.flatten();
    let margin = given.at("margin").amount("margin")?.unwrap_or(0.0);
    let range = match (reader.compiler.limits(limited, range.is_some()), range) {
        (false, _) => None,
        (true, Some([least, most])) if least < most => {
            Some(within(least, most, (margin, given), &mut reader.remarks))
        }
        // What is no range limits nothing, unless it is said to.
        (true, Some(_)) if limited.is_none() => None,
        (true, Some(_)) => {
            let message = "must be a least and a largest number";
            return Err(given.at("range").error("range", message));
        }
        (true, None) => {
            return Err(element.error("range", "is missing, and the tendon is limited"));
        }
    };
    let lengths = given.at("springlength").list("springlength")?.unwrap_or_default();
    // -1 stands for the length in the reference configuration.
    let (rest, slack) = match lengths[..] {
        [] | [-1.0, ..] => (length, 0.0),
        [rest] => (rest, 0.0),
        [rest, longest, ..] => (rest, (longest - rest).max(0.0)),
    };
    let stiffness = if reader.flags.springs { reader.linear(given, "stiffness")? } else { 0.0 };
    let damping = if reader.flags.dampers { reader.linear(given, "damping")? } else { 0.0 };
    let friction = given.at("frictionloss").amount("frictionloss")?.unwrap_or(0.0);
    let tendon = TendonDescription {
        line: Some(element.line),
        name: String::new(),
        path,
        stiffness,
        damping,
        rest: Some(rest),
        slack,
        pulls_only: false,
        range: range.filter(|_| reader.flags.limits),
        friction: if reader.flags.friction_loss { friction } else { 0.0 },
    };
    Ok((tendon, links))
}
