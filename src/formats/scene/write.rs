//! A description as the text of a scene file.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::Path;

use super::shape::{write_material, write_pose, write_surface};
use super::toml_values::{field, list, number, string};
use super::{camera, joint, learned, light, pushes, shape, tendon, visual};
use crate::assemble::{
    ActuatorDescription, BodyDescription, Description, Driven, EqualityDescription,
    GrainDescription, HalfSpaceDescription, NamedMaterial,
};
use crate::model::{ActuatorKind, EqualityKind, JointKind, Settings};

impl Description {
    /// The text of a scene file that says the same, with comments. Meshes are named relative to `directory`,
    /// where the file is to stand.
    ///
    /// All names in a scene differ, and some are not allowed there: what must be renamed is, and a comment
    /// says so. States by name have no place in a scene file and become comments.
    pub fn to_toml(&self, directory: impl AsRef<Path>) -> String {
        let names = Names::new(self);
        let mut text = String::new();
        self.write_head(&mut text, &names);
        for NamedMaterial { name, material } in &self.materials {
            text.push_str("\n[[material]]\n");
            field(&mut text, "name", &string(name));
            write_material(&mut text, *material);
        }
        for (half_space, name) in self.half_spaces.iter().zip(&names.half_spaces) {
            write_half_space(&mut text, half_space, name);
        }
        let directory = directory.as_ref();
        for (collider, name) in self.colliders.iter().zip(&names.shapes) {
            text.push_str("\n[[shape]]\n");
            shape::write(&mut text, collider, name, directory);
        }
        for seen in &self.visuals {
            visual::write(&mut text, "\n[[visual]]\n", seen, directory);
        }
        for (body, name) in self.bodies.iter().zip(&names.bodies) {
            write_body(&mut text, body, name, &names, directory);
        }
        self.write_contacts(&mut text, &names);
        for (own, name) in self.tendons.iter().zip(&names.tendons) {
            tendon::write(&mut text, own, name, |body| names.body(body));
        }
        for (actuator, name) in self.actuators.iter().zip(&names.actuators) {
            write_actuator(&mut text, actuator, name, &names);
        }
        for (equality, name) in self.equalities.iter().zip(&names.equalities) {
            write_equality(&mut text, equality, name, &names);
        }
        for one in &self.pushes {
            pushes::write(&mut text, one);
        }
        for one in &self.cameras {
            camera::write(&mut text, one);
        }
        if let Some(own) = &self.light {
            light::write(&mut text, own);
        }
        for term in &self.learned {
            learned::write(&mut text, term);
        }
        for keyframe in &self.keyframes {
            text.push_str("\n[[keyframe]]\n");
            field(&mut text, "name", &string(&keyframe.name));
            for (what, numbers) in
                [("q", &keyframe.q), ("v", &keyframe.v), ("controls", &keyframe.controls)]
            {
                if let Some(numbers) = numbers {
                    field(&mut text, what, &list(numbers));
                }
            }
        }
        text
    }

