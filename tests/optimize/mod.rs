//! `optimize`: tasks on rigid and soft bodies.

#[cfg(feature = "cli")]
mod program;
mod rigid;
mod soft;
