//! A pinhole camera: points of the world in homogeneous coordinates of its image.

use nalgebra::Vector3;

use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::model::{Camera, CameraNumbers, Model, Parameters};

/// A camera in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pinhole<T> {
    /// Where it is, m.
    pub eye: Vector3<T>,
    /// Unit vectors in the world to the right, down and ahead.
    pub axes: [Vector3<T>; 3],
    /// Focal lengths along rows and columns, px.
    pub focal: [T; 2],
    /// The point straight ahead, px from the left and the upper border.
    pub center: [T; 2],
}

/// Numbers of [`Pinhole::flat`].
pub(super) const PINHOLE: usize = 16;

impl Pinhole<f64> {
    /// A camera that sees all of a box, given by its least and greatest corner (m), from aside and above, in an image of this size
    /// (px).
    pub fn around([low, high]: [[f64; 3]; 2], [width, height]: [usize; 2]) -> Pinhole<f64> {
        let [low, high] = [low, high].map(Vector3::from);
        let (middle, reach) = (0.5 * (low + high), (0.5 * (high - low)).norm().max(1e-6));
        let half = 20.0_f64.to_radians();
        let aside = Vector3::new(0.9, -1.6, 0.85).normalize();
        let eye = middle + aside * (1.05 * reach / half.sin());
        let right = (-aside).cross(&Vector3::z()).normalize();
        let focal = 0.5 * width.min(height) as f64 / half.tan();
        Pinhole {
            eye,
            axes: [right, (-aside).cross(&right), -aside],
            focal: [focal; 2],
            center: [0.5 * width as f64, 0.5 * height as f64],
        }
    }
}

impl<T: Real> Pinhole<T> {
    /// A camera of a scene, where its body is.
    pub fn of(
        model: &Model,
        parameters: &Parameters<T>,
        kinematics: &Kinematics<T>,
        camera: usize,
    ) -> Pinhole<T> {
        let Camera { body, size, .. } = &model.cameras[camera];
        let CameraNumbers { eye, target, up, fov_y, aspect, center } =
            parameters.camera(model, camera);
        let [mut eye, target, mut up] = [eye, target, up].map(Vector3::from);
        let mut ahead = target - eye;
        if let Some(body) = *body {
            let pose = &kinematics.bodies[body];
            (eye, ahead, up) =
                (pose.position + pose.rotation * eye, pose.rotation * ahead, pose.rotation * up);
        }
        let unit = |v: Vector3<T>| v / v.dot(&v).sqrt();
        let ahead = unit(ahead);
        let right = unit(ahead.cross(&up));
        let along_columns = T::constant(size[1] as f64 / 2.0) / (fov_y * 0.5).tan();
        Pinhole {
            eye,
            axes: [right, ahead.cross(&right), ahead],
            focal: [along_columns * aspect, along_columns],
            center,
        }
    }

    /// (x z, y z, z) of a point of the world, with x and y in px and the depth z in m.
    pub fn homogeneous(&self, point: &Vector3<T>) -> Vector3<T> {
        let away = point - self.eye;
        let [x, y, z] = self.axes.map(|axis| axis.dot(&away));
        let [fx, fy] = self.focal;
        let [cx, cy] = self.center;
        Vector3::new(x * fx + z * cx, y * fy + z * cy, z)
    }

    /// Eye, axes, focal lengths and centre in one list.
    pub(super) fn flat(&self) -> [T; PINHOLE] {
        let [right, down, ahead] = &self.axes;
        let ([fx, fy], [cx, cy]) = (self.focal, self.center);
        let mut flat = [T::zero(); PINHOLE];
        for (k, v) in [&self.eye, right, down, ahead].into_iter().enumerate() {
            flat[3 * k..3 * k + 3].copy_from_slice(v.as_slice());
        }
        flat[12..].copy_from_slice(&[fx, fy, cx, cy]);
        flat
    }

    /// From [`flat`](Self::flat).
    pub(super) fn from_flat(flat: &[T]) -> Pinhole<T> {
        let vector = |k: usize| Vector3::new(flat[3 * k], flat[3 * k + 1], flat[3 * k + 2]);
        Pinhole {
            eye: vector(0),
            axes: [1, 2, 3].map(vector),
            focal: [flat[12], flat[13]],
            center: [flat[14], flat[15]],
        }
    }

    /// Adds what the adjoint `g` of the homogeneous coordinates of a point makes of the camera to `to` (as [`flat`](Self::flat)),
    /// and returns that of the point.
    pub(super) fn pull_back(&self, point: &Vector3<T>, g: &Vector3<T>, to: &mut [T]) -> Vector3<T> {
        let away = point - self.eye;
        let ([fx, fy], [cx, cy]) = (self.focal, self.center);
        let along = [g.x * fx, g.y * fy, g.x * cx + g.y * cy + g.z];
        let mut of_point = Vector3::zeros();
        for (k, (axis, &weight)) in self.axes.iter().zip(&along).enumerate() {
            of_point += axis * weight;
            for i in 0..3 {
                to[3 * (k + 1) + i] += away[i] * weight;
            }
        }
        for i in 0..3 {
            to[i] -= of_point[i];
        }
        let [x, y, z] = self.axes.map(|axis| axis.dot(&away));
        for (to, change) in to[12..].iter_mut().zip([g.x * x, g.y * y, g.x * z, g.y * z]) {
            *to += change;
        }
        of_point
    }

    /// How the homogeneous coordinates of a point change, which moves by `dp`, with the camera, by `change` (as
    /// [`flat`](Self::flat)).
    pub(super) fn push_forward(
        &self,
        point: &Vector3<T>,
        dp: &Vector3<T>,
        change: &Pinhole<T>,
    ) -> Vector3<T> {
        let (away, moved) = (point - self.eye, dp - change.eye);
        let along = |k: usize| self.axes[k].dot(&away);
        let changed = |k: usize| self.axes[k].dot(&moved) + change.axes[k].dot(&away);
        let ([fx, fy], [cx, cy]) = (self.focal, self.center);
        let ([dfx, dfy], [dcx, dcy]) = (change.focal, change.center);
        Vector3::new(
            changed(0) * fx + along(0) * dfx + changed(2) * cx + along(2) * dcx,
            changed(1) * fy + along(1) * dfy + changed(2) * cy + along(2) * dcy,
            changed(2),
        )
    }
}
