//! From a description to a scene: names become indices, numbers are checked.

use std::collections::{HashMap, HashSet};

use nalgebra::{Matrix3, Vector3};

use super::description::{
    ActuatorDescription, BodyDescription, ColliderDescription, Description, EqualityDescription,
    JointDescription, Material,
};
use super::overlap::{self, Placed};
use super::slots::pair_name;
use super::{
    Actuator, Body, Collider, ContactSolver, Equality, EqualityKind, HalfSpace, Joint, JointKind,
    Keyframe, Model, Pair, Parameters, Plane, Scene, Solid,
};
use crate::Error;
use crate::spatial::rotation_matrix;
use crate::state::{State, unit_quaternion};

/// What something wrong belongs to, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Scene,
    HalfSpace(usize),
    /// A shape of the world.
    Collider(usize),
    Body(usize),
    Contact(usize),
    Actuator(usize),
    Equality(usize),
    Keyframe,
}

impl Owner {
    /// Its line, and what messages call it.
    pub fn place(self, description: &Description) -> (Option<usize>, String) {
        let named = |line, kind: &str, name: &str| (line, format!("{kind}.{name}"));
        match self {
            Owner::Scene => (None, String::new()),
            Owner::HalfSpace(k) => {
                let half_space = &description.half_spaces[k];
                named(half_space.line, "half_space", &half_space.name)
            }
            Owner::Collider(k) => {
                let collider = &description.colliders[k];
                named(collider.line, "shape", &collider.name)
            }
            Owner::Body(k) => {
                let body = &description.bodies[k];
                named(body.line, "body", &body.name)
            }
            Owner::Contact(k) => {
                let contact = &description.contacts[k];
                named(contact.line, "contact", &contact.pair)
            }
            Owner::Actuator(k) => {
                let actuator = &description.actuators[k];
                named(actuator.line, "actuator", &actuator.name)
            }
            Owner::Equality(k) => {
                let equality = &description.equalities[k];
                named(equality.line, "equality", &equality.name)
            }
            Owner::Keyframe => (None, "keyframe".to_string()),
        }
    }
}

/// What is wrong with a description.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub owner: Owner,
    pub field: &'static str,
    pub message: String,
}

impl Fault {
    fn new(owner: Owner, field: &'static str, message: impl Into<String>) -> Fault {
        Fault { owner, field, message: message.into() }
    }

    /// `demand`, what was found instead and its unit as an error, unless `met`.
    fn unless(
        met: bool,
        (owner, field): (Owner, &'static str),
        demand: &str,
        found: f64,
        unit: &str,
    ) -> Result<(), Fault> {
        if met {
            return Ok(());
        }
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        Err(Fault::new(owner, field, format!("{demand}, found {found}{unit}")))
    }
}

/// The largest number of bodies, so that what is built from pairs of them stays of bearable size.
const MOST_BODIES: usize = 10_000;
/// The largest number of pairs that can touch.
const MOST_PAIRS: usize = 1_000_000;

impl Description {
    /// Checks the description and makes a scene of it.
    pub(super) fn build(&self) -> Result<Scene, Fault> {
        self.check_finite()?;
        self.check_joint_names()?;
        let order = self.order()?;
        let mut warnings = self.warnings.clone();
        let half_spaces = self.half_spaces()?;
        let mut bodies: Vec<Body> = Vec::with_capacity(order.len());
        let mut places = HashMap::new();
        let mut own_numbers = Vec::new();
        for &index in &order {
            let described = &self.bodies[index];
            let parent = described.parent.as_ref().map(|parent| places[parent.as_str()]);
            places.insert(described.name.as_str(), bodies.len());
            let joint = self.joint(index)?;
            bodies.push(Body { name: described.name.clone(), parent, joint, tree: None });
            own_numbers.push(described.joint.has_numbers());
        }
        let (colliders, described) = self.colliders(&order)?;
        let mut model = Model::new(bodies, &own_numbers, colliders, half_spaces);
        for (place, &index) in order.iter().enumerate() {
            self.check_inertia(&model, place, index, &mut warnings)?;
        }
        let materials = self.pairs(&mut model, &order, &described)?;
        for (index, actuator) in self.actuators.iter().enumerate() {
            let actuator = self.actuator(&model, index, actuator)?;
            model.actuators.push(actuator);
        }
        for (index, equality) in self.equalities.iter().enumerate() {
            let equality = self.equality(&model, index, equality)?;
            model.equalities.push(equality);
        }
        model.lay_out();
        self.check_solver(&model)?;
        self.check_names(&model)?;
        let parameters = self.parameters(&model, &order, &described, &materials);
        let mut scene = Scene {
            parameters,
            state: self.state(&order)?,
            settings: self.settings,
            wrenches: self.loads(&order)?,
            keyframes: Vec::new(),
            warnings,
            model,
        };
        scene.wrenches.extend(self.actuators.iter().map(|actuator| actuator.control));
        scene.keyframes = self.keyframes(&scene, &order)?;
        self.check_start(&mut scene, &order)?;
        Ok(scene)
    }

