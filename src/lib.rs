//! Differentiable simulation of rigid contact with friction.

pub mod ad;
pub mod argmin;
pub mod linalg;
