//! Scenes and descriptions from files of any kind.

use std::path::Path;

use super::mesh::{MAX_HULL_VERTICES, check_limit, reduce_hulls};
use super::{mjcf, scene, urdf, xml};
use crate::Error;
use crate::assemble::{Description, Equipment};
use crate::model::Scene;

/// What a file leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LoadOptions {
    /// Whether the first link of a URDF floats; otherwise it is fixed to the world.
    pub floating_base: bool,
    /// Whether shapes that start in each other are pushed apart, as where a scene says `overlap = "push"`.
    pub push_overlaps: bool,
    /// How many vertices the hull of a mesh of a URDF or MJCF has for contact at most, 4 or more, where the file does not
    /// say it; 0 for all, nothing for [`MAX_HULL_VERTICES`].
    pub max_hull_vertices: Option<usize>,
    /// What is added to a URDF or MJCF afterwards ([`Description::equip`]), so that nobody is warned that it is missing.
    pub equipment: Equipment,
}

impl LoadOptions {
    /// The limit of hulls of meshes, checked; `name` stands for the file in messages.
    fn hull_limit(&self, name: &str) -> Result<usize, Error> {
        let most = self.max_hull_vertices.unwrap_or(MAX_HULL_VERTICES);
        let wrong = |message| Error::input(name, None, "max_hull_vertices", message);
        check_limit(most).map(|()| most).map_err(wrong)
    }

    /// What a scene file does not leave open is refused; `name` stands for it in messages.
    pub(crate) fn refuse_for_scenes(&self, name: &str) -> Result<(), Error> {
        let wrong = |field: &str, message: &str| Err(Error::input(name, None, field, message));
        if self.floating_base {
            let message = "only a URDF has a base that floats or not; in a scene a [[body]] without \
                           parent and joint is free";
            return wrong("floating_base", message);
        }
        if self.max_hull_vertices.is_some() {
            let message = "only a URDF or MJCF leaves it open; a scene says it beside each mesh";
            return wrong("max_hull_vertices", message);
        }
        if self.equipment != Equipment::default() {
            let message =
                "ground, motors and height are added to a URDF or MJCF; a scene says them itself";
            return wrong("", message);
        }
        Ok(())
    }
}

/// Reads a text; the name stands for the file in messages, and for where the files it names are.
type Read = fn(&str, &str, LoadOptions) -> Result<Description, Error>;

/// By the endings of their names, who reads the files of scenes: a format is a line here.
const FORMATS: [(&str, Read); 4] = [
    ("toml", |text, name, options| {
        options.refuse_for_scenes(name)?;
        scene::describe(text, name)
    }),
    ("xml", Description::parse_xml),
    ("mjcf", Description::parse_xml),
    ("urdf", Description::parse_xml),
];

fn reader(path: &Path) -> Option<(&'static str, Read)> {
    let ending = path.extension()?.to_str()?.to_ascii_lowercase();
    FORMATS.into_iter().find(|(known, _)| *known == ending)
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
        // Whatever else it is called, it is a scene file.
        if reader(path).is_some_and(|(ending, _)| ending != "toml") {
            return Description::load(path, options)?.scene();
        }
        options.refuse_for_scenes(&path.display().to_string())?;
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        scene::scene(&text, &path.display().to_string(), options.push_overlaps)
    }
}

impl Description {
    /// Reads a scene (`.toml`), MJCF (`.xml`, `.mjcf`) or URDF (`.urdf`, `.xml`). What is not followed is
    /// among the [warnings](Description::warnings).
    pub fn load(path: impl AsRef<Path>, options: LoadOptions) -> Result<Description, Error> {
        let path = path.as_ref();
        let text = xml::read(path)?;
        let name = path.display().to_string();
        let Some((_, read)) = reader(path) else {
            let endings = FORMATS.map(|(ending, _)| format!(".{ending}")).join(", ");
            let message = format!("the name of a scene must end in one of {endings}");
            return Err(Error::input(name, None, "", message));
        };
        let mut description = read(&text, &name, options)?;
        description.push_overlaps |= options.push_overlaps;
        Ok(description)
    }

    /// Reads the text of an MJCF or URDF; `name` stands for the file in messages, and for where the files
    /// it names are.
    pub fn parse_xml(text: &str, name: &str, options: LoadOptions) -> Result<Description, Error> {
        let directory = Path::new(name).parent().unwrap_or(Path::new(""));
        let root = xml::parse(text, name)?;
        let most = options.hull_limit(name)?;
        let mut description = match root.tag.as_str() {
            "mujoco" => mjcf::read(root, name, directory, most)?,
            "robot" => {
                let how = (options.floating_base, options.equipment, most);
                urdf::read(&root, name, directory, how)?
            }
            other => {
                let other: String = other.chars().take(40).collect();
                let message = format!("must be <mujoco> or <robot>, found <{other}>");
                return Err(Error::input(name, root.line, "", message));
            }
        };
        reduce_hulls(&mut description);
        Ok(description)
    }
}
