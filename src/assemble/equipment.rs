//! What a robot needs to stand that its file does not say: a ground, motors, and how high its base is.

use std::collections::HashMap;

use nalgebra::{Rotation3, UnitQuaternion, Vector3};

use super::{
    ActuatorDescription, ContactDescription, Description, Driven, HalfSpaceDescription, Material,
    OnGround, StatedDrive,
};
use crate::Error;
use crate::collision::{Pose, half_space_points};
use crate::dynamics::Kinematics;
use crate::model::{
    ActuatorKind, EqualityKind, Filter, Integrator, JointKind, Plane, Scene, SurfaceTerm,
};
use crate::spatial::rotation_matrix;

/// What is added to a robot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Equipment {
    /// A ground at z = 0 with this coefficient of friction, for what does not state its own.
    pub ground: Option<f64>,
    /// Motors at joints with one coordinate that have none and follow no other.
    pub motors: Option<Motors>,
    /// How high the floating base is.
    pub base_height: Option<BaseHeight>,
}

/// Which motors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motors {
    /// At each joint, of this kind.
    Each(ActuatorKind),
    /// As the file [states](StatedDrive) them, where it does.
    Stated,
}

/// How high a base is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BaseHeight {
    /// So high that the lowest of its shapes just touches the ground: that of the file, or z = 0.
    OnGround,
    /// Its origin, m.
    At(f64),
}

/// How fast a servo that holds all that its joint moves, or all that it stands on, would swing, Hz.
const FREQUENCY: f64 = 4.0;
/// Damping of that, relative to the critical one.
const DAMPING: f64 = 0.7;

impl Description {
    /// Puts joints with one coordinate, by their names or those of their bodies (`*` stands for anything), where they are to start; the
    /// last that is said of one counts.
    ///
    /// # Errors
    /// If a name is that of no such joint.
    pub fn set_joints(&mut self, starts: &[(String, f64)]) -> Result<(), Error> {
        for (pattern, q) in starts {
            let wrong = |message: String| Error::input(&self.name, None, pattern, message);
            let names =
                glob::Pattern::new(pattern).map_err(|error| wrong(error.msg.to_string()))?;
            let has_axis = |body: &&mut super::BodyDescription| body.joint.kind.has_axis();
            let mut found = false;
            let known: Vec<String> =
                self.bodies.iter().filter(|body| body.joint.kind.has_axis()).map(called).collect();
            for body in self.bodies.iter_mut().filter(has_axis) {
                if names.matches(&body.name) || names.matches(&body.joint.name) {
                    body.joint.q = vec![*q];
                    found = true;
                }
            }
            if !found {
                let list = known.join(", ");
                let message =
                    format!("is the name of no joint with one coordinate; there are {list}");
                return Err(Error::input(&self.name, None, pattern, message));
            }
        }
        if !starts.is_empty() {
            self.follow();
        }
        Ok(())
    }

    /// Joints that would start beyond their limits start at them: a leg that snaps into its limits kicks the robot over.
    fn keep_limits(&mut self) {
        for body in &mut self.bodies {
            let Some([lower, upper]) = body.joint.limits.filter(|_| body.joint.kind.has_axis())
            else {
                continue;
            };
            let q = body.joint.q.first().copied().unwrap_or(0.0);
            let kept = q.max(lower).min(upper);
            if kept != q {
                body.joint.q = vec![kept];
            }
        }
    }

    /// Joints that follow others start where these have them.
    fn follow(&mut self) {
        let called = |body: &super::BodyDescription, name: &str| {
            body.name == name || !body.joint.name.is_empty() && body.joint.name == name
        };
        // Once for each, so that followers of followers are right in any order.
        for _ in 0..self.equalities.len() {
            for equality in
                self.equalities.iter().filter(|equality| equality.kind == EqualityKind::Joint)
            {
                let [follower, leader] = &equality.joints;
                let lead = self.bodies.iter().find(|body| called(body, leader));
                let Some(lead) = lead.filter(|body| body.joint.kind.has_axis()) else { continue };
                let q =
                    equality.offset + equality.ratio * lead.joint.q.first().copied().unwrap_or(0.0);
                let own = self.bodies.iter_mut().find(|body| called(body, follower));
                let Some(own) = own.filter(|body| body.joint.kind.has_axis()) else { continue };
                if own.joint.q.first().copied().unwrap_or(0.0) != q {
                    own.joint.q = vec![q];
                }
            }
        }
    }

