//! Height fields against spheres, capsules and polyhedra.
//!
//! A surface with valleys touches a ball in several points, each with a normal of its own: wherever the
//! distance from the centre has a local minimum, on a triangle, an edge or a node (`terrain`). Of a
//! capsule these are points of the balls at its ends, and of its side with edges and nodes. A
//! polyhedron touches with its vertices, on the triangle below each, and is touched by nodes that stand
//! out. Edges of a polyhedron against ridges are not looked at: between two nodes a ridge may enter a face
//! from below by what its slope allows.

mod capsule;
mod convex;
mod sphere;
mod terrain;

pub(super) use capsule::field_capsule;
pub(super) use convex::field_convex;
pub(super) use sphere::field_sphere;
pub(super) use terrain::Terrain;
