//! How a contact of a guest changes with where the body is that it touches.

use nalgebra::Vector3;

use super::pose_lanes::LANES;

/// A contact of a guest with a body that moves. What changes does so with displacements of its centre of mass and turns about it, in the
/// world, where the guest stays where it is.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GuestSlopes {
    /// The body.
    pub body: usize,
    /// The block of the contact.
    pub block: usize,
    /// Which guest, and the first of the three velocities of the point.
    pub guest: usize,
    pub place: usize,
    /// The rows of the contact.
    pub frame: [[f64; 3]; 3],
    /// From the centre of mass to where it touches, in the world (m).
    pub arm: Vector3<f64>,
    /// The impulse on the guest (N s).
    pub force: Vector3<f64>,
    /// Of the velocities along the rows (1/s), where those of the body and of the guest are held in the world.
    pub rows: [[f64; LANES]; 3],
    /// Of the gap.
    pub gap: [f64; LANES],
    /// Of the impulse on the guest, and of its moment on the body about the centre of mass.
    pub forces: [[f64; LANES]; 3],
    pub moments: [[f64; LANES]; 3],
}
