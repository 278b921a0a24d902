//! The nearest points of two simple features, points and lines, and the direction between them (`Ericson05` 5.1).

use nalgebra::Vector3;

use super::Witness;
use crate::ad::Real;
use crate::linalg::norm;

/// Features nearer to each other than this fraction of a size have no direction of their own: theirs,
/// a quotient, would have derivatives without bounds.
pub(super) const TOUCHING: f64 = 1e-9;

/// A line through a point, along a unit vector.
#[derive(Clone, Copy)]
pub(super) struct Line<T> {
    pub origin: Vector3<T>,
    pub direction: Vector3<T>,
}

impl<T: Real> Line<T> {
    pub fn value(&self) -> Line<f64> {
        Line {
            origin: self.origin.map(|x| x.value()),
            direction: self.direction.map(|x| x.value()),
        }
    }

    /// The foot of a point on it.
    pub fn foot(&self, point: &Vector3<T>) -> Vector3<T> {
        self.origin + self.direction * self.direction.dot(&(point - self.origin))
    }
}

/// Where two features are nearest.
pub(super) struct Nearest<T> {
    /// Along the normal, m.
    pub distance: T,
    /// Unit vector from the first to the second.
    pub normal: Vector3<T>,
    /// The point of the first.
    pub first: Vector3<T>,
}

impl<T: Real> Nearest<T> {
    /// Two points; `otherwise` is the normal where they are nearer than `touching` (m).
    pub fn of_points(
        first: Vector3<T>,
        second: Vector3<T>,
        otherwise: Vector3<T>,
        touching: f64,
    ) -> Self {
        let offset = second - first;
        let distance = norm(offset.as_slice());
        if distance.value() > touching {
            Nearest { distance, normal: offset / distance, first }
        } else {
            Nearest { distance: otherwise.dot(&offset), normal: otherwise, first }
        }
    }

    /// The nearest points of a line and a point.
    pub fn of_line_and_point(
        line: &Line<T>,
        point: Vector3<T>,
        otherwise: Vector3<T>,
        touching: f64,
    ) -> Self {
        Nearest::of_points(line.foot(&point), point, otherwise, touching)
    }

    /// The nearest points of a point and a line.
    pub fn of_point_and_line(
        point: Vector3<T>,
        line: &Line<T>,
        otherwise: Vector3<T>,
        touching: f64,
    ) -> Self {
        Nearest::of_points(point, line.foot(&point), otherwise, touching)
    }

    /// The nearest points of two lines that are not parallel, with the normal on the side of `upward`. The distance is
    /// negative where they have passed each other.
    pub fn of_lines(first: &Line<T>, second: &Line<T>, upward: &Vector3<f64>) -> Self {
        let (a, b) = (first.direction, second.direction);
        let offset = second.origin - first.origin;
        let cross = a.cross(&b);
        let square = cross.dot(&cross);
        let root = square.sqrt();
        let upper = upward.dot(&cross.map(|x| x.value())) >= 0.0;
        let normal = cross / if upper { root } else { -root };
        // offset + t b - s a is perpendicular to a and b: s = (offset x b).(a x b) / |a x b|²
        let s = offset.cross(&b).dot(&cross) / square;
        Nearest { distance: normal.dot(&offset), normal, first: first.origin + a * s }
    }

    /// The contact of surfaces at these distances from the two.
    pub fn witness(&self, feature: usize, radii: [T; 2]) -> Witness<T> {
        let Nearest { distance, normal, first } = *self;
        Witness::single(feature, distance - radii[0] - radii[1], normal, first + normal * radii[0])
    }
}

/// A unit vector perpendicular to a unit vector.
pub(super) fn perpendicular<T: Real>(to: &Vector3<T>) -> Vector3<T> {
    let value = to.map(|x| x.value().abs());
    let least = (1..3).fold(0, |best, k| if value[k] < value[best] { k } else { best });
    let cross = to.cross(&Vector3::ith(least, T::one()));
    cross / norm(cross.as_slice())
}
