//! Surfaces that rub one way otherwise than the other.

use nalgebra::Vector3;

/// The direction along which the friction of a pair is `mu`; across it, it is `mu_across`. It is fixed to one of the two
/// solids, and what counts of it is what lies in the plane of the contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// The side it is fixed to: 0 is the first solid of the pair, 1 the second.
    pub side: usize,
    /// Unit, in the frame of the body, or of the world where the solid is fixed to that.
    pub axis: Vector3<f64>,
}
