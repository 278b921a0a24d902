//! Scenes from files: TOML, MJCF, URDF, and the meshes that they name.

mod load;
mod mass_properties;
mod mesh;
mod mjcf;
mod point_scene_file;
mod pose;
mod reach;
mod scene;
mod urdf;
mod weights_file;
mod xml;

pub use crate::text::KeptFiles;
pub use load::LoadOptions;
pub(crate) use mesh::hull_limit;
#[cfg(feature = "cli")]
pub(crate) use mesh::mesh_text;
pub use mesh::{Looks, MAX_HULL_VERTICES, Mesh, Part};
#[cfg(feature = "cli")]
pub(crate) use weights_file::archive as weights_archive;
