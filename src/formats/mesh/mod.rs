//! Meshes from files: points and triangles, for the hulls of shapes and for their inertia.

mod binary;
mod collada;
mod gltf;
mod looks;
mod obj;
mod ply;
mod reduction;
mod stl;
mod triangles;

use std::path::Path;

use crate::Error;
use crate::text::read_bytes;

pub use looks::{Looks, Part};
#[cfg(feature = "cli")]
pub(crate) use obj::text as mesh_text;
pub use reduction::MAX_HULL_VERTICES;
pub(crate) use reduction::hull_limit;
pub(super) use reduction::{HULL_LIMIT, check_limit, reduce_hulls};
pub use triangles::Mesh;
pub(super) use triangles::scaled;

/// Bytes of one file.
const MOST_BYTES: u64 = 512 << 20;

/// Reads the bytes of a file, whose name is for messages.
type Read = fn(&[u8], &str) -> Result<Mesh, Error>;

/// By the endings of their names, who reads the files of meshes: a format is a line here and a file beside this one.
const FORMATS: [(&str, Read); 6] = [
    ("obj", obj::parse),
    ("stl", stl::parse),
    ("ply", ply::parse),
    ("msh", binary::msh),
    ("dae", collada::parse),
    ("glb", gltf::parse),
];

impl Mesh {
    /// Reads a file by the ending of its name: Wavefront OBJ, STL and PLY (of text or binary), MSH of MuJoCo, COLLADA
    /// (`.dae`), glTF in one file (`.glb`).
    pub fn load(path: impl AsRef<Path>) -> Result<Mesh, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        // What is not read is not opened.
        reader(ending, &name)?;
        Mesh::parse(&read_bytes(path, MOST_BYTES)?, ending, &name)
    }

    /// Reads the bytes of a file with that ending; `name` stands for the file in messages.
    ///
    /// # Errors
    /// If no format has this ending, or the bytes are not of it.
    pub fn parse(bytes: &[u8], ending: &str, name: &str) -> Result<Mesh, Error> {
        let mesh = reader(ending, name)?(bytes, name)?;
        match mesh.points.len() {
            0..4 => Err(Error::input(name, None, "", "has fewer than 4 points: it is no solid")),
            _ => Ok(mesh),
        }
    }
}

fn reader(ending: &str, name: &str) -> Result<Read, Error> {
    let ending = ending.to_ascii_lowercase();
    let found = FORMATS.into_iter().find(|(known, _)| *known == ending);
    found.map(|(_, read)| read).ok_or_else(|| {
        let known = FORMATS.map(|(known, _)| format!(".{known}")).join(", ");
        let message = format!("{ending:?} meshes are not read; convert it to one of {known}");
        Error::input(name, None, "", message)
    })
}
