//! Parameters by name.

use std::collections::HashMap;

use super::slots::{
    ANCHOR, ANCHORS, ARMATURE, CENTER_OF_MASS, CONTROL_RANGE, DAMPING, DISTANCE, FORCE_RANGE,
    FRICTION, GAIN, GAIN_BY, GEAR, HALF_SPACE, HOLD_STIFFNESS, INERTIA, KD, KP, LOWER, MASS, MU,
    MU_STATIC, OFFSET, PLACE, POSITION, RATIO, REST, RESTITUTION, SIZE, STIFFNESS, TILT, UPPER,
};
use super::{
    ActuatorKind, Body, Collider, EqualityKind, JointKind, Model, SurfaceTerm, SurfaceTerms,
    Tendon, TendonPath,
};
use crate::state::Coordinates;

/// The slots of [`Parameters::values`](super::Parameters) that a name stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterRef {
    /// One slot, or several that are tied to one number.
    pub slots: Vec<usize>,
}

/// The values that make physical sense, by the last word of a name; also the default bounds.
pub fn domain(name: &str) -> (f64, f64) {
    let path: Vec<&str> = name.split('/').collect();
    match path.as_slice() {
        [.., "mass" | "density" | "radius" | "half_length" | "half_extents"]
        | [.., "half_extents", _] => (1e-9, f64::INFINITY),
        ["contact", "relative_compliance"] => (1e-9, f64::INFINITY),
        [.., "inertia"] | [.., "inertia", "xx" | "yy" | "zz"] => (1e-12, f64::INFINITY),
        [.., "mu" | "mu_static" | "armature" | "damping" | "friction" | "stiffness" | "slack"] => {
            (0.0, f64::INFINITY)
        }
        [.., "drag", "linear" | "quadratic"] => (0.0, f64::INFINITY),
        [.., "restitution"] => (0.0, 1.0),
        [_, field]
            if let Some(term) = SurfaceTerm::ALL.iter().find(|term| term.name() == *field) =>
        {
            (if term.is_positive() { 1e-9 } else { 0.0 }, f64::INFINITY)
        }
        [_, "fov_y"] => (1e-9, std::f64::consts::PI),
        [_, "aspect"] => (1e-9, f64::INFINITY),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    }
}

const XYZ: [&str; 3] = ["x", "y", "z"];
const RANGE: [&str; 2] = ["lower", "upper"];

impl Model {
    /// The names of single parameters, in the order of their slots: `gravity/z`, `cube/mass`,
    /// `cube/center_of_mass/x`, `cube/inertia/xx`, `cube/half_extents/x`, `ball/radius`, `link/damping`,
    /// `floor-cube/mu`, `floor-cube/restitution`, `floor-cube/mu_static` of a pair with two regimes, and its
    /// [terms](SurfaceTerm), `floor-cube/stribeck_speed`.
    /// Of materials `steel/mu`. Where colliders are so many that not every two are a pair with numbers of its own, those of
    /// surfaces: `cube/mu`, and `contact/mu` of all that have none of their own. Then `floor/offset` and `floor/tilt/x` of
    /// half-spaces, and `contact/relative_compliance`, in units of [`Settings::compliance`](super::Settings::compliance);
    /// `shove/point/x` and `shove/force/x` of pushes; `cable/stiffness`, `cable/point0/x` and `tendon/coefficient/knee` of tendons; `cube/drag/linear`; `front/eye/x` and `front/fov_y` of cameras. Last the weights of learned terms, `cam/weights/0`. Unused slots have none.
    pub fn parameter_names(&self) -> Vec<String> {
        self.named_slots().into_iter().map(|(name, _)| name).collect()
    }

    /// The slots of a parameter. Two more names tie three numbers to one: `cube/inertia` (xx = yy =
    /// zz) and `cube/half_extents` (x = y = z).
    pub fn parameter(&self, name: &str) -> Option<ParameterRef> {
        let single = |name: &str| self.named_slots().into_iter().find(|(other, _)| other == name);
        self.find_parameter(name, |name| single(name).map(|(_, slot)| slot))
    }

    /// The same, where `single` finds the slot of a single name.
    fn find_parameter(
        &self,
        name: &str,
        single: impl Fn(&str) -> Option<usize>,
    ) -> Option<ParameterRef> {
        let (owner, field) = name.rsplit_once('/')?;
        let first = match field {
            "inertia" => self
                .bodies
                .iter()
                .position(|body| body.name == owner)
                .map(|body| self.slots.bodies[body] + INERTIA),
            "half_extents" => self
                .colliders
                .iter()
                .position(|collider| collider.name == owner && has_half_extents(collider))
                .map(|collider| self.slots.colliders[collider]),
            _ => None,
        };
        let slots = match first {
            Some(first) => vec![first, first + 1, first + 2],
            None => vec![single(name)?],
        };
        Some(ParameterRef { slots })
    }

