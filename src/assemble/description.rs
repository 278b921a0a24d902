//! A scene as files describe it: plain numbers, things that refer to each other by name. TOML scenes, URDF
//! and MJCF are read into it; [`Description::scene`] checks it and makes a [`Scene`](crate::model::Scene).

use std::sync::Arc;

use crate::Error;
use crate::model::{
    ActuatorKind, CameraNumbers, Color, EqualityKind, Filter, JointKind, Keyframe, LearnedKind,
    Lighting, Settings, Shape, SurfaceNumbers, Triangulation, Visual,
};
use crate::network::Activation;

/// A scene as a file describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// The file, for messages.
    pub name: String,
    /// Acceleration of gravity, m/s².
    pub gravity: [f64; 3],
    /// How it is simulated.
    pub settings: Settings,
    /// Grounds and walls.
    pub half_spaces: Vec<HalfSpaceDescription>,
    /// Shapes fixed to the world.
    pub colliders: Vec<ColliderDescription>,
    /// What is seen of the world beside them.
    pub visuals: Vec<Visual>,
    /// The bodies, in any order.
    pub bodies: Vec<BodyDescription>,
    /// What surfaces are made of, by name.
    pub materials: Vec<NamedMaterial>,
    /// Pairs that have a material of their own, or pass through each other.
    pub contacts: Vec<ContactDescription>,
    /// The material of pairs about which nothing else is said.
    pub default_contact: Option<Material>,
    /// Whether pairs about which nothing else is said pass through each other.
    pub passes: bool,
    /// Names of bodies that never touch each other.
    pub excluded: Vec<[String; 2]>,
    /// Whether a body may touch the one it hangs on by a joint.
    pub touch_parents: bool,
    /// Whether inertias that no solid has are errors, and not warnings.
    pub strict: bool,
    /// Whether shapes that start too deep in something are pushed apart, with all that is in their way.
    pub push_overlaps: bool,
    /// The motors.
    pub actuators: Vec<ActuatorDescription>,
    /// Closed loops.
    pub equalities: Vec<EqualityDescription>,
    /// Known forces that act for a while.
    pub pushes: Vec<PushDescription>,
    /// Springs, cables and tendons.
    pub tendons: Vec<TendonDescription>,
    /// What looks at it.
    pub cameras: Vec<CameraDescription>,
    /// By what it is seen in colour, if that is said.
    pub light: Option<Lighting>,
    /// Terms that are learned.
    pub learned: Vec<LearnedDescription>,
    /// States by name.
    pub keyframes: Vec<Keyframe>,
    /// What was not understood, with the place it stands at.
    pub warnings: Vec<Error>,
}

/// A fixed half-space.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfSpaceDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name.
    pub name: String,
    /// Normal out of the ground, world frame, of any length.
    pub normal: [f64; 3],
    /// Distance of the surface from the origin of the world along the unit normal, m.
    pub offset: f64,
    /// Numbers of its own surface.
    pub material: Option<Material>,
    /// The name of what it is made of, instead.
    pub made_of: Option<String>,
    /// What it touches.
    pub filter: Filter,
}

/// A body with its joint and its shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name.
    pub name: String,
    /// The body it hangs on; nothing is the world.
    pub parent: Option<String>,
    /// How it moves against that.
    pub joint: JointDescription,
    /// Mass, kg; 0 where something with mass hangs on it.
    pub mass: f64,
    /// Centre of mass in the body, m.
    pub center_of_mass: [f64; 3],
    /// xx, yy, zz, xy, xz, yz about the centre of mass, along the body axes, kg m².
    pub inertia: [f64; 6],
    /// Its shapes.
    pub colliders: Vec<ColliderDescription>,
    /// What is seen of it beside them.
    pub visuals: Vec<Visual>,
    /// Constant force at the origin of a free body, in the world, N.
    pub force: [f64; 3],
    /// Constant torque on a free body, in its frame, N m.
    pub torque: [f64; 3],
    /// Its linear (N s/m) and quadratic (N s²/m²) drag, see [`Drag`](crate::model::Drag).
    pub drag: Option<[f64; 2]>,
}

impl BodyDescription {
    /// What pairs call one of its shapes, behind a name of the body.
    pub(crate) fn shape_name(&self, body: &str, index: usize) -> String {
        match (self.colliders.len(), self.colliders[index].name.as_str()) {
            (1, "") => body.to_string(),
            (_, "") => format!("{body}/{index}"),
            (_, own) => format!("{body}/{own}"),
        }
    }
}

