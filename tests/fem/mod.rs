//! Soft bodies against values by other programs (`reference/add` of the shared folder), closed forms and differences.

mod carried;
mod damping;
mod drops;
mod incline;
mod machines;
mod memory;
mod meshes;
mod mixed;
mod mixed_penalties;
mod motion;
mod moving_shapes;
mod numbers;
mod obstacles;
mod scenes;
mod sensitivities;
mod sparse;
mod statics;
mod steps;
mod tetrahedra;
mod ties;
#[cfg(feature = "cli")]
mod verified;
