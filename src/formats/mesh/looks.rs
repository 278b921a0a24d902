//! What looks are made of: surfaces of one colour each.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::Mesh;
use crate::Error;
use crate::model::{Color, Triangulation, Visual, VisualForm};

/// A surface in the frame of a [`Visual`], with the colour that its file gives it.
pub type Part = (Arc<Triangulation>, Option<Color>);

/// Reads the files of looks, each once.
#[derive(Default)]
pub struct Looks {
    read: HashMap<(PathBuf, [u64; 3]), Result<Vec<Part>, Error>>,
}

impl Looks {
    /// The surfaces of what is seen.
    ///
    /// # Errors
    /// If its file is not there, or no mesh.
    pub fn parts(&mut self, visual: &Visual) -> Result<Vec<Part>, Error> {
        match &visual.form {
            VisualForm::Solid(shape, size) => {
                Ok(vec![(Arc::new(shape.surface((*size).into())), None)])
            }
            VisualForm::Surface(surface) => Ok(vec![(surface.clone(), None)]),
            VisualForm::File { path, scale } => {
                let key = (path.clone(), scale.map(f64::to_bits));
                let read = || {
                    let mesh = Mesh::load(path)?;
                    let mesh = match mesh.triangles.is_empty() {
                        true => Mesh::from(&mesh.hull().map_err(|error| {
                            Error::input(path.display().to_string(), None, "", error.to_string())
                        })?),
                        false => mesh,
                    };
                    let parts = mesh.parts(*scale).into_iter();
                    Ok(parts.map(|(surface, color)| (Arc::new(surface), color)).collect())
                };
                self.read.entry(key).or_insert_with(read).clone()
            }
        }
    }
}