    /// A free body that starts inside something would be thrown out of it.
    fn check_start(&self, scene: &mut Scene, order: &[usize]) -> Result<(), Fault> {
        let Scene { model, parameters, state, warnings, .. } = scene;
        let placed = |collider: usize| {
            let Collider { body, shape, orientation, .. } = &model.colliders[collider];
            let (position, turn) = match *body {
                None => (Vector3::zeros(), [1.0, 0.0, 0.0, 0.0]),
                Some(body) if model.bodies[body].joint.kind == JointKind::Free => {
                    let q = &state.q[model.bodies[body].joint.q..];
                    (Vector3::new(q[0], q[1], q[2]), [q[3], q[4], q[5], q[6]])
                }
                Some(_) => return None,
            };
            let rotation = rotation_matrix(turn);
            let size = parameters.size(model, collider).into();
            let position = position + rotation * parameters.collider_position(model, collider);
            let rotation = rotation * rotation_matrix(*orientation);
            Some(Placed { shape, size, rotation, position })
        };
        let thickness = |of: &Placed| of.shape.thickness(of.size);
        for pair in &model.pairs {
            let Some(second) = placed(pair.second) else { continue };
            let (depth, name, least, what) = match pair.first {
                Solid::HalfSpace(ground) => {
                    let HalfSpace { name, .. } = &model.half_spaces[ground];
                    let Plane { normal, offset } = parameters.plane(model, ground);
                    let height = normal.dot(&second.position) - offset;
                    let depth = second.reach(normal) - height;
                    (depth, name, thickness(&second), "its smallest half extent or radius")
                }
                Solid::Collider(first) => {
                    let name = &model.colliders[first].name;
                    let Some(first) = placed(first) else { continue };
                    let Some(depth) = overlap::depth(&first, &second) else { continue };
                    let least = thickness(&first).min(thickness(&second));
                    (depth, name, least, "the smallest half extent or radius of both")
                }
            };
            if depth <= 0.1 * least {
                continue;
            }
            let way_out = match pair.first {
                Solid::HalfSpace(_) => "",
                Solid::Collider(_) => {
                    "; move it, or let them pass through each other with collide = false in a \
                     [[contact]] of the pair"
                }
            };
            let message = format!(
                "starts {depth:.3e} m deep in {name:?}, which is more than a tenth of {what}, \
                 {least} m{way_out}"
            );
            let body = model.colliders[pair.second].body;
            let owner = body.map_or(Owner::Scene, |body| Owner::Body(order[body]));
            if self.strict {
                return Err(Fault::new(owner, "position", message));
            }
            let (line, path) = owner.place(self);
            warnings.push(Error::input(&self.name, line, format!("{path}.position"), message));
        }
        Ok(())
    }

