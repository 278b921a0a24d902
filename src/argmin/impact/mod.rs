//! Impacts in two phases, compression and restitution [Zhong21], and the cone program each phase is.

mod compression_restitution;
mod cone_program;
mod faces;
pub(crate) mod natural_map;
mod newton;
mod solution;

pub use compression_restitution::{CompressionRestitution, Impact};
pub use cone_program::{ConeFactor, ConeProgram};
pub use newton::ConeWorkspace;
pub use solution::{ConeMode, ConeSolution};