/// A joint.
#[derive(Clone, Debug, PartialEq)]
pub struct JointDescription {
    /// Its kind.
    pub kind: JointKind,
    /// Its name; empty if it has none. Actuators and equalities refer to it by this, or by the
    /// name of the body.
    pub name: String,
    /// The axis in the body, of any length.
    pub axis: [f64; 3],
    /// Position of the body in its parent at q = 0, m; of a free body in the world at the start.
    pub position: [f64; 3],
    /// Quaternion w, x, y, z of the body in its parent at q = 0; of a free body in the world at the start.
    pub orientation: [f64; 4],
    /// A point on the axis, in the body, m.
    pub anchor: [f64; 3],
    /// Lower and upper limit, rad or m.
    pub limits: Option<[f64; 2]>,
    /// Inertia of the drive, kg m² or kg.
    pub armature: f64,
    /// Viscous friction, N m s/rad or N s/m.
    pub damping: f64,
    /// Dry friction, N m or N.
    pub friction: f64,
    /// Stiffness of the spring, N m/rad or N/m.
    pub stiffness: f64,
    /// Where the spring is at rest, rad or m.
    pub rest: f64,
    /// The largest force or torque that a drive can have, as a file states it that has no drives; 0 if it does not. N m or N.
    pub effort: f64,
    /// What drives it, as a file states it that has no drives.
    pub drive: Option<StatedDrive>,
    /// The largest speed that it is made for, see [`Joint::max_speed`](crate::model::Joint::max_speed).
    pub max_speed: Option<f64>,
    /// Whether no drive can be at it: one of several that a file has as one joint, which floats or slides in a plane.
    pub passive: bool,
    /// Whether its velocity is given, see [`Joint::prescribed`](crate::model::Joint::prescribed): that of the start where nothing says
    /// otherwise. Mass, inertia and what acts on the body then mean nothing.
    pub prescribed: bool,
    /// Configuration at the start; empty is 0, and of a free joint `position` and `orientation`.
    pub q: Vec<f64>,
    /// Velocity at the start; empty is 0.
    pub v: Vec<f64>,
}

impl JointDescription {
    /// A joint of a kind, at the origin of its parent, with nothing special about it.
    pub fn new(kind: JointKind) -> JointDescription {
        JointDescription {
            kind,
            name: String::new(),
            axis: [0.0, 0.0, 1.0],
            position: [0.0; 3],
            orientation: [1.0, 0.0, 0.0, 0.0],
            anchor: [0.0; 3],
            limits: None,
            armature: 0.0,
            damping: 0.0,
            friction: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            effort: 0.0,
            drive: None,
            max_speed: None,
            passive: false,
            prescribed: false,
            q: Vec::new(),
            v: Vec::new(),
        }
    }

    /// Whether it has numbers beside its kind.
    pub(super) fn has_numbers(&self) -> bool {
        let numbers = [self.armature, self.damping, self.friction, self.stiffness];
        numbers.iter().any(|&x| x != 0.0) || self.limits.is_some()
    }
}

/// A drive of a joint that a file states without a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StatedDrive {
    /// What it is told: a force, a position or a velocity.
    pub kind: ActuatorKind,
    /// The least and the largest of that.
    pub range: Option<[f64; 2]>,
}

/// A shape of a body, or of the world.
#[derive(Clone, Debug, PartialEq)]
pub struct ColliderDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name within the body; empty if it is the only one.
    pub name: String,
    /// Its form.
    pub shape: Shape,
    /// Its sizes, see [`Shape`], m.
    pub size: [f64; 3],
    /// The radius of its edges and corners, of a box or a polyhedron that has round ones, m.
    pub radius: Option<f64>,
    /// How far from its surface it touches, see [`Collider::margin`](crate::model::Collider::margin), m.
    pub margin: f64,
    /// Its centre in the body, m.
    pub position: [f64; 3],
    /// Quaternion w, x, y, z of the shape in the body.
    pub orientation: [f64; 4],
    /// Numbers of its own surface.
    pub material: Option<Material>,
    /// How it rubs on and rebounds from a ground that is added ([`Description::equip`]), as a file states it that has none.
    pub on_ground: OnGround,
    /// The name of what it is made of, instead.
    pub made_of: Option<String>,
    /// What it touches.
    pub filter: Filter,
    /// The file its mesh came from.
    pub mesh: Option<String>,
    /// What it looks like, see [`Collider::visual`](crate::model::Collider::visual).
    pub visual: Option<Arc<Triangulation>>,
    /// Its colour, see [`Collider::color`](crate::model::Collider::color).
    pub color: Option<Color>,
    /// Whether it is seen beside visuals, see [`Collider::drawn`](crate::model::Collider::drawn).
    pub drawn: bool,
    /// Of a mesh, how many vertices of its hull collide at most, 4 or more; 0 for all. Nothing for what is no mesh. What
    /// reads files reduces `shape` to it; a description made otherwise is taken as it is.
    pub max_hull_vertices: Option<usize>,
    /// Whether the file says that itself, so that nobody is told of it.
    pub states_hull_limit: bool,
}