    fn write_head(&self, text: &mut String, names: &Names) {
        comment(text, &format!("Made from {}", self.name));
        for warning in &self.warnings {
            comment(text, &format!("Warning: {warning}"));
        }
        for (old, new) in &names.renamed {
            comment(text, &format!("Renamed: {old:?} is {new:?} here"));
        }
        field(text, "gravity", &list(&self.gravity));
        if !self.strict {
            field(text, "strict", "false");
        }
        if self.push_overlaps {
            field(text, "overlap", "\"push\"");
        }
        if self.touch_parents {
            field(text, "touch_parents", "true");
        }
        text.push_str("\n[simulation]\n");
        let Settings { time_step, .. } = self.settings;
        let default = Settings::new(time_step);
        field(text, "time_step", &number(time_step));
        if self.settings.integrator != default.integrator {
            field(text, "integrator", &string(self.settings.integrator.name()));
        }
        if self.settings.solver != default.solver {
            field(text, "solver", &string(self.settings.solver.name()));
            if let crate::model::ContactSolver::Staggered { n_step, derivative } =
                self.settings.solver
            {
                field(text, "n_step", &n_step.to_string());
                field(text, "derivative", &string(derivative.name()));
            }
        }
        if self.settings.restitution_law != default.restitution_law {
            field(text, "restitution_law", &string(self.settings.restitution_law.name()));
        }
        if self.settings.split_impacts {
            field(text, "split_impacts", "true");
        }
        if self.settings.keep_impulses {
            field(text, "keep_impulses", "true");
        }
        let settings = |settings: &Settings| {
            [
                ("compliance", settings.compliance),
                ("baumgarte", settings.baumgarte),
                ("restitution_threshold", settings.restitution_threshold),
                ("static_speed", settings.static_speed),
                ("smoothing", settings.smoothing),
                ("tolerance", settings.tolerance),
            ]
        };
        for ((name, value), (_, usual)) in settings(&self.settings).iter().zip(settings(&default)) {
            if *value != usual {
                field(text, name, &number(*value));
            }
        }
    }

    fn write_contacts(&self, text: &mut String, names: &Names) {
        if self.passes || self.default_contact.is_some() {
            text.push_str(
                "\n[[contact]]                        # all pairs that say nothing themselves\n",
            );
            match self.default_contact {
                Some(material) => write_material(text, material),
                None => text.push_str("collide = false\n"),
            }
        }
        for contact in &self.contacts {
            text.push_str("\n[[contact]]\n");
            field(text, "pair", &string(&names.pair(&contact.pair)));
            match contact.material {
                Some(material) => write_material(text, material),
                None => text.push_str("collide = false\n"),
            }
            if let Some(GrainDescription { of, axis }) = &contact.grain {
                field(text, "grain", &list(axis));
                if let Some(of) = names.of_solids.get(of) {
                    field(text, "grain_of", &string(of));
                }
            }
        }
        for [first, second] in &self.excluded {
            text.push_str("\n[[contact]]\n");
            let bodies = [names.body(first), names.body(second)].map(|name| string(&name));
            field(text, "bodies", &format!("[{}]", bodies.join(", ")));
            text.push_str("collide = false\n");
        }
    }
}

/// What everything is called in the scene.
struct Names {
    half_spaces: Vec<String>,
    shapes: Vec<String>,
    bodies: Vec<String>,
    actuators: Vec<String>,
    equalities: Vec<String>,
    tendons: Vec<String>,
    /// The new names of tendons.
    of_tendons: HashMap<String, String>,
    /// The new names of bodies.
    of_bodies: HashMap<String, String>,
    /// The new names of all that touches.
    of_solids: HashMap<String, String>,
    renamed: Vec<(String, String)>,
}

