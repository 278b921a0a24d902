//! `body` and `frame` elements.

use nalgebra::Isometry3;

use super::inertia;
use super::orientation::{POSE, pose};
use super::reader::Reader;
use super::tree::{Link, Tree};
use crate::Error;
use crate::formats::mass_properties::MassProperties;
use crate::formats::pose::wxyz;
use crate::formats::xml::{Element, Unfollowed};
use crate::model::JointKind;

const FOLLOWED: [&str; 9] =
    ["name", "childclass", "mocap", POSE[0], POSE[1], POSE[2], POSE[3], POSE[4], POSE[5]];

const UNFOLLOWED: [Unfollowed; 1] = [Unfollowed {
    name: "gravcomp",
    neutral: "0",
    instead: "is not followed: gravity is not compensated",
}];

/// Reads the bodies.
pub(super) fn read<'a>(reader: &mut Reader<'a>, root: &'a Element) -> Result<Tree, Error> {
    let mut tree = Tree::default();
    let pairs = root.all("contact").flat_map(|contact| contact.all("pair"));
    for name in pairs.flat_map(|pair| [pair.get("geom1"), pair.get("geom2")]).flatten() {
        tree.paired.insert(name.to_string());
    }
    for element in root.all("worldbody") {
        element.remark_on_others(&["name"], &[], &[], &mut reader.remarks);
        read_contents(reader, &mut tree, element, None, element.get("childclass"))?;
    }
    tree.name_colliders();
    Ok(tree)
}

/// What is being read: the body, whether its geoms make its mass, the class of what has none, the pose of
/// the frame in the body.
#[derive(Clone, Copy)]
struct Scope<'a> {
    link: Option<usize>,
    massive: bool,
    class: Option<&'a str>,
    frame: Isometry3<f64>,
}

/// Reads what stands in a body, or in the world.
fn read_contents<'a>(
    reader: &mut Reader<'a>,
    tree: &mut Tree,
    element: &'a Element,
    link: Option<usize>,
    class: Option<&'a str>,
) -> Result<(), Error> {
    let mut masses = Vec::new();
    let massive = link.is_some() && inertia::is_from_geoms(reader, element);
    let scope = Scope { link, massive, class, frame: Isometry3::identity() };
    let mut inner = Vec::new();
    read_scope(reader, tree, element, scope, &mut masses, &mut inner)?;
    if let Some(link) = link {
        tree.links[link].mass = inertia::read(reader, element, &masses)?;
    }
    // The bodies in it come after all that belongs to itself: a joint may stand behind them.
    for (child, scope) in inner {
        read_body(reader, tree, child, scope)?;
    }
    Ok(())
}

fn read_scope<'a>(
    reader: &mut Reader<'a>,
    tree: &mut Tree,
    element: &'a Element,
    scope: Scope<'a>,
    masses: &mut Vec<MassProperties>,
    inner: &mut Vec<(&'a Element, Scope<'a>)>,
) -> Result<(), Error> {
    let Scope { link, massive, class, frame } = scope;
    // Joints first: whether the body is fixed decides what its planes are.
    for child in &element.children {
        if !["joint", "freejoint"].contains(&child.tag.as_str()) {
            continue;
        }
        if link.is_none() {
            return Err(child.error("", "must stand in a body: the world does not move"));
        }
        let joint = reader.joint(child, class, &frame)?;
        tree.add_joint(child, joint)?;
    }
    for child in &element.children {
        match child.tag.as_str() {
            "body" => inner.push((child, scope)),
            "geom" => {
                let paired = child.get("name").is_some_and(|name| tree.paired.contains(name));
                let geom = reader.geom(child, class, &frame, paired, massive)?;
                masses.extend(geom.mass);
                tree.add_geom(child, geom, link)?;
            }
            "site" => {
                if let Some(name) = child.get("name") {
                    let given = reader.defaults.given(child, class)?;
                    let pose = super::orientation::given_pose(&given, &reader.compiler)?;
                    tree.sites.insert(name.to_string(), (link, frame * pose));
                }
            }
            "frame" => {
                let followed = [&FOLLOWED[..], &["scale"]].concat();
                child.remark_on_others(&followed, &[], &[], &mut reader.remarks);
                if child.get("scale").is_some_and(|scale| scale.trim() != "1") {
                    let message = "is not followed: contents keep their size";
                    reader.remarks.add(child, "scale", message);
                }
                let frame = frame * pose(child, &reader.compiler)?;
                let class = child.get("childclass").or(class);
                let scope = Scope { class, frame, ..scope };
                read_scope(reader, tree, child, scope, masses, inner)?;
            }
            "camera" => {
                let camera = reader.camera(child, class, (link, &frame))?;
                tree.cameras.push(camera);
            }
            "joint" | "freejoint" | "inertial" | "light" => {}
            "replicate" | "attach" | "composite" | "flexcomp" | "plugin" => {
                reader.remarks.add(child, "", "is not followed, and left out");
            }
            _ => reader.remarks.add(child, "", "is not known here, and ignored"),
        }
    }
    Ok(())
}

