//! A possible contact, and the list of all there are.

use nalgebra::{Matrix3, Vector3};

use super::{
    Bounds, Pose, SurfacePoint, SweepAndPrune, WarmStart, Witness, half_space_points,
    witnesses_from,
};
use crate::ad::Real;
use crate::dynamics::{BodyPose, FreeMotion};
use crate::model::{Model, Plane, Solid, System};
use crate::spatial::rotation_matrix;

/// A point of a body that may touch a half-space or another body.
#[derive(Clone, Copy, Debug)]
pub struct ContactPoint<T> {
    /// The contact pair, see [`Model::pair`](crate::model::Model::pair).
    pub pair: usize,
    /// The two bodies; nothing is the world, or a body fixed to it. The contact impulse acts on the
    /// second, its opposite on the first.
    pub bodies: [Option<usize>; 2],
    /// Which point. Against a half-space: the corner of a box (bits 0, 1, 2: the upper side in x, y,
    /// z), 0 for a sphere. Of two shapes: see [`Witness::feature`].
    pub feature: usize,
    /// Distance along the normal, m; negative if it penetrates.
    pub gap: T,
    /// Gap of the lowest point of the pair, m.
    pub lowest: T,
    /// Unit normal in the world, out of the first solid.
    pub normal: Vector3<T>,
    /// From the centre of mass of each body to its own point, in that body, m. Zero for the world.
    pub arms: [Vector3<T>; 2],
    /// Whether the bodies may touch here without being thrown at each other in the same step.
    pub near: bool,
}

/// Finds all points of all bodies that may touch something. Holds memory for reuse, and where each search began last time,
/// which is where the next one begins: see [`WarmStart`].
#[derive(Clone, Debug)]
pub struct Detection<T> {
    sweep: SweepAndPrune,
    bounds: Vec<Bounds>,
    candidates: Vec<(usize, usize)>,
    pair: PairDetection<T>,
    /// Of the colliders that were near in the last step, in the order of the candidates.
    warm: Vec<((usize, usize), WarmStart)>,
    /// Those of the step before.
    earlier: Vec<((usize, usize), WarmStart)>,
    furthest: f64,
    smoothing: f64,
    poses: Vec<Pose<T>>,
    planes: Vec<Plane<T>>,
    /// Colliders of a few bodies, ascending.
    few: Vec<usize>,
}

impl<T> Default for Detection<T> {
    fn default() -> Self {
        Detection {
            sweep: SweepAndPrune::default(),
            bounds: Vec::new(),
            candidates: Vec::new(),
            pair: PairDetection::default(),
            warm: Vec::new(),
            earlier: Vec::new(),
            furthest: 0.0,
            smoothing: 0.0,
            poses: Vec::new(),
            planes: Vec::new(),
            few: Vec::new(),
        }
    }
}

/// Points of a body whose distance from a half-space exceeds this many times the way they can make are
/// not even looked at. What an impact throws goes no faster than a few times what it met.
const FAR: f64 = 10.0;

/// The distance, m, at which a smoothed contact pushes the lightest body with a hundredth of its weight.
fn smoothing_reach<T: Real>(system: &System<T>) -> f64 {
    let System { model, parameters, settings } = system;
    if settings.smoothing == 0.0 {
        return 0.0;
    }
    let moving = (0..model.bodies.len()).filter(|&body| model.bodies[body].tree.is_some());
    let masses = moving.map(|body| parameters.mass(model, body).value()).filter(|&mass| mass > 0.0);
    let gravity = parameters.gravity().map(|x| x.value()).norm().max(1.0);
    (100.0 * settings.smoothing / (masses.fold(f64::INFINITY, f64::min) * gravity)).min(1.0)
}

impl<T: Real> Detection<T> {
    /// Lists the points of all bodies that may touch, pair by pair.
    ///
    /// [Near](ContactPoint::near) is a gap of less than twice the way that the bodies make in the step
    /// without contact. An impact can throw others further than that: whoever solves the contacts
    /// checks the rest with [`ContactPoint::escapes`]. Points that are not touched in the end have no
    /// impulse, so the choice changes cost and nothing else.
    pub fn points(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        points.clear();
        let model = system.model;
        if !model.has_contacts() {
            return;
        }
        self.place(system, motion);
        for (index, pair) in model.pairs.iter().enumerate() {
            let Solid::HalfSpace(half_space) = pair.first else { break };
            self.half_space_points(system, motion, index, half_space, points);
        }
        if model.colliders_touch() {
            self.collider_pairs(system, motion, points);
        }
    }

