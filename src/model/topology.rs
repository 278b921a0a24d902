//! What does not change during a rollout: which bodies there are, how they hang together, and what
//! touches what.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::Vector3;

use super::shared_contacts::SharedContacts;
use super::slots::{
    ACTUATOR, ANCHOR, ANCHORS, ARMATURE, BIAS, CAMERA, CONTROL_RANGE, DAMPING, DRAG, FORCE_RANGE,
    FRICTION, GAIN, GAIN_BY, GEAR, HOLD_STIFFNESS, KD, KP, LONGEST, LOWER, MU, MU_STATIC, OFFSET,
    POSITION, PUSH, RATIO, REST, RESTITUTION, SHORTEST, SLACK, STIFFNESS, Slots, TENDON,
    TENDON_DAMPING, TENDON_FRICTION, TENDON_REST, TENDON_STIFFNESS, UPPER,
};
use super::{
    Actuator, Camera, Color, Drag, Equality, Grain, Joint, LearnedTerm, Lighting, Push, Shape,
    SurfaceTerm, SurfaceTerms, Tendon, TendonPath, TendonSlots, Transmission, Triangulation,
    Visual,
};
use crate::ad::Real;
use crate::state::Coordinates;

/// Names and topology of a scene. All names differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The bodies, parents before children; the index is the id of a body.
    pub bodies: Vec<Body>,
    /// The shapes by which bodies, and the world, touch each other: first those of the world, then in the
    /// order of the bodies.
    pub colliders: Vec<Collider>,
    /// The fixed grounds and walls.
    pub half_spaces: Vec<HalfSpace>,
    /// What can touch with numbers of its own, in the order of (`first`, `second`). In scenes of many colliders there
    /// are others: see [`Model::pair`].
    pub pairs: Vec<Pair>,
    /// How other colliders touch, if they do.
    pub(crate) shared: Option<SharedContacts>,
    /// The moving bodies that hang together by joints, in the order of their first bodies.
    pub trees: Vec<Tree>,
    /// The motors.
    pub actuators: Vec<Actuator>,
    /// Closed loops.
    pub equalities: Vec<Equality>,
    /// Known forces that act for a while.
    pub pushes: Vec<Push>,
    /// What the air brakes.
    pub drags: Vec<Drag>,
    /// Springs, cables and tendons.
    pub tendons: Vec<Tendon>,
    /// What looks at it.
    pub cameras: Vec<Camera>,
    /// By what it is seen in colour, if that is said.
    pub light: Option<Lighting>,
    /// Terms that are learned.
    pub learned: Vec<LearnedTerm>,
    /// What is seen of the world beside its shapes.
    pub visuals: Vec<Visual>,
    /// Where parameters stand.
    pub(super) slots: Slots,
}

/// A rigid body.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Its name.
    pub name: String,
    /// The body it hangs on; nothing is the world.
    pub parent: Option<usize>,
    /// How it moves against that.
    pub joint: Joint,
    /// The tree it is part of; nothing if it is fixed to the world.
    pub tree: Option<usize>,
    /// What is seen of it beside its shapes.
    pub visuals: Vec<Visual>,
}

/// Moving bodies that hang together by joints; for integrators that balance momenta at the end of a step also by tendons and learned
/// forces, with more than one root then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The bodies, parents before children; those fixed to others included.
    pub bodies: Vec<usize>,
    /// Their numbers in [`State::q`](crate::state::State::q).
    pub q: Range<usize>,
    /// Their numbers in [`State::v`](crate::state::State::v).
    pub v: Range<usize>,
    /// Whether it is one free body whose joint has no numbers of its own (no damping, no armature).
    pub lone: bool,
}

