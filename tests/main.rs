//! The integration tests: one binary, one module a subject.

mod allocations;
mod articulated;
#[cfg(feature = "cli")]
mod bench;
#[cfg(all(feature = "cli", unix))]
mod c_interface;
mod cases;
mod collision;
mod columns;
mod cone_program;
mod contact_node;
mod contacts;
#[cfg(feature = "cli")]
mod diffcosim;
mod differences;
mod dynamics;
mod elbow;
mod families;
mod folder;
mod gradcheck;
mod gradients;
mod ground;
mod hard_contacts;
mod identify;
#[cfg(feature = "cli")]
mod identify_cli;
mod identify_parameters;
#[cfg(feature = "cli")]
mod identify_resume;
mod identify_search;
mod identify_statistics;
mod ilqr;
mod import;
mod layers;
mod linearize;
mod linearize_conventions;
#[cfg(feature = "cli")]
mod linearize_files;
mod linearize_kinks;
mod linearize_products;
mod linearize_redundant;
mod linearize_reference;
mod linearize_scenes;
mod many_shapes;
mod measurements;
mod paper;
mod physics;
#[cfg(feature = "plots")]
mod plots;
mod projections;
mod random;
mod random_projections;
mod reference;
#[cfg(feature = "cli")]
mod report;
mod rollout_gradient;
mod scalars;
mod scene;
mod second_order;
mod shared;
#[cfg(feature = "cli")]
mod simulate;
#[cfg(feature = "cli")]
mod simulate_driven;
mod smoothed_contact;
mod staggered;
mod trajectory;
mod transition;
mod trust;
#[cfg(feature = "cli")]
mod trust_cli;
mod truth;
