//! Two disks, or balls in space.

use super::tangents::tangents;
use crate::ad::Real;
use crate::maximal::point_layout::{ExtendedBody, PointLayout};
use crate::maximal::point_rows::{PointRows, dot};

/// From the first centre to the second.
fn between<T: Real>(layout: &PointLayout, [i, j]: [usize; 2], x: &[T]) -> ([T; 3], T) {
    let d = layout.dimension();
    let (p, q) = (layout.centre(i), layout.centre(j));
    let w = std::array::from_fn(|k| if k < d { x[q * d + k] - x[p * d + k] } else { T::zero() });
    (w, dot(&w, &w, d).sqrt())
}

pub(super) fn gap(layout: &PointLayout, [i, j]: [usize; 2], x: &[f64]) -> f64 {
    let (_, distance) = between(layout, [i, j], x);
    distance - layout.bodies()[i].radius - layout.bodies()[j].radius
}

/// The motion of the second along the line of centres, and across it.
pub(super) fn rows<T: Real>(
    layout: &PointLayout,
    [i, j]: [usize; 2],
    x: &[T],
    rows: &mut PointRows<T>,
) -> T {
    let (w, distance) = between(layout, [i, j], x);
    let e = w.map(|w| w / distance);
    let (across, count) = tangents(e, layout.dimension());
    for direction in std::iter::once(e).chain(across.into_iter().take(count)) {
        surface_point(layout, i, x, e, direction.map(|d| -d), rows);
        surface_point(layout, j, x, e.map(|e| -e), direction, rows);
        rows.end_row();
    }
    distance - layout.bodies()[i].radius - layout.bodies()[j].radius
}

/// Entries of a row that is the motion of a body's surface, where it is farthest along `e`, in a direction. Of a disk with axes
/// that point is x_0 + sum r (e . e_k)(x_k - x_0), else it moves as the centre.
pub(super) fn surface_point<T: Real>(
    layout: &PointLayout,
    body: usize,
    x: &[T],
    e: [T; 3],
    direction: [T; 3],
    rows: &mut PointRows<T>,
) {
    let (centre, d) = (layout.centre(body), layout.dimension());
    let ExtendedBody { axes, radius } = layout.bodies()[body];
    let mut rest = T::constant(1.0);
    for k in 1..=axes {
        let axis: [T; 3] = std::array::from_fn(|i| {
            if i < d { x[(centre + k) * d + i] - x[centre * d + i] } else { T::zero() }
        });
        let weight = dot(&e, &axis, d) * radius;
        rest -= weight;
        rows.push(centre + k, direction.map(|t| t * weight));
    }
    rows.push(centre, direction.map(|t| t * rest));
}