/// Places among the [parameters](super::Parameters) of what a joint does to the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JointSlots {
    /// Position of the body in its parent, x; y and z follow.
    pub position: usize,
    /// Anchor, x; y and z follow.
    pub anchor: usize,
    /// Armature.
    pub armature: usize,
    /// Damping.
    pub damping: usize,
    /// Dry friction.
    pub friction: usize,
    /// Stiffness of the spring.
    pub stiffness: usize,
    /// Where the spring is at rest.
    pub rest: usize,
    /// Lower limit.
    pub lower: usize,
    /// Upper limit.
    pub upper: usize,
}

/// Places among the [parameters](super::Parameters) of the numbers of a contact pair, or of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairSlots {
    /// Coefficient of friction.
    pub mu: usize,
    /// Restitution.
    pub restitution: usize,
    /// Coefficient of friction at rest.
    pub mu_static: usize,
    /// Of each [`SurfaceTerm`] that it has.
    pub terms: [Option<usize>; SurfaceTerm::ALL.len()],
}

/// Places among the [parameters](super::Parameters) of the numbers of an equality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EqualitySlots {
    /// The first of six coordinates of its points, each in its body.
    pub anchors: usize,
    /// Distance or offset.
    pub offset: usize,
    /// Ratio.
    pub ratio: usize,
    /// Stiffness and damping, one after the other, where it yields.
    pub hold: usize,
}

/// Places among the [parameters](super::Parameters) of the numbers of an actuator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActuatorSlots {
    /// Gear.
    pub gear: usize,
    /// Gain in positions.
    pub kp: usize,
    /// Gain in velocities.
    pub kd: usize,
    /// Least control; the largest follows.
    pub control_range: usize,
    /// Least force; the largest follows.
    pub force_range: usize,
    /// Of an affine force, per control.
    pub gain: usize,
    /// Of that, per length; per velocity follows.
    pub gain_by: usize,
    /// Of an affine force, without control.
    pub bias: usize,
}

/// A shape fixed to a body or to the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Collider {
    /// Its name: that of the body if it is the only one, otherwise `body/shape`.
    pub name: String,
    /// The body; nothing is the world.
    pub body: Option<usize>,
    /// Its form. Its sizes and its position in the body are [parameters](super::Parameters).
    pub shape: Shape,
    /// Quaternion w, x, y, z of the shape in the body.
    pub orientation: [f64; 4],
    /// Whether its centre is elsewhere than at the origin of the body.
    pub placed: bool,
    /// Whether its edges and corners are round: see [`Parameters::core`](super::Parameters::core).
    pub rounded: bool,
    /// How far from its surface it touches, m: MuJoCo's margin. It adds to that of what it meets.
    pub margin: f64,
    /// What it looks like where that is not the shape that touches: a mesh that need not be convex, scaled by the sizes.
    pub visual: Option<Arc<Triangulation>>,
    /// Its colour; nothing where whoever draws it decides.
    pub color: Option<Color>,
    /// Whether it is seen even where the body has [visuals](Body::visuals).
    pub drawn: bool,
}

impl Collider {
    /// Whether it reaches further than its core: see [`Parameters::core`](super::Parameters::core).
    pub(crate) fn is_swept(&self) -> bool {
        self.rounded || self.margin > 0.0
    }

    /// Whether its edges are sharp and could be round.
    pub(crate) fn can_be_rounded(&self) -> bool {
        !self.rounded && self.shape.has_edges()
    }
}

/// A fixed half-space. Its surface is a [`Plane`] that the [parameters](super::Parameters::plane) have.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfSpace {
    /// Its name.
    pub name: String,
    /// Unit normal out of the ground where it is not tilted, world frame.
    pub normal: Vector3<f64>,
}

impl HalfSpace {
    /// The axes about which the ground can be tilted, at right angles to the normal: of a level floor x and y.
    pub fn tilt_axes(&self) -> [Vector3<f64>; 2] {
        let n = &self.normal;
        // The axis of the world that is farthest from the normal, but for a level floor, which has y.
        let aside = if n.y.abs() < 0.9 { Vector3::y() } else { Vector3::x() };
        let first = aside.cross(n).normalize();
        [first, n.cross(&first)]
    }
}

