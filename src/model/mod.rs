//! What is simulated: bodies, ground and contact pairs, their physical numbers, and the scene file
//! that describes them.

mod actuator;
mod build;
mod description;
mod equality;
mod joint;
mod names;
mod overlap;
mod parameters;
mod scene;
mod settings;
mod shape;
mod slots;
mod system;
mod topology;

pub use actuator::{Actuator, ActuatorKind};
pub use description::{
    ActuatorDescription, BodyDescription, ColliderDescription, ContactDescription, Description,
    EqualityDescription, Filter, HalfSpaceDescription, JointDescription, Keyframe, Material,
};
pub use equality::{Equality, EqualityKind};
pub use joint::{Joint, JointKind};
pub use names::ParameterRef;
pub use parameters::Parameters;
pub use scene::Scene;
pub use settings::{ContactSolver, Integrator, Settings, StaggeredDerivative};
pub use shape::Shape;
pub use system::System;
pub use topology::{Body, Collider, HalfSpace, Model, Pair, Solid, Tree};