/// What a file that has no ground states of how a shape touches one; nothing of what it does not state.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnGround {
    /// Coefficient of friction.
    pub mu: Option<f64>,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: Option<f64>,
    /// Couple about the normal, of each of the normal force, m.
    pub spinning: Option<f64>,
    /// Couple about the tangents, of each of the normal force, m.
    pub rolling: Option<f64>,
}

/// How a surface rubs and rebounds. Of two that touch, the larger numbers count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Material {
    /// Coefficient of friction.
    pub mu: f64,
    /// Coefficient of friction at rest, if it is another.
    pub mu_static: Option<f64>,
    /// Coefficient of restitution, 0 to 1.
    pub restitution: f64,
    /// The numbers of its [terms](crate::model::SurfaceTerm) beyond these.
    pub terms: SurfaceNumbers,
}

impl Material {
    /// What two surfaces do together.
    pub(super) fn with(self, other: Material) -> Material {
        let mu_static = match (self.mu_static, other.mu_static) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(self.mu).max(b.unwrap_or(other.mu))),
        };
        Material {
            mu: self.mu.max(other.mu),
            mu_static,
            restitution: self.restitution.max(other.restitution),
            terms: self.terms.with(other.terms),
        }
    }
}

/// A material whose numbers all surfaces share that are made of it.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedMaterial {
    /// Its name.
    pub name: String,
    /// Its numbers.
    pub material: Material,
}

/// What is special about a pair.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// The names of both, joined by `-`, in either order.
    pub pair: String,
    /// How they touch; nothing if they pass through each other.
    pub material: Option<Material>,
    /// The direction of friction, of a material with [`MuAcross`](crate::model::SurfaceTerm::MuAcross).
    pub grain: Option<GrainDescription>,
}

/// The direction along which friction is `mu`, see [`Grain`](crate::model::Grain).
#[derive(Clone, Debug, PartialEq)]
pub struct GrainDescription {
    /// The one of the two solids of the pair that it is fixed to; if this is empty the half-space, or the one that comes first
    /// in the scene.
    pub of: String,
    /// In the frame of its body, or of the world; of any length.
    pub axis: [f64; 3],
}

/// What a motor drives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Driven {
    /// A joint, by its name or that of its body.
    Joint(String),
    /// A tendon.
    Tendon(String),
}

/// A spring, a cable, or a tendon of joints.
#[derive(Clone, Debug, PartialEq)]
pub struct TendonDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name.
    pub name: String,
    /// What its length is.
    pub path: TendonPathDescription,
    /// N/m, or N m/rad.
    pub stiffness: f64,
    /// N s/m, or N m s/rad.
    pub damping: f64,
    /// The length at rest, m or rad; nothing is as long as it is at the start.
    pub rest: Option<f64>,
    /// How much longer it may be without a pull, m or rad.
    pub slack: f64,
    /// Whether spring and damper only pull.
    pub pulls_only: bool,
    /// Least and largest length, m or rad.
    pub range: Option<[f64; 2]>,
    /// Dry friction, N or N m.
    pub friction: f64,
}

/// What the length of a tendon is.
#[derive(Clone, Debug, PartialEq)]
pub enum TendonPathDescription {
    /// A sum of coordinates of joints, by their names or those of their bodies, each times a coefficient.
    Joints(Vec<(String, f64)>),
    /// That of the line through points, each of a body (nothing is the world), in its frame, m.
    Points(Vec<(Option<String>, [f64; 3])>),
}