    /// Lists the points of the colliders of `bodies` alone, and only between them and half-spaces.
    pub fn points_among(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        bodies: &[usize],
        points: &mut Vec<ContactPoint<T>>,
    ) {
        points.clear();
        let model = system.model;
        let mut few = std::mem::take(&mut self.few);
        few.clear();
        few.extend(bodies.iter().flat_map(|&body| model.colliders_of(Some(body))));
        few.sort_unstable();
        self.place_planes(system);
        let nowhere = Pose { rotation: Matrix3::identity(), position: Vector3::zeros() };
        self.poses.resize(model.colliders.len(), nowhere);
        for &collider in &few {
            self.poses[collider] = place(system, motion, collider);
        }
        for half_space in 0..model.half_spaces.len() {
            for &collider in &few {
                if let Some(pair) = model.pair(Solid::HalfSpace(half_space), collider) {
                    self.half_space_points(system, motion, pair, half_space, points);
                }
            }
        }
        let ways = few.iter().map(|&collider| way(system, motion, collider));
        let furthest = 2.0 * ways.fold(0.0, f64::max) + self.smoothing;
        for (k, &first) in few.iter().enumerate() {
            for &second in &few[k + 1..] {
                let warm = &mut WarmStart::default();
                self.collider_pair(system, motion, (first, second), furthest, warm, points);
            }
        }
        self.few = few;
    }

    /// Finds the poses of all colliders and half-spaces.
    fn place(&mut self, system: &System<T>, motion: &FreeMotion<T>) {
        self.place_planes(system);
        self.poses.clear();
        let colliders = 0..system.model.colliders.len();
        self.poses.extend(colliders.map(|collider| place(system, motion, collider)));
    }

    fn place_planes(&mut self, system: &System<T>) {
        let System { model, parameters, .. } = *system;
        self.smoothing = smoothing_reach(system);
        self.planes.clear();
        self.planes.extend((0..model.half_spaces.len()).map(|k| parameters.plane(model, k)));
    }

    fn collider_pairs(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        let ways = (0..model.colliders.len()).map(|collider| way(system, motion, collider));
        let furthest = 2.0 * ways.fold(0.0, f64::max) + self.smoothing;
        self.furthest = furthest;
        self.bounds.clear();
        self.bounds.extend(self.poses.iter().enumerate().map(|(collider, pose)| {
            let size = parameters.size(model, collider);
            Bounds::new(&model.colliders[collider].shape, pose, size, furthest)
        }));
        self.sweep.pairs(&self.bounds, &mut self.candidates);
        let candidates = std::mem::take(&mut self.candidates);
        std::mem::swap(&mut self.warm, &mut self.earlier);
        self.warm.clear();
        let mut next = 0;
        for &pair in &candidates {
            // Both lists are in ascending order.
            while self.earlier.get(next).is_some_and(|(earlier, _)| *earlier < pair) {
                next += 1;
            }
            let kept = self.earlier.get(next).filter(|(earlier, _)| *earlier == pair);
            let mut warm = kept.map_or(WarmStart::default(), |&(_, warm)| warm);
            self.collider_pair(system, motion, pair, furthest, &mut warm, points);
            self.warm.push((pair, warm));
        }
        self.candidates = candidates;
        // The next step writes into the other list.
        self.earlier.clear();
        self.earlier.reserve(self.warm.capacity());
    }

    /// Looks as far as another one did in its last step, to say what [`reach`](Self::reach) does.
    pub(crate) fn keep_reach(&mut self, other: &Detection<T>) {
        (self.furthest, self.smoothing) = (other.furthest, other.smoothing);
    }

    /// Up to which distance the points of a pair were looked for in the last step, m.
    pub fn reach(&self, system: &System<T>, motion: &FreeMotion<T>, pair: usize) -> f64 {
        match system.model.solids(pair) {
            (Solid::HalfSpace(_), second) => FAR * way(system, motion, second) + self.smoothing,
            (Solid::Collider(_), _) => 2.0 * self.furthest,
        }
    }

    /// The points of two colliders, of which none goes further than half of `furthest` in the step.
    fn collider_pair(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        (first, second): (usize, usize),
        furthest: f64,
        warm: &mut WarmStart,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let model = system.model;
        let Some(pair) = model.pair(Solid::Collider(first), second) else { return };
        let bodies = model.moving_bodies(Solid::Collider(first), second);
        let start = points.len();
        self.pair.collide(
            system,
            pair,
            [first, second].map(|k| model.colliders[k].body.map(|body| &motion.bodies[body])),
            [&self.poses[first], &self.poses[second]],
            (2.0 * furthest, warm),
            points,
        );
        for point in &mut points[start..] {
            let way = |side: usize| {
                bodies[side].map_or(0.0, |body| way_of(motion, body, &point.arms[side]))
            };
            point.near = point.gap.value() <= 2.0 * (way(0) + way(1)) + self.smoothing;
        }
    }

