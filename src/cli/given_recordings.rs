//! Which recordings a command looks at.

use std::path::PathBuf;

use crate::Error;

/// An experiment and recordings in place of its own.
#[derive(Clone, clap::Args)]
pub(super) struct RecordingArguments {
    /// The experiment (TOML)
    pub experiment: Option<PathBuf>,
    /// Recordings: files (CSV, NPZ, Parquet, MCAP), folders of them, or patterns in quotes; replaces the experiment's
    #[arg(long, value_name = "FILES|DIR|GLOB", num_args = 1.., action = clap::ArgAction::Append)]
    pub data: Vec<String>,
}

impl RecordingArguments {
    /// The experiment, and the recordings given. What is among them by its name an experiment is that.
    ///
    /// # Errors
    /// If recordings are given without anything that says what they are of: an experiment, or `more`.
    pub fn split(&self, more: bool) -> Result<(Option<PathBuf>, Vec<String>), Error> {
        let mut experiment = self.experiment.clone();
        let mut data = self.data.clone();
        let is_experiment = |file: &String| file.ends_with(".toml");
        if let (None, Some(place)) = (&experiment, data.iter().position(is_experiment)) {
            experiment = Some(data.remove(place).into());
            if data.is_empty() {
                let message = "is followed by an experiment and no recordings";
                return Err(Error::input("--data", None, "", message));
            }
        }
        match data.first() {
            Some(first) if experiment.is_none() && !more => {
                let message = "of which experiment? Give its file too: EXPERIMENT.toml --data ..";
                Err(Error::input("--data", None, first, message))
            }
            _ => Ok((experiment, data)),
        }
    }
}
