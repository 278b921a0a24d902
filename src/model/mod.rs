//! What is simulated: bodies, ground and contact pairs, their physical numbers, and the scene file
//! that describes them.

mod names;
mod parameters;
mod scene;
mod settings;
mod shape;
mod system;
mod topology;

pub use names::ParameterRef;
pub use parameters::Parameters;
pub use scene::Scene;
pub use settings::{ContactSolver, Settings, StaggeredDerivative};
pub use shape::Shape;
pub use system::System;
pub use topology::{Body, HalfSpace, Model, Pair, Solid};