/// The surface of a half-space, solid where normal . x < offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane<T> {
    /// Unit normal out of the ground, world frame.
    pub normal: Vector3<T>,
    /// Distance from the origin of the world along the normal, m.
    pub offset: T,
}

/// What a collider can touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Solid {
    /// A half-space, by its index.
    HalfSpace(usize),
    /// A collider, by its index.
    Collider(usize),
}

/// A half-space and a collider, or two colliders, that can touch.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The names of both, joined by `-`: `floor-cube`.
    pub name: String,
    /// The half-space, or the collider of lower index. Contact normals point away from it.
    pub first: Solid,
    /// Index of the collider, or of the second one. Contact impulses are those on it.
    pub second: usize,
    /// Whether contacts at rest have a coefficient of friction of their own.
    pub two_regimes: bool,
    /// Which terms it has beyond that.
    pub terms: SurfaceTerms,
    /// The direction of its friction, of a pair with [`SurfaceTerm::MuAcross`].
    pub grain: Option<Grain>,
    /// Where both are made of a material and no `[[contact]]` names them, the surfaces whose numbers it shares.
    pub(crate) surfaces: Option<[usize; 2]>,
}

impl Model {
    /// Whether the velocity of a body is what the inputs of a step say: it moves, and nothing moves it.
    pub fn is_prescribed(&self, body: usize) -> bool {
        let joint = &self.bodies[body].joint;
        joint.prescribed && self.bodies[body].tree.is_some_and(|tree| self.trees[tree].lone)
    }

    /// Whether the velocities of a tree are what the inputs of a step say.
    pub fn is_prescribed_tree(&self, tree: usize) -> bool {
        let tree = &self.trees[tree];
        tree.lone && self.bodies[tree.bodies[0]].joint.prescribed
    }

    /// Whether the input along a velocity is that velocity, and no force.
    pub(crate) fn is_prescribed_velocity(&self, v: usize) -> bool {
        self.bodies.iter().any(|Body { joint, .. }| {
            joint.prescribed && (joint.v..joint.v + joint.kind.nv()).contains(&v)
        })
    }

    /// The colliders of a body, or of the world.
    pub(crate) fn colliders_of(&self, body: Option<usize>) -> Range<usize> {
        let before = |body: Option<usize>| self.colliders.partition_point(|c| c.body < body);
        let next = body.map_or(0, |body| body + 1);
        before(body)..before(Some(next))
    }

