//! `worldbody` and the bodies in it, with the joints between them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nalgebra::{Isometry3, Vector3};

use super::geom::{Form, Geom};
use super::geom_friction::Friction;
use super::joint::Joint;
use crate::Error;
use crate::assemble::{
    BodyDescription, ColliderDescription, Description, Filter, HalfSpaceDescription,
    JointDescription,
};
use crate::formats::mass_properties::MassProperties;
use crate::formats::pose::wxyz;
use crate::formats::xml::Element;
use crate::model::{JointKind, Visual};

/// A body.
pub(super) struct Link {
    pub line: usize,
    pub name: String,
    /// Nothing is the world.
    pub parent: Option<usize>,
    /// In its parent, where all joints have their reference numbers.
    pub pose: Isometry3<f64>,
    /// In the world, there.
    pub world: Isometry3<f64>,
    pub joints: Vec<Joint>,
    pub mass: MassProperties,
    pub colliders: Vec<ColliderDescription>,
    pub visuals: Vec<Visual>,
    /// Whether one of them is a mesh.
    pub has_mesh: bool,
    /// Whether its velocity is prescribed.
    pub mocap: bool,
}

/// Where a geom has come to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    HalfSpace(usize),
    World(usize),
    Link(usize, usize),
}

/// A geom that a pair may name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named {
    pub place: Place,
    pub friction: Friction,
    pub priority: i64,
}

/// How it slides, of each geom that touches.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub file: Arc<str>,
    pub place: Place,
    pub friction: Friction,
    pub priority: i64,
    pub line: usize,
}

/// A camera as it stands in its body, or the world, looking along -z with y up.
pub(super) struct Seeing {
    pub line: usize,
    pub name: String,
    pub link: Option<usize>,
    pub pose: Isometry3<f64>,
    /// The body that it looks at.
    pub target: Option<String>,
    pub size: [usize; 2],
    /// rad
    pub fov_y: f64,
    /// How much longer a pixel is down than along the image.
    pub aspect: f64,
}

/// All bodies, in MuJoCo's order: depth first.
#[derive(Default)]
pub(super) struct Tree {
    pub links: Vec<Link>,
    pub half_spaces: Vec<HalfSpaceDescription>,
    /// Of the world.
    pub colliders: Vec<ColliderDescription>,
    /// Likewise.
    pub visuals: Vec<Visual>,
    pub geoms: HashMap<String, Named>,
    pub surfaces: Vec<Surface>,
    /// Bodies and poses in them.
    pub sites: HashMap<String, (Option<usize>, Isometry3<f64>)>,
    pub cameras: Vec<Seeing>,
    /// Geoms named by pairs, which touch whatever their filters say.
    pub paired: HashSet<String>,
    pub places: HashMap<String, usize>,
    joints: HashMap<String, (JointKind, f64)>,
}

impl Tree {
    /// Adds a geom of a body.
    pub fn add_geom(
        &mut self,
        element: &Element,
        geom: Geom,
        link: Option<usize>,
    ) -> Result<(), Error> {
        let Geom { form, friction, priority, filter, .. } = geom;
        let fixed = match link {
            None => Some(Isometry3::identity()),
            Some(link) => self.is_fixed(link).then(|| self.links[link].world),
        };
        let place = match form {
            Form::Nothing => return Ok(()),
            Form::Seen(visual, mesh) => {
                match link {
                    None => self.visuals.push(visual),
                    Some(link) => {
                        self.links[link].visuals.push(visual);
                        self.links[link].has_mesh |= mesh;
                    }
                }
                return Ok(());
            }
            Form::Plane(pose) => {
                let Some(body) = fixed else {
                    let message = "a plane must be fixed to the world";
                    return Err(element.error("type", message));
                };
                let half_space = half_space(element, &(body * pose), friction, filter);
                self.half_spaces.push(half_space);
                Place::HalfSpace(self.half_spaces.len() - 1)
            }
            Form::Solid(collider) => match link {
                None => {
                    self.colliders.push(*collider);
                    Place::World(self.colliders.len() - 1)
                }
                Some(link) => {
                    let colliders = &mut self.links[link].colliders;
                    colliders.push(*collider);
                    Place::Link(link, colliders.len() - 1)
                }
            },
        };
        let (file, line) = (element.file.clone(), element.line);
        self.surfaces.push(Surface { file, line, place, friction, priority });
        if let Some(name) = element.get("name")
            && self.geoms.insert(name.to_string(), Named { place, friction, priority }).is_some()
        {
            return Err(element.error("name", "is given twice"));
        }
        Ok(())
    }

