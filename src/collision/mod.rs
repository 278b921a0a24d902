//! Where bodies may touch: contact points, chosen in `f64`, evaluated in `T`. One file a pair of
//! shapes.
//!
//! [`Detection`] lists all points. Of two moving shapes, [`SweepAndPrune`] finds the pairs that
//! are near, [`witnesses`] the points of a pair. There too, the features that touch (face, edge, corner)
//! are decided on values and carried as data; gap, normal and points are then computed from them, so
//! that they have derivatives in both poses and in all sizes.

mod box_box;
mod capsule_capsule;
mod capsule_convex;
mod convex_convex;
mod cylinder;
mod half_space;
mod height_field;
mod hull;
mod lowest;
mod nearest;
mod pair;
mod point;
mod rod;
mod sphere_box;
mod sphere_convex;
mod sphere_cylinder;
mod sphere_sphere;
mod sweep_and_prune;
mod witness;

pub use box_box::box_box;
pub use capsule_capsule::{capsule_capsule, sphere_capsule};
pub use half_space::half_space_points;
pub use pair::{features, supports, witnesses};
pub use point::{ContactPoint, Detection};
pub use sphere_box::sphere_box;
pub use sphere_sphere::sphere_sphere;
pub use sweep_and_prune::{Bounds, SweepAndPrune};
pub use witness::{FEATURES, Pose, SurfacePoint, Witness};
