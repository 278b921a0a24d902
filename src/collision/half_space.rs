//! The points of any shape over a half-space.

use nalgebra::Vector3;

use super::lowest::{LEVEL, NEGLIGIBLE, lowest_gap};
use super::{Pose, SurfacePoint};
use crate::ad::Real;
use crate::linalg::norm;
use crate::model::{HeightField, Plane, Polyhedron};

/// Axes of cylinders nearer than this (rad) to the normal have no lowest point of the rim: it goes round
/// too fast. The four fixed ones are there instead, at most 0.03 % of the radius too high.
const UPRIGHT: f64 = 1e-3;

/// Cylinders further from upright than this (sine of the angle) do not stand on the points of a cap.
const LEANING: f64 = 0.5;

/// The half-space as the shape sees it: its normal, and the height of the origin over it.
pub(super) struct Ground<T> {
    normal: Vector3<T>,
    height: T,
}

impl<T: Real> Ground<T> {
    /// Seen from the shape the gap of a point is one dot product away.
    pub fn seen_from(pose: &Pose<T>, plane: &Plane<T>) -> Ground<T> {
        let normal = pose.rotation.transpose() * plane.normal;
        let height = plane.normal.dot(&pose.position) - plane.offset;
        Ground { normal, height }
    }

    fn gap(&self, point: &Vector3<T>) -> T {
        self.height + self.normal.dot(point)
    }

    /// By how much the gap of a point grows along the axes, before it is scaled.
    fn slopes(&self, scale: &Vector3<T>) -> Vector3<f64> {
        self.normal.map(|x| x.value()).component_mul(&scale.map(|x| x.value()))
    }

    fn point(&self, feature: usize, point: Vector3<T>) -> SurfacePoint<T> {
        let gap = self.gap(&point);
        SurfacePoint { feature, gap, at: point, lowest: gap }
    }
}

/// Gives all points the height of the lowest, `size` being that of the shape.
fn level<T: Real>(points: &mut [SurfacePoint<T>], size: T) {
    let lowest = lowest_gap(points.iter().map(|point| point.gap), size * LEVEL);
    for point in points {
        point.lowest = lowest;
    }
}

/// The corners of a box.
pub(super) fn corners<T: Real>(
    size: Vector3<T>,
    ground: &Ground<T>,
    out: &mut Vec<SurfacePoint<T>>,
) {
    let start = out.len();
    out.extend((0..8).map(|feature| {
        let side = |axis: usize, x: T| if feature >> axis & 1 == 1 { x } else { -x };
        let corner = Vector3::new(side(0, size.x), side(1, size.y), side(2, size.z));
        ground.point(feature, corner)
    }));
    level(&mut out[start..], norm(size.as_slice()));
}

/// The lowest point of a ball.
pub(super) fn ball<T: Real>(radius: T, ground: &Ground<T>, out: &mut Vec<SurfacePoint<T>>) {
    let point = ground.normal * (-radius);
    let gap = ground.height - radius;
    out.push(SurfacePoint { feature: 0, gap, at: point, lowest: gap });
}

/// The lowest points of both ends of a capsule.
pub(super) fn ends<T: Real>(size: Vector3<T>, ground: &Ground<T>, out: &mut Vec<SurfacePoint<T>>) {
    let start = out.len();
    let Ground { normal, height } = *ground;
    for (feature, end) in [-size.y, size.y].into_iter().enumerate() {
        let gap = height + normal.z * end - size.x;
        let point = Vector3::new(T::zero(), T::zero(), end) - normal * size.x;
        out.push(SurfacePoint { feature, gap, at: point, lowest: gap });
    }
    level(&mut out[start..], size.x + size.y);
}