    /// Adds a joint of the last body.
    pub fn add_joint(&mut self, element: &Element, joint: Joint) -> Result<(), Error> {
        let JointDescription { name, kind, .. } = &joint.numbers;
        if !name.is_empty() {
            let entry = (*kind, joint.reference);
            if self.joints.insert(name.clone(), entry).is_some() {
                return Err(element.error("name", "is given twice"));
            }
        }
        if let Some(link) = self.links.last_mut() {
            link.joints.push(joint);
        }
        Ok(())
    }

    /// Kind and reference number of a joint.
    pub fn joint(&self, name: &str) -> Option<(JointKind, f64)> {
        self.joints.get(name).copied()
    }

    /// Whether a body is fixed to the world.
    pub fn is_fixed(&self, link: usize) -> bool {
        self.whole(link).is_none()
    }

    /// The outermost body that a body is fixed to; nothing if that is the world.
    pub fn whole(&self, mut link: usize) -> Option<usize> {
        while self.links[link].joints.is_empty() {
            link = self.links[link].parent?;
        }
        Some(link)
    }

    /// The body that carries a shape along; nothing if it is fixed to the world.
    pub fn moves_with(&self, place: Place) -> Option<usize> {
        match place {
            Place::HalfSpace(_) | Place::World(_) => None,
            Place::Link(link, _) => self.whole(link),
        }
    }

    /// What a shape touches.
    pub fn filter(&self, place: Place) -> Filter {
        match place {
            Place::HalfSpace(k) => self.half_spaces[k].filter,
            Place::World(k) => self.colliders[k].filter,
            Place::Link(link, k) => self.links[link].colliders[k].filter,
        }
    }

    /// The shape at a place.
    fn collider(&mut self, place: Place) -> Option<&mut ColliderDescription> {
        match place {
            Place::HalfSpace(_) => None,
            Place::World(k) => self.colliders.get_mut(k),
            Place::Link(link, k) => self.links[link].colliders.get_mut(k),
        }
    }

    /// Takes the friction from a surface.
    pub fn make_smooth(&mut self, place: Place) {
        let material = match place {
            Place::HalfSpace(k) => self.half_spaces[k].material.as_mut(),
            _ => self.collider(place).and_then(|collider| collider.material.as_mut()),
        };
        if let Some(material) = material {
            material.mu = 0.0;
        }
    }

    /// What pairs call a geom.
    pub fn collider_name(&self, place: Place) -> String {
        match place {
            Place::HalfSpace(k) => self.half_spaces[k].name.clone(),
            Place::World(k) => self.colliders[k].name.clone(),
            Place::Link(link, k) => {
                let Link { name, colliders, .. } = &self.links[link];
                match colliders[k].name.as_str() {
                    "" => name.clone(),
                    own => format!("{name}/{own}"),
                }
            }
        }
    }

