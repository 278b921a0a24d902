//! Meshes from files: points and triangles, for the hulls of shapes and for their inertia.

mod binary;
mod obj;
mod stl;
mod triangles;

use std::path::Path;

use crate::Error;

pub use triangles::Mesh;
pub(super) use triangles::scaled;

/// Bytes of one file.
const MOST_BYTES: u64 = 512 << 20;
impl Mesh {
    /// Reads a Wavefront OBJ, STL (of text or binary) or MSH file, by the ending of its name.
    pub fn load(path: impl AsRef<Path>) -> Result<Mesh, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let io = |error| Error::io(path, error);
        let there = std::fs::metadata(path).map_err(io)?;
        // A pipe or device may never end.
        if !there.is_file() || there.len() > MOST_BYTES {
            let message = format!("must be a file of at most {MOST_BYTES} bytes");
            return Err(Error::input(name, None, "", message));
        }
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let ending = ending.to_ascii_lowercase();
        if !["obj", "stl", "msh"].contains(&ending.as_str()) {
            let message = format!("{ending:?} meshes are not read; convert it to .obj or .stl");
            return Err(Error::input(name, None, "", message));
        }
        Mesh::parse(&std::fs::read(path).map_err(io)?, &ending, &name)
    }

    /// Reads the bytes of a file with that ending; `name` stands for the file in messages.
    pub fn parse(bytes: &[u8], ending: &str, name: &str) -> Result<Mesh, Error> {
        let mesh = match ending {
            "obj" => obj::parse(bytes, name)?,
            "msh" => binary::msh(bytes, name)?,
            _ => stl::parse(bytes, name)?,
        };
        match mesh.points.len() {
            0..4 => Err(Error::input(name, None, "", "has fewer than 4 points: it is no solid")),
            _ => Ok(mesh),
        }
    }
}
