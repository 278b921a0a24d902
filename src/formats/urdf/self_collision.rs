//! Links that touch each other: those of which Gazebo's extensions say `selfCollide`, as Gazebo takes them.

use std::collections::{HashMap, HashSet};

use super::joint::Joint;
use crate::assemble::{ColliderDescription, ContactDescription, Description, Material};
use crate::formats::xml::Element;

/// Gazebo's coefficient of friction of a link that states none. Of both links the smaller counts.
const MU: f64 = 1.0;

/// Adds a contact between each two shapes of two links that both collide with others of the robot, and that no joint joins; says
/// whether there are any.
pub(super) fn add(root: &Element, joints: &[Joint], description: &mut Description) -> bool {
    let mut stated: HashMap<Option<&str>, bool> = HashMap::new();
    for gazebo in root.all("gazebo") {
        for flag in gazebo.children.iter().filter(|child| is_flag(child)) {
            let text = flag.get("value").unwrap_or(&flag.text).trim().to_ascii_lowercase();
            stated.insert(gazebo.get("reference"), text == "true" || text == "1");
        }
    }
    let all = stated.get(&None).copied().unwrap_or(false);
    if !all && !stated.values().any(|&collides| collides) {
        return false;
    }
    // What is fixed to each other is one: a joint joins all of it to all of the other.
    let fixed = joints.iter().filter(|joint| joint.is_fixed());
    let fixed: HashMap<&str, &str> = fixed.map(|joint| (joint.child, joint.parent)).collect();
    let mut tops: HashMap<&str, &str> = HashMap::new();
    let links = || root.all("link").filter_map(|link| link.get("name"));
    for link in links() {
        let mut top = link;
        while let Some(parent) = tops.get(top).or(fixed.get(top)) {
            if *parent == top {
                break;
            }
            top = parent;
        }
        tops.insert(link, top);
    }
    let top = |link: &str| tops.get(link).copied().unwrap_or_default();
    let joined: HashSet<[&str; 2]> =
        joints.iter().map(|joint| [top(joint.parent), top(joint.child)]).collect();
    let shapes = |link: &str| {
        let name = if link == "world" { "world_link" } else { link };
        match description.bodies.iter().find(|body| body.name == name) {
            Some(body) => {
                let shapes = body.colliders.iter().enumerate();
                shapes.map(|(k, shape)| (body.shape_name(name, k), mu(shape))).collect()
            }
            None if link == "world" => {
                description.colliders.iter().map(|shape| (shape.name.clone(), mu(shape))).collect()
            }
            None => Vec::new(),
        }
    };
    let collide = links().filter(|&link| stated.get(&Some(link)).copied().unwrap_or(all));
    let collide: Vec<(&str, Vec<(String, f64)>)> =
        collide.map(|link| (top(link), shapes(link))).collect();
    let mut contacts = Vec::new();
    for (k, &(first, ref own)) in collide.iter().enumerate() {
        for &(second, ref its) in &collide[k + 1..] {
            if first == second
                || joined.contains(&[first, second])
                || joined.contains(&[second, first])
            {
                continue;
            }
            for (one, mu) in own {
                for (other, its) in its {
                    let material = Some(Material { mu: mu.min(*its), ..Material::default() });
                    let pair = format!("{one}-{other}");
                    contacts.push(ContactDescription { line: None, pair, material, grain: None });
                }
            }
        }
    }
    let any = !contacts.is_empty();
    description.contacts.extend(contacts);
    any
}

fn mu(shape: &ColliderDescription) -> f64 {
    shape.on_ground.mu.unwrap_or(MU)
}

/// Whether an element of Gazebo's says if links collide.
pub(super) fn is_flag(element: &Element) -> bool {
    ["selfCollide", "self_collide"].contains(&element.tag.as_str())
}