    /// Nothing may be infinite or not a number.
    fn check_finite(&self) -> Result<(), Fault> {
        let check = |owner: Owner, field: &'static str, numbers: &[f64]| match numbers
            .iter()
            .find(|x| !x.is_finite())
        {
            Some(x) => Err(Fault::new(owner, field, format!("must be finite, found {x}"))),
            None => Ok(()),
        };
        let collider = |owner: Owner, collider: &ColliderDescription| {
            check(owner, "shape", &collider.size)?;
            check(owner, "shape.position", &collider.position)?;
            check(owner, "shape.orientation", &collider.orientation)
        };
        check(Owner::Scene, "gravity", &self.gravity)?;
        for (k, half_space) in self.half_spaces.iter().enumerate() {
            check(Owner::HalfSpace(k), "normal", &half_space.normal)?;
            check(Owner::HalfSpace(k), "offset", &[half_space.offset])?;
        }
        for (k, shape) in self.colliders.iter().enumerate() {
            collider(Owner::Collider(k), shape)?;
        }
        for (k, body) in self.bodies.iter().enumerate() {
            let (owner, joint) = (Owner::Body(k), &body.joint);
            check(owner, "mass", &[body.mass])?;
            check(owner, "center_of_mass", &body.center_of_mass)?;
            check(owner, "inertia", &body.inertia)?;
            check(owner, "force", &body.force)?;
            check(owner, "torque", &body.torque)?;
            check(owner, "position", &joint.position)?;
            check(owner, "orientation", &joint.orientation)?;
            check(owner, "joint.axis", &joint.axis)?;
            check(owner, "joint.anchor", &joint.anchor)?;
            check(owner, "joint.armature", &[joint.armature])?;
            check(owner, "joint.damping", &[joint.damping])?;
            check(owner, "joint.friction", &[joint.friction])?;
            check(owner, "joint.stiffness", &[joint.stiffness])?;
            check(owner, "joint.rest", &[joint.rest])?;
            check(owner, "joint.limits", joint.limits.as_ref().map_or(&[][..], |x| x))?;
            check(owner, "joint.q", &joint.q)?;
            check(owner, "joint.v", &joint.v)?;
            for shape in &body.colliders {
                collider(owner, shape)?;
            }
        }
        for (k, actuator) in self.actuators.iter().enumerate() {
            let owner = Owner::Actuator(k);
            check(owner, "gear", &[actuator.gear])?;
            check(owner, "kp", &[actuator.kp])?;
            check(owner, "kd", &[actuator.kd])?;
            check(owner, "control", &[actuator.control])?;
            for (field, range) in
                [("control_range", actuator.control_range), ("force_range", actuator.force_range)]
            {
                let Some(range) = range else { continue };
                check(owner, field, &range)?;
                let met = range[0] <= range[1];
                let demand = "must be a least and a largest number";
                Fault::unless(met, (owner, field), demand, range[0], "")?;
            }
        }
        for (k, equality) in self.equalities.iter().enumerate() {
            let owner = Owner::Equality(k);
            check(owner, "anchors", equality.anchors.as_flattened())?;
            check(owner, "orientation", &equality.orientation)?;
            check(owner, "distance", &[equality.distance])?;
            check(owner, "offset", &[equality.offset])?;
            check(owner, "ratio", &[equality.ratio])?;
        }
        Ok(())
    }

    /// The bodies such that each tree is in one piece, parents before children: depth first, otherwise
    /// in the order of the file.
    fn order(&self) -> Result<Vec<usize>, Fault> {
        if self.bodies.is_empty() {
            let message = "is missing: a scene has at least one [[body]]";
            return Err(Fault::new(Owner::Scene, "body", message));
        }
        if self.bodies.len() > MOST_BODIES {
            let message =
                format!("there are {} bodies, the limit is {MOST_BODIES}", self.bodies.len());
            return Err(Fault::new(Owner::Scene, "body", message));
        }
        let mut indices = HashMap::new();
        for (index, body) in self.bodies.iter().enumerate() {
            if indices.insert(body.name.as_str(), index).is_some() {
                let message = format!("{:?} is taken: all names in a scene must differ", body.name);
                return Err(Fault::new(Owner::Body(index), "name", message));
            }
        }
        let mut children = vec![Vec::new(); self.bodies.len()];
        let mut stack = Vec::new();
        for (index, body) in self.bodies.iter().enumerate().rev() {
            match &body.parent {
                None => stack.push(index),
                Some(parent) => match indices.get(parent.as_str()) {
                    Some(&parent) => children[parent].push(index),
                    None => {
                        let message = format!("there is no body {parent:?}");
                        return Err(Fault::new(Owner::Body(index), "parent", message));
                    }
                },
            }
        }
        let mut order = Vec::with_capacity(self.bodies.len());
        while let Some(index) = stack.pop() {
            order.push(index);
            stack.extend(&children[index]);
        }
        if order.len() < self.bodies.len() {
            let placed: HashSet<usize> = order.into_iter().collect();
            let lost = (0..self.bodies.len()).find(|index| !placed.contains(index)).unwrap_or(0);
            let message = "hangs on itself: parents go round in a circle";
            return Err(Fault::new(Owner::Body(lost), "parent", message));
        }
        Ok(order)
    }

    fn half_spaces(&self) -> Result<Vec<HalfSpace>, Fault> {
        let made = self.half_spaces.iter().enumerate().map(|(k, described)| {
            // Scaled first, so that no length overflows.
            let normal = Vector3::from(described.normal);
            let normal = (normal / normal.amax().max(f64::MIN_POSITIVE)).try_normalize(0.0);
            let zero = || Fault::new(Owner::HalfSpace(k), "normal", "must not be zero");
            let normal = normal.ok_or_else(zero)?;
            Ok(HalfSpace { name: described.name.clone(), normal })
        });
        made.collect()
    }

