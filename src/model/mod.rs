//! What is simulated: bodies, ground and contact pairs, their physical numbers, and the scene file
//! that describes them.

mod actuator;
mod build;
mod convex_hull;
mod describe;
mod description;
mod equality;
mod height_field;
mod joint;
mod load;
mod mass_properties;
mod mesh;
mod mjcf;
mod names;
mod overlap;
mod parameters;
mod polyhedron;
mod pose;
mod scene;
mod settings;
mod shape;
mod slots;
mod system;
mod topology;
mod touching;
mod urdf;
mod xml;

pub use actuator::{Actuator, ActuatorKind};
pub use convex_hull::HullError;
pub use description::{
    ActuatorDescription, BodyDescription, ColliderDescription, ContactDescription, Description,
    EqualityDescription, Filter, HalfSpaceDescription, JointDescription, Keyframe, Material,
};
pub use equality::{Equality, EqualityKind};
pub use height_field::{HeightField, HeightFieldError};
pub use joint::{Joint, JointKind};
pub use load::LoadOptions;
pub use mesh::Mesh;
pub use names::{ParameterRef, domain};
pub use parameters::Parameters;
pub use polyhedron::{CYLINDER_SIDES, Edge, Face, Polyhedron};
pub use scene::Scene;
pub use settings::{ContactSolver, Integrator, Settings, StaggeredDerivative};
pub use shape::{Shape, UniformSolid};
pub use system::System;
pub use topology::{Body, Collider, HalfSpace, JointSlots, Model, Pair, Plane, Solid, Tree};