impl Names {
    fn new(description: &Description) -> Names {
        let mut taken = HashSet::from(["gravity".to_string(), "world".to_string()]);
        taken.extend(description.materials.iter().map(|material| material.name.clone()));
        let mut renamed = Vec::new();
        let mut unique = |kind: &str, old: &str| {
            let wish = clean(old, kind);
            let mut name = wish.clone();
            let mut count = 1;
            while !taken.insert(name.clone()) {
                count += 1;
                name = format!("{wish}_{count}");
            }
            if name != old && !old.is_empty() {
                renamed.push((old.to_string(), name.clone()));
            }
            name
        };
        let Description { half_spaces, colliders, bodies, actuators, equalities, .. } = description;
        // Bodies first: they keep their names, as joints may be called by them.
        let bodies: Vec<_> = bodies.iter().map(|body| unique("body", &body.name)).collect();
        let half_spaces: Vec<_> =
            half_spaces.iter().map(|ground| unique("half_space", &ground.name)).collect();
        let shapes: Vec<_> = colliders.iter().map(|shape| unique("shape", &shape.name)).collect();
        let actuators = actuators.iter().map(|actuator| unique("actuator", &actuator.name));
        let actuators = actuators.collect();
        let equalities = equalities.iter().map(|equality| unique("equality", &equality.name));
        let equalities = equalities.collect();
        let tendons = description.tendons.iter().map(|tendon| unique("tendon", &tendon.name));
        let tendons: Vec<_> = tendons.collect();
        let olds = description.tendons.iter().map(|tendon| tendon.name.clone());
        let of_tendons = olds.zip(tendons.iter().cloned()).collect();
        let (mut of_bodies, mut of_solids) = (HashMap::new(), HashMap::new());
        for (body, name) in description.bodies.iter().zip(&bodies) {
            of_bodies.insert(body.name.clone(), name.clone());
            for k in 0..body.colliders.len() {
                of_solids.insert(body.shape_name(&body.name, k), body.shape_name(name, k));
            }
        }
        for (ground, name) in description.half_spaces.iter().zip(&half_spaces) {
            of_solids.insert(ground.name.clone(), name.clone());
        }
        for (shape, name) in description.colliders.iter().zip(&shapes) {
            of_solids.insert(shape.name.clone(), name.clone());
        }
        Names {
            half_spaces,
            shapes,
            bodies,
            actuators,
            equalities,
            tendons,
            of_tendons,
            of_bodies,
            of_solids,
            renamed,
        }
    }

    fn tendon<'a>(&'a self, old: &'a str) -> &'a str {
        self.of_tendons.get(old).map_or(old, String::as_str)
    }

    fn body(&self, old: &str) -> String {
        self.of_bodies.get(old).cloned().unwrap_or_else(|| old.to_string())
    }

    /// A pair, by the new names of both.
    fn pair(&self, old: &str) -> String {
        let halves = old.match_indices('-').map(|(at, _)| (&old[..at], &old[at + 1..]));
        let mut known = halves.filter_map(|(first, second)| {
            Some(format!("{}-{}", self.of_solids.get(first)?, self.of_solids.get(second)?))
        });
        known.next().unwrap_or_else(|| old.to_string())
    }
}

/// A name as scene files allow it.
fn clean(name: &str, kind: &str) -> String {
    let name: String = name.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
    let parts: Vec<&str> = name.trim().split('/').filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { kind.to_string() } else { parts.join("/").trim().to_string() }
}

fn comment(text: &mut String, line: &str) {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(text, "# {line}");
}

fn write_half_space(text: &mut String, half_space: &HalfSpaceDescription, name: &str) {
    text.push_str("\n[[half_space]]\n");
    field(text, "name", &string(name));
    field(text, "normal", &list(&half_space.normal));
    if half_space.offset != 0.0 {
        field(text, "offset", &number(half_space.offset));
    }
    let made_of = half_space.made_of.as_deref();
    write_surface(text, half_space.material, made_of, half_space.filter);
}

fn write_body(
    text: &mut String,
    body: &BodyDescription,
    name: &str,
    names: &Names,
    directory: &Path,
) {
    text.push_str("\n[[body]]\n");
    field(text, "name", &string(name));
    if let Some(parent) = &body.parent {
        field(text, "parent", &string(&names.body(parent)));
    }
    if let Some(joint) = joint::inline_table(&body.joint) {
        field(text, "joint", &joint);
    }
    write_pose(text, &body.joint.position, body.joint.orientation);
    if body.joint.kind == JointKind::Free {
        for (name, numbers) in [("velocity", 0..3), ("angular_velocity", 3..6)] {
            if let Some(v) = body.joint.v.get(numbers).filter(|v| v.iter().any(|&x| x != 0.0)) {
                field(text, name, &list(v));
            }
        }
    }
    if body.joint.prescribed {
        field(text, "prescribed", "true");
    } else {
        field(text, "mass", &number(body.mass));
        if body.center_of_mass != [0.0; 3] {
            field(text, "center_of_mass", &list(&body.center_of_mass));
        }
        if body.mass != 0.0 || body.inertia != [0.0; 6] {
            field(text, "inertia", &list(&body.inertia));
        }
    }
    for (name, vector) in [("force", &body.force), ("torque", &body.torque)] {
        if *vector != [0.0; 3] {
            field(text, name, &list(vector));
        }
    }
    if let Some([linear, quadratic]) = body.drag {
        let (linear, quadratic) = (number(linear), number(quadratic));
        field(text, "drag", &format!("{{ linear = {linear}, quadratic = {quadratic} }}"));
    }
    for collider in &body.colliders {
        text.push_str("[[body.shape]]\n");
        shape::write(text, collider, &collider.name, directory);
    }
    for seen in &body.visuals {
        visual::write(text, "[[body.visual]]\n", seen, directory);
    }
}