    /// How the numbers of the state move, joint by joint.
    pub fn coordinates(&self) -> impl Iterator<Item = Coordinates> + Clone + '_ {
        self.bodies.iter().filter_map(|body| body.joint.kind.coordinates())
    }

    /// The length of a configuration.
    pub fn nq(&self) -> usize {
        self.bodies.iter().map(|body| body.joint.kind.nq()).sum()
    }

    /// The length of a velocity.
    pub fn nv(&self) -> usize {
        self.bodies.iter().map(|body| body.joint.kind.nv()).sum()
    }

    /// How many controls a step takes: one for each actuator, then for each push how much of it acts.
    pub fn nu(&self) -> usize {
        self.actuators.len() + self.pushes.len()
    }

    /// Whether forces act that depend on the state beyond springs, damping and motors of joints.
    pub(crate) fn has_state_forces(&self) -> bool {
        !self.learned.is_empty() || !self.tendons.is_empty() || self.has_geometric_forces()
    }

    /// Whether there are such forces that depend on where bodies are.
    pub(crate) fn has_geometric_forces(&self) -> bool {
        let is_line = |tendon: &Tendon| matches!(tendon.path, TendonPath::Points(_));
        let lines = self.tendons.iter().any(is_line);
        lines || !(self.pushes.is_empty() && self.drags.is_empty())
    }

    /// Whether steps close something after them: equalities that do not yield, and tendons that are held.
    pub(crate) fn has_loops(&self) -> bool {
        let holds = self.equalities.iter().any(|equality| !equality.yields);
        holds || self.tendons.iter().any(|tendon| tendon.held)
    }

    /// The velocities that move a body: those of its joint and of the joints it hangs on.
    pub(crate) fn path(&self, body: usize) -> impl Iterator<Item = usize> {
        let up = std::iter::successors(Some(body), |&body| self.bodies[body].parent);
        up.flat_map(|body| {
            let joint = &self.bodies[body].joint;
            joint.v..joint.v + joint.kind.nv()
        })
    }

    /// Scales how much of each push acts in a step from `time` on over `duration` (s) by the share of it in which it does.
    pub fn schedule<T: Real>(&self, time: f64, duration: f64, inputs: &mut [T]) {
        let first = self.nv() + self.actuators.len();
        for (push, input) in self.pushes.iter().zip(&mut inputs[first..]) {
            *input *= T::constant(push.share(time, duration));
        }
    }

    /// Where the point of a push, and behind it its force, are among the [parameters](super::Parameters).
    pub fn push_slot(&self, push: usize) -> usize {
        self.slots.pushes + PUSH * push
    }

    /// The joint that an actuator drives, if it is one.
    pub fn driven_joint(&self, actuator: usize) -> Option<&Joint> {
        match self.actuators[actuator].drives {
            Transmission::Joint(body) => Some(&self.bodies[body].joint),
            Transmission::Tendon(_) => None,
        }
    }

    /// The tree whose joint an actuator drives, if it is a joint.
    pub(crate) fn driven_tree(&self, actuator: usize) -> Option<usize> {
        match self.actuators.get(actuator)?.drives {
            Transmission::Joint(body) => self.bodies[body].tree,
            Transmission::Tendon(_) => None,
        }
    }

    /// The bodies that an actuator pulls.
    pub fn driven_bodies(&self, actuator: usize) -> impl Iterator<Item = usize> {
        let (joint, tendon) = match self.actuators[actuator].drives {
            Transmission::Joint(body) => (Some(body), None),
            Transmission::Tendon(tendon) => (None, Some(&self.tendons[tendon].path)),
        };
        joint.into_iter().chain(tendon.into_iter().flat_map(TendonPath::bodies))
    }

    /// Where all numbers of a tendon are among the [parameters](super::Parameters).
    pub(crate) fn slots_of_tendon(&self, tendon: usize) -> Range<usize> {
        let first = self.slots.tendons[tendon];
        first..first + TENDON + self.tendons[tendon].path.numbers()
    }

    /// Where all numbers of an actuator are among the [parameters](super::Parameters).
    pub(crate) fn slots_of_actuator(&self, actuator: usize) -> Range<usize> {
        let first = self.slots.actuator(actuator);
        first..first + ACTUATOR
    }

    /// Where the numbers of a tendon are among the [parameters](super::Parameters).
    pub fn tendon_slots(&self, tendon: usize) -> TendonSlots {
        let slot = self.slots.tendons[tendon];
        TendonSlots {
            stiffness: slot + TENDON_STIFFNESS,
            damping: slot + TENDON_DAMPING,
            rest: slot + TENDON_REST,
            slack: slot + SLACK,
            lower: slot + SHORTEST,
            upper: slot + LONGEST,
            friction: slot + TENDON_FRICTION,
            path: slot + TENDON,
        }
    }

    /// Where the linear, and behind it the quadratic drag of a body is among the [parameters](super::Parameters).
    pub fn drag_slot(&self, drag: usize) -> usize {
        self.slots.drags + DRAG * drag
    }

    /// Where the numbers of a body start among the [parameters](super::Parameters): mass, center of mass x,
    /// y, z, inertia xx, yy, zz, xy, xz, yz.
    pub fn body_slot(&self, body: usize) -> usize {
        self.slots.bodies[body]
    }

    /// Where the numbers of the joint of a body are among the [parameters](super::Parameters); nothing if it
    /// has none.
    pub fn joint_slots(&self, body: usize) -> Option<JointSlots> {
        self.slots.joints[body].map(|slot| JointSlots {
            position: slot + POSITION,
            anchor: slot + ANCHOR,
            armature: slot + ARMATURE,
            damping: slot + DAMPING,
            friction: slot + FRICTION,
            stiffness: slot + STIFFNESS,
            rest: slot + REST,
            lower: slot + LOWER,
            upper: slot + UPPER,
        })
    }

    /// Where the three sizes of a collider start among the [parameters](super::Parameters); its position follows if
    /// it is [placed](Collider::placed).
    pub fn collider_slot(&self, collider: usize) -> usize {
        self.slots.colliders[collider]
    }

    /// Where the radius of the edges of a collider is among the [parameters](super::Parameters), if it is rounded.
    pub fn rounding_slot(&self, collider: usize) -> Option<usize> {
        self.slots.roundings.get(collider).copied().flatten()
    }

    /// Where gravity is among the [parameters](super::Parameters).
    pub(crate) fn gravity_slots(&self) -> Range<usize> {
        0..3
    }

    /// Where the numbers of an equality are among the [parameters](super::Parameters).
    pub(crate) fn equality_slots(&self, equality: usize) -> EqualitySlots {
        let slot = self.slots.equality(equality);
        let (anchors, offset, ratio) = (slot + ANCHORS, slot + OFFSET, slot + RATIO);
        EqualitySlots { anchors, offset, ratio, hold: slot + HOLD_STIFFNESS }
    }

    /// Where the numbers of a surface are among the [parameters](super::Parameters).
    pub(crate) fn surface_slots(&self, surface: usize) -> PairSlots {
        let slot = self.slots.surface(surface);
        let terms =
            self.shared.as_ref().map_or(SurfaceTerms::default(), |s| s.surfaces[surface].terms);
        let first = self.slots.surface_terms[surface];
        let place = |term: SurfaceTerm| terms.place(term).map(|place| first + place);
        PairSlots {
            mu: slot + MU,
            restitution: slot + RESTITUTION,
            mu_static: slot + MU_STATIC,
            terms: SurfaceTerm::ALL.map(place),
        }
    }

    /// Where the numbers of an actuator are among the [parameters](super::Parameters).
    pub fn actuator_slots(&self, actuator: usize) -> ActuatorSlots {
        let slot = self.slots.actuator(actuator);
        ActuatorSlots {
            gear: slot + GEAR,
            kp: slot + KP,
            kd: slot + KD,
            control_range: slot + CONTROL_RANGE,
            force_range: slot + FORCE_RANGE,
            gain: slot + GAIN,
            gain_by: slot + GAIN_BY,
            bias: slot + BIAS,
        }
    }

    /// Where the offset of a half-space and its two tilts start among the [parameters](super::Parameters).
    pub fn half_space_slot(&self, half_space: usize) -> usize {
        self.slots.half_space(half_space)
    }

    /// Where the relative compliance of contacts is among the [parameters](super::Parameters).
    pub fn compliance_slot(&self) -> usize {
        self.slots.compliance
    }

    /// Where the numbers of a camera are among the [parameters](super::Parameters), in the order of
    /// [`CameraNumbers::flat`](super::CameraNumbers::flat).
    pub fn camera_slots(&self, camera: usize) -> Range<usize> {
        let first = self.slots.cameras + CAMERA * camera;
        first..first + CAMERA
    }

    /// The places of the weights of a learned term among the [parameters](super::Parameters).
    pub fn weight_slots(&self, term: usize) -> Range<usize> {
        let first = self.slots.learned[term];
        first..first + self.learned[term].network.weights()
    }

    /// The term that says how friction of a pair changes over its surface.
    pub(crate) fn friction_field(&self, pair: usize) -> Option<usize> {
        self.learned.iter().position(|term| term.pair == Some(pair))
    }

    /// The length of [`Parameters::values`](super::Parameters).
    pub fn parameter_count(&self) -> usize {
        self.slots.count
    }
}
