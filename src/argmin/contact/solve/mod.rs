//! How the coupled contact problem is solved: `cascade` says which method when.

mod carried;
pub(super) mod cascade;
mod damped_newton;
mod friction_first;
mod gauss_seidel;
pub(super) mod newton;
mod polish;
mod proximal_point;
mod redundancy;
