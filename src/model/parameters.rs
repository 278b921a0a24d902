//! Every physical number of a scene, in one flat vector that can be differentiated.

use nalgebra::{Matrix3, Vector3};

use super::shape::ROUNDEST;
use super::slots::{
    ANCHOR, ANCHORS, ARMATURE, CENTER_OF_MASS, CONTROL_RANGE, DAMPING, DISTANCE, FORCE_RANGE,
    FRICTION, GAIN, GAIN_BY, GEAR, HOLD_DAMPING, HOLD_STIFFNESS, INERTIA, KD, KP, LOWER, MASS, MU,
    MU_STATIC, OFFSET, POSITION, RATIO, REST, RESTITUTION, SIZE, STIFFNESS, TILT, UPPER,
};
use super::{CameraNumbers, Model, PairSlots, Plane, SurfaceTerm};
use crate::ad::Real;
use crate::spatial::{exp, rotation_matrix};

/// Every physical number of a scene.
///
/// Layout of `values`: gravity x, y, z; for each body mass, center of mass x, y, z, inertia xx, yy,
/// zz, xy, xz, yz, the numbers of its joint (position and anchor x, y, z, armature, damping, friction,
/// stiffness, rest, lower, upper; none of a [lone](super::Tree::lone) body), then for each of its colliders
/// three sizes, and its position x, y, z unless it is at the origin; the same for the colliders
/// of the world; for each contact pair mu, restitution and mu_static (unused unless the pair has two
/// regimes), of pairs that share the numbers of materials nothing; the same of materials, and of the surfaces of colliders
/// where these are so many that not every two are a pair with numbers of its own; actuators; equalities; for each half-space its offset, and the angles in rad by which its
/// normal is tilted; the compliance of contacts in units of [`Settings::compliance`](super::Settings::compliance);
/// of each [push](super::Push) its point and its force; the numbers of [tendons](super::Tendon); the [numbers of cameras](super::CameraNumbers); the weights of [learned terms](super::LearnedTerm), layer by layer the matrix row by row and the biases; the [terms](SurfaceTerm) of pairs and
/// surfaces, and of each [drag](super::Drag) its linear and its quadratic coefficient.
/// [`Model::parameter`] finds the slots by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters<T> {
    /// The numbers, SI units.
    pub values: Vec<T>,
}

impl<T: Real> Parameters<T> {
    /// Acceleration of gravity in the world frame, m/s².
    pub fn gravity(&self) -> Vector3<T> {
        self.vector(0)
    }

    /// Mass of a body, kg.
    pub fn mass(&self, model: &Model, body: usize) -> T {
        self.values[model.slots.bodies[body] + MASS]
    }

    /// Centre of mass of a body in its own frame, m.
    pub fn center_of_mass(&self, model: &Model, body: usize) -> Vector3<T> {
        self.vector(model.slots.bodies[body] + CENTER_OF_MASS)
    }

