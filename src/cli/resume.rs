//! Where a search stands, kept in a file after each iteration, so that what was stopped can go on.

use std::io::ErrorKind::NotFound;
use std::path::{Path, PathBuf};

use super::report_folder::Destination;
use super::whole_files::write_file;
use crate::error::ErrorKind;
use crate::identify::{Checkpoint, Dataset, Experiment};
use crate::{Error, text};

/// The file a search is kept in while it runs.
pub(super) struct CheckpointFile(PathBuf);

impl CheckpointFile {
    /// The file that belongs to a result: `checkpoint.json` in its folder, `NAME.checkpoint.json` beside it; none
    /// where the result goes to a device or a pipe.
    pub fn of(destination: &Destination) -> Option<CheckpointFile> {
        Some(CheckpointFile(match destination {
            Destination::File(path) if path.exists() && !path.is_file() => return None,
            Destination::File(path) => path.with_extension("checkpoint.json"),
            Destination::Folder(folder) => folder.join("checkpoint.json"),
        }))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where the search stood, as text; nothing if there is no file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn text(&self) -> Result<Option<String>, Error> {
        match text::read(&self.0, text::MOST_BYTES) {
            Err(error) if error.kind() == ErrorKind::Io(NotFound) => Ok(None),
            text => text.map(Some),
        }
    }

    /// Where the search stood, of what the file `name` says.
    ///
    /// # Errors
    /// If it is not whole, or of another experiment.
    pub fn understood(
        name: &str,
        text: &str,
        experiment: &Experiment,
        dataset: &Dataset,
    ) -> Result<Checkpoint, Error> {
        let checkpoint: Checkpoint = serde_json::from_str(text).map_err(|error| {
            let message = format!("is no checkpoint of this version: {error}; remove it");
            Error::input(name, error.line(), "", message)
        })?;
        if !checkpoint.is_whole() {
            let message =
                "is not as it was written: a number is another, or something is missing; remove it";
            return Err(Error::input(name, None, "", message));
        }
        if !checkpoint.is_of(experiment, dataset) {
            let message = "is of another experiment, other recordings, starts or options; give those it \
                           was made with, or remove it";
            return Err(Error::input(name, None, "", message));
        }
        Ok(checkpoint)
    }

    /// Keeps where the search stands.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        if let Some(folder) = self.0.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        }
        let text = serde_json::to_string(checkpoint)
            .map_err(|error| Error::io(&self.0, std::io::Error::other(error)))?;
        write_file(&self.0, text.as_bytes())
    }

    /// Removes it: the result is there.
    pub fn remove(&self) {
        // That it is left behind does no harm: going on from it comes to the same result.
        let _ = std::fs::remove_file(&self.0);
    }
}
