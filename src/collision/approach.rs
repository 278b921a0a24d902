//! How far bodies go in a step, and how much nearer two of them come.
//!
//! The bodies of a tree of joints go together: two links of an arm that swings come nearer to each other by much less than they move.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::dynamics::{BodySpeed, FreeMotion};
use crate::model::System;

/// The radius of a ball about the centre of a collider that contains it, m.
pub(super) fn radius<T: Real>(system: &System<T>, collider: usize) -> f64 {
    let (size, radius) = system.parameters.core(system.model, collider);
    let size = size.map(|x| x.value());
    system.model.colliders[collider].shape.bounding_radius(size.into()) + radius.value()
}

/// How far a point of a body at `distance` from its centre of mass goes at most at a speed of the body, m.
fn way_at<T: Real>(motion: &FreeMotion<T>, body: usize, speed: &BodySpeed, distance: f64) -> f64 {
    let Some(tree) = motion.bodies[body].tree else { return 0.0 };
    motion.duration(tree).value() * (speed.linear + speed.angular * distance)
}

/// How far the point of a body at `arm` from its centre of mass goes at most in the step without contact, m.
pub(super) fn way_of<T: Real>(motion: &FreeMotion<T>, body: usize, arm: &Vector3<T>) -> f64 {
    way_at(motion, body, &motion.bodies[body].speed, value(arm).norm())
}

/// How far a collider goes at most in the step without contact, m.
pub(super) fn way<T: Real>(system: &System<T>, motion: &FreeMotion<T>, collider: usize) -> f64 {
    let Some(body) = system.model.colliders[collider].body else { return 0.0 };
    way_at_speed(system, motion, collider, &motion.bodies[body].speed)
}

/// The same at a speed of its body.
pub(super) fn way_at_speed<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    collider: usize,
    speed: &BodySpeed,
) -> f64 {
    let model = system.model;
    let Some(body) = model.colliders[collider].body else { return 0.0 };
    let offset = system.parameters.collider_position(model, collider);
    let offset = value(&(offset - motion.bodies[body].center_of_mass));
    way_at(motion, body, speed, radius(system, collider) + offset.norm())
}

/// How much nearer two colliders at `places` come at most at the speeds of their bodies, m, if these are of one tree of joints, or of one and
/// what does not move; infinite otherwise.
pub(super) fn approach<T: Real>(
    system: &System<T>,
    motion: &FreeMotion<T>,
    colliders: [usize; 2],
    places: [Vector3<f64>; 2],
    speed: impl Fn(usize) -> BodySpeed,
) -> f64 {
    let bodies = colliders.map(|k| system.model.colliders[k].body);
    let Some((duration, going)) = together(motion, bodies, speed) else { return f64::INFINITY };
    // Of any point of one of them, as the other sees it.
    let turning = (going[1].turning - going[0].turning).norm();
    let way = |k: usize| {
        let passing = going[1].at(&places[k]) - going[0].at(&places[k]);
        passing.norm() + turning * radius(system, colliders[k])
    };
    duration * way(0).min(way(1))
}

/// How much nearer two points of bodies come at most in the step without contact, m.
pub(super) fn approach_of<T: Real>(
    motion: &FreeMotion<T>,
    bodies: [Option<usize>; 2],
    arms: &[Vector3<T>; 2],
) -> f64 {
    let way = |side: usize| bodies[side].map_or(0.0, |body| way_of(motion, body, &arms[side]));
    let sum = way(0) + way(1);
    let free = |body: usize| motion.bodies[body].speed;
    let Some((duration, going)) = together(motion, bodies, free) else { return sum };
    // Both of what is at one of them: what turns them about each other closes no gap.
    let Some(body) = bodies[1] else { return sum };
    let pose = &motion.bodies[body];
    let place = value(&(pose.position + pose.rotation * (pose.center_of_mass + arms[1])));
    sum.min(duration * (going[1].at(&place) - going[0].at(&place)).norm())
}

/// How a body goes.
#[derive(Default)]
struct Going {
    /// Its centre of mass, m.
    center: Vector3<f64>,
    linear: Vector3<f64>,
    turning: Vector3<f64>,
}

impl Going {
    /// The velocity of what is at a place, m/s.
    fn at(&self, place: &Vector3<f64>) -> Vector3<f64> {
        self.linear + self.turning.cross(&(place - self.center))
    }
}

/// How the bodies of one tree go, or of one and what does not move, and for how long, s; nothing if they are of two.
fn together<T: Real>(
    motion: &FreeMotion<T>,
    bodies: [Option<usize>; 2],
    speed: impl Fn(usize) -> BodySpeed,
) -> Option<(f64, [Going; 2])> {
    let trees = bodies.map(|body| motion.bodies[body?].tree);
    let tree = match trees {
        [Some(first), Some(second)] if first != second => return None,
        [first, second] => first.or(second)?,
    };
    let going = |side: usize| {
        let Some(body) = bodies[side].filter(|_| trees[side].is_some()) else {
            return Some(Going::default());
        };
        let [linear, turning] = speed(body).velocity?;
        let pose = &motion.bodies[body];
        let center = value(&(pose.position + pose.rotation * pose.center_of_mass));
        Some(Going { center, linear, turning })
    };
    Some((motion.duration(tree).value(), [going(0)?, going(1)?]))
}

fn value<T: Real>(v: &Vector3<T>) -> Vector3<f64> {
    v.map(|x| x.value())
}
