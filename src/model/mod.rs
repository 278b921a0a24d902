//! What is simulated: bodies, ground and contact pairs, their physical numbers, and the scene file
//! that describes them.

mod convex_hull;
mod height_field;
mod names;
mod parameters;
mod polyhedron;
mod scene;
mod settings;
mod shape;
mod system;
mod topology;

pub use convex_hull::HullError;
pub use height_field::{HeightField, HeightFieldError};
pub use names::ParameterRef;
pub use parameters::Parameters;
pub use polyhedron::{CYLINDER_SIDES, Edge, Face, Polyhedron};
pub use scene::Scene;
pub use settings::{ContactSolver, Settings, StaggeredDerivative};
pub use shape::{Shape, UniformSolid};
pub use system::System;
pub use topology::{Body, HalfSpace, Model, Pair, Solid};
