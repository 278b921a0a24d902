//! A motion sampled over time.

use std::io;
use std::path::Path;

use crate::Error;
use crate::model::Model;
use crate::state::State;

/// A motion sampled over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    /// Where it comes from: the file as it was given.
    pub name: String,
    /// Times of the frames, s, increasing.
    pub times: Vec<f64>,
    /// One state a frame; quaternions are unit and do not change sign from frame to frame.
    pub states: Vec<State<f64>>,
    /// Whether the velocities were given; if not, they are differences of the configurations.
    pub has_velocities: bool,
}

impl Trajectory {
    /// Reads a CSV file.
    pub fn load(path: impl AsRef<Path>, model: &Model) -> Result<Trajectory, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
        Trajectory::parse(&text, &path.display().to_string(), model)
    }

    /// Reads the text of a CSV file; `name` stands for the file in messages.
    pub fn parse(text: &str, name: &str, model: &Model) -> Result<Trajectory, Error> {
        let _ = (text, model);
        Err(Error::input(name, None, "", "reading trajectories is not there yet"))
    }

    /// Writes it as CSV, at full precision.
    pub fn write(&self, model: &Model, output: impl io::Write) -> Result<(), Error> {
        let _ = (model, output);
        Err(Error::input(&self.name, None, "", "writing trajectories is not there yet"))
    }
}