    /// The points of the collider of a pair over its half-space.
    fn half_space_points(
        &mut self,
        system: &System<T>,
        motion: &FreeMotion<T>,
        pair: usize,
        half_space: usize,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let model = system.model;
        let (plane, second) = (&self.planes[half_space], model.solids(pair).1);
        let (collider, pose) = (&model.colliders[second], &self.poses[second]);
        let Some(body) = collider.body else { return };
        let value = |v: &Vector3<T>| v.map(|x| x.value());
        let height = value(&plane.normal).dot(&value(&pose.position)) - plane.offset.value();
        let far = FAR * way(system, motion, second) + self.smoothing;
        if height > radius(system, second) + far {
            return;
        }
        let start = points.len();
        let reach = (far, f64::INFINITY);
        self.pair.land(system, pair, &motion.bodies[body], pose, plane, reach, points);
        for point in &mut points[start..] {
            let way = way_of(motion, body, &point.arms[1]);
            point.near = point.gap.value() <= 2.0 * way + self.smoothing;
        }
    }
}

/// Finds the points of one pair. Holds memory for reuse and nothing else.
#[derive(Clone, Debug)]
pub(crate) struct PairDetection<T> {
    witnesses: Vec<Witness<T>>,
    surface: Vec<SurfacePoint<T>>,
}

impl<T> Default for PairDetection<T> {
    fn default() -> Self {
        PairDetection { witnesses: Vec::new(), surface: Vec::new() }
    }
}

impl<T: Real> PairDetection<T> {
    /// The points of a pair at the poses of the bodies of its two solids (nothing for the world), with
    /// `reach` as for [`witnesses`] and [`half_space_points`]. None of them counts as near. Points over a
    /// half-space whose gap is more than `most` are left out.
    pub fn points(
        &mut self,
        system: &System<T>,
        pair: usize,
        bodies: [Option<&BodyPose<T>>; 2],
        (reach, most): (f64, f64),
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        let (first, second) = model.solids(pair);
        let second_pose = pose(system, bodies[1], second);
        match first {
            Solid::HalfSpace(half_space) => {
                let plane = parameters.plane(model, half_space);
                if let Some(body) = bodies[1] {
                    self.land(system, pair, body, &second_pose, &plane, (reach, most), points);
                }
            }
            Solid::Collider(first) => {
                let poses = [&pose(system, bodies[0], first), &second_pose];
                let from = (reach, &mut WarmStart::default());
                self.collide(system, pair, bodies, poses, from, points);
            }
        }
    }

    /// The points of two colliders.
    fn collide(
        &mut self,
        system: &System<T>,
        pair: usize,
        poses: [Option<&BodyPose<T>>; 2],
        places: [&Pose<T>; 2],
        (reach, warm): (f64, &mut WarmStart),
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        let (Solid::Collider(first), second) = model.solids(pair) else { return };
        let colliders = [first, second];
        self.witnesses.clear();
        witnesses_from(
            warm,
            colliders.map(|collider| &model.colliders[collider].shape),
            places,
            colliders.map(|collider| parameters.size(model, collider)),
            reach,
            &mut self.witnesses,
        );
        let bodies = model.moving_bodies(Solid::Collider(first), second);
        for &Witness { feature, gap, normal, points: at, lowest } in &self.witnesses {
            let arm = |side: usize| {
                let (Some(_), Some(pose)) = (bodies[side], poses[side]) else {
                    return Vector3::zeros();
                };
                pose.rotation.transpose() * (at[side] - pose.position) - pose.center_of_mass
            };
            let arms = [arm(0), arm(1)];
            let near = false;
            points.push(ContactPoint { pair, bodies, feature, gap, lowest, normal, arms, near });
        }
    }

