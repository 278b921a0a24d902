//! The bend between two segments within limits.

use super::stretch::{push, segment};
use super::tangents::turned;
use crate::ad::Real;
use crate::maximal::point_rows::PointRows;

/// By how much the second segment is turned against the first (rad), -pi to pi.
pub(super) fn angle<T: Real>([a, b, c]: [Option<usize>; 3], anchor: [f64; 3], x: &[T]) -> T {
    let (u, w) = (segment(a, b, anchor, x), segment(b, c, anchor, x));
    (u[0] * w[1] - u[1] * w[0]).atan2(u[0] * w[0] + u[1] * w[1])
}

pub(super) fn rows<T: Real>(
    [a, b, c]: [Option<usize>; 3],
    anchor: [f64; 3],
    limit: f64,
    x: &[T],
    rows: &mut PointRows<T>,
) -> T {
    let bend = angle([a, b, c], anchor, x);
    let sign = if bend.value() > 0.0 { -1.0 } else { 1.0 };
    // A segment w turns at turned(w) . dw / |w|^2.
    let turn = |from, to| {
        let w = segment(from, to, anchor, x);
        let square = w[0] * w[0] + w[1] * w[1];
        turned(w).map(|t| t / square * sign)
    };
    let (first, second) = (turn(a, b), turn(b, c));
    for (first, second) in [(first, second), (turned(first), turned(second))] {
        push(c, second, rows);
        push(b, std::array::from_fn(|k| -second[k] - first[k]), rows);
        push(a, first, rows);
        rows.end_row();
    }
    bend * sign + limit
}
