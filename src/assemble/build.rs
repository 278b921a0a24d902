//! From a description to a scene: names become indices, numbers are checked.

use std::collections::{HashMap, HashSet};

use nalgebra::Vector3;

use super::coupled_trees::{Coupled, coupled_trees};
use super::fault::{Fault, Owner, unit};
use super::{
    ActuatorDescription, BodyDescription, ColliderDescription, Description, Driven,
    EqualityDescription,
};
use crate::Error;
use crate::model::{
    Actuator, ActuatorKind, Body, Collider, Equality, EqualityKind, HalfSpace, Joint, JointKind,
    Model, Scene, Transmission, Visual, VisualForm,
};

/// The largest number of bodies.
const MOST_BODIES: usize = 10_000;

impl Description {
    /// The scene, or what is wrong with it and in which line.
    pub fn scene(&self) -> Result<Scene, Error> {
        let error = |owner: Owner, field: &str, message: &str| {
            let (line, path) = owner.place(self);
            let field = if field.is_empty() || path.is_empty() {
                format!("{path}{field}")
            } else {
                format!("{path}.{field}")
            };
            Error::input(&self.name, line, field, message)
        };
        self.build().map_err(|fault| fault.error(error))
    }

    /// Checks the description and makes a scene of it.
    pub(crate) fn build(&self) -> Result<Scene, Fault> {
        self.check_finite()?;
        self.check_joint_names()?;
        let (mut order, mut joins) = (self.order()?, HashSet::new());
        let mut scene = self.assemble(&order, &joins, &[])?;
        if self.settings.integrator.is_backward()
            && let Some(coupled) = coupled_trees(&scene.model, &order)
        {
            Coupled { order, joins } = coupled;
            scene = self.assemble(&order, &joins, &[])?;
        }
        let (apart, warnings) = self.overlapping_neighbors(&scene, &order)?;
        if !apart.is_empty() {
            scene = self.assemble(&order, &joins, &apart)?;
            scene.warnings.extend(warnings);
        }
        self.push_apart(&mut scene)?;
        self.rest_tendons(&mut scene);
        self.check_start(&mut scene, &order)?;
        self.check_immovable(&mut scene);
        Ok(scene)
    }

