//! A disk or ball and a wall.

use super::disks::surface_point;
use super::tangents::tangents;
use crate::ad::Real;
use crate::maximal::point_layout::PointLayout;
use crate::maximal::point_rows::PointRows;

/// A half-space that points must not enter: normal'x + offset >= 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wall {
    /// Unit normal, out of the wall.
    pub normal: [f64; 3],
    /// Of the origin (m).
    pub offset: f64,
}

impl Wall {
    /// How far a point is from it.
    pub(super) fn distance<T: Real>(&self, point: [T; 3]) -> T {
        let products = point.iter().zip(self.normal).map(|(&x, n)| x * n);
        products.fold(T::constant(self.offset), |sum, x| sum + x)
    }

    pub(super) fn check(&self, dimension: usize) -> Result<(), String> {
        let length = self.normal.iter().map(|n| n * n).sum::<f64>().sqrt();
        if (length - 1.0).abs() > 1e-9 || length.is_nan() {
            return Err(format!("a wall's normal must have length 1, found {length}"));
        }
        if dimension == 2 && self.normal[2] != 0.0 {
            return Err("a wall's normal must be in the plane".into());
        }
        if !self.offset.is_finite() {
            return Err(format!("a wall's offset must be finite, found {}", self.offset));
        }
        Ok(())
    }
}

/// The place of a point.
pub(super) fn place<T: Real>(layout: &PointLayout, point: usize, x: &[T]) -> [T; 3] {
    let d = layout.dimension();
    std::array::from_fn(|k| if k < d { x[point * d + k] } else { T::zero() })
}

pub(super) fn gap(layout: &PointLayout, body: usize, wall: &Wall, x: &[f64]) -> f64 {
    wall.distance(place(layout, layout.centre(body), x)) - layout.bodies()[body].radius
}

/// The motion of the surface away from the wall, and along it.
pub(super) fn rows<T: Real>(
    layout: &PointLayout,
    body: usize,
    wall: &Wall,
    x: &[T],
    rows: &mut PointRows<T>,
) -> T {
    let normal = wall.normal.map(T::constant);
    let (across, count) = tangents(normal, layout.dimension());
    for direction in std::iter::once(normal).chain(across.into_iter().take(count)) {
        surface_point(layout, body, x, normal.map(|n| -n), direction, rows);
        rows.end_row();
    }
    wall.distance(place(layout, layout.centre(body), x)) - layout.bodies()[body].radius
}
