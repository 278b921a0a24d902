//! A possible contact, and the list of those within reach.

use nalgebra::Vector3;

use super::{box_half_space, sphere_half_space};
use crate::ad::Real;
use crate::dynamics::FreeBody;
use crate::model::{Shape, System};

/// A point of a body that may touch a half-space.
#[derive(Clone, Copy, Debug)]
pub struct ContactPoint<T> {
    /// The contact pair, an index into [`Model::pairs`](crate::model::Model::pairs).
    pub pair: usize,
    /// Which point of the body: the corner of a box (bits 0, 1, 2: the upper side in x, y, z), 0
    /// for a sphere.
    pub feature: usize,
    /// Distance to the plane along the normal, m; negative if it penetrates.
    pub gap: T,
    /// Gap of the lowest point of the body over the same half-space, m.
    pub lowest: T,
    /// From the centre of mass to the point, in the body, m.
    pub arm: Vector3<T>,
}

/// Lists the points of `body` that may touch a half-space, those within reach first, and returns how
/// many of them are.
///
/// Within reach is a gap of less than twice the way that the fastest point of the body makes in the
/// step without contact. An impact at one end can throw the other further than that: whoever solves
/// the contacts checks the rest with [`ContactPoint::escapes`]. Points that are not touched in the end
/// carry no impulse, so the choice changes cost and nothing else.
pub fn contact_points<T: Real>(
    system: &System<T>,
    free: &FreeBody<T>,
    body: usize,
    points: &mut Vec<ContactPoint<T>>,
) -> usize {
    points.clear();
    let mut near = 0;
    let System { model, parameters, settings } = *system;
    let speed = |k: usize| {
        let v = |i: usize| free.free_velocity[k + i].value();
        (v(0) * v(0) + v(1) * v(1) + v(2) * v(2)).sqrt()
    };
    for (pair, p) in model.pairs.iter().enumerate().filter(|(_, p)| p.body == body) {
        let plane = &model.half_spaces[p.half_space];
        match model.bodies[body].shape {
            Shape::Box => box_half_space::points(parameters, free, body, plane, pair, points),
            Shape::Sphere => sphere_half_space::points(parameters, free, body, plane, pair, points),
        }
    }
    for k in 0..points.len() {
        let arm = points[k].arm.map(|x| x.value());
        let reach = 2.0 * settings.time_step * (speed(0) + speed(3) * arm.norm());
        if points[k].gap.value() <= reach {
            points.swap(near, k);
            near += 1;
        }
    }
    near
}

impl<T: Real> ContactPoint<T> {
    /// Whether a velocity at the end of a step takes the point through its half-space: that of the
    /// centre of mass in the world and the angular one in the body.
    pub fn escapes(&self, system: &System<T>, free: &FreeBody<T>, velocity: &[T]) -> bool {
        let normal = system.model.half_spaces[system.model.pairs[self.pair].half_space].normal;
        let v = |k: usize| velocity[k].value();
        let rotation = free.rotation.map(|x| x.value());
        let turning = Vector3::new(v(3), v(4), v(5)).cross(&self.arm.map(|x| x.value()));
        let speed = normal.dot(&(Vector3::new(v(0), v(1), v(2)) + rotation * turning));
        self.gap.value() + system.settings.time_step * speed < 0.0
    }
}