fn write_actuator(text: &mut String, actuator: &ActuatorDescription, name: &str, names: &Names) {
    text.push_str("\n[[actuator]]\n");
    field(text, "name", &string(name));
    match &actuator.drives {
        Driven::Joint(joint) => field(text, "joint", &string(&names.body(joint))),
        Driven::Tendon(tendon) => field(text, "tendon", &string(names.tendon(tendon))),
    }
    field(text, "type", &string(actuator.kind.name()));
    if actuator.gear != 1.0 {
        field(text, "gear", &number(actuator.gear));
    }
    let affine = actuator.kind == ActuatorKind::Affine;
    if affine || actuator.kind == ActuatorKind::Position {
        field(text, "kp", &number(actuator.kp));
    }
    if actuator.kind != ActuatorKind::Motor {
        field(text, "kd", &number(actuator.kd));
    }
    if affine {
        field(text, "gain", &number(actuator.gain));
        field(text, "bias", &number(actuator.bias));
        for (name, gain) in ["gain_length", "gain_velocity"].into_iter().zip(actuator.gain_by) {
            if gain != 0.0 {
                field(text, name, &number(gain));
            }
        }
    }
    for (name, range) in
        [("control_range", actuator.control_range), ("force_range", actuator.force_range)]
    {
        if let Some(range) = range {
            field(text, name, &list(&range));
        }
    }
    if actuator.control != 0.0 {
        field(text, "control", &number(actuator.control));
    }
}

fn write_equality(text: &mut String, equality: &EqualityDescription, name: &str, names: &Names) {
    text.push_str("\n[[equality]]\n");
    field(text, "name", &string(name));
    field(text, "type", &string(equality.kind.name()));
    if let Some(stiffness) = equality.stiffness {
        field(text, "stiffness", &number(stiffness));
        field(text, "damping", &number(equality.damping));
    }
    if equality.kind == EqualityKind::Joint {
        let joints = equality.joints.each_ref().map(|joint| string(&names.body(joint)));
        field(text, "joints", &format!("[{}]", joints.join(", ")));
        field(text, "offset", &number(equality.offset));
        field(text, "ratio", &number(equality.ratio));
        return;
    }
    let bodies = equality.bodies.each_ref().map(|body| match body {
        Some(body) => string(&names.body(body)),
        None => string("world"),
    });
    field(text, "bodies", &format!("[{}]", bodies.join(", ")));
    let anchors = equality.anchors.each_ref().map(|anchor| list(anchor));
    field(text, "anchors", &format!("[{}]", anchors.join(", ")));
    match equality.kind {
        EqualityKind::Weld => field(text, "orientation", &list(&equality.orientation)),
        EqualityKind::Hinge => {
            field(text, "axis", &list(&equality.axis));
            field(text, "orientation", &list(&equality.orientation));
        }
        EqualityKind::Distance => field(text, "distance", &number(equality.distance)),
        EqualityKind::Connect | EqualityKind::Joint => {}
    }
}