/// A motor.
#[derive(Clone, Debug, PartialEq)]
pub struct ActuatorDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name.
    pub name: String,
    /// What it drives.
    pub drives: Driven,
    /// What its control means.
    pub kind: ActuatorKind,
    /// Force of the joint per force of the actuator.
    pub gear: f64,
    /// Gain in positions.
    pub kp: f64,
    /// Gain in velocities.
    pub kd: f64,
    /// Of an affine force, per control.
    pub gain: f64,
    /// Of an affine force, without control.
    pub bias: f64,
    /// What length and velocity add to the gain of an affine force.
    pub gain_by: [f64; 2],
    /// Least and largest control.
    pub control_range: Option<[f64; 2]>,
    /// Least and largest force.
    pub force_range: Option<[f64; 2]>,
    /// Its control at the start.
    pub control: f64,
}

/// A closed loop, or a joint that follows another.
#[derive(Clone, Debug, PartialEq)]
pub struct EqualityDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name.
    pub name: String,
    /// What it demands.
    pub kind: EqualityKind,
    /// The bodies; nothing is the world. Not of joints.
    pub bodies: [Option<String>; 2],
    /// A point of each body, in its frame, m.
    pub anchors: [[f64; 3]; 2],
    /// Of a weld, and of a hinge at some angle: quaternion w, x, y, z of the second body in the first.
    pub orientation: [f64; 4],
    /// Of a hinge: its axis, in the first body.
    pub axis: [f64; 3],
    /// Distance of the points, m.
    pub distance: f64,
    /// q1 = offset + ratio q2: the joints, by their names or those of their bodies.
    pub joints: [String; 2],
    /// See `joints`.
    pub offset: f64,
    /// See `joints`.
    pub ratio: f64,
    /// How stiff it is, N/m and N m/rad; without, it is met exactly.
    pub stiffness: Option<f64>,
    /// Its damping, N s/m and N m s/rad, if it has a stiffness.
    pub damping: f64,
}

/// A known force that acts for a while: see [`Push`](crate::model::Push).
#[derive(Clone, Debug, PartialEq)]
pub struct PushDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name.
    pub name: String,
    /// The body it acts on.
    pub body: String,
    /// Where, in the body, m.
    pub point: [f64; 3],
    /// The force, in the world, N.
    pub force: [f64; 3],
    /// When it begins and ends, s after the start.
    pub time: [f64; 2],
}

/// A camera: see [`Camera`](crate::model::Camera).
#[derive(Clone, Debug, PartialEq)]
pub struct CameraDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name.
    pub name: String,
    /// The body it is fixed to; nothing is the world.
    pub body: Option<String>,
    /// Width and height of its images, px.
    pub size: [usize; 2],
    /// Where it is and how it draws.
    pub numbers: CameraNumbers<f64>,
}

/// A term that is learned: see [`LearnedTerm`](crate::model::LearnedTerm).
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedDescription {
    /// The line it stands in.
    pub line: Option<usize>,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: LearnedKind,
    /// What it is a function of: numbers of the state, or of friction coordinates on a surface.
    pub of: Vec<String>,
    /// What it acts on: forces along velocities, or a contact pair.
    pub on: Vec<String>,
    /// How many numbers each hidden layer has.
    pub layers: Vec<usize>,
    /// Between layers.
    pub activation: Activation,
    /// What an output of 1 stands for.
    pub amplitude: f64,
    /// Least and largest of each of `of` where it was learned; empty if that is not known.
    pub range: Vec<[f64; 2]>,
    /// Its weights; without any it does nothing.
    pub weights: Option<Vec<f64>>,
    /// The sizes of the layers of the archive they are from, from inputs to outputs.
    pub archived: Option<Vec<usize>>,
    /// The archive that holds them, where they are not to be written into the scene file itself.
    pub archive: Option<String>,
}

impl Description {
    /// A scene with nothing in it.
    pub fn new(name: impl Into<String>, settings: Settings) -> Description {
        Description {
            name: name.into(),
            gravity: [0.0, 0.0, -9.81],
            settings,
            half_spaces: Vec::new(),
            colliders: Vec::new(),
            bodies: Vec::new(),
            materials: Vec::new(),
            contacts: Vec::new(),
            default_contact: None,
            passes: false,
            excluded: Vec::new(),
            touch_parents: false,
            strict: false,
            push_overlaps: false,
            actuators: Vec::new(),
            equalities: Vec::new(),
            pushes: Vec::new(),
            tendons: Vec::new(),
            cameras: Vec::new(),
            light: None,
            learned: Vec::new(),
            visuals: Vec::new(),
            keyframes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
