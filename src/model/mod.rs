//! What is simulated: bodies, ground and contact pairs, their physical numbers, and how they start.

mod actuator;
mod added_terms;
mod camera;
mod convex_hull;
mod drag;
mod equality;
mod grain;
mod height_field;
mod joint;
mod layout;
mod learned;
mod lighting;
mod named;
mod names;
mod parameters;
mod patches;
mod polyhedron;
mod pushed_apart;
mod pushes;
mod reduced_hull;
mod scene;
mod settings;
mod shape;
mod shared_contacts;
mod slots;
mod surface_terms;
mod system;
mod tendon;
mod tetrahedra;
mod topology;
mod touching;
mod visual;
mod volume;

pub use actuator::{Actuator, ActuatorKind, Transmission};
pub(crate) use added_terms::AddedTerm;
pub use camera::{Camera, CameraNumbers};
pub use convex_hull::HullError;
pub use drag::Drag;
pub use equality::{Equality, EqualityKind};
pub use grain::Grain;
pub use height_field::{HeightField, HeightFieldError};
pub use joint::{Joint, JointKind, Screw};
pub use learned::{Feature, LearnedKind, LearnedTerm};
pub use lighting::Lighting;
pub use names::{ParameterRef, domain};
pub use parameters::Parameters;
pub(crate) use patches::{Patch, PatchSearch};
pub use polyhedron::{CYLINDER_SIDES, Edge, Face, Polyhedron};
pub use pushed_apart::PushedApart;
pub use pushes::Push;
pub use scene::{Keyframe, Scene};
pub use settings::{ContactSolver, Integrator, RestitutionLaw, Settings, StaggeredDerivative};
pub use shape::{Shape, Triangulation, UniformSolid};
pub use shared_contacts::Filter;
pub(crate) use shared_contacts::{Filters, MOST_OWN, SharedContacts, Surface, SurfaceKind};
pub use surface_terms::{SurfaceNumbers, SurfaceTerm, SurfaceTerms};
pub use system::System;
pub use tendon::{Tendon, TendonPath, TendonSlots};
pub use tetrahedra::{CellSplit, TetrahedralMesh};
pub use topology::{
    ActuatorSlots, Body, Collider, HalfSpace, JointSlots, Model, Pair, PairSlots, Plane, Solid,
    Tree,
};
pub(crate) use touching::whole;
pub use visual::{Color, SeenMesh, Visual, VisualForm};
