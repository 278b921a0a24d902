//! URDF read into a [`Description`].
//!
//! A URDF says nothing about friction: shapes touch nothing until a contact gives it. Nor does it say how
//! the robot stands in the world: its first link is fixed there, or floats.

mod collision;
mod joint;
mod link;
mod link_friction;
mod origin;
mod package;
mod self_collision;
mod transmission;
mod visual;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::pose::isometry;
use super::xml::{Element, Remarks};
use crate::Error;
use crate::assemble::{BodyDescription, Description, Equipment, JointDescription, Motors};
use crate::formats::mass_properties::MassProperties;
use crate::model::{JointKind, Settings};
use collision::Shapes;
use joint::Joint;
use link::Link;

/// Duration of a step, s; the files say none.
const TIME_STEP: f64 = 0.002;

/// Reads the root element of a file; `name` stands for it in messages, what it refers to is looked for from
/// `directory` on. Hulls are without limit if `max_hull_vertices` is 0. What `equipment` adds later is not warned of.
pub(super) fn read(
    root: &Element,
    name: &str,
    directory: &Path,
    (floating_base, equipment, max_hull_vertices): (bool, Equipment, usize),
) -> Result<Description, Error> {
    let mut remarks = Remarks::default();
    remark_on_others(root, equipment.motors, &mut remarks);
    let mut description = Description::new(name, Settings::new(TIME_STEP));
    description.strict = false;
    description.passes = true;
    let mut shapes = Shapes::new(directory, max_hull_vertices);
    let links = read_links(root, &mut shapes, &mut remarks)?;
    let mut joints = read_joints(root, &links, equipment.motors.is_some(), &mut remarks)?;
    if equipment.motors == Some(Motors::Stated) {
        transmission::drive(root, &mut joints, &mut remarks)?;
    }
    add_bodies(root, &links, &joints, floating_base, &mut description)?;
    let collides = self_collision::add(root, &joints, &mut description);
    for joint in &joints {
        if let Some(mimic) = joint.mimic(&joints, &mut remarks)? {
            description.equalities.push(mimic);
        }
    }
    let mut in_order = root.all("link").filter_map(|link| links.get(link.get("name")?));
    if let Some(link) = in_order.find(|link| !link.colliders.is_empty()) {
        let message = match equipment.ground {
            None if collides => {
                "shapes touch nothing but each other: there is no ground; give it, or let `import --ground` do so"
            }
            Some(_) if collides => {
                "shapes touch the ground, and each other where `selfCollide` says so"
            }
            None => {
                "shapes touch nothing: there is no ground, and of friction URDF says little; give it in a [[contact]], or a ground by `import --ground`"
            }
            Some(_) => {
                "shapes touch the ground alone, not each other: a [[contact]] without pair makes them"
            }
        };
        remarks.add_at(&link.element.file, link.element.line, "link.collision", message);
    }
    description.warnings = remarks.finish();
    Ok(description)
}

fn remark_on_others(root: &Element, motors: Option<Motors>, remarks: &mut Remarks) {
    root.remark_on_others(&["name", "version"], &[], &[], remarks);
    for element in &root.children {
        match element.tag.as_str() {
            "link" | "joint" | "material" => {}
            "transmission" | "ros2_control" if motors.is_none() => {
                transmission::remark_unasked(element, remarks);
            }
            "transmission" | "ros2_control" => {}
            "gazebo" => {
                const SEEN: [&str; 5] = ["material", "sensor", "visual", "mu1", "mu2"];
                let acts = |child: &&Element| {
                    !SEEN.contains(&child.tag.as_str()) && !self_collision::is_flag(child)
                };
                for child in element.children.iter().filter(acts) {
                    remarks.add(child, "", "of gazebo is not followed");
                }
            }
            _ => remarks.add(element, "", "is not known here, and ignored"),
        }
    }
}

fn read_links<'a>(
    root: &'a Element,
    shapes: &mut Shapes,
    remarks: &mut Remarks,
) -> Result<HashMap<&'a str, Link<'a>>, Error> {
    let mut links = HashMap::new();
    let colors = visual::colors(root);
    let mut of_gazebo: HashMap<&str, Vec<&Element>> = HashMap::new();
    for element in root.all("gazebo") {
        of_gazebo.entry(element.get("reference").unwrap_or_default()).or_default().push(element);
    }
    for element in root.all("link") {
        let name = element.required("name")?;
        if name.is_empty() || links.contains_key(name) {
            return Err(element.error("name", "is empty, or given twice"));
        }
        let gazebo = of_gazebo.get(name).map_or(&[][..], Vec::as_slice);
        links.insert(name, Link::read(element, shapes, (&colors, gazebo), remarks)?);
    }
    Ok(links)
}