    /// Inertia of a body about its centre of mass, along the body axes, kg m².
    pub fn inertia(&self, model: &Model, body: usize) -> Matrix3<T> {
        let i = model.slots.bodies[body] + INERTIA;
        let [xx, yy, zz] = [self.values[i], self.values[i + 1], self.values[i + 2]];
        let [xy, xz, yz] = [self.values[i + 3], self.values[i + 4], self.values[i + 5]];
        Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz)
    }

    /// Position of a body in its parent where its joint is at 0, m; zero of a lone body.
    pub fn position(&self, model: &Model, body: usize) -> Vector3<T> {
        model.slots.joints[body].map_or(Vector3::zeros(), |slot| self.vector(slot + POSITION))
    }

    /// The point about which, and the axis through which, a body turns, in its own frame, m.
    pub fn anchor(&self, model: &Model, body: usize) -> Vector3<T> {
        model.slots.joints[body].map_or(Vector3::zeros(), |slot| self.vector(slot + ANCHOR))
    }

    /// Inertia that the drive of a body's joint adds to each of its velocities, kg m² or kg.
    pub fn armature(&self, model: &Model, body: usize) -> T {
        self.joint(model, body, ARMATURE)
    }

    /// Viscous friction of a body's joint, N m s/rad or N s/m.
    pub fn damping(&self, model: &Model, body: usize) -> T {
        self.joint(model, body, DAMPING)
    }

    /// Dry friction of a body's joint, N m or N.
    pub fn joint_friction(&self, model: &Model, body: usize) -> T {
        self.joint(model, body, FRICTION)
    }

    /// Stiffness of the spring at a body's joint, N m/rad or N/m.
    pub fn stiffness(&self, model: &Model, body: usize) -> T {
        self.joint(model, body, STIFFNESS)
    }

    /// Where the spring at a body's joint is at rest, rad or m.
    pub fn rest(&self, model: &Model, body: usize) -> T {
        self.joint(model, body, REST)
    }

    /// The lower limit of a body's joint, rad or m.
    pub fn lower(&self, model: &Model, body: usize) -> T {
        self.joint(model, body, LOWER)
    }

    /// The upper limit of a body's joint, rad or m.
    pub fn upper(&self, model: &Model, body: usize) -> T {
        self.joint(model, body, UPPER)
    }

    fn joint(&self, model: &Model, body: usize, number: usize) -> T {
        model.slots.joints[body].map_or(T::zero(), |slot| self.values[slot + number])
    }

    /// Sizes of a collider, m: see [`Shape`](super::Shape).
    pub fn size(&self, model: &Model, collider: usize) -> Vector3<T> {
        self.vector(model.slots.colliders[collider])
    }

    /// What a ball of the second number (m) sweeps to make what touches of a collider: its sizes, and its [margin](super::Collider::margin) where
    /// edges are sharp. A box is as large with
    /// round edges as without, so that its core is smaller; polyhedra grow by the radius. A box is never rounded by more than
    /// 0.999 of its least half extent.
    pub fn core(&self, model: &Model, collider: usize) -> (Vector3<T>, T) {
        let size = self.size(model, collider);
        let margin = T::constant(model.colliders[collider].margin);
        let Some(slot) = model.rounding_slot(collider) else { return (size, margin) };
        let radius = self.values[slot];
        if !model.colliders[collider].shape.keeps_its_size() {
            return (size, radius + margin);
        }
        let least = size.iter().copied().reduce(|a, b| if b.value() < a.value() { b } else { a });
        let most = least.unwrap_or(T::zero()) * T::constant(ROUNDEST);
        let radius = if radius.value() > most.value() { most } else { radius };
        (size.map(|half| half - radius), radius + margin)
    }

    /// Centre of a collider in its body, or in the world, m.
    pub fn collider_position(&self, model: &Model, collider: usize) -> Vector3<T> {
        match model.colliders[collider].placed {
            true => self.vector(model.slots.colliders[collider] + SIZE),
            false => Vector3::zeros(),
        }
    }

    /// Coefficient of friction of a contact pair: of contacts that slip, and of all where the pair has
    /// one regime.
    pub fn mu(&self, model: &Model, pair: usize) -> T {
        self.of_pair(model, pair, MU)
    }

    /// Coefficient of friction of contacts at rest, of a pair with two regimes.
    pub fn mu_static(&self, model: &Model, pair: usize) -> T {
        self.of_pair(model, pair, MU_STATIC)
    }

    /// Coefficient of restitution of a contact pair, 0 to 1.
    pub fn restitution(&self, model: &Model, pair: usize) -> T {
        self.of_pair(model, pair, RESTITUTION)
    }

    /// The number of a term of a contact pair, if it has it.
    #[inline]
    pub fn surface_term(&self, model: &Model, pair: usize, term: SurfaceTerm) -> Option<T> {
        // Most models have none.
        if !model.any_has_term(term) {
            return None;
        }
        self.slot_of_term(model, pair, term).map(|slot| self.values[slot])
    }

    fn slot_of_term(&self, model: &Model, pair: usize, term: SurfaceTerm) -> Option<usize> {
        model.term_slots(pair, term).map(|slots| self.larger(slots))
    }

    fn of_pair(&self, model: &Model, pair: usize, number: usize) -> T {
        self.values[self.slot_of_pair(model, pair, number)]
    }

    /// The slot of the number that counts: of equal ones that of the first surface.
    fn slot_of_pair(&self, model: &Model, pair: usize, number: usize) -> usize {
        self.larger(model.slots_of_pair(pair, number))
    }

    fn larger(&self, slots: [usize; 2]) -> usize {
        let [first, second] = slots.map(|slot| self.values[slot].value());
        if first >= second { slots[0] } else { slots[1] }
    }

    /// Where the numbers of a contact pair are: its own, or of those of both surfaces the larger ones, which count.
    pub fn pair_slots(&self, model: &Model, pair: usize) -> PairSlots {
        let slot = |number: usize| self.slot_of_pair(model, pair, number);
        PairSlots {
            mu: slot(MU),
            restitution: slot(RESTITUTION),
            mu_static: slot(MU_STATIC),
            terms: SurfaceTerm::ALL.map(|term| self.slot_of_term(model, pair, term)),
        }
    }

    /// Force of a joint, N m or N, per force of its actuator.
    pub fn gear(&self, model: &Model, actuator: usize) -> T {
        self.values[model.slots.actuator(actuator) + GEAR]
    }

    /// Gain of an actuator in positions.
    pub fn kp(&self, model: &Model, actuator: usize) -> T {
        self.values[model.slots.actuator(actuator) + KP]
    }

    /// Gain of an actuator in velocities.
    pub fn kd(&self, model: &Model, actuator: usize) -> T {
        self.values[model.slots.actuator(actuator) + KD]
    }

    /// Least and largest control of an actuator, where it has any.
    pub fn control_range(&self, model: &Model, actuator: usize) -> [T; 2] {
        self.range(model.slots.actuator(actuator) + CONTROL_RANGE)
    }

    /// Least and largest force of an actuator, where it has any.
    pub fn force_range(&self, model: &Model, actuator: usize) -> [T; 2] {
        self.range(model.slots.actuator(actuator) + FORCE_RANGE)
    }

    /// What the length and the velocity add to the gain of an affine actuator.
    pub fn gain_by(&self, model: &Model, actuator: usize) -> [T; 2] {
        self.range(model.slots.actuator(actuator) + GAIN_BY)
    }

    /// What the control and nothing make of the force of an affine actuator: force per control, and force.
    pub fn gain_and_bias(&self, model: &Model, actuator: usize) -> [T; 2] {
        self.range(model.slots.actuator(actuator) + GAIN)
    }

    /// The points of an equality, each in its body, m.
    pub fn anchors(&self, model: &Model, equality: usize) -> [Vector3<T>; 2] {
        let first = model.slots.equality(equality) + ANCHORS;
        [self.vector(first), self.vector(first + 3)]
    }

    /// The distance of two points, m, or the offset of a joint from another, rad or m.
    pub fn offset(&self, model: &Model, equality: usize) -> T {
        self.values[model.slots.equality(equality) + OFFSET]
    }

    /// How far a joint moves for each unit of another.
    pub fn ratio(&self, model: &Model, equality: usize) -> T {
        self.values[model.slots.equality(equality) + RATIO]
    }

    /// The stiffness, N/m and N m/rad, and the damping, N s/m and N m s/rad, of an equality that yields.
    pub fn hold(&self, model: &Model, equality: usize) -> [T; 2] {
        let first = model.slots.equality(equality);
        [self.values[first + HOLD_STIFFNESS], self.values[first + HOLD_DAMPING]]
    }

    /// The stiffness of a tendon, N/m or N m/rad.
    pub fn tendon_stiffness(&self, model: &Model, tendon: usize) -> T {
        self.values[model.tendon_slots(tendon).stiffness]
    }

    /// The damping of a tendon, N s/m or N m s/rad.
    pub fn tendon_damping(&self, model: &Model, tendon: usize) -> T {
        self.values[model.tendon_slots(tendon).damping]
    }

    /// Between which lengths a tendon is at rest, m or rad.
    pub fn tendon_rest(&self, model: &Model, tendon: usize) -> [T; 2] {
        let slots = model.tendon_slots(tendon);
        let rest = self.values[slots.rest];
        [rest, rest + self.values[slots.slack]]
    }

    /// The least and the largest length of a tendon that is limited, m or rad.
    pub fn tendon_range(&self, model: &Model, tendon: usize) -> [T; 2] {
        self.range(model.tendon_slots(tendon).lower)
    }

    /// The dry friction of a tendon, N or N m.
    pub fn tendon_friction(&self, model: &Model, tendon: usize) -> T {
        self.values[model.tendon_slots(tendon).friction]
    }

    /// How much a coordinate of a joint counts in the length of a tendon: of the joint in this place of its path.
    pub fn tendon_coefficient(&self, model: &Model, tendon: usize, place: usize) -> T {
        self.values[model.tendon_slots(tendon).path + place]
    }

    /// The point of a tendon in this place of its path, in its body, m.
    pub fn tendon_point(&self, model: &Model, tendon: usize, place: usize) -> Vector3<T> {
        self.vector(model.tendon_slots(tendon).path + 3 * place)
    }

    /// The surface of a half-space, tilted about its [axes of tilt](super::HalfSpace::tilt_axes).
    pub fn plane(&self, model: &Model, half_space: usize) -> Plane<T> {
        let first = model.slots.half_space(half_space);
        let [x, y] = self.range(first + TILT);
        let nominal = &model.half_spaces[half_space];
        let mut normal = nominal.normal.map(T::constant);
        if !(x.vanishes() && y.vanishes()) {
            let [about_x, about_y] = nominal.tilt_axes().map(|axis| axis.map(T::constant));
            normal = rotation_matrix(exp(about_x * x + about_y * y)) * normal;
        }
        Plane { normal, offset: self.values[first + DISTANCE] }
    }

    /// Compliance of contacts in units of [`Settings::compliance`](super::Settings::compliance).
    pub fn relative_compliance(&self, model: &Model) -> T {
        self.values[model.slots.compliance]
    }

    /// The point of a push in its body, m, and its force in the world, N.
    pub fn push(&self, model: &Model, push: usize) -> [Vector3<T>; 2] {
        let first = model.push_slot(push);
        [self.vector(first), self.vector(first + 3)]
    }

    /// The linear (N s/m) and the quadratic (N s²/m²) coefficient of a [drag](super::Drag).
    pub fn drag(&self, model: &Model, drag: usize) -> [T; 2] {
        self.range(model.drag_slot(drag))
    }

    /// The numbers of a camera.
    pub fn camera(&self, model: &Model, camera: usize) -> CameraNumbers<T> {
        let first = model.camera_slots(camera).start;
        CameraNumbers::from_flat(std::array::from_fn(|k| self.values[first + k]))
    }

    /// The weights of a learned term.
    pub fn weights(&self, model: &Model, term: usize) -> &[T] {
        &self.values[model.weight_slots(term)]
    }

    /// The values, without derivatives.
    pub fn value(&self) -> Parameters<f64> {
        Parameters { values: self.values.iter().map(|x| x.value()).collect() }
    }

    fn vector(&self, slot: usize) -> Vector3<T> {
        Vector3::new(self.values[slot], self.values[slot + 1], self.values[slot + 2])
    }

    fn range(&self, slot: usize) -> [T; 2] {
        [self.values[slot], self.values[slot + 1]]
    }
}

impl Parameters<f64> {
    /// The same numbers as constants of another scalar.
    pub fn cast<T: Real>(&self) -> Parameters<T> {
        Parameters { values: self.values.iter().map(|&x| T::constant(x)).collect() }
    }

    /// [`cast`](Self::cast) into existing storage.
    pub fn cast_into<T: Real>(&self, parameters: &mut Parameters<T>) {
        parameters.values.clear();
        parameters.values.extend(self.values.iter().map(|&x| T::constant(x)));
    }
}
