//! The integration tests: one binary, one module a subject.

mod allocations;
mod articulated;
#[cfg(feature = "cli")]
mod bench;
#[cfg(all(feature = "cli", unix))]
mod c_interface;
mod collision;
mod columns;
mod cone_program;
mod contact_laws;
mod contact_node;
mod contacts;
mod couples;
#[cfg(feature = "cli")]
mod diffcosim;
#[cfg(all(feature = "cli", unix))]
mod docs;
mod dynamics;
mod extending;
mod families;
mod fem;
mod fixtures;
mod front_door;
mod fuzz;
mod gradcheck;
mod gradients;
mod ground;
mod hard_contacts;
mod hard_scenes;
#[cfg(feature = "cli")]
mod help;
mod identify;
mod ilqr;
mod import;
mod internals;
mod layers;
mod learned;
mod led_bodies;
mod linearize;
mod many_shapes;
mod markers;
mod materials;
mod optimize;
#[cfg(all(feature = "cli", unix))]
mod outputs;
mod paper;
mod penalties;
mod physics;
#[cfg(feature = "plots")]
mod plots;
mod projections;
mod pushes;
mod random_projections;
mod recordings;
mod reference;
mod render;
#[cfg(feature = "cli")]
mod report;
mod restitution;
mod rollout_gradient;
mod rounded_shapes;
mod scalars;
mod scene;
mod second_order;
#[cfg(feature = "cli")]
mod separation;
#[cfg(feature = "cli")]
mod simulate;
mod smoothed_contact;
mod staggered;
mod surface_terms;
mod tendons;
mod trajectory;
mod transition;
mod truth;
mod yielding_contacts;

#[cfg(all(feature = "cli", unix))]
use fixtures::mpirun;
#[cfg(feature = "cli")]
use fixtures::program;
use fixtures::{
    agreement, cases, differences, folder, processes, random, scenes, shared, skipped, soft,
};
