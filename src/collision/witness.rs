//! Where two shapes are, and where they may touch.

use nalgebra::{Matrix3, Vector3};

use crate::ad::Real;

/// Where a shape is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose<T> {
    /// Rotation from body to world.
    pub rotation: Matrix3<T>,
    /// The centre of the shape in the world, m.
    pub position: Vector3<T>,
}

impl<T: Real> Pose<T> {
    /// The pose without derivatives.
    pub fn value(&self) -> Pose<f64> {
        Pose {
            rotation: self.rotation.map(|x| x.value()),
            position: self.position.map(|x| x.value()),
        }
    }

    /// The world as seen from here.
    pub(super) fn inverse(&self) -> Pose<T> {
        let rotation = self.rotation.transpose();
        Pose { rotation, position: -(rotation * self.position) }
    }

    /// `other` as seen from here.
    pub(super) fn relative(&self, other: &Pose<T>) -> Pose<T> {
        let to_body = self.rotation.transpose();
        Pose {
            rotation: to_body * other.rotation,
            position: to_body * (other.position - self.position),
        }
    }
}

/// A point of a shape that may touch a half-space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfacePoint<T> {
    /// Which point: unique within the shape, and the same from step to step while the same features touch.
    pub feature: usize,
    /// Distance from the half-space, m; negative if it penetrates.
    pub gap: T,
    /// The point in the shape's own frame, m.
    pub at: Vector3<T>,
    /// Gap of the lowest point of the shape, smoothed, m: the height at which friction acts.
    pub lowest: T,
}

/// A possible contact of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Witness<T> {
    /// Which features touch: unique within the pair, below [`features`](super::features()), and the same from
    /// step to step while the same features touch.
    pub feature: usize,
    /// Distance along the normal, m; negative if the shapes penetrate.
    pub gap: T,
    /// Unit vector in the world, from the first shape to the second.
    pub normal: Vector3<T>,
    /// A point on the surface of each shape, in the world, m: the second is the first plus gap times
    /// normal.
    pub points: [Vector3<T>; 2],
    /// Gap of the lowest point of the manifold, smoothed, m: the height at which friction acts.
    pub lowest: T,
}

impl<T: Real> Witness<T> {
    /// The only contact of a pair.
    pub(super) fn single(feature: usize, gap: T, normal: Vector3<T>, first: Vector3<T>) -> Self {
        Witness { feature, gap, normal, points: [first, first + normal * gap], lowest: gap }
    }

    /// A contact that is known in the frame of a body at `pose`, in the world.
    pub(super) fn moved(self, pose: &Pose<T>) -> Self {
        let points = self.points.map(|point| pose.position + pose.rotation * point);
        Witness { normal: pose.rotation * self.normal, points, ..self }
    }

    /// This contact with the shapes in the other order.
    pub fn flipped(self) -> Self {
        let Witness { normal, points: [first, second], .. } = self;
        Witness { normal: -normal, points: [second, first], ..self }
    }
}

/// Every [`Witness::feature`] of two boxes is below. Of other shapes: see [`features`](super::features()).
pub const FEATURES: usize = 1104;
