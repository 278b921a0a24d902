//! A scene attached to a copy of the shared library, after its end, where loaders do not look.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::undefined_symbols::weaken;
use crate::Error;
use crate::assemble::Description;
use crate::model::Scene;
use crate::transition::Transition;

/// The last bytes of a file with an attachment; its length is before them.
const MAGIC: &[u8; 16] = b"stiction-scene-1";
const TRAILER: usize = 8 + MAGIC.len();

/// A scene and what is u of it: all that a shared library must know to be x+ = f(x, u).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Attachment {
    /// Where the scene is from, for messages.
    pub name: String,
    /// The text of a scene file that names no other files.
    pub scene: String,
    /// The names of the inputs that are u.
    pub inputs: Vec<String>,
}

impl Attachment {
    /// Of a scene called `name` and the indices of its inputs, see
    /// [`inputs_named`](crate::model::Model::inputs_named). Meshes become their hulls.
    ///
    /// # Errors
    /// If the scene cannot be written as a scene file.
    pub fn new(scene: &Scene, inputs: &[usize], name: &str) -> Result<Attachment, Error> {
        let text = Description::of(scene, &scene.parameters, name).to_toml("");
        let names = Scene::parse(&text, name)?.model.input_names();
        let inputs = inputs.iter().map(|&k| names[k].clone()).collect();
        Ok(Attachment { name: name.to_string(), scene: text, inputs })
    }

    /// The scene.
    ///
    /// # Errors
    /// If the text is none.
    pub fn scene(&self) -> Result<Scene, Error> {
        Scene::parse(&self.scene, &self.name)
    }

    /// The transition of its [scene](Self::scene), with the inputs it selects.
    ///
    /// # Errors
    /// If the scene has no derivatives, or no such inputs.
    pub fn transition(&self, scene: Arc<Scene>) -> Result<Transition, Error> {
        let mut transition = Transition::new(&self.name, scene)?;
        transition.select_inputs(&self.inputs)?;
        Ok(transition)
    }

    /// A library with this attachment, in the place of one it has. A module of Python becomes one that any program loads.
    pub fn attach(&self, library: &[u8]) -> Vec<u8> {
        let end = split(library).map_or(library.len(), |(end, _)| end);
        let mut library = library[..end].to_vec();
        weaken(&mut library, &["Py", "_Py"]);
        // Maps of strings: always JSON.
        let text = serde_json::json!(self).to_string();
        let length = (text.len() as u64).to_le_bytes();
        [&library, text.as_bytes(), &length, MAGIC].concat()
    }

    /// What is attached to the contents of a library, if anything.
    ///
    /// # Errors
    /// If it is not readable; `file` is named in the message.
    pub fn of(library: &[u8], file: &Path) -> Result<Option<Attachment>, Error> {
        let Some((_, text)) = split(library) else { return Ok(None) };
        let attachment = serde_json::from_slice(text).map_err(|error| {
            let message = format!("the attached scene is damaged ({error}); export it again");
            Error::input(file.display().to_string(), None, "", message)
        })?;
        Ok(Some(attachment))
    }
}

/// The contents of a shared library to [attach](Attachment::attach) scenes to: `libstiction.so`, or the module of Python.
///
/// # Errors
/// If it cannot be read, or has not the functions for CasADi.
pub fn read_library(path: &Path) -> Result<Vec<u8>, Error> {
    let contents = std::fs::read(path).map_err(|error| Error::io(path, error))?;
    let symbol = b"jac_stiction_f\0";
    if contents.windows(symbol.len()).any(|window| window == symbol) {
        return Ok(contents);
    }
    let message = "is not the shared library of stiction with the feature `c_interface`";
    Err(Error::input(path.display().to_string(), None, "", message))
}

/// Where the library ends, and what is attached.
fn split(library: &[u8]) -> Option<(usize, &[u8])> {
    let body = library.len().checked_sub(TRAILER)?;
    let (body, trailer) = library.split_at(body);
    let (length, magic) = trailer.split_at(8);
    let length = usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()?;
    let end = body.len().checked_sub(length)?;
    (magic == MAGIC).then(|| (end, &body[end..]))
}
