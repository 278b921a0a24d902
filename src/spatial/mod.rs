//! Rotations and rigid motions.

mod rotation;

pub use rotation::{
    Quaternion, conjugate, cross_matrix, exp, left_jacobian, log, normalized, product,
    rotation_matrix,
};