/// Upright, a cylinder stands on four points of a rim; tilted, on the lowest point of it; lying, on that
/// of each.
pub(super) fn rims<T: Real>(size: Vector3<T>, ground: &Ground<T>, out: &mut Vec<SurfacePoint<T>>) {
    let [radius, half] = [size.x, size.y];
    let Ground { normal, height } = *ground;
    let start = out.len();
    let slope = [normal.x, normal.y];
    let sine = norm(&slope);
    let standing = usize::from(normal.z.value() < 0.0);
    for (cap, z) in [-half, half].into_iter().enumerate() {
        if cap == standing && sine.value() <= LEANING {
            let zero = T::zero();
            for (k, x) in [radius, -radius].into_iter().enumerate() {
                out.push(ground.point(4 * cap + 2 * k, Vector3::new(x, zero, z)));
                out.push(ground.point(4 * cap + 2 * k + 1, Vector3::new(zero, x, z)));
            }
        }
        if sine.value() > UPRIGHT {
            let out_by = -radius / sine;
            let rim = Vector3::new(slope[0] * out_by, slope[1] * out_by, z);
            let gap = height + normal.z * z - radius * sine;
            out.push(SurfacePoint { feature: 8 + cap, gap, at: rim, lowest: gap });
        }
    }
    // The lowest point of a cap as a function of the slope has a kink where the axis is upright.
    let blunt = (slope[0] * slope[0] + slope[1] * slope[1] + LEVEL * LEVEL).sqrt() - LEVEL;
    let caps = [-half, half].map(|z| height + normal.z * z - radius * blunt);
    let lowest = lowest_gap(caps.into_iter(), norm(&[radius, half]) * LEVEL);
    for point in &mut out[start..] {
        point.lowest = lowest;
    }
}

/// The vertices of a polyhedron that are in reach.
pub(super) fn vertices<T: Real>(
    polyhedron: &Polyhedron,
    scale: Vector3<T>,
    ground: &Ground<T>,
    reach: f64,
    out: &mut Vec<SurfacePoint<T>>,
) {
    let size = polyhedron.half_extents().map(T::constant).component_mul(&scale);
    let least = ground.height.value() + polyhedron.lowest(&ground.slopes(&scale)).1;
    let points = polyhedron.vertices().iter().copied();
    within(points, scale, ground, [least, reach], norm(size.as_slice()), out);
}

/// The nodes of a height field that are in reach.
pub(super) fn nodes<T: Real>(
    field: &HeightField,
    scale: Vector3<T>,
    ground: &Ground<T>,
    reach: f64,
    out: &mut Vec<SurfacePoint<T>>,
) {
    let [x, y] = field.half_extents();
    let size = Vector3::new(x, y, 0.0).map(T::constant).component_mul(&scale);
    let all = (0..field.rows()).flat_map(|row| (0..field.columns()).map(move |k| (row, k)));
    let points = all.map(|(row, column)| field.vertex(row, column));
    let slopes = ground.slopes(&scale);
    let heights = points.clone().map(|point| slopes.dot(&point));
    let least = ground.height.value() + heights.fold(f64::INFINITY, f64::min);
    within(points, scale, ground, [least, reach], norm(size.as_slice()), out);
}

/// Pushes those of the points, scaled, that are in reach; the lowest is `least` (m) above the half-space.
fn within<T: Real>(
    points: impl Iterator<Item = Vector3<f64>> + Clone,
    scale: Vector3<T>,
    ground: &Ground<T>,
    [least, reach]: [f64; 2],
    size: T,
    out: &mut Vec<SurfacePoint<T>>,
) {
    let slopes = ground.slopes(&scale);
    let height = ground.height.value();
    let rise = |point: &Vector3<f64>| height + slopes.dot(point);
    if least > reach {
        return;
    }
    let place = |point: Vector3<f64>| point.map(T::constant).component_mul(&scale);
    let width = size * LEVEL;
    let bears = least + NEGLIGIBLE * width.value();
    let low = points.clone().filter(|point| rise(point) <= bears);
    let lowest = lowest_gap(low.map(|point| ground.gap(&place(point))), width);
    for (feature, point) in points.enumerate() {
        if rise(&point) <= reach {
            out.push(SurfacePoint { lowest, ..ground.point(feature, place(point)) });
        }
    }
}
