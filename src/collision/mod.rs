//! Where bodies may touch: contact points, chosen in `f64`, evaluated in `T`. One file a pair of
//! shapes, or a family of them.
//!
//! [`Detection`] lists all points. Of shapes that may touch a half-space, [`half_space_points`] finds the
//! points; of two shapes, [`SweepAndPrune`] finds the pairs that are near, [`witnesses`] the points of a
//! pair. There too, the features that touch (face, edge, corner) are decided on values and kept as data;
//! gap, normal and points are then computed from them, so that they have derivatives in both poses and in
//! all sizes.
//!
//! Shapes are of four families. A sphere and a capsule are a point and a segment with a radius: they
//! touch where these are nearest, also at corners. Boxes and polyhedra are separated along an axis and
//! touch with a face or two edges; corners apart do not (see [`box_box()`]) unless they are round. A cylinder is round itself
//! against half-spaces and spheres, and a prism against the others, turned to the contact so that it is
//! round there too, but for corners and edges that meet the side or a rim (0.5 % of the radius). A height
//! field has the points of its triangles, edges and nodes, found by their place in the grid.
//!
//! Sorting along one axis is enough to find what is near in scenes of tens of bodies; more are sorted in bands along another.
//! Of the shapes of many parts a polyhedron has a tree of patches, and the height field is a grid that needs none.

mod approach;
mod box_box;
mod capsule_capsule;
mod capsule_convex;
mod contact_point;
mod convex_convex;
mod cylinder;
mod detection;
mod dispatch;
mod half_space;
mod height_field;
mod hull;
mod lowest;
mod nearest;
mod pair_detection;
mod rod;
mod round_edges;
mod sphere_box;
mod sphere_convex;
mod sphere_cylinder;
mod sphere_sphere;
mod sweep_and_prune;
mod witness;

pub use box_box::box_box;
pub use capsule_capsule::{capsule_capsule, sphere_capsule};
pub use contact_point::ContactPoint;
pub use convex_convex::WarmStart;
pub use detection::Detection;
pub(crate) use dispatch::round_witnesses;
pub use dispatch::{
    features, half_space_points, point_witnesses, supports, witnesses, witnesses_from,
};
pub(crate) use pair_detection::PairDetection;
pub use sphere_box::sphere_box;
pub use sphere_sphere::sphere_sphere;
pub use sweep_and_prune::{Bounds, SweepAndPrune};
pub use witness::{FEATURES, Pose, SurfacePoint, Witness};