fn read_body<'a>(
    reader: &mut Reader<'a>,
    tree: &mut Tree,
    element: &'a Element,
    scope: Scope<'a>,
) -> Result<(), Error> {
    let inert = ["user", "simple", "sleep", "fuse"];
    element.remark_on_others(&FOLLOWED, &inert, &UNFOLLOWED, &mut reader.remarks);
    let index = tree.links.len();
    let name = match element.get("name") {
        Some(name) if !name.is_empty() => name.to_string(),
        // Numbered as in MuJoCo, where the world is 0.
        _ => {
            let mut name = format!("body{}", index + 1);
            while tree.places.contains_key(&name) {
                name.push('_');
            }
            name
        }
    };
    if name == "world" || tree.places.insert(name.clone(), index).is_some() {
        return Err(element.error("name", "is given twice"));
    }
    let pose = scope.frame * pose(element, &reader.compiler)?;
    let world = scope.link.map_or(pose, |parent| tree.links[parent].world * pose);
    tree.links.push(Link {
        line: element.line,
        name,
        parent: scope.link,
        pose,
        world,
        joints: Vec::new(),
        mass: MassProperties::zero(),
        colliders: Vec::new(),
        visuals: Vec::new(),
        has_mesh: false,
        mocap: element.word("mocap", &[("true", true), ("false", false)])?.unwrap_or(false),
    });
    let class = element.get("childclass").or(scope.class);
    read_contents(reader, tree, element, Some(index), class)?;
    let carries = tree.links.iter().any(|link| link.parent == Some(index));
    let Link { mocap, parent, joints, .. } = &mut tree.links[index];
    if *mocap && (parent.is_some() || !joints.is_empty()) {
        return Err(element.error("mocap", "is for a body of the world that has no joint"));
    }
    if *mocap && carries {
        *mocap = false;
        let message =
            "is not followed: the body stays where the file puts it, as others hang on it";
        reader.remarks.add(element, "mocap", message);
    }
    check_joints(tree, element, index)
}

fn check_joints(tree: &Tree, element: &Element, index: usize) -> Result<(), Error> {
    let Link { joints, parent, world, .. } = &tree.links[index];
    let count = |kinds: &[JointKind]| {
        joints.iter().filter(|joint| kinds.contains(&joint.numbers.kind)).count()
    };
    let free = count(&[JointKind::Free]);
    if free > 0 && (joints.len() > 1 || parent.is_some()) {
        let message = "has a free joint, which must be its only one, in a body of the world";
        return Err(element.error("", message));
    }
    if count(&[JointKind::Ball]) > 0 && count(&[JointKind::Ball, JointKind::Revolute]) > 1 {
        let message = "has a ball joint, beside which no other may turn it";
        return Err(element.error("", message));
    }
    let numbers = wxyz(&world.rotation);
    if !world.translation.vector.iter().chain(&numbers).all(|x| x.is_finite()) {
        return Err(element.error("pos", "is too far away: it is no finite number in the world"));
    }
    Ok(())
}
