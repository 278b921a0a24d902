//! Cameras that look at a scene.

use super::slots::CAMERA;

/// A pinhole camera, fixed to the world or to a body. Where it is, where it looks and how it draws are
/// [parameters](super::Parameters).
#[derive(Clone, Debug, PartialEq)]
pub struct Camera {
    /// Its name.
    pub name: String,
    /// The body it is fixed to; nothing is the world.
    pub body: Option<usize>,
    /// Width and height of its images, px.
    pub size: [usize; 2],
}

/// The numbers of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CameraNumbers<T> {
    /// Where it is, in its body or in the world, m.
    pub eye: [T; 3],
    /// A point that it looks at, likewise.
    pub target: [T; 3],
    /// What is up in its images, likewise, of any length.
    pub up: [T; 3],
    /// The angle over the height of an image, rad.
    pub fov_y: T,
    /// Focal length along rows over that along columns, both in px.
    pub aspect: T,
    /// The point of an image straight ahead, px from its left and upper border.
    pub center: [T; 2],
}

impl<T: Copy> CameraNumbers<T> {
    /// In the order of parameters.
    pub fn flat(&self) -> [T; CAMERA] {
        let CameraNumbers {
            eye: [a, b, c],
            target: [d, e, f],
            up: [g, h, i],
            fov_y,
            aspect,
            center: [j, k],
        } = *self;
        [a, b, c, d, e, f, g, h, i, fov_y, aspect, j, k]
    }

    /// From [`flat`](Self::flat).
    pub fn from_flat([a, b, c, d, e, f, g, h, i, fov_y, aspect, j, k]: [T; CAMERA]) -> Self {
        let [eye, target, up] = [[a, b, c], [d, e, f], [g, h, i]];
        CameraNumbers { eye, target, up, fov_y, aspect, center: [j, k] }
    }
}
