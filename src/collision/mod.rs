//! Where bodies may touch: contact points, chosen in `f64`, evaluated in `T`. One file a pair of
//! shapes.

mod box_half_space;
mod point;
mod sphere_half_space;

pub use point::{ContactPoint, contact_points};
