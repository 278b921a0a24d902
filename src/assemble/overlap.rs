//! How deep two shapes are in each other.

use nalgebra::{Matrix3, Vector3};

use crate::collision::{Pose, round_witnesses, witnesses};
use crate::model::Shape;

/// A shape in the world: its form, sizes, rotation and position.
pub(super) struct Placed<'a> {
    pub shape: &'a Shape,
    /// Of its core, and the radius by which it is larger.
    pub size: [f64; 3],
    pub radius: f64,
    pub rotation: Matrix3<f64>,
    pub position: Vector3<f64>,
}

impl Placed<'_> {
    /// How far the body reaches from its position along a unit vector of the world, m.
    pub fn reach(&self, axis: Vector3<f64>) -> f64 {
        self.shape.reach(self.size, self.rotation.transpose() * axis) + self.radius
    }

    /// Its least half extent, m.
    pub fn thickness(&self) -> f64 {
        self.shape.thickness(self.size) + self.radius
    }

    fn bounding_radius(&self) -> f64 {
        self.shape.bounding_radius(self.size) + self.radius
    }

    /// The directions in which it may have a face or an edge that counts.
    fn axes(&self) -> impl Iterator<Item = Vector3<f64>> + Clone + '_ {
        let boxed = *self.shape == Shape::Box;
        (0..3).filter(move |_| boxed).map(|k| self.rotation.column(k).into_owned())
    }
}

/// The shapes that may touch and whose enclosing balls overlap, two and two, in ascending order: by sorting along one axis.
/// Nothing if there are more than `most`.
pub(super) fn near(
    places: &[Placed],
    most: usize,
    may_touch: impl Fn(usize, usize) -> bool,
) -> Option<Vec<(usize, usize)>> {
    let places = places.iter().enumerate();
    let balls = places.map(|(k, place)| (k, place.position, place.bounding_radius()));
    let mut balls: Vec<(usize, Vector3<f64>, f64)> = balls.collect();
    let centers = || balls.iter().map(|ball| ball.1);
    let (low, high) = (centers().reduce(|a, b| a.inf(&b)), centers().reduce(|a, b| a.sup(&b)));
    let (Some(low), Some(high)) = (low, high) else { return Some(Vec::new()) };
    let axis = (high - low).imax();
    balls.sort_by(|a, b| (a.1[axis] - a.2).total_cmp(&(b.1[axis] - b.2)));
    let mut near = Vec::new();
    for (place, &(a, center, radius)) in balls.iter().enumerate() {
        let begins =
            |ball: &&(usize, Vector3<f64>, f64)| ball.1[axis] - ball.2 <= center[axis] + radius;
        for &(b, other, other_radius) in balls[place + 1..].iter().take_while(begins) {
            let pair = (a.min(b), a.max(b));
            if (other - center).norm() <= radius + other_radius && may_touch(pair.0, pair.1) {
                if near.len() == most {
                    return None;
                }
                near.push(pair);
            }
        }
    }
    near.sort_unstable();
    Some(near)
}

/// How far two shapes would have to be moved for them to be apart, m; not positive if they are: the least distance
/// of boxes and balls, of others that along the normals of the contacts a step finds.
pub(super) fn depth(first: &Placed, second: &Placed) -> f64 {
    let radius = first.radius + second.radius;
    match [first.shape, second.shape] {
        [Shape::Box, Shape::Box] if radius > 0.0 => depth_of_points(first, second),
        [Shape::Box, Shape::Sphere] => depth_of_ball(first, second),
        [Shape::Sphere, Shape::Box] => depth_of_ball(second, first),
        [Shape::Box, Shape::Box] | [Shape::Sphere, Shape::Sphere] => depth_by_axes(first, second),
        _ => depth_of_points(first, second),
    }
}

/// By the contacts that a step finds.
fn depth_of_points(first: &Placed, second: &Placed) -> f64 {
    let shapes = [first.shape, second.shape];
    let [a, b] = [first, second].map(|of| Pose { rotation: of.rotation, position: of.position });
    let sizes = [first, second].map(|of| Vector3::from(of.size));
    let radius = first.radius + second.radius;
    let mut found = Vec::new();
    witnesses(shapes, [&a, &b], sizes, radius, &mut found);
    if radius > 0.0 && found.iter().all(|witness| witness.gap > 0.0) {
        round_witnesses(shapes, [&a, &b], sizes, radius, &mut found);
    }
    found.iter().map(|witness| radius - witness.gap).fold(0.0, f64::max)
}

/// The least half extent or radius of two shapes, m. The ground of a height field has none.
pub(super) fn least_thickness(first: &Placed, second: &Placed) -> f64 {
    let solid = [first, second].into_iter().filter(|of| of.shape.is_solid());
    solid.map(Placed::thickness).fold(f64::INFINITY, f64::min)
}

/// Of a box and a ball.
fn depth_of_ball(cuboid: &Placed, ball: &Placed) -> f64 {
    let center = cuboid.rotation.transpose() * (ball.position - cuboid.position);
    let beyond = center.abs() - Vector3::from(cuboid.size);
    let outside = beyond.map(|x| x.max(0.0)).norm();
    let distance = if outside > 0.0 { outside } else { beyond.max() };
    ball.size[0] + cuboid.radius - distance
}

/// Of two boxes or of two balls, along the axes that can separate them.
fn depth_by_axes(first: &Placed, second: &Placed) -> f64 {
    let apart = second.position - first.position;
    let faces = first.axes().chain(second.axes());
    let edges = first.axes().flat_map(|a| second.axes().map(move |b| a.cross(&b)));
    let all = faces.chain(edges).chain([apart]);
    let overlap =
        |axis: Vector3<f64>| first.reach(axis) + second.reach(axis) - apart.dot(&axis).abs();
    let unit = all.filter_map(|axis| axis.try_normalize(1e-6));
    let least = unit.map(overlap).fold(f64::INFINITY, f64::min);
    // Two balls at one place.
    if least.is_finite() { least } else { overlap(Vector3::z()) }
}
