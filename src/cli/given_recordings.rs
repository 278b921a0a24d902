//! Which recordings a command looks at.

use std::path::{Path, PathBuf};

use crate::Error;

/// An experiment and recordings in place of its own.
#[derive(clap::Args)]
pub(super) struct RecordingArguments {
    /// The experiment (TOML)
    experiment: Option<PathBuf>,
    /// Recordings: files (CSV, NPZ), folders of them, or patterns in quotes; replaces the experiment's
    #[arg(long, value_name = "FILES|DIR|GLOB", num_args = 1.., action = clap::ArgAction::Append)]
    data: Vec<String>,
}

impl RecordingArguments {
    /// The experiment, and the recordings given. What follows `--data` and is no recording by its name is the experiment.
    ///
    /// # Errors
    /// If recordings are given without anything that says what they are of: an experiment, or `more`.
    pub fn split(&self, more: bool) -> Result<(Option<&Path>, &[String]), Error> {
        let is_experiment = |last: &&String| self.experiment.is_none() && last.ends_with(".toml");
        let (experiment, data) = match self.data.split_last() {
            Some((last, data)) if is_experiment(&last) => (Some(Path::new(last)), data),
            _ => (self.experiment.as_deref(), &self.data[..]),
        };
        match self.data.first() {
            Some(first) if experiment.is_none() && !more => {
                let message = "of which experiment? Give its file too: EXPERIMENT.toml --data ..";
                Err(Error::input("--data", None, first, message))
            }
            _ => Ok((experiment, data)),
        }
    }
}
