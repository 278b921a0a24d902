//! A length within limits.

use super::tangents::turned;
use crate::ad::Real;
use crate::maximal::point_rows::PointRows;

/// From the first end to the second, in the plane.
pub(super) fn segment<T: Real>(
    from: Option<usize>,
    to: Option<usize>,
    anchor: [f64; 3],
    x: &[T],
) -> [T; 3] {
    let place = |point: Option<usize>, k: usize| match point {
        Some(p) => x[2 * p + k],
        None => T::constant(anchor[k]),
    };
    [place(to, 0) - place(from, 0), place(to, 1) - place(from, 1), T::zero()]
}

pub(super) fn length<T: Real>([from, to]: [Option<usize>; 2], anchor: [f64; 3], x: &[T]) -> T {
    let [a, b, _] = segment(from, to, anchor, x);
    (a * a + b * b).sqrt()
}

pub(super) fn rows<T: Real>(
    [from, to]: [Option<usize>; 2],
    anchor: [f64; 3],
    [least, most]: [f64; 2],
    x: &[T],
    rows: &mut PointRows<T>,
) -> T {
    let w = segment(from, to, anchor, x);
    let length = length([from, to], anchor, x);
    let is_long = most - length.value() < length.value() - least;
    let sign = if is_long { -1.0 } else { 1.0 };
    let u = w.map(|w| w / length * sign);
    for direction in [u, turned(u)] {
        push(to, direction, rows);
        push(from, direction.map(|d| -d), rows);
        rows.end_row();
    }
    if is_long { -length + most } else { length - least }
}

/// An entry, unless it is of the world.
pub(super) fn push<T: Real>(point: Option<usize>, entry: [T; 3], rows: &mut PointRows<T>) {
    if let Some(point) = point {
        rows.push(point, entry);
    }
}