    /// The scene in which the colliders in `apart` do not touch, and bodies in `joins` are of the trees before them.
    fn assemble(
        &self,
        order: &[usize],
        joins: &HashSet<usize>,
        apart: &[(usize, usize)],
    ) -> Result<Scene, Fault> {
        let mut warnings = self.warnings.clone();
        let half_spaces = self.half_spaces()?;
        let mut bodies: Vec<Body> = Vec::with_capacity(order.len());
        let mut places = HashMap::new();
        let mut own_numbers = Vec::new();
        for &index in order {
            let described = &self.bodies[index];
            let parent = described.parent.as_ref().map(|parent| places[parent.as_str()]);
            places.insert(described.name.as_str(), bodies.len());
            let joint = self.joint(index)?;
            let visuals = visuals(&described.visuals, Owner::Body(index))?;
            bodies.push(Body { name: described.name.clone(), parent, joint, tree: None, visuals });
            // Stages and implicit steps are those of trees of joints.
            let staged = self.settings.integrator.takes_trees();
            own_numbers
                .push(described.joint.has_numbers() || staged && !described.joint.prescribed);
        }
        let (colliders, described) = self.colliders(order)?;
        let joins: Vec<bool> = order.iter().map(|index| joins.contains(index)).collect();
        let mut model = Model::new(bodies, (&own_numbers, &joins), colliders, half_spaces);
        let carry: HashSet<usize> = model.bodies.iter().filter_map(|body| body.parent).collect();
        for (place, &index) in order.iter().enumerate() {
            self.check_prescribed(index, model.is_prescribed(place))?;
        }
        for (place, &index) in order.iter().enumerate() {
            let carries = carry.contains(&place);
            self.check_inertia(&model, (place, index), carries, &mut warnings)?;
        }
        let materials = self.pairs(&mut model, order, &described, apart)?;
        model.tendons = self.tendons(&model)?;
        for (index, actuator) in self.actuators.iter().enumerate() {
            let actuator = self.actuator(&model, index, actuator)?;
            model.actuators.push(actuator);
        }
        for (index, equality) in self.equalities.iter().enumerate() {
            let equality = self.equality(&model, index, equality)?;
            model.equalities.push(equality);
        }
        model.pushes = self.pushes(&model)?;
        model.drags = self.drags(&model, order)?;
        model.cameras = self.cameras(&model)?;
        model.light = self.light;
        model.learned = self.learned(&model)?;
        model.visuals = visuals(&self.visuals, Owner::Scene)?;
        model.lay_out();
        self.check_solver(&model)?;
        self.check_names(&model)?;
        let parameters = self.parameters(&model, order, &described, &materials);
        let mut scene = Scene {
            parameters,
            state: self.state(order)?,
            settings: self.settings,
            inputs: self.forces(order)?,
            keyframes: Vec::new(),
            pushed_apart: None,
            warnings,
            model,
        };
        scene.inputs.extend(self.actuators.iter().map(|actuator| actuator.control));
        scene.inputs.extend(self.pushes.iter().map(|_| 1.0));
        scene.keyframes = self.keyframes(&scene, order)?;
        Ok(scene)
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
            if let Some(other) = indices.insert(body.name.as_str(), index) {
                let message = format!("{:?} is taken: all names in a scene must differ", body.name);
                let fault = Fault::new(Owner::Body(index), "name", message);
                return Err(fault.with(Owner::Body(other), "name"));
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
        if let Some(speed) = joint.max_speed {
            let (place, demand) = ((owner, "joint.max_speed"), "must be positive");
            Fault::unless(speed > 0.0, place, demand, speed, "")?;
            if !kind.has_axis() {
                let message = "only joints with one coordinate have one";
                return Err(Fault::new(owner, "joint.max_speed", message));
            }
        }
        let (limited, max_speed) = (joint.limits.is_some(), joint.max_speed);
        let (name, prescribed) = (joint.name.clone(), joint.prescribed);
        Ok(Joint { kind, name, axis, orientation, limited, prescribed, max_speed, q: 0, v: 0 })
    }

    /// The colliders of the model, and what each was described as.
    fn colliders<'a>(
        &'a self,
        order: &[usize],
    ) -> Result<(Vec<Collider>, Vec<&'a ColliderDescription>), Fault> {
        let (mut colliders, mut described) = (Vec::new(), Vec::new());
        let mut add = |owner: Owner,
                       body: Option<usize>,
                       name: String,
                       shape: &'a ColliderDescription| {
            let ColliderDescription { size, position, orientation, .. } = shape;
            for &found in shape.shape.sizes(size) {
                Fault::unless(found > 0.0, (owner, "shape"), "must be positive", found, "m")?;
            }
            let met = (0.0..f64::INFINITY).contains(&shape.margin);
            let demand = "must be finite and not negative";
            Fault::unless(met, (owner, "shape.margin"), demand, shape.margin, "m")?;
            if let Some(radius) = shape.radius {
                let most = shape.shape.largest_radius(*size);
                let met = most.is_some_and(|most| (0.0..=most).contains(&radius));
                let demand = "must be that of edges: of a box or hull, not negative, and less than the least half extent \
                                  of a box";
                Fault::unless(met, (owner, "shape.radius"), demand, radius, "m")?;
            }
            colliders.push(Collider {
                name,
                body,
                shape: shape.shape.clone(),
                orientation: unit(*orientation, owner, "shape.orientation")?,
                placed: *position != [0.0; 3],
                rounded: shape.radius.is_some(),
                margin: shape.margin,
                visual: shape.visual.clone(),
                color: shape.color,
                drawn: shape.drawn,
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
                add(Owner::Body(index), Some(place), body.shape_name(&body.name, k), shape)?;
            }
        }
        Ok((colliders, described))
    }