    /// Adds what is asked for; joints that would start beyond their limits start at them.
    ///
    /// Servos (`position`) get kp = I (2 pi f)², kd = 2 d I 2 pi f with f = 4 Hz, d = 0.7 and I the inertia about the axis of the joint, at
    /// the start, of what hangs on it; of a floating robot, of what it hangs on if that is larger, since it stands on its limbs. They hold
    /// the start, within the limits of the joint. Those of velocities have the same kd, and hold 0. All have at most the effort that the
    /// file states; with servos steps become linearly implicit in velocities.
    ///
    /// # Errors
    /// If there is nothing to add to, or there already is what is asked for.
    pub fn equip(&mut self, equipment: &Equipment) -> Result<(), Error> {
        if *equipment == Equipment::default() {
            return Ok(());
        }
        self.keep_limits();
        self.follow();
        let wrong =
            |name: &str, field: &str, message: &str| Error::input(name, None, field, message);
        if let Some(mu) = equipment.ground {
            if !(mu.is_finite() && mu >= 0.0) {
                let message = format!("must be finite and not negative, found {mu}");
                return Err(wrong(&self.name, "mu", &message));
            }
            if let Some(known) = self.half_spaces.first() {
                let message = format!("the file has {:?} already", known.name);
                return Err(wrong(&self.name, "ground", &message));
            }
            let taken = |name: &str| self.bodies.iter().any(|body| body.name == name);
            let name = if taken("ground") { "stiction_ground" } else { "ground" };
            self.contacts.extend(self.stated_contacts(name, mu));
            self.half_spaces.push(HalfSpaceDescription {
                line: None,
                name: name.into(),
                normal: [0.0, 0.0, 1.0],
                offset: 0.0,
                material: Some(Material { mu, ..Material::default() }),
                made_of: None,
                filter: Filter::default(),
            });
        }
        if let Some(height) = equipment.base_height {
            let base = self.bodies.iter().position(|body| body.joint.kind == JointKind::Free);
            let Some(base) = base else {
                let message = "the robot has no floating base; a URDF has one with --floating-base";
                return Err(wrong(&self.name, "base_height", message));
            };
            let joint = &self.bodies[base].joint;
            let z = joint.q.get(2).copied().unwrap_or(joint.position[2]);
            let z = match height {
                BaseHeight::At(z) => z,
                BaseHeight::OnGround => z - self.lowest(base)?,
            };
            if !z.is_finite() {
                return Err(wrong(&self.name, "base_height", "must be finite"));
            }
            let body = &mut self.bodies[base];
            body.joint.position[2] = z;
            if let Some(own) = body.joint.q.get_mut(2) {
                *own = z;
            }
        }
        if let Some(motors) = equipment.motors {
            self.add_motors(motors)?;
        }
        Ok(())
    }

    /// How what moves touches the ground, where the file states it of the surface: that counts more than `mu`, of which nothing is said.
    fn stated_contacts(&self, ground: &str, mu: f64) -> Vec<ContactDescription> {
        let parents: HashMap<&str, &super::BodyDescription> =
            self.bodies.iter().map(|body| (body.name.as_str(), body)).collect();
        let moves = |body: &&super::BodyDescription| {
            let mut body = *body;
            // As many as there are, should they go round in a circle.
            for _ in 0..self.bodies.len() {
                let parent = body.parent.as_ref().and_then(|name| parents.get(name.as_str()));
                match parent.filter(|_| body.joint.kind == JointKind::Fixed) {
                    Some(parent) => body = parent,
                    None => break,
                }
            }
            body.joint.kind != JointKind::Fixed
        };
        let mut stated = Vec::new();
        for body in self.bodies.iter().filter(moves) {
            for (k, collider) in body.colliders.iter().enumerate() {
                if collider.on_ground == OnGround::default() {
                    continue;
                }
                let OnGround { mu: own, restitution, spinning, rolling } = collider.on_ground;
                let pair = format!("{ground}-{}", body.shape_name(&body.name, k));
                let restitution = restitution.unwrap_or(0.0);
                let mut material =
                    Material { mu: own.unwrap_or(mu), restitution, ..Material::default() };
                let counts = |couple: Option<f64>| couple.filter(|&couple| couple > 0.0);
                let radius = counts(spinning).filter(|_| material.mu > 0.0);
                let radius = radius.map(|spinning| spinning / material.mu);
                material.terms.set(SurfaceTerm::TorsionRadius, radius);
                material.terms.set(SurfaceTerm::RollingResistance, counts(rolling));
                let (line, material) = (collider.line, Some(material));
                stated.push(ContactDescription { line, pair, material, grain: None });
            }
        }
        stated
    }