    /// The points of a collider over a half-space.
    #[expect(clippy::too_many_arguments, reason = "a pair, its two solids and how far to look")]
    fn land(
        &mut self,
        system: &System<T>,
        pair: usize,
        body: &BodyPose<T>,
        place: &Pose<T>,
        plane: &Plane<T>,
        (reach, most): (f64, f64),
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        let (_, second) = model.solids(pair);
        let (collider, size) = (&model.colliders[second], parameters.size(model, second));
        let surface = &mut self.surface;
        surface.clear();
        half_space_points(&collider.shape, size, place, plane, reach, surface);
        let normal = plane.normal;
        let turned = collider.orientation != [1.0, 0.0, 0.0, 0.0];
        let turn = rotation_matrix(collider.orientation).map(T::constant);
        for &SurfacePoint { feature, gap, at, lowest } in surface.iter() {
            if gap.value() > most {
                continue;
            }
            let at = if turned { turn * at } else { at };
            let at = match collider.placed {
                true => at + parameters.collider_position(model, second),
                false => at,
            };
            let arms = [Vector3::zeros(), at - body.center_of_mass];
            let (bodies, near) = ([None, collider.body], false);
            points.push(ContactPoint { pair, bodies, feature, gap, lowest, normal, arms, near });
        }
    }
}

/// Where a collider is.
fn place<T: Real>(system: &System<T>, motion: &FreeMotion<T>, collider: usize) -> Pose<T> {
    let body = system.model.colliders[collider].body;
    pose(system, body.map(|body| &motion.bodies[body]), collider)
}

/// Where a collider of a body is, or of the world.
fn pose<T: Real>(system: &System<T>, body: Option<&BodyPose<T>>, collider: usize) -> Pose<T> {
    let System { model, parameters, .. } = *system;
    let entry = &model.colliders[collider];
    let turned = entry.orientation != [1.0, 0.0, 0.0, 0.0];
    let turn = || rotation_matrix(entry.orientation).map(T::constant);
    let at = || parameters.collider_position(model, collider);
    let Some(&BodyPose { rotation, position, .. }) = body else {
        return Pose { rotation: turn(), position: at() };
    };
    Pose {
        rotation: if turned { rotation * turn() } else { rotation },
        position: if entry.placed { position + rotation * at() } else { position },
    }
}

/// The radius of a ball about the centre of a collider that contains it, m.
fn radius<T: Real>(system: &System<T>, collider: usize) -> f64 {
    let size = system.parameters.size(system.model, collider).map(|x| x.value());
    system.model.colliders[collider].shape.bounding_radius(size.into())
}

/// How far a point of a body at `distance` from its centre of mass goes at most in the step without
/// contact, m.
fn way_at<T: Real>(motion: &FreeMotion<T>, body: usize, distance: f64) -> f64 {
    let BodyPose { linear_speed, angular_speed, tree, .. } = motion.bodies[body];
    let Some(tree) = tree else { return 0.0 };
    motion.duration(tree).value() * (linear_speed + angular_speed * distance)
}

fn way_of<T: Real>(motion: &FreeMotion<T>, body: usize, arm: &Vector3<T>) -> f64 {
    way_at(motion, body, arm.map(|x| x.value()).norm())
}

fn way<T: Real>(system: &System<T>, motion: &FreeMotion<T>, collider: usize) -> f64 {
    let model: &Model = system.model;
    let Some(body) = model.colliders[collider].body else { return 0.0 };
    let offset = system.parameters.collider_position(model, collider);
    let offset = (offset - motion.bodies[body].center_of_mass).map(|x| x.value());
    way_at(motion, body, radius(system, collider) + offset.norm())
}

impl<T: Real> ContactPoint<T> {
    /// The trees it is a point of, one twice if both sides are of it.
    pub fn trees(&self, motion: &FreeMotion<T>) -> [Option<usize>; 2] {
        self.bodies.map(|body| body.and_then(|body| motion.bodies[body].tree))
    }

    /// Whether velocities of all trees at the end of a step, one tree after the other as in the state, move the
    /// point through the surface it may touch; `row` is scratch.
    pub fn escapes(
        &self,
        model: &Model,
        motion: &FreeMotion<T>,
        velocities: &[T],
        row: &mut Vec<T>,
    ) -> bool {
        let (mut closing, mut duration) = (0.0, f64::INFINITY);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let Some(body) = self.bodies[side] else { continue };
            let Some(tree) = motion.bodies[body].tree else { continue };
            let range = model.trees[tree].v.clone();
            row.clear();
            row.resize(range.len(), T::zero());
            motion.add_row(body, self.arms[side], self.normal, sign, row);
            let velocity = &velocities[range];
            closing += row.iter().zip(velocity).map(|(a, b)| a.value() * b.value()).sum::<f64>();
            duration = duration.min(motion.duration(tree).value());
        }
        self.gap.value() + duration * closing < 0.0
    }

    /// The bodies it is a point of.
    pub fn moving(&self) -> impl Iterator<Item = usize> + use<T> {
        self.bodies.into_iter().flatten()
    }
}
