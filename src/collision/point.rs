//! A possible contact, and the list of all there are.

use nalgebra::Vector3;

use super::{Bounds, Pose, SweepAndPrune, Witness, box_half_space, sphere_half_space, witnesses};
use crate::ad::Real;
use crate::dynamics::FreeBody;
use crate::model::{HalfSpace, Shape, Solid, System};

/// A point of a body that may touch a half-space or another body.
#[derive(Clone, Copy, Debug)]
pub struct ContactPoint<T> {
    /// The contact pair, an index into [`Model::pairs`](crate::model::Model::pairs).
    pub pair: usize,
    /// The two solids of the pair.
    pub first: Solid,
    /// The body that the contact impulse acts on.
    pub second: usize,
    /// Which point. Against a half-space: the corner of a box (bits 0, 1, 2: the upper side in x, y,
    /// z), 0 for a sphere. Of two bodies: see [`Witness::feature`].
    pub feature: usize,
    /// Distance along the normal, m; negative if it penetrates.
    pub gap: T,
    /// Gap of the lowest point of the pair, m.
    pub lowest: T,
    /// Unit normal in the world, out of the first solid, the same for all points of a pair.
    pub normal: Vector3<T>,
    /// From the centre of mass of each body to its own point, in that body, m. Zero for a half-space.
    pub arms: [Vector3<T>; 2],
    /// Whether the bodies may touch here without being thrown at each other in the same step.
    pub near: bool,
}

/// Finds all points of all bodies that may touch something. Holds memory for reuse and nothing else.
#[derive(Clone, Debug)]
pub struct Detection<T> {
    sweep: SweepAndPrune,
    bounds: Vec<Bounds>,
    candidates: Vec<(usize, usize)>,
    witnesses: Vec<Witness<T>>,
}

impl<T> Default for Detection<T> {
    fn default() -> Self {
        Detection {
            sweep: SweepAndPrune::default(),
            bounds: Vec::new(),
            candidates: Vec::new(),
            witnesses: Vec::new(),
        }
    }
}

/// Points of a body whose distance from a half-space exceeds this many times the way they can make are
/// not even looked at. What an impact throws goes no faster than a few times what it met.
const FAR: f64 = 10.0;

impl<T: Real> Detection<T> {
    /// Lists the points of all bodies that may touch, pair by pair.
    ///
    /// [Near](ContactPoint::near) is a gap of less than twice the way that the bodies make in the step
    /// without contact. An impact can throw others further than that: whoever solves the contacts
    /// checks the rest with [`ContactPoint::escapes`]. Points that are not touched in the end carry no
    /// impulse, so the choice changes cost and nothing else.
    pub fn points(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        points: &mut Vec<ContactPoint<T>>,
    ) {
        points.clear();
        let model = system.model;
        for (index, pair) in model.pairs.iter().enumerate() {
            let Solid::HalfSpace(half_space) = pair.first else { break };
            half_space_points(system, free, index, half_space, points);
        }
        if matches!(model.pairs.last(), Some(pair) if matches!(pair.first, Solid::Body(_))) {
            self.body_pairs(system, free, points);
        }
    }

    /// The same of `bodies` alone, and only between them and half-spaces.
    pub fn points_among(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        bodies: &[usize],
        points: &mut Vec<ContactPoint<T>>,
    ) {
        points.clear();
        for half_space in 0..system.model.half_spaces.len() {
            for &body in bodies {
                if let Some(pair) = system.model.pair(Solid::HalfSpace(half_space), body) {
                    half_space_points(system, free, pair, half_space, points);
                }
            }
        }
        let ways = bodies.iter().map(|&body| way(&free[body], radius(system, body)));
        let furthest = 2.0 * ways.fold(0.0, f64::max);
        for (k, &first) in bodies.iter().enumerate() {
            for &second in &bodies[k + 1..] {
                self.body_pair(system, free, (first, second), furthest, points);
            }
        }
    }

    fn body_pairs(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        let ways = free.iter().enumerate().map(|(k, free)| way(free, radius(system, k)));
        let furthest = 2.0 * ways.fold(0.0, f64::max);
        let poses =
            |body: usize| Pose { rotation: free[body].rotation, position: free[body].position };
        self.bounds.clear();
        self.bounds.extend((0..free.len()).map(|body| {
            let shape = &model.bodies[body].shape;
            Bounds::new(shape, &poses(body), parameters.half_extents(body), furthest)
        }));
        self.sweep.pairs(&self.bounds, &mut self.candidates);
        let candidates = std::mem::take(&mut self.candidates);
        for &pair in &candidates {
            self.body_pair(system, free, pair, furthest, points);
        }
        self.candidates = candidates;
    }