    /// How high over the ground the lowest point of what moves with a base is at the start, along z, m.
    fn lowest(&self, base: usize) -> Result<f64, Error> {
        let lowest = self.lowest_point(Some(&self.bodies[base].name))?;
        if lowest.is_finite() {
            return Ok(lowest);
        }
        let message = "the robot has no shapes that could stand on anything: give the height of its base as a number";
        Err(Error::input(&self.name, None, "base_height", message))
    }

    /// How high over the ground of the file, or z = 0, the lowest point of what moves, or moves with a body, is at the start, along z, m;
    /// infinite if it has no shapes.
    ///
    /// # Errors
    /// If it is no scene.
    pub fn lowest_point(&self, with: Option<&str>) -> Result<f64, Error> {
        let Scene { model, parameters, state, .. } = self.clone().scene()?;
        let kinematics = Kinematics::new(&model, &parameters, &state);
        let base = with.and_then(|name| model.bodies.iter().find(|body| body.name == name));
        let counts = |body: usize| match with {
            Some(_) => base.is_some_and(|base| base.tree == model.bodies[body].tree),
            None => model.bodies[body].tree.is_some(),
        };
        // What the file has, if it has one that one can stand on.
        let level = (0..model.half_spaces.len()).map(|index| parameters.plane(&model, index));
        let level = level.into_iter().find(|plane| plane.normal.z > 0.1);
        let ground = level.unwrap_or(Plane { normal: Vector3::z(), offset: 0.0 });
        let mut points = Vec::new();
        let mut lowest = f64::INFINITY;
        for (index, collider) in model.colliders.iter().enumerate() {
            let Some(body) = collider.body.filter(|&body| counts(body)) else { continue };
            let place = &kinematics.bodies[body];
            let pose = Pose {
                rotation: place.rotation * rotation_matrix(collider.orientation),
                position: place.position
                    + place.rotation * parameters.collider_position(&model, index),
            };
            let (size, radius) = parameters.core(&model, index);
            points.clear();
            half_space_points(&collider.shape, size, &pose, &ground, f64::INFINITY, &mut points);
            lowest = points.iter().map(|point| point.gap - radius).fold(lowest, f64::min);
        }
        Ok(lowest / ground.normal.z)
    }

