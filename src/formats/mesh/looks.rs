//! What looks are made of: surfaces of one colour each.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::Mesh;
use crate::Error;
use crate::model::{Color, Model, SeenMesh, Triangulation, Visual, VisualForm};

/// A surface in the frame of a [`Visual`], with the colour that its file gives it.
pub type Part = (Arc<Triangulation>, Option<Color>);

/// What is less opaque is not seen.
const CLEAR: f64 = 0.02;

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

    /// What bodies of a model look like where that is not what touches, and what cannot be read of it.
    pub fn of(&mut self, model: &Model) -> (Vec<SeenMesh>, Vec<Error>) {
        let (mut meshes, mut warnings) = (Vec::new(), Vec::new());
        let of_world = model.visuals.iter().map(|visual| (None, visual));
        let of_bodies = model.bodies.iter().enumerate();
        let of_bodies = of_bodies
            .flat_map(|(k, body)| body.visuals.iter().map(move |visual| (Some(k), visual)));
        for (body, visual) in of_world.chain(of_bodies) {
            match self.parts(visual) {
                Ok(parts) => meshes.extend(parts.into_iter().map(|(surface, color)| SeenMesh {
                    body,
                    surface,
                    position: visual.position,
                    orientation: visual.orientation,
                    colour: color.or(visual.color),
                })),
                Err(error) if warnings.contains(&error) => {}
                Err(error) => warnings.push(error),
            }
        }
        meshes.retain(|mesh| mesh.colour.is_none_or(|[_, _, _, opacity]| opacity > CLEAR));
        (meshes, warnings)
    }
}