    /// Names for all that touches, no two the same, nor those of bodies.
    pub fn name_colliders(&mut self) {
        let mut taken: HashSet<String> = HashSet::from(["world".to_string()]);
        for link in &self.links {
            taken.insert(link.name.clone());
            let joints = link.joints.iter().enumerate();
            taken.extend(joints.map(|(k, joint)| joint_body(&link.name, joint, k)));
        }
        let mut unique = |wish: String| {
            let mut name = wish.clone();
            let mut count = 1;
            while !taken.insert(name.clone()) {
                count += 1;
                name = format!("{wish}_{count}");
            }
            name
        };
        for half_space in &mut self.half_spaces {
            let own = std::mem::take(&mut half_space.name);
            half_space.name = unique(if own.is_empty() { "plane".to_string() } else { own });
        }
        for collider in &mut self.colliders {
            let own = std::mem::take(&mut collider.name);
            collider.name = unique(if own.is_empty() { "shape".to_string() } else { own });
        }
        for link in &mut self.links {
            // The only one has the name of its body.
            if let [collider] = link.colliders.as_mut_slice() {
                collider.name = String::new();
                continue;
            }
            for (k, collider) in link.colliders.iter_mut().enumerate() {
                let own = match collider.name.as_str() {
                    "" => format!("{}/{k}", link.name),
                    own => format!("{}/{own}", link.name),
                };
                collider.name = unique(own)[link.name.len() + 1..].to_string();
            }
        }
    }

    /// Adds all bodies to a description.
    pub fn describe(self, description: &mut Description) {
        description.half_spaces = self.half_spaces;
        description.colliders = self.colliders;
        description.visuals = self.visuals;
        let names: Vec<String> = self.links.iter().map(|link| link.name.clone()).collect();
        for link in self.links {
            let Link {
                line,
                name,
                parent,
                pose,
                joints,
                mass,
                mut colliders,
                visuals,
                has_mesh,
                mocap,
                ..
            } = link;
            let mut parent = parent.map(|parent| names[parent].clone());
            let mut pose = pose;
            let mut last = joint_of_fixed(&pose);
            if mocap {
                (last.kind, last.prescribed) = (JointKind::Free, true);
            }
            // Several joints: bodies without mass in between, each with one.
            let count = joints.len();
            for (k, joint) in joints.into_iter().enumerate() {
                let between = joint_body(&name, &joint, k);
                let line = joint.line;
                let joint = joint.describe(&pose);
                pose = Isometry3::identity();
                if k + 1 == count {
                    last = joint;
                    break;
                }
                description.bodies.push(body(Some(line), between.clone(), parent, joint));
                parent = Some(between);
            }
            // Where a mesh is seen, what touches is an idea of it.
            if has_mesh {
                colliders.iter_mut().for_each(|collider| collider.drawn = false);
            }
            let described = body(Some(line), name, parent, last);
            description.bodies.push(BodyDescription {
                mass: mass.mass,
                center_of_mass: mass.center.into(),
                inertia: mass.six(),
                colliders,
                visuals,
                ..described
            });
        }
    }
}

/// The name of a body without mass, between two joints of a body.
fn joint_body(body: &str, joint: &Joint, k: usize) -> String {
    match joint.numbers.name.as_str() {
        "" => format!("{body}/joint{}", k + 1),
        name => format!("{body}/{name}"),
    }
}

fn joint_of_fixed(pose: &Isometry3<f64>) -> JointDescription {
    JointDescription {
        position: pose.translation.vector.into(),
        orientation: wxyz(&pose.rotation),
        ..JointDescription::new(JointKind::Fixed)
    }
}

fn body(
    line: Option<usize>,
    name: String,
    parent: Option<String>,
    joint: JointDescription,
) -> BodyDescription {
    BodyDescription {
        line,
        name,
        parent,
        joint,
        mass: 0.0,
        center_of_mass: [0.0; 3],
        inertia: [0.0; 6],
        colliders: Vec::new(),
        visuals: Vec::new(),
        force: [0.0; 3],
        torque: [0.0; 3],
        drag: None,
    }
}

fn half_space(
    element: &Element,
    pose: &Isometry3<f64>,
    friction: Friction,
    filter: Filter,
) -> HalfSpaceDescription {
    let normal = pose.rotation * Vector3::z();
    HalfSpaceDescription {
        line: Some(element.line),
        name: element.get("name").unwrap_or_default().to_string(),
        normal: normal.into(),
        offset: normal.dot(&pose.translation.vector),
        material: Some(friction.material()),
        made_of: None,
        filter,
    }
}