fn read_joints<'a>(
    root: &'a Element,
    links: &HashMap<&str, Link>,
    driven: bool,
    remarks: &mut Remarks,
) -> Result<Vec<Joint<'a>>, Error> {
    let mut joints = Vec::new();
    let (mut names, mut children) = (HashSet::new(), HashSet::new());
    for element in root.all("joint") {
        let joint = Joint::read(element, driven, remarks)?;
        for (tag, link) in [("parent", joint.parent), ("child", joint.child)] {
            if !links.contains_key(link) {
                return Err(element.error(tag, format!("there is no link {link:?}")));
            }
        }
        if !names.insert(joint.name) {
            return Err(element.error("name", "is given twice"));
        }
        if !children.insert(joint.child) {
            let message = format!("the link {:?} already hangs on another joint", joint.child);
            return Err(element.error("child", message));
        }
        joints.push(joint);
    }
    Ok(joints)
}

/// Adds the links as bodies, depth first.
fn add_bodies(
    root: &Element,
    links: &HashMap<&str, Link>,
    joints: &[Joint],
    floating_base: bool,
    description: &mut Description,
) -> Result<(), Error> {
    let children: HashSet<&str> = joints.iter().map(|joint| joint.child).collect();
    let mut first = root.all("link").filter_map(|link| link.get("name"));
    let mut first = first.by_ref().filter(|name| !children.contains(name));
    let base = match (first.next(), first.next()) {
        (Some(base), None) => base,
        (Some(base), Some(other)) => {
            let message = format!("{base:?} and {other:?} both hang on no joint: one robot a file");
            return Err(root.error("link", message));
        }
        (None, _) if links.is_empty() => return Err(root.error("link", "is missing")),
        (None, _) => {
            let message =
                "there is no link that hangs on no joint: the joints go round in a circle";
            return Err(root.error("link", message));
        }
    };
    let mut below: HashMap<&str, Vec<&Joint>> = HashMap::new();
    for joint in joints.iter().rev() {
        below.entry(joint.parent).or_default().push(joint);
    }
    let link = &links[base];
    // A first link of this name is the world itself.
    let is_world = base == "world" && !floating_base;
    let mut stack = Vec::new();
    let base_name = match is_world {
        true => {
            description.colliders = link.colliders.clone();
            description.visuals.clone_from(&link.visuals);
            for (k, collider) in description.colliders.iter_mut().enumerate() {
                collider.name = format!("world/{k}");
            }
            None
        }
        false => {
            let name = if base == "world" { "world_link" } else { base };
            let kind = if floating_base { JointKind::Free } else { JointKind::Fixed };
            description.bodies.push(link.body(name, None, JointDescription::new(kind)));
            Some(name.to_string())
        }
    };
    let push = |stack: &mut Vec<_>, link: &str, parent: &Option<String>| {
        let joints = below.get(link).into_iter().flatten();
        stack.extend(joints.map(|&joint| (joint, parent.clone())));
    };
    push(&mut stack, base, &base_name);
    let mut placed = 1;
    while let Some((joint, parent)) = stack.pop() {
        // What floats on the fixed base floats in the world.
        let on_world = parent.is_none() || parent == base_name && !floating_base;
        let link = &links[joint.child];
        let name = if joint.child == "world" { "world_link" } else { joint.child };
        description.bodies.extend(joint.bodies(link, name, parent, on_world));
        push(&mut stack, joint.child, &Some(name.to_string()));
        placed += 1;
    }
    if placed < links.len() {
        return Err(
            root.error("joint", "go round in a circle: some links do not hang on the first")
        );
    }
    if floating_base {
        gather_mass(description);
    }
    Ok(())
}

/// A floating base without mass gets that of the links fixed to it: it cannot move without.
fn gather_mass(description: &mut Description) {
    if description.bodies.first().is_none_or(|base| base.mass > 0.0) {
        return;
    }
    let mut poses =
        HashMap::from([(description.bodies[0].name.clone(), nalgebra::Isometry3::identity())]);
    let mut parts = Vec::new();
    for body in description.bodies.iter_mut().skip(1) {
        let parent = body.parent.as_ref().and_then(|parent| poses.get(parent));
        let Some(parent) = parent.filter(|_| body.joint.kind == JointKind::Fixed) else { continue };
        let pose = parent * isometry(body.joint.position, body.joint.orientation);
        poses.insert(body.name.clone(), pose);
        parts.push(MassProperties::of(body).moved(&pose));
        (body.mass, body.center_of_mass, body.inertia) = (0.0, [0.0; 3], [0.0; 6]);
    }
    let sum = MassProperties::sum(&parts);
    // What has none to give leaves the base its own inertia.
    if sum.mass <= 0.0 {
        return;
    }
    let base = &mut description.bodies[0];
    (base.mass, base.center_of_mass, base.inertia) = (sum.mass, sum.center.into(), sum.six());
}

impl Link<'_> {
    /// The link as a body.
    fn body(&self, name: &str, parent: Option<String>, joint: JointDescription) -> BodyDescription {
        BodyDescription {
            line: Some(self.element.line),
            name: name.to_string(),
            parent,
            joint,
            mass: self.mass.mass,
            center_of_mass: self.mass.center.into(),
            inertia: self.mass.six(),
            colliders: self.colliders.clone(),
            visuals: self.visuals.clone(),
            force: [0.0; 3],
            torque: [0.0; 3],
            drag: None,
        }
    }
}