    /// Adds motors.
    fn add_motors(&mut self, motors: Motors) -> Result<(), Error> {
        let inertias = self.joint_inertias()?;
        let (mut count, mut servos) = (0, false);
        for (index, inertia) in inertias.into_iter().enumerate() {
            let body = &self.bodies[index];
            let joint = &body.joint;
            let is_called =
                |name: &String| *name == body.name || !joint.name.is_empty() && *name == joint.name;
            let driven = self.actuators.iter().any(|actuator| match &actuator.drives {
                Driven::Joint(name) => is_called(name),
                Driven::Tendon(_) => false,
            });
            let follows = self.equalities.iter().any(|equality| is_called(&equality.joints[0]));
            if !joint.kind.has_axis() || joint.passive || driven || follows {
                continue;
            }
            let drive = match motors {
                Motors::Each(kind) => Some(StatedDrive { kind, range: None }),
                Motors::Stated => joint.drive,
            };
            let Some(StatedDrive { kind, range }) = drive else { continue };
            let name = if joint.name.is_empty() { &body.name } else { &joint.name };
            let rate = std::f64::consts::TAU * FREQUENCY;
            let [kp, kd] = match kind {
                ActuatorKind::Position => [inertia * rate * rate, 2.0 * DAMPING * inertia * rate],
                ActuatorKind::Velocity => [0.0, 2.0 * DAMPING * inertia * rate],
                ActuatorKind::Motor | ActuatorKind::Affine => [0.0; 2],
            };
            servos |= kd > 0.0;
            let control_range = match kind {
                ActuatorKind::Position => narrower(range, joint.limits),
                ActuatorKind::Velocity => {
                    narrower(range, joint.max_speed.map(|most| [-most, most]))
                }
                ActuatorKind::Motor | ActuatorKind::Affine => narrower(range, None),
            };
            let start = match kind {
                ActuatorKind::Position => joint.q.first().copied().unwrap_or(0.0),
                _ => 0.0,
            };
            self.actuators.push(ActuatorDescription {
                line: None,
                name: name.clone(),
                drives: Driven::Joint(name.clone()),
                kind,
                gear: 1.0,
                kp: digits(kp),
                kd: digits(kd),
                gain: 1.0,
                bias: 0.0,
                gain_by: [0.0; 2],
                control_range,
                force_range: (joint.effort > 0.0).then_some([-joint.effort, joint.effort]),
                control: control_range.map_or(start, |[least, most]| start.max(least).min(most)),
            });
            count += 1;
        }
        if count == 0 {
            let message = match motors {
                Motors::Each(_) => {
                    "the robot has no joint that a motor could drive, or all have one"
                }
                Motors::Stated => {
                    "the file states no drives (in <transmission> or ros2_control) of joints that have none yet: choose position or torque"
                }
            };
            return Err(Error::input(&self.name, None, "actuators", message));
        }
        // Servos are stiff.
        if servos && !self.settings.integrator.is_backward() {
            self.settings.integrator = Integrator::Implicit;
        }
        Ok(())
    }

    /// Of each body, as they stand in the file, the inertia that a motor at its joint moves at the start, kg m² or kg.
    fn joint_inertias(&self) -> Result<Vec<f64>, Error> {
        let Scene { model, parameters, state, .. } = self.clone().scene()?;
        let kinematics = Kinematics::new(&model, &parameters, &state);
        let inertia = |body: &super::BodyDescription| {
            let index = model.bodies.iter().position(|other| other.name == body.name)?;
            let own = &model.bodies[index];
            let tree = &model.trees[own.tree?];
            let place = &kinematics.bodies[index];
            let about = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(
                place.rotation,
            ));
            let axis = (about * Vector3::from(body.joint.axis)).try_normalize(0.0)?;
            let anchor = place.position + about * Vector3::from(body.joint.anchor);
            let floats = model.bodies[tree.bodies[0]].joint.kind == JointKind::Free;
            let hangs = |mut other: usize| loop {
                if other == index {
                    return true;
                }
                match model.bodies[other].parent {
                    Some(parent) => other = parent,
                    None => return false,
                }
            };
            let [mut below, mut above] = [0.0; 2];
            for &other in &tree.bodies {
                // About a point of the axis.
                let inertia = kinematics.bodies[other]
                    .inertia
                    .shifted(&(kinematics.bodies[other].origin - anchor));
                let of = match own.joint.kind.slides() {
                    true => inertia.mass,
                    false => axis.dot(&(inertia.rotational.matrix() * axis)),
                };
                if hangs(other) { below += of } else { above += of }
            }
            Some(if floats { f64::max(below, above) } else { below } + body.joint.armature)
        };
        Ok(self.bodies.iter().map(|body| inertia(body).unwrap_or(0.0)).collect())
    }
}

/// What a range of a drive leaves of that of its joint, of which nothing is given up where they do not meet; nothing where it has no
/// two ends.
fn narrower(drive: Option<[f64; 2]>, joint: Option<[f64; 2]>) -> Option<[f64; 2]> {
    let both = match drive.zip(joint) {
        Some(([a, b], [c, d])) => Some([a.max(c), b.min(d)]).filter(|[a, b]| a <= b).or(joint),
        None => drive.or(joint),
    };
    both.filter(|range| range.iter().all(|end| end.is_finite()))
}

/// What a joint is called.
fn called(body: &super::BodyDescription) -> String {
    if body.joint.name.is_empty() { body.name.clone() } else { body.joint.name.clone() }
}

/// Three digits of a number: gains are chosen, not known.
fn digits(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let power = 10f64.powi(2 - x.log10().floor() as i32);
    (x * power).round() / power
}
