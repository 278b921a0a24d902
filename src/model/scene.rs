//! The scene file.

use std::path::Path;

use super::{Model, Parameters, Settings};
use crate::Error;
use crate::state::State;

/// Everything a simulation starts from.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Names and topology.
    pub model: Model,
    /// The physical numbers.
    pub parameters: Parameters<f64>,
    /// Where the bodies start.
    pub state: State<f64>,
    /// How it is simulated.
    pub settings: Settings,
    /// Constant load, six numbers a body: force at the body origin in the world frame, N; torque in
    /// the body frame, N m.
    pub wrenches: Vec<f64>,
}

impl Scene {
    /// Reads a scene file.
    pub fn load(path: impl AsRef<Path>) -> Result<Scene, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Scene::parse(&text, &path.display().to_string())
    }

    /// Reads a scene from the text of a file; `name` stands for the file in messages.
    pub fn parse(text: &str, name: &str) -> Result<Scene, Error> {
        let _ = text;
        Err(Error::input(name, None, "", "reading scenes is not there yet"))
    }
}