    fn joint(&self, index: usize) -> Result<Joint, Fault> {
        let owner = Owner::Body(index);
        let BodyDescription { joint, parent, .. } = &self.bodies[index];
        let kind = joint.kind;
        if kind == JointKind::Free && parent.is_some() {
            let message = "a free joint hangs on the world: leave out parent, or say another type";
            return Err(Fault::new(owner, "joint.type", message));
        }
        let mut axis = Vector3::from(joint.axis);
        if kind.has_axis() {
            axis /= axis.amax().max(f64::MIN_POSITIVE);
            let zero = || Fault::new(owner, "joint.axis", "must not be zero");
            axis = axis.try_normalize(0.0).ok_or_else(zero)?;
        }
        let orientation = match kind {
            JointKind::Free => [1.0, 0.0, 0.0, 0.0],
            _ => unit(joint.orientation, owner, "orientation")?,
        };
        for (field, number) in [
            ("joint.armature", joint.armature),
            ("joint.damping", joint.damping),
            ("joint.friction", joint.friction),
            ("joint.stiffness", joint.stiffness),
        ] {
            Fault::unless(number >= 0.0, (owner, field), "must not be negative", number, "")?;
        }
        if let Some([lower, upper]) = joint.limits {
            let place = (owner, "joint.limits");
            if !kind.has_axis() {
                let message = "only joints with one coordinate have limits";
                return Err(Fault::new(owner, "joint.limits", message));
            }
            Fault::unless(lower <= upper, place, "must be a lower and an upper limit", lower, "")?;
        }
        if joint.stiffness != 0.0 && !kind.has_axis() {
            let message = "only joints with one coordinate have a spring";
            return Err(Fault::new(owner, "joint.stiffness", message));
        }
        let limited = joint.limits.is_some();
        Ok(Joint { kind, name: joint.name.clone(), axis, orientation, limited, q: 0, v: 0 })
    }

