//! A rim of points and a wall: the deepest point touches.

use super::tangents::tangents;
use super::wall::{Wall, place};
use crate::ad::Real;
use crate::maximal::point_layout::PointLayout;
use crate::maximal::point_rows::PointRows;

/// Weights of a body's centre and first two axes for a point of its rim.
fn weights([a, b]: [f64; 2]) -> [f64; 3] {
    [1.0 - a - b, a, b]
}

/// How far a point of the rim is from the wall.
fn distance<T: Real>(layout: &PointLayout, body: usize, at: [f64; 2], wall: &Wall, x: &[T]) -> T {
    let centre = layout.centre(body);
    let mut point = [T::zero(); 3];
    for (k, weight) in weights(at).into_iter().enumerate() {
        let place = place(layout, centre + k, x);
        point = std::array::from_fn(|i| point[i] + place[i] * weight);
    }
    wall.distance(point)
}

/// Which point of the rim is the deepest, the first of equals, and its gap.
pub(super) fn deepest<T: Real>(
    layout: &PointLayout,
    body: usize,
    rim: &[[f64; 2]],
    wall: &Wall,
    x: &[T],
) -> (usize, f64) {
    let distance = |&at: &[f64; 2]| distance(layout, body, at, wall, x).value();
    let distances = rim.iter().map(distance).enumerate();
    distances.fold((0, f64::INFINITY), |best, now| if now.1 < best.1 { now } else { best })
}

pub(super) fn rows<T: Real>(
    layout: &PointLayout,
    body: usize,
    rim: &[[f64; 2]],
    wall: &Wall,
    x: &[T],
    rows: &mut PointRows<T>,
) -> T {
    let at = rim[deepest(layout, body, rim, wall, x).0];
    let normal = wall.normal.map(T::constant);
    let (across, count) = tangents(normal, layout.dimension());
    for direction in std::iter::once(normal).chain(across.into_iter().take(count)) {
        for (k, weight) in weights(at).into_iter().enumerate() {
            rows.push(layout.centre(body) + k, direction.map(|t| t * weight));
        }
        rows.end_row();
    }
    distance(layout, body, at, wall, x)
}
