//! Scenes and descriptions from files of any kind.

use std::path::Path;

use super::{mjcf, scene, urdf, xml};
use crate::Error;
use crate::assemble::Description;
use crate::model::Scene;

/// What a file leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Whether the first link of a URDF floats; otherwise it is fixed to the world.
    pub floating_base: bool,
}

impl Scene {
    /// Reads a scene file; also MJCF (`.xml`, `.mjcf`) and URDF (`.urdf`, `.xml`), see
    /// [`Description::load`].
    pub fn load(path: impl AsRef<Path>) -> Result<Scene, Error> {
        Scene::load_with(path, LoadOptions::default())
    }

    /// Reads a scene of any kind of file.
    pub fn load_with(path: impl AsRef<Path>, options: LoadOptions) -> Result<Scene, Error> {
        let path = path.as_ref();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        if ["xml", "mjcf", "urdf"].contains(&ending.to_ascii_lowercase().as_str()) {
            return Description::load(path, options)?.scene();
        }
        if options.floating_base {
            let message = "only a URDF has a base that floats or not; in a scene a [[body]] without \
                           parent and joint is free";
            return Err(Error::input(path.display().to_string(), None, "floating_base", message));
        }
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        Scene::parse(&text, &path.display().to_string())
    }
}

impl Description {
    /// Reads a scene (`.toml`), MJCF (`.xml`, `.mjcf`) or URDF (`.urdf`, `.xml`). What is not followed is
    /// among the [warnings](Description::warnings).
    pub fn load(path: impl AsRef<Path>, options: LoadOptions) -> Result<Description, Error> {
        let path = path.as_ref();
        let text = xml::read(path)?;
        let name = path.display().to_string();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "xml" | "mjcf" | "urdf" => Description::parse_xml(&text, &name, options),
            "toml" => scene::describe(&text, &name),
            _ => {
                let message = "the name of a scene must end in .toml, .xml, .mjcf or .urdf";
                Err(Error::input(name, None, "", message))
            }
        }
    }

    /// Reads the text of an MJCF or URDF; `name` stands for the file in messages, and for where the files
    /// it names are.
    pub fn parse_xml(text: &str, name: &str, options: LoadOptions) -> Result<Description, Error> {
        let directory = Path::new(name).parent().unwrap_or(Path::new(""));
        let root = xml::parse(text, name)?;
        match root.tag.as_str() {
            "mujoco" => mjcf::read(root, name, directory),
            "robot" => urdf::read(&root, name, directory, options.floating_base),
            other => {
                let other: String = other.chars().take(40).collect();
                let message = format!("must be <mujoco> or <robot>, found <{other}>");
                Err(Error::input(name, root.line, "", message))
            }
        }
    }
}