    /// What finds parameters as [`parameter`](Self::parameter) does, many of them: names are made once.
    pub(crate) fn parameter_finder(&self) -> impl Fn(&str) -> Option<ParameterRef> + '_ {
        let mut slots = HashMap::new();
        for (name, slot) in self.named_slots() {
            slots.entry(name).or_insert(slot);
        }
        move |name| self.find_parameter(name, |name| slots.get(name).copied())
    }

    /// Every single name with its slot, in the order of the slots.
    pub(crate) fn named_slots(&self) -> Vec<(String, usize)> {
        let mut names = self.scene_slots();
        for (index, term) in self.learned.iter().enumerate() {
            let slots = self.weight_slots(index).enumerate();
            names.extend(slots.map(|(k, slot)| (format!("{}/weights/{k}", term.name), slot)));
        }
        names.sort_by_key(|&(_, slot)| slot);
        names
    }

    /// The same but for gravity, the geometry of shapes and half-spaces, and cameras: what is of the motion of bodies and of how they touch.
    pub(crate) fn motion_slots(&self) -> Vec<(String, usize)> {
        let mut others = self.gravity_slots().collect::<Vec<_>>();
        for (index, collider) in self.colliders.iter().enumerate() {
            let first = self.slots.colliders[index];
            others.extend(first..first + SIZE + if collider.placed { PLACE } else { 0 });
            others.extend(self.rounding_slot(index));
        }
        for index in 0..self.half_spaces.len() {
            let first = self.slots.half_space(index);
            others.extend(first..first + HALF_SPACE);
        }
        for index in 0..self.cameras.len() {
            others.extend(self.camera_slots(index));
        }
        others.sort_unstable();
        let mut names = self.named_slots();
        names.retain(|(_, slot)| others.binary_search(slot).is_err());
        names
    }

    /// The same but for weights.
    fn scene_slots(&self) -> Vec<(String, usize)> {
        let mut names = Names(Vec::new());
        names.add("gravity", &XYZ, 0);
        for index in 0..self.bodies.len() {
            self.name_body(index, &mut names);
        }
        for collider in self.colliders_of(None) {
            self.name_collider(collider, &mut names);
        }
        for (index, pair) in self.pairs.iter().enumerate() {
            if pair.surfaces.is_some() {
                continue;
            }
            let first = self.slots.pair(index);
            names.add_surface(&pair.name, first, pair.two_regimes);
        }
        let surfaces = self.shared.iter().flat_map(|shared| &shared.surfaces);
        for (index, surface) in surfaces.enumerate() {
            let first = self.slots.surface(index);
            names.add_surface(&surface.name, first, surface.two_regimes);
        }
        for (index, actuator) in self.actuators.iter().enumerate() {
            let (name, first) = (&actuator.name, self.slots.actuator(index));
            names.add(name, &["gear"], first + GEAR);
            if matches!(actuator.kind, ActuatorKind::Position | ActuatorKind::Affine) {
                names.add(name, &["kp"], first + KP);
            }
            if actuator.kind != ActuatorKind::Motor {
                names.add(name, &["kd"], first + KD);
            }
            if actuator.kind == ActuatorKind::Affine {
                names.add(name, &["gain", "bias"], first + GAIN);
            }
            if actuator.gain_varies {
                names.add(name, &["gain_length", "gain_velocity"], first + GAIN_BY);
            }
            if actuator.limits_control {
                names.add(&format!("{name}/control"), &RANGE, first + CONTROL_RANGE);
            }
            if actuator.limits_force {
                names.add(&format!("{name}/force"), &RANGE, first + FORCE_RANGE);
            }
        }
        for (index, equality) in self.equalities.iter().enumerate() {
            let (name, first) = (&equality.name, self.slots.equality(index));
            if equality.kind != EqualityKind::Joint {
                names.add(&format!("{name}/first"), &XYZ, first + ANCHORS);
                names.add(&format!("{name}/second"), &XYZ, first + ANCHORS + 3);
            }
            match equality.kind {
                EqualityKind::Connect | EqualityKind::Weld | EqualityKind::Hinge => {}
                EqualityKind::Distance => names.add(name, &["distance"], first + OFFSET),
                EqualityKind::Joint => {
                    names.add(name, &["offset"], first + OFFSET);
                    names.add(name, &["ratio"], first + RATIO);
                }
            }
            if equality.yields {
                names.add(name, &["stiffness", "damping"], first + HOLD_STIFFNESS);
            }
        }
        for (index, half_space) in self.half_spaces.iter().enumerate() {
            let (name, first) = (&half_space.name, self.slots.half_space(index));
            names.add(name, &["offset"], first + DISTANCE);
            names.add(&format!("{name}/tilt"), &XYZ[..2], first + TILT);
        }
        if self.has_contacts() {
            names.add("contact", &["relative_compliance"], self.slots.compliance);
        }
        for (index, push) in self.pushes.iter().enumerate() {
            let (name, first) = (&push.name, self.push_slot(index));
            names.add(&format!("{name}/point"), &XYZ, first);
            names.add(&format!("{name}/force"), &XYZ, first + 3);
        }
        for (index, Tendon { name, path, limited, held, has_conditions, .. }) in
            self.tendons.iter().enumerate()
        {
            let slots = self.tendon_slots(index);
            names.add(name, &["stiffness", "damping", "rest", "slack"], slots.stiffness);
            if *limited {
                // A length that is held is one number.
                names.add(name, if *held { &RANGE[..1] } else { &RANGE }, slots.lower);
            }
            if *has_conditions {
                names.add(name, &["friction"], slots.friction);
            }
            match path {
                TendonPath::Joints(bodies) => {
                    let own = bodies.iter().map(|&body| &self.bodies[body].name[..]);
                    names.add(&format!("{name}/coefficient"), &own.collect::<Vec<_>>(), slots.path);
                }
                TendonPath::Points(bodies) => {
                    for k in 0..bodies.len() {
                        names.add(&format!("{name}/point{k}"), &XYZ, slots.path + 3 * k);
                    }
                }
            }
        }
        for (index, camera) in self.cameras.iter().enumerate() {
            let (name, first) = (&camera.name, self.camera_slots(index).start);
            for (k, field) in ["eye", "target", "up"].into_iter().enumerate() {
                names.add(&format!("{name}/{field}"), &XYZ, first + 3 * k);
            }
            names.add(name, &["fov_y", "aspect"], first + 9);
            names.add(&format!("{name}/center"), &XYZ[..2], first + 11);
        }
        for (index, pair) in self.pairs.iter().enumerate() {
            if pair.surfaces.is_none() {
                names.add_terms(&pair.name, self.slots.pair_terms[index], pair.terms);
            }
        }
        let surfaces = self.shared.iter().flat_map(|shared| &shared.surfaces);
        for (index, surface) in surfaces.enumerate() {
            names.add_terms(&surface.name, self.slots.surface_terms[index], surface.terms);
        }
        for (index, drag) in self.drags.iter().enumerate() {
            let name = format!("{}/drag", self.bodies[drag.body].name);
            names.add(&name, &["linear", "quadratic"], self.drag_slot(index));
        }
        for (index, collider) in self.colliders.iter().enumerate() {
            if let Some(slot) = self.rounding_slot(index) {
                names.add(&collider.name, &["radius"], slot);
            }
        }
        names.0
    }

    /// [`parameter_names`](Self::parameter_names) for messages: the weights of a learned term under one name.
    pub(crate) fn told_parameter_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.scene_slots().into_iter().map(|(name, _)| name).collect();
        names.extend(self.learned.iter().map(|term| format!("{}/weights", term.name)));
        names
    }

    /// Names of numbers of the state, `body/field` joint by joint. `pose`: the fields of a free joint;
    /// `rotation`: of a ball joint; `number`: of one with one coordinate.
    pub fn coordinate_names(&self, pose: &[&str], rotation: &[&str], number: &str) -> Vec<String> {
        let mut names = Vec::new();
        for Body { name, joint, .. } in &self.bodies {
            let fields = match joint.kind.coordinates() {
                None => continue,
                Some(Coordinates::Pose) => pose,
                Some(Coordinates::Rotation) => rotation,
                Some(Coordinates::Number) => &[number],
            };
            names.extend(fields.iter().map(|field| format!("{name}/{field}")));
        }
        names
    }

    /// Names of the numbers of [`State::q`](crate::state::State::q): `cube/px`, `link/q`.
    pub fn configuration_names(&self) -> Vec<String> {
        const POSE: [&str; 7] = ["px", "py", "pz", "qw", "qx", "qy", "qz"];
        self.coordinate_names(&POSE, &POSE[3..], "q")
    }

    /// Names of the numbers of [`State::v`](crate::state::State::v): `cube/vx`, `link/v`.
    pub fn velocity_names(&self) -> Vec<String> {
        const POSE: [&str; 6] = ["vx", "vy", "vz", "wx", "wy", "wz"];
        self.coordinate_names(&POSE, &POSE[3..], "v")
    }

    /// Names of the inputs of a step: forces such as `cube/fx` and `link/f`, prescribed velocities, `hand/set_vx`, then controls,
    /// `motor/u`, and how much of pushes acts, `shove/u`.
    pub fn input_names(&self) -> Vec<String> {
        const POSE: [&str; 6] = ["fx", "fy", "fz", "tx", "ty", "tz"];
        const SET: [&str; 6] = ["set_vx", "set_vy", "set_vz", "set_wx", "set_wy", "set_wz"];
        let mut names = self.coordinate_names(&POSE, &POSE[3..], "f");
        for Body { name, joint, .. } in self.bodies.iter().filter(|body| body.joint.prescribed) {
            for (k, set) in SET.iter().enumerate() {
                names[joint.v + k] = format!("{name}/{set}");
            }
        }
        names.extend(self.actuators.iter().map(|actuator| format!("{}/u", actuator.name)));
        names.extend(self.pushes.iter().map(|push| format!("{}/u", push.name)));
        names
    }

    fn name_body(&self, index: usize, names: &mut Names) {
        let body = &self.bodies[index];
        let (name, first) = (&body.name, self.slots.bodies[index]);
        // What is prescribed moves as it does whatever its mass.
        if !body.joint.prescribed {
            names.add(name, &["mass"], first + MASS);
            names.add(&format!("{name}/center_of_mass"), &XYZ, first + CENTER_OF_MASS);
            let components = ["xx", "yy", "zz", "xy", "xz", "yz"];
            names.add(&format!("{name}/inertia"), &components, first + INERTIA);
        }
        if let Some(first) = self.slots.joints[index] {
            if body.joint.kind != JointKind::Free {
                names.add(&format!("{name}/position"), &XYZ, first + POSITION);
            }
            if body.joint.kind.turns() {
                names.add(&format!("{name}/anchor"), &XYZ, first + ANCHOR);
            }
            if body.joint.kind != JointKind::Fixed {
                names.add(name, &["armature"], first + ARMATURE);
                names.add(name, &["damping"], first + DAMPING);
                names.add(name, &["friction"], first + FRICTION);
            }
            if body.joint.kind.has_axis() {
                names.add(name, &["stiffness"], first + STIFFNESS);
                names.add(name, &["rest"], first + REST);
            }
            if body.joint.limited {
                names.add(name, &["lower"], first + LOWER);
                names.add(name, &["upper"], first + UPPER);
            }
        }
        for collider in self.colliders_of(Some(index)) {
            self.name_collider(collider, names);
        }
    }

    fn name_collider(&self, index: usize, names: &mut Names) {
        let collider = &self.colliders[index];
        let (name, first) = (&collider.name, self.slots.colliders[index]);
        names.add(name, collider.shape.size_names(), first);
        if collider.placed {
            let owner = match collider.body {
                Some(body) if self.bodies[body].name == *name => format!("{name}/shape"),
                _ => name.clone(),
            };
            names.add(&format!("{owner}/position"), &XYZ, first + SIZE);
        }
    }
}

fn has_half_extents(collider: &Collider) -> bool {
    collider.shape.size_names().iter().all(|name| name.starts_with("half_extents/"))
}

struct Names(Vec<(String, usize)>);

impl Names {
    fn add(&mut self, owner: &str, fields: &[&str], first: usize) {
        let named = fields.iter().enumerate();
        self.0.extend(named.map(|(k, field)| (format!("{owner}/{field}"), first + k)));
    }

    fn add_surface(&mut self, owner: &str, first: usize, two_regimes: bool) {
        self.add(owner, &["mu"], first + MU);
        self.add(owner, &["restitution"], first + RESTITUTION);
        if two_regimes {
            self.add(owner, &["mu_static"], first + MU_STATIC);
        }
    }

    fn add_terms(&mut self, owner: &str, first: usize, terms: SurfaceTerms) {
        for (place, term) in terms.iter().enumerate() {
            self.add(owner, &[term.name()], first + place);
        }
    }
}
