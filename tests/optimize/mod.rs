//! `optimize`: tasks on rigid and soft bodies.

mod mixed;
#[cfg(feature = "cli")]
mod program;
mod rigid;
mod soft;