    /// The body whose joint has this name, or that has it itself. Files of others name joints only; in one of our own
    /// the name must not be that of a joint and of another body.
    fn find_joint(
        &self,
        model: &Model,
        (owner, field): (Owner, &'static str),
        name: &str,
    ) -> Result<Option<usize>, Fault> {
        if name.is_empty() {
            return Ok(None);
        }
        let by_joint = model.bodies.iter().position(|body| body.joint.name == name);
        let by_body = model.bodies.iter().position(|body| body.name == name);
        if let (Some(joint), Some(body), true) = (by_joint, by_body, self.strict)
            && joint != body
        {
            let named = |body: &BodyDescription| body.joint.name == name;
            let other = self.bodies.iter().position(named).map_or(Owner::Scene, Owner::Body);
            let message = format!("{name:?} is both a body and the joint of another");
            return Err(Fault::new(owner, field, message).with(other, "joint.name"));
        }
        Ok(by_joint.or(by_body))
    }

    /// The body whose joint has this name, or that has it, of joints with one coordinate.
    pub(super) fn find_axis(
        &self,
        model: &Model,
        (owner, field): (Owner, &'static str),
        name: &str,
    ) -> Result<usize, Fault> {
        let body = self
            .find_joint(model, (owner, field), name)?
            .ok_or_else(|| Fault::new(owner, field, format!("there is no joint {name:?}")))?;
        if !model.bodies[body].joint.kind.has_axis() {
            let kind = model.bodies[body].joint.kind.name();
            let message = format!("must be a joint with one coordinate, found a {kind} one");
            return Err(Fault::new(owner, field, message));
        }
        Ok(body)
    }

    fn actuator(
        &self,
        model: &Model,
        index: usize,
        actuator: &ActuatorDescription,
    ) -> Result<Actuator, Fault> {
        let owner = Owner::Actuator(index);
        let drives = match &actuator.drives {
            Driven::Joint(name) => {
                Transmission::Joint(self.find_axis(model, (owner, "joint"), name)?)
            }
            Driven::Tendon(name) => {
                let found = model.tendons.iter().position(|tendon| tendon.name == *name);
                Transmission::Tendon(found.ok_or_else(|| {
                    Fault::new(owner, "tendon", format!("there is no tendon {name:?}"))
                })?)
            }
        };
        if actuator.gain_by != [0.0; 2] && actuator.kind != ActuatorKind::Affine {
            let message = format!("has no meaning for a {}", actuator.kind.name());
            let field = if actuator.gain_by[0] != 0.0 { "gain_length" } else { "gain_velocity" };
            return Err(Fault::new(owner, field, message));
        }
        for (field, gain) in [("kp", actuator.kp), ("kd", actuator.kd)] {
            Fault::unless(gain >= 0.0, (owner, field), "must not be negative", gain, "")?;
        }
        Ok(Actuator {
            name: actuator.name.clone(),
            drives,
            kind: actuator.kind,
            limits_control: actuator.control_range.is_some(),
            limits_force: actuator.force_range.is_some(),
            gain_varies: actuator.gain_by != [0.0; 2],
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
                let found = self.find_joint(model, (owner, "joints"), name)?;
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
            axis: match equality.kind {
                EqualityKind::Hinge => {
                    let length = Vector3::from(equality.axis).norm();
                    let met = length > 0.0 && length.is_finite();
                    let demand = "must have a direction";
                    Fault::unless(met, (owner, "axis"), demand, length, "")?;
                    equality.axis.map(|x| x / length)
                }
                _ => [0.0; 3],
            },
            yields: equality.stiffness.is_some(),
        })
    }
}

/// What is seen, with unit quaternions.
fn visuals(described: &[Visual], owner: Owner) -> Result<Vec<Visual>, Fault> {
    let checked = described.iter().map(|visual| {
        let sizes: &[f64] = match &visual.form {
            VisualForm::Solid(shape, size) => shape.sizes(size),
            VisualForm::File { scale, .. } => scale,
            VisualForm::Surface(_) => &[],
        };
        let color = visual.color.iter().flatten();
        for &found in sizes.iter().chain(&visual.position).chain(color) {
            Fault::unless(found.is_finite(), (owner, "visual"), "must be finite", found, "")?;
        }
        let orientation = unit(visual.orientation, owner, "visual.orientation")?;
        Ok(Visual { orientation, ..visual.clone() })
    });
    checked.collect()
}