    /// The points of two bodies, of which none goes further than half of `furthest` in the step.
    fn body_pair(
        &mut self,
        system: &System<T>,
        free: &[FreeBody<T>],
        (first, second): (usize, usize),
        furthest: f64,
        points: &mut Vec<ContactPoint<T>>,
    ) {
        let System { model, parameters, .. } = *system;
        let Some(pair) = model.pair(Solid::Body(first), second) else { return };
        let pose =
            |body: usize| Pose { rotation: free[body].rotation, position: free[body].position };
        self.witnesses.clear();
        witnesses(
            [first, second].map(|body| &model.bodies[body].shape),
            [&pose(first), &pose(second)],
            [first, second].map(|body| parameters.half_extents(body)),
            2.0 * furthest,
            &mut self.witnesses,
        );
        for &Witness { feature, gap, normal, points: at, lowest } in &self.witnesses {
            let arm = |body: usize, point: Vector3<T>| {
                let FreeBody { rotation, position, center_of_mass, .. } = &free[body];
                rotation.transpose() * (point - position) - center_of_mass
            };
            let arms = [arm(first, at[0]), arm(second, at[1])];
            let way = way_of(&free[first], &arms[0]) + way_of(&free[second], &arms[1]);
            let near = gap.value() <= 2.0 * way;
            let first = Solid::Body(first);
            points.push(ContactPoint {
                pair,
                first,
                second,
                feature,
                gap,
                lowest,
                normal,
                arms,
                near,
            });
        }
    }
}

/// The points of the body of a pair over its half-space.
fn half_space_points<T: Real>(
    system: &System<T>,
    free: &[FreeBody<T>],
    pair: usize,
    half_space: usize,
    points: &mut Vec<ContactPoint<T>>,
) {
    let System { model, parameters, .. } = *system;
    let (plane, body) = (&model.half_spaces[half_space], model.pairs[pair].second);
    let free = &free[body];
    let center = free.position.map(|x| x.value());
    let distance = plane.normal.dot(&center) - plane.offset;
    if distance > radius(system, body) + FAR * way(free, radius(system, body)) {
        return;
    }
    let start = points.len();
    match &model.bodies[body].shape {
        Shape::Box => box_half_space::points(parameters, free, body, plane, pair, points),
        Shape::Sphere => sphere_half_space::points(parameters, free, body, plane, pair, points),
        _ => {}
    }
    for point in &mut points[start..] {
        point.first = Solid::HalfSpace(half_space);
        point.near = point.gap.value() <= 2.0 * way_of(free, &point.arms[1]);
    }
}

/// The radius of a ball about the centre of a body's shape that holds it, m.
fn radius<T: Real>(system: &System<T>, body: usize) -> f64 {
    let size = system.parameters.half_extents(body).map(|x| x.value());
    system.model.bodies[body].shape.bounding_radius(size.into())
}

/// How far a point at `distance` from the centre of mass goes at most in the step without contact, m.
fn way_at<T: Real>(free: &FreeBody<T>, distance: f64) -> f64 {
    let speed = |k: usize| {
        let v = |i: usize| free.free_velocity[k + i].value();
        (v(0) * v(0) + v(1) * v(1) + v(2) * v(2)).sqrt()
    };
    free.duration.value() * (speed(0) + speed(3) * distance)
}

fn way_of<T: Real>(free: &FreeBody<T>, arm: &Vector3<T>) -> f64 {
    way_at(free, arm.map(|x| x.value()).norm())
}

fn way<T: Real>(free: &FreeBody<T>, radius: f64) -> f64 {
    way_at(free, radius + free.center_of_mass.map(|x| x.value()).norm())
}

impl<T: Real> ContactPoint<T> {
    /// A point of a body over a half-space: pair, body and feature, gap and arm.
    pub(super) fn of_body(
        (pair, second, feature): (usize, usize, usize),
        plane: &HalfSpace,
        gap: T,
        arm: Vector3<T>,
    ) -> Self {
        let normal = plane.normal.map(T::constant);
        let arms = [Vector3::zeros(), arm];
        let (first, near) = (Solid::HalfSpace(0), false);
        ContactPoint { pair, first, second, feature, gap, lowest: gap, normal, arms, near }
    }

    /// The bodies it is a point of.
    pub fn bodies(&self) -> impl Iterator<Item = usize> {
        let first = match self.first {
            Solid::Body(body) => Some(body),
            Solid::HalfSpace(_) => None,
        };
        first.into_iter().chain([self.second])
    }

    /// Whether velocities at the end of a step, of each body [that of the centre of mass in the world,
    /// the angular one in the body], take the point through its opposite.
    pub fn escapes(&self, free: &[FreeBody<T>], velocities: &[[T; 6]]) -> bool {
        let normal = self.normal.map(|x| x.value());
        let speed = |body: usize, arm: &Vector3<T>| {
            let v = |k: usize| velocities[body][k].value();
            let rotation = free[body].rotation.map(|x| x.value());
            let turning = Vector3::new(v(3), v(4), v(5)).cross(&arm.map(|x| x.value()));
            normal.dot(&(Vector3::new(v(0), v(1), v(2)) + rotation * turning))
        };
        let mut closing = speed(self.second, &self.arms[1]);
        if let Solid::Body(first) = self.first {
            closing -= speed(first, &self.arms[0]);
        }
        let durations = self.bodies().map(|body| free[body].duration.value());
        self.gap.value() + durations.fold(f64::INFINITY, f64::min) * closing < 0.0
    }
}
