//! Links that touch each other: those of which Gazebo's extensions say `selfCollide`, as Gazebo takes them.

use std::collections::{HashMap, HashSet};

use super::joint::Joint;
use super::link::Link;
use crate::assemble::{ContactDescription, Description, Material};
use crate::formats::xml::Element;

/// Of both links the smaller counts; Gazebo's for a link that states none.
const MU: f64 = 1.0;

/// Adds a contact between each two shapes of two links that both collide with others of the robot, and that no joint joins.
pub(super) fn add(
    root: &Element,
    links: &HashMap<&str, Link>,
    joints: &[Joint],
    description: &mut Description,
) {
    let extensions = |link: Option<&str>| {
        let asked = root.all("gazebo").filter(move |gazebo| gazebo.get("reference") == link);
        let flags = asked.flat_map(|gazebo| &gazebo.children);
        flags
            .filter(|child| is_flag(child))
            .map(|child| child.get("value").unwrap_or(&child.text).trim())
            .last()
            .map(|text| text == "true" || text == "1")
    };
    let all = extensions(None).unwrap_or(false);
    // What is fixed to each other is one: a joint joins all of it to all of the other.
    let mut whole: HashMap<&str, &str> = HashMap::new();
    for joint in joints.iter().filter(|joint| joint.is_fixed()) {
        whole.insert(joint.child, joint.parent);
    }
    let top = |link: &str| {
        let mut top = links.get_key_value(link).map_or("", |(name, _)| *name);
        // As many steps as there are links, should they go round in a circle.
        for _ in 0..links.len() {
            top = whole.get(top).copied().unwrap_or(top);
        }
        top
    };
    let joined: HashSet<[&str; 2]> =
        joints.iter().map(|joint| [top(joint.parent), top(joint.child)]).collect();
    let collide: Vec<&str> = root
        .all("link")
        .filter_map(|link| link.get("name"))
        .filter(|&link| extensions(Some(link)).unwrap_or(all))
        .collect();
    for (k, &first) in collide.iter().enumerate() {
        for &second in &collide[k + 1..] {
            let ends = [top(first), top(second)];
            if ends[0] == ends[1] || joined.contains(&ends) || joined.contains(&[ends[1], ends[0]])
            {
                continue;
            }
            let Some((one, other)) = links.get(first).zip(links.get(second)) else { continue };
            for (a, own) in one.colliders.iter().enumerate() {
                for (b, its) in other.colliders.iter().enumerate() {
                    let mu = [own, its].map(|shape| shape.on_ground.mu.unwrap_or(MU));
                    let names = [(first, one, a), (second, other, b)].map(|(name, link, index)| {
                        let name = if name == "world" { "world_link" } else { name };
                        match link.colliders.len() {
                            1 => name.to_string(),
                            _ => format!("{name}/{index}"),
                        }
                    });
                    description.contacts.push(ContactDescription {
                        line: None,
                        pair: names.join("-"),
                        material: Some(Material { mu: mu[0].min(mu[1]), ..Material::default() }),
                        grain: None,
                    });
                }
            }
        }
    }
}

/// Whether an element of Gazebo's says if links collide.
pub(super) fn is_flag(element: &Element) -> bool {
    ["selfCollide", "self_collide"].contains(&element.tag.as_str())
}
