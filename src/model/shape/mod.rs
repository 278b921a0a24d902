//! The solids a body can be made of. All that is asked of one is a method here; what touches it is decided by
//! `collision`.

mod ball;
mod capsule;
mod clustering;
mod convex;
mod cuboid;
mod cylinder;
mod geometry;
mod triangulation;
mod uneven_ground;

use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};

use super::{HeightField, Polyhedron};
use ball::Ball;
use capsule::Capsule;
use cuboid::Cuboid;
use cylinder::Cylinder;
use geometry::Geometry;

pub use geometry::UniformSolid;
pub use triangulation::Triangulation;

/// The largest radius of the edges of a box, over its least half extent.
pub(super) const ROUNDEST: f64 = 0.999;
/// Sides of what is round, where it is drawn for somebody to look at.
const DRAWN_SIDES: usize = 32;

/// The form of a body; its sizes are [parameters](super::Parameters).
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A box along the axes about the origin. Size: three half extents, m.
    Box,
    /// A ball about the origin. Size: the radius, m.
    Sphere,
    /// All points within a radius of a segment along z about the origin. Size: the radius and half the
    /// length of the segment, m.
    Capsule,
    /// A cylinder along z about the origin. Size: the radius and half the length, m.
    Cylinder,
    /// A ramp: the half of a box along the axes about the origin below a plane that rises along x, from its lower edge
    /// at -x to its upper edge at +x. Size: the three half extents of the box, m.
    Wedge,
    /// A convex polyhedron. Size: its scale along x, y and z, positive.
    Convex(Arc<Polyhedron>),
    /// Uneven ground, below its surface. Size: its scale along x, y and z, positive.
    HeightField(Arc<HeightField>),
}

impl Shape {
    /// The shapes that have nothing but sizes.
    pub const PLAIN: [Shape; 5] =
        [Shape::Box, Shape::Sphere, Shape::Capsule, Shape::Cylinder, Shape::Wedge];

    /// The name in scene files.
    pub fn name(&self) -> &'static str {
        match self {
            Shape::Box => "box",
            Shape::Sphere => "sphere",
            Shape::Capsule => "capsule",
            Shape::Cylinder => "cylinder",
            Shape::Wedge => "wedge",
            Shape::Convex(_) => "convex",
            Shape::HeightField(_) => "height_field",
        }
    }

    /// The names of its sizes among the parameters, behind that of the shape.
    pub fn size_names(&self) -> &'static [&'static str] {
        match self {
            Shape::Box | Shape::Wedge => &["half_extents/x", "half_extents/y", "half_extents/z"],
            Shape::Sphere => &["radius"],
            Shape::Capsule | Shape::Cylinder => &["radius", "half_length"],
            Shape::Convex(_) | Shape::HeightField(_) => &["scale/x", "scale/y", "scale/z"],
        }
    }

    fn geometry(&self) -> &dyn Geometry {
        match self {
            Shape::Box => &Cuboid,
            Shape::Sphere => &Ball,
            Shape::Capsule => &Capsule,
            Shape::Cylinder => &Cylinder,
            Shape::Wedge => Polyhedron::wedge(),
            Shape::Convex(polyhedron) => &**polyhedron,
            Shape::HeightField(field) => &**field,
        }
    }

    /// The sizes that this shape uses.
    pub fn sizes<'a>(&self, size: &'a [f64; 3]) -> &'a [f64] {
        &size[..self.size_names().len()]
    }

    /// Volume, centre of mass and inertia if the density is uniform. A height field is a surface: all of
    /// its numbers are 0.
    ///
    /// `size`: what [`Shape`] says of each, m.
    pub fn uniform_solid(&self, size: [f64; 3]) -> UniformSolid {
        self.geometry().uniform_solid(size)
    }

    /// Inertia xx, yy, zz, xy, xz, yz about the centre of mass of a solid of uniform density, kg m²; see
    /// [`uniform_solid`](Self::uniform_solid). `mass` in kg.
    pub fn uniform_inertia(&self, mass: f64, size: [f64; 3]) -> [f64; 6] {
        self.geometry().uniform_inertia(mass, size)
    }

    /// How many points of it can touch a half-space.
    pub fn contact_points(&self) -> usize {
        self.geometry().contact_points()
    }

    /// How far the shape reaches from its origin against a unit vector in its frame, m.
    pub fn reach(&self, size: [f64; 3], normal: Vector3<f64>) -> f64 {
        self.geometry().reach(size, normal)
    }

    /// The least half extent along its axes, m; of a height field half the least spacing.
    pub fn thickness(&self, size: [f64; 3]) -> f64 {
        self.geometry().thickness(size)
    }

    /// The radius of a ball about the origin of the shape that holds it, m.
    pub fn bounding_radius(&self, size: [f64; 3]) -> f64 {
        self.geometry().bounding_radius(size)
    }

    /// The centre and the half extents (m) of a box along the axes of the world that holds the shape where it has
    /// this pose.
    pub fn bounds(
        &self,
        size: Vector3<f64>,
        rotation: &Matrix3<f64>,
        position: &Vector3<f64>,
    ) -> [Vector3<f64>; 2] {
        self.geometry().bounds(size, rotation, position)
    }

    /// The polyhedron that is this shape where it is scaled by the sizes, or stands for it where it touches flat
    /// things; nothing of a sphere, a capsule and a height field. With the sizes, by index, that scale it along
    /// x, y and z.
    pub fn polyhedron(&self) -> Option<(&Polyhedron, [usize; 3])> {
        let geometry = self.geometry();
        Some((geometry.polyhedron()?, geometry.polyhedron_scale()))
    }

    /// Its surface, to be drawn; what is round has 32 sides.
    pub fn surface(&self, size: Vector3<f64>) -> Triangulation {
        self.surface_of_sides(size, DRAWN_SIDES)
    }

    /// Its surface; what is round has so many sides, a multiple of 4. Its corners are linear in the sizes.
    pub fn surface_of_sides(&self, size: Vector3<f64>, sides: usize) -> Triangulation {
        self.geometry().surface(size, sides)
    }

    /// Whether it looks the same turned about z, so that one sees it turn by a pattern only.
    pub fn is_round(&self) -> bool {
        self.geometry().is_round()
    }

    /// Whether its edges can be round.
    pub fn has_edges(&self) -> bool {
        matches!(self, Shape::Box | Shape::Convex(_))
    }

    /// The largest radius that its edges can have, m: of a box of that size 0.999 of its least half extent, of a polyhedron any.
    /// Nothing of what has no edges to be rounded.
    pub fn largest_radius(&self, size: [f64; 3]) -> Option<f64> {
        let most = if self.keeps_its_size() { ROUNDEST * self.thickness(size) } else { f64::MAX };
        self.has_edges().then_some(most)
    }

    /// Whether it is as large with round edges as with sharp ones, and no larger by their radius.
    pub fn keeps_its_size(&self) -> bool {
        matches!(self, Shape::Box)
    }

    /// Whether it has an inside all around which it ends, as a body has: not so the ground of a height field.
    pub fn is_solid(&self) -> bool {
        self.geometry().is_solid()
    }
}