    /// The colliders of the model, and what each was described as.
    fn colliders<'a>(
        &'a self,
        order: &[usize],
    ) -> Result<(Vec<Collider>, Vec<&'a ColliderDescription>), Fault> {
        let (mut colliders, mut described) = (Vec::new(), Vec::new());
        let mut add =
            |owner: Owner, body: Option<usize>, name: String, shape: &'a ColliderDescription| {
                let ColliderDescription { size, position, orientation, .. } = shape;
                for &found in shape.shape.sizes(size) {
                    Fault::unless(found > 0.0, (owner, "shape"), "must be positive", found, "m")?;
                }
                colliders.push(Collider {
                    name,
                    body,
                    shape: shape.shape.clone(),
                    orientation: unit(*orientation, owner, "shape.orientation")?,
                    placed: *position != [0.0; 3],
                });
                described.push(shape);
                Ok(())
            };
        for (k, shape) in self.colliders.iter().enumerate() {
            add(Owner::Collider(k), None, shape.name.clone(), shape)?;
        }
        for (place, &index) in order.iter().enumerate() {
            let body = &self.bodies[index];
            for (k, shape) in body.colliders.iter().enumerate() {
                let name = match (body.colliders.len(), shape.name.as_str()) {
                    (1, "") => body.name.clone(),
                    (_, "") => format!("{}/{k}", body.name),
                    (_, name) => format!("{}/{name}", body.name),
                };
                add(Owner::Body(index), Some(place), name, shape)?;
            }
        }
        Ok((colliders, described))
    }

    /// Masses and inertias must be those of solids. What is not, but moves all the same, is a
    /// warning where the file is someone else's.
    fn check_inertia(
        &self,
        model: &Model,
        place: usize,
        index: usize,
        warnings: &mut Vec<Error>,
    ) -> Result<(), Fault> {
        let (owner, body) = (Owner::Body(index), &self.bodies[index]);
        let free = matches!(body.joint.kind, JointKind::Free | JointKind::Ball);
        let carries = model.bodies.iter().any(|child| child.parent == Some(place));
        let moves = model.bodies[place].tree.is_some();
        let massless = !moves || body.joint.kind != JointKind::Free && carries;
        let met = body.mass > 0.0
            || body.mass == 0.0
                && (massless || body.joint.armature > 0.0 || body.joint.kind == JointKind::Fixed);
        if !met && !self.strict && body.mass == 0.0 {
            let (line, path) = owner.place(self);
            let message = "is 0, and nothing with mass hangs on it: its tree cannot be moved";
            warnings.push(Error::input(&self.name, line, format!("{path}.mass"), message));
            return Ok(());
        }
        Fault::unless(met, (owner, "mass"), "must be positive", body.mass, "kg")?;
        let [xx, yy, zz, xy, xz, yz] = body.inertia;
        let matrix = Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
        let moments: Vector3<f64> = matrix.symmetric_eigenvalues();
        let (least, most) = (moments.min(), moments.max());
        // Moments are computed up to rounding, so that 0 may come out as 1e-17.
        let definite = if free && !carries { least > 1e-12 * most } else { least >= -1e-12 * most };
        let mut warn = |message: String| {
            if self.strict {
                return Err(Fault::new(owner, "inertia", message));
            }
            let (line, path) = owner.place(self);
            warnings.push(Error::input(&self.name, line, format!("{path}.inertia"), message));
            Ok(())
        };
        if !definite {
            warn(format!(
                "must be positive definite, but a principal moment is not positive, found {least} \
                 (kg m²)"
            ))?;
        }
        // No mass distribution has a principal moment above the sum of the other two; equality is a
        // flat plate, up to rounding.
        let others = moments.sum() - most;
        if most > others * (1.0 + 1e-9) {
            warn(format!(
                "is not that of any solid: the largest principal moment, {most}, exceeds the sum of \
                 the other two, {others} (kg m²)"
            ))?;
        }
        Ok(())
    }

    /// Adds the pairs that can touch to the model; returns what each is made of.
    fn pairs(
        &self,
        model: &mut Model,
        order: &[usize],
        described: &[&ColliderDescription],
    ) -> Result<Vec<Material>, Fault> {
        let mut special = HashMap::new();
        for (k, contact) in self.contacts.iter().enumerate() {
            special.insert(contact.pair.as_str(), k);
        }
        let mut used = HashSet::new();
        let mut materials = Vec::new();
        let mut known = Vec::new();
        let firsts = (0..model.half_spaces.len()).map(Solid::HalfSpace);
        let firsts = firsts.chain((0..model.colliders.len()).map(Solid::Collider));
        for first in firsts.collect::<Vec<_>>() {
            let start = match first {
                Solid::HalfSpace(_) => 0,
                Solid::Collider(first) => first + 1,
            };
            for second in start..model.colliders.len() {
                let name = pair_name(model, first, second);
                let pair = Pair { name, first, second, two_regimes: false };
                if model.moving_bodies(&pair) == [None; 2] {
                    continue;
                }
                let own = special.get(pair.name.as_str()).copied().or_else(|| {
                    let other = match first {
                        Solid::HalfSpace(k) => &model.half_spaces[k].name,
                        Solid::Collider(k) => &model.colliders[k].name,
                    };
                    let name = format!("{}-{other}", model.colliders[second].name);
                    special.get(name.as_str()).copied()
                });
                if own.is_none() && !self.may_touch(model, &pair, described) {
                    continue;
                }
                known.push(pair.name.clone());
                let material = match own {
                    Some(k) => {
                        used.insert(k);
                        match self.contacts[k].material {
                            Some(material) => material,
                            None => continue,
                        }
                    }
                    None => {
                        let first = match first {
                            Solid::HalfSpace(k) => self.half_spaces[k].material,
                            Solid::Collider(k) => described[k].material,
                        };
                        match (first, described[second].material) {
                            (Some(first), Some(second)) => first.with(second),
                            (Some(one), None) | (None, Some(one)) => {
                                self.default_contact.map_or(one, |other| one.with(other))
                            }
                            (None, None) => match self.default_contact {
                                Some(material) => material,
                                None if self.passes => continue,
                                None => return Err(self.no_material(model, order, &pair)),
                            },
                        }
                    }
                };
                if model.pairs.len() == MOST_PAIRS {
                    let message = format!("more than {MOST_PAIRS} pairs of shapes can touch");
                    return Err(Fault::new(Owner::Scene, "contact", message));
                }
                let two_regimes = material.mu_static.is_some();
                model.pairs.push(Pair { two_regimes, ..pair });
                materials.push(material);
            }
        }
        for (k, contact) in self.contacts.iter().enumerate() {
            if !used.contains(&k) {
                let name = &contact.pair;
                let message = match known.is_empty() {
                    true => {
                        format!("there is no pair {name:?}: the scene has nothing that can touch")
                    }
                    false => {
                        format!("there is no pair {name:?}; the pairs are {}", list(&known))
                    }
                };
                return Err(Fault::new(Owner::Contact(k), "pair", message));
            }
        }
        Ok(materials)
    }

    /// Whether the two of a pair are meant to touch, if nothing is said about them.
    fn may_touch(&self, model: &Model, pair: &Pair, described: &[&ColliderDescription]) -> bool {
        let second = &model.colliders[pair.second];
        let (first, filter) = match pair.first {
            Solid::HalfSpace(k) => (None, self.half_spaces[k].filter),
            Solid::Collider(k) => (model.colliders[k].body, described[k].filter),
        };
        if !filter.admits(described[pair.second].filter) {
            return false;
        }
        let (Some(a), Some(b)) = (first, second.body) else { return true };
        // Bodies fixed to each other count as one.
        let [a_whole, b_whole] = [a, b].map(|body| whole(model, body));
        if a_whole == b_whole {
            return false;
        }
        let above = |body: Option<usize>| {
            let parent = body.and_then(|body| model.bodies[body].parent);
            parent.and_then(|parent| whole(model, parent))
        };
        let joined = |child: Option<usize>, parent: Option<usize>| {
            parent.is_some() && above(child) == parent
        };
        if !self.touch_parents && (joined(a_whole, b_whole) || joined(b_whole, a_whole)) {
            return false;
        }
        let names = [a, b].map(|body| &model.bodies[body].name);
        !self.excluded.iter().any(|[x, y]| [x, y] == names || [y, x] == names)
    }

    fn no_material(&self, model: &Model, order: &[usize], pair: &Pair) -> Fault {
        let message = format!(
            "no [[contact]] says how the pair {0:?} touches; add one with pair = {0:?} (with \
             mu, or with collide = false), or one without pair for all",
            pair.name
        );
        let owner = model.colliders[pair.second].body;
        Fault::new(owner.map_or(Owner::Scene, |body| Owner::Body(order[body])), "", message)
    }

    fn actuator(
        &self,
        model: &Model,
        index: usize,
        actuator: &ActuatorDescription,
    ) -> Result<Actuator, Fault> {
        let owner = Owner::Actuator(index);
        let body = find_joint(model, &actuator.joint).ok_or_else(|| {
            Fault::new(owner, "joint", format!("there is no joint {:?}", actuator.joint))
        })?;
        if !model.bodies[body].joint.kind.has_axis() {
            let kind = model.bodies[body].joint.kind.name();
            let message = format!("must be a joint with one coordinate, found a {kind} one");
            return Err(Fault::new(owner, "joint", message));
        }
        for (field, gain) in [("kp", actuator.kp), ("kd", actuator.kd)] {
            Fault::unless(gain >= 0.0, (owner, field), "must not be negative", gain, "")?;
        }
        Ok(Actuator {
            name: actuator.name.clone(),
            body,
            kind: actuator.kind,
            limits_control: actuator.control_range.is_some(),
            limits_force: actuator.force_range.is_some(),
        })
    }

    fn equality(
        &self,
        model: &Model,
        index: usize,
        equality: &EqualityDescription,
    ) -> Result<Equality, Fault> {
        let owner = Owner::Equality(index);
        let mut bodies = [None; 2];
        if equality.kind == EqualityKind::Joint {
            for (place, name) in bodies.iter_mut().zip(&equality.joints) {
                let found = find_joint(model, name);
                let found = found.filter(|&body| model.bodies[body].joint.kind.has_axis());
                *place = Some(found.ok_or_else(|| {
                    let message = format!("there is no joint {name:?} with one coordinate");
                    Fault::new(owner, "joints", message)
                })?);
            }
        } else {
            for (place, name) in bodies.iter_mut().zip(&equality.bodies) {
                let Some(name) = name else { continue };
                let found = model.bodies.iter().position(|body| body.name == *name);
                *place = Some(found.ok_or_else(|| {
                    Fault::new(owner, "bodies", format!("there is no body {name:?}"))
                })?);
            }
        }
        if bodies[0] == bodies[1] {
            return Err(Fault::new(owner, "bodies", "must be two different ones"));
        }
        if equality.kind == EqualityKind::Distance {
            let met = equality.distance > 0.0;
            let place = (owner, "distance");
            Fault::unless(met, place, "must be positive", equality.distance, "m")?;
        }
        Ok(Equality {
            name: equality.name.clone(),
            kind: equality.kind,
            bodies,
            orientation: unit(equality.orientation, owner, "orientation")?,
        })
    }

    /// Staggered projections know contacts and nothing else.
    fn check_solver(&self, model: &Model) -> Result<(), Fault> {
        let ContactSolver::Staggered { .. } = self.settings.solver else { return Ok(()) };
        let joints = self.bodies.iter().map(|body| &body.joint);
        let posed = joints.filter(|joint| joint.limits.is_some() || joint.friction > 0.0).count();
        if posed + model.equalities.len() == 0 {
            return Ok(());
        }
        let message = "is \"staggered\", which knows contacts only; limits and dry friction of joints, and \
                       equalities, need \"coupled\"";
        Err(Fault::new(Owner::Scene, "simulation", message))
    }

    /// Actuators and equalities find joints by their names.
    fn check_joint_names(&self) -> Result<(), Fault> {
        let mut taken = HashSet::new();
        for (index, body) in self.bodies.iter().enumerate() {
            let name = body.joint.name.as_str();
            if !name.is_empty() && !taken.insert(name) {
                let message = format!("{name:?} is taken: all joints have names of their own");
                return Err(Fault::new(Owner::Body(index), "joint.name", message));
            }
        }
        Ok(())
    }

    /// Names are how parameters are found: no two may be the same.
    fn check_names(&self, model: &Model) -> Result<(), Fault> {
        let mut taken = HashSet::new();
        for name in model.parameter_names() {
            if taken.contains(&name) {
                let message = format!("the name {name:?} stands for two numbers: rename something");
                return Err(Fault::new(Owner::Scene, "", message));
            }
            taken.insert(name);
        }
        let owners = self.bodies.iter().enumerate();
        for (index, body) in owners {
            if let Some(pair) = model.pairs.iter().find(|pair| pair.name == body.name) {
                let second = model.colliders[pair.second].body;
                let maker = second.map(|second| &model.bodies[second].name);
                let maker = self.bodies.iter().position(|body| Some(&body.name) == maker);
                let message = format!("makes the name {:?}, which is taken", pair.name);
                return Err(Fault::new(Owner::Body(maker.unwrap_or(index)), "name", message));
            }
        }
        Ok(())
    }

    /// The numbers, in the order of their slots.
    fn parameters(
        &self,
        model: &Model,
        order: &[usize],
        described: &[&ColliderDescription],
        materials: &[Material],
    ) -> Parameters<f64> {
        let mut values = self.gravity.to_vec();
        let shape = |values: &mut Vec<f64>, collider: usize| {
            values.extend(described[collider].size);
            if model.colliders[collider].placed {
                values.extend(described[collider].position);
            }
        };
        let of = |owner: Option<usize>| {
            let all = model.colliders.iter().enumerate();
            all.filter(move |(_, collider)| collider.body == owner).map(|(index, _)| index)
        };
        for (place, &index) in order.iter().enumerate() {
            let body = &self.bodies[index];
            values.push(body.mass);
            values.extend(body.center_of_mass);
            values.extend(body.inertia);
            if model.slots.joints[place].is_some() {
                let JointDescription { position, anchor, kind, .. } = &body.joint;
                let free = *kind == JointKind::Free;
                values.extend(if free { [0.0; 3] } else { *position });
                values.extend(if free { [0.0; 3] } else { *anchor });
                let joint = &body.joint;
                values.extend([joint.armature, joint.damping, joint.friction]);
                values.extend([joint.stiffness, joint.rest]);
                values.extend(joint.limits.unwrap_or_default());
            }
            of(Some(place)).for_each(|collider| shape(&mut values, collider));
        }
        of(None).for_each(|collider| shape(&mut values, collider));
        for Material { mu, mu_static, restitution } in materials {
            values.extend([*mu, *restitution, mu_static.unwrap_or(0.0)]);
        }
        for actuator in &self.actuators {
            values.extend([actuator.gear, actuator.kp, actuator.kd]);
            values.extend(actuator.control_range.unwrap_or_default());
            values.extend(actuator.force_range.unwrap_or_default());
        }
        for equality in &self.equalities {
            values.extend(equality.anchors.as_flattened());
            values.push(match equality.kind {
                EqualityKind::Joint => equality.offset,
                _ => equality.distance,
            });
            values.push(equality.ratio);
        }
        for half_space in &self.half_spaces {
            values.extend([half_space.offset, 0.0, 0.0]);
        }
        values.push(1.0);
        Parameters { values }
    }

    /// Where everything starts.
    fn state(&self, order: &[usize]) -> Result<State<f64>, Fault> {
        let mut state = State { q: Vec::new(), v: Vec::new() };
        for &index in order {
            let (owner, joint) = (Owner::Body(index), &self.bodies[index].joint);
            let counted = |numbers: &[f64], count: usize, field: &'static str| {
                if numbers.is_empty() || numbers.len() == count {
                    return Ok(());
                }
                let message = format!("must be {count} numbers, found {}", numbers.len());
                Err(Fault::new(owner, field, message))
            };
            let (nq, nv) = (joint.kind.nq(), joint.kind.nv());
            counted(&joint.v, nv, "joint.v")?;
            match joint.kind {
                JointKind::Free => {
                    counted(&joint.q, nq, "joint.q")?;
                    let (position, turn) = match joint.q[..] {
                        [x, y, z, qw, qx, qy, qz] => ([x, y, z], [qw, qx, qy, qz]),
                        _ => (joint.position, joint.orientation),
                    };
                    state.q.extend(position);
                    state.q.extend(unit(turn, owner, "orientation")?);
                }
                JointKind::Ball => {
                    counted(&joint.q, nq, "joint.q")?;
                    let given = <[f64; 4]>::try_from(joint.q.as_slice());
                    let turn = given.unwrap_or([1.0, 0.0, 0.0, 0.0]);
                    state.q.extend(unit(turn, owner, "joint.q")?);
                }
                _ => {
                    counted(&joint.q, nq, "joint.q")?;
                    state.q.extend((0..nq).map(|k| joint.q.get(k).copied().unwrap_or(0.0)));
                }
            }
            state.v.extend((0..nv).map(|k| joint.v.get(k).copied().unwrap_or(0.0)));
        }
        Ok(state)
    }

    /// The constant forces: six numbers of a free body, zeros of others.
    fn loads(&self, order: &[usize]) -> Result<Vec<f64>, Fault> {
        let mut loads = Vec::new();
        for &index in order {
            let body = &self.bodies[index];
            if body.joint.kind == JointKind::Free {
                loads.extend(body.force.iter().chain(&body.torque));
            } else {
                for (field, load) in [("force", body.force), ("torque", body.torque)] {
                    if load != [0.0; 3] {
                        let message = "only free bodies have a constant load; give joints a motor";
                        return Err(Fault::new(Owner::Body(index), field, message));
                    }
                }
                loads.resize(loads.len() + body.joint.kind.nv(), 0.0);
            }
        }
        Ok(loads)
    }

    /// The keyframes, in the order of the model.
    fn keyframes(&self, scene: &Scene, order: &[usize]) -> Result<Vec<Keyframe>, Fault> {
        let starts = |count: fn(JointKind) -> usize| {
            let mut next = 0;
            let first = self.bodies.iter().map(|body| {
                next += count(body.joint.kind);
                next - count(body.joint.kind)
            });
            first.collect::<Vec<_>>()
        };
        let reordered =
            |numbers: &Option<Vec<f64>>, count: fn(JointKind) -> usize, total: usize| {
                let Some(numbers) = numbers else { return Ok(None) };
                if numbers.len() != total || numbers.iter().any(|x| !x.is_finite()) {
                    let found = numbers.len();
                    let message = format!("must be {total} finite numbers, found {found}");
                    return Err(Fault::new(Owner::Keyframe, "", message));
                }
                let starts = starts(count);
                let pieces = order.iter().flat_map(|&index| {
                    let length = count(self.bodies[index].joint.kind);
                    &numbers[starts[index]..starts[index] + length]
                });
                Ok(Some(pieces.copied().collect::<Vec<f64>>()))
            };
        let made = self.keyframes.iter().map(|keyframe| {
            let mut q = reordered(&keyframe.q, JointKind::nq, scene.model.nq())?;
            for body in scene.model.bodies.iter() {
                let (Some(q), Some(coordinates)) = (&mut q, body.joint.kind.coordinates()) else {
                    continue;
                };
                let Some((first, _)) = coordinates.quaternion() else { continue };
                let place = body.joint.q + first;
                let found = [q[place], q[place + 1], q[place + 2], q[place + 3]];
                // Files are free to give quaternions of any length.
                let most = found.iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
                let size = found.iter().map(|x| (x / most) * (x / most)).sum::<f64>().sqrt();
                let norm = most * size;
                if norm < 1e-9 {
                    let message = format!("has a quaternion of norm {norm}");
                    return Err(Fault::new(Owner::Keyframe, "q", message));
                }
                let turn = unit_quaternion(found).unwrap_or(found.map(|x| x / most / size));
                q[place..place + 4].copy_from_slice(&turn);
            }
            let v = reordered(&keyframe.v, JointKind::nv, scene.model.nv())?;
            let controls = keyframe.controls.clone();
            if controls.as_ref().is_some_and(|controls| controls.len() != scene.model.nu()) {
                let message = format!("must have {} controls", scene.model.nu());
                return Err(Fault::new(Owner::Keyframe, "controls", message));
            }
            Ok(Keyframe { name: keyframe.name.clone(), q, v, controls })
        });
        made.collect()
    }
}

/// The topmost body that one is fixed to; nothing is the world.
fn whole(model: &Model, mut body: usize) -> Option<usize> {
    while model.bodies[body].joint.kind == JointKind::Fixed {
        body = model.bodies[body].parent?;
    }
    Some(body)
}

/// The body whose joint has this name, or that has it itself.
fn find_joint(model: &Model, name: &str) -> Option<usize> {
    if name.is_empty() {
        return None;
    }
    let by_joint = model.bodies.iter().position(|body| body.joint.name == name);
    by_joint.or_else(|| model.bodies.iter().position(|body| body.name == name))
}

fn unit(quaternion: [f64; 4], owner: Owner, field: &'static str) -> Result<[f64; 4], Fault> {
    unit_quaternion(quaternion).map_err(|norm| {
        let message = format!("must be a unit quaternion [w, x, y, z], found one of norm {norm}");
        Fault::new(owner, field, message)
    })
}

/// Names for a message, not too many.
fn list(names: &[String]) -> String {
    const MOST: usize = 20;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown}, and {} more", names.len() - MOST) } else { shown }
}
