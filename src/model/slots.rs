//! Where each physical number stands among the parameters.

use super::SurfaceTerms;

/// Gravity.
pub(super) const GRAVITY: usize = 3;

// Of a body.
pub(super) const MASS: usize = 0;
pub(super) const CENTER_OF_MASS: usize = 1;
pub(super) const INERTIA: usize = 4;
pub(super) const BODY: usize = 10;

// Of a joint.
pub(super) const POSITION: usize = 0;
pub(super) const ANCHOR: usize = 3;
pub(super) const ARMATURE: usize = 6;
pub(super) const DAMPING: usize = 7;
pub(super) const FRICTION: usize = 8;
pub(super) const STIFFNESS: usize = 9;
pub(super) const REST: usize = 10;
pub(super) const LOWER: usize = 11;
pub(super) const UPPER: usize = 12;
pub(super) const JOINT: usize = 13;

// Of a collider: its sizes, and its position if it is placed.
pub(super) const SIZE: usize = 3;
pub(super) const PLACE: usize = 3;

// Of a contact pair.
pub(super) const MU: usize = 0;
pub(super) const RESTITUTION: usize = 1;
pub(super) const MU_STATIC: usize = 2;
pub(super) const PAIR: usize = 3;

// Of an actuator.
pub(super) const GEAR: usize = 0;
pub(super) const KP: usize = 1;
pub(super) const KD: usize = 2;
pub(super) const CONTROL_RANGE: usize = 3;
pub(super) const FORCE_RANGE: usize = 5;
pub(super) const GAIN: usize = 7;
pub(super) const BIAS: usize = 8;
pub(super) const GAIN_BY: usize = 9;
pub(super) const ACTUATOR: usize = 11;

// Of an equality.
pub(super) const ANCHORS: usize = 0;
pub(super) const OFFSET: usize = 6;
pub(super) const RATIO: usize = 7;
pub(super) const HOLD_STIFFNESS: usize = 8;
pub(super) const HOLD_DAMPING: usize = 9;
pub(super) const EQUALITY: usize = 10;

// Of a half-space.
pub(super) const DISTANCE: usize = 0;
pub(super) const TILT: usize = 1;
pub(super) const HALF_SPACE: usize = 3;

// Of a push.
pub(super) const PUSH: usize = 6;

// Of a tendon; those of its path follow.
pub(super) const TENDON_STIFFNESS: usize = 0;
pub(super) const TENDON_DAMPING: usize = 1;
pub(super) const TENDON_REST: usize = 2;
pub(super) const SLACK: usize = 3;
pub(super) const SHORTEST: usize = 4;
pub(super) const LONGEST: usize = 5;
pub(super) const TENDON_FRICTION: usize = 6;
pub(super) const TENDON: usize = 7;

// Of what the air brakes.
pub(super) const DRAG: usize = 2;

// Of a camera.
pub(super) const CAMERA: usize = 13;

/// The first slot of each thing that has numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Slots {
    pub bodies: Vec<usize>,
    /// Of the joint of each body; nothing if it has no numbers.
    pub joints: Vec<Option<usize>>,
    pub colliders: Vec<usize>,
    /// Of pairs; without meaning of those that share the numbers of surfaces.
    pub pairs: Vec<usize>,
    /// Of surfaces, whose numbers are those of a pair.
    pub surfaces: usize,
    pub actuators: usize,
    pub equalities: usize,
    pub half_spaces: usize,
    /// Of the compliance of contacts.
    pub compliance: usize,
    pub pushes: usize,
    pub tendons: Vec<usize>,
    pub cameras: usize,
    /// Of the weights of learned terms.
    pub learned: Vec<usize>,
    /// Of the terms of each pair, of each surface, of drags, and of colliders that are rounded: last, so that nothing else moves
    /// where one is added.
    pub pair_terms: Vec<usize>,
    pub surface_terms: Vec<usize>,
    pub drags: usize,
    pub roundings: Vec<Option<usize>>,
    /// Which terms any pair or surface has.
    pub terms: SurfaceTerms,
    /// How many there are in all.
    pub count: usize,
}

impl Slots {
    pub fn pair(&self, pair: usize) -> usize {
        self.pairs[pair]
    }

    pub fn surface(&self, surface: usize) -> usize {
        self.surfaces + PAIR * surface
    }

    pub fn actuator(&self, actuator: usize) -> usize {
        self.actuators + ACTUATOR * actuator
    }

    pub fn half_space(&self, half_space: usize) -> usize {
        self.half_spaces + HALF_SPACE * half_space
    }

    pub fn equality(&self, equality: usize) -> usize {
        self.equalities + EQUALITY * equality
    }
}
