//! Columns of a recording that name files.

use std::path::{Path, PathBuf};

use super::recording_file::RecordingFile;
use crate::Error;

/// A file that a row names, and the line it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Relative to the folder of the recording.
    pub path: PathBuf,
    /// For messages.
    pub line: usize,
}

impl RecordingFile {
    /// The files that the columns with these names have, row by row; nothing where a field is empty.
    ///
    /// # Errors
    /// If a column is missing.
    pub fn files(&self, names: &[&str]) -> Result<Vec<Vec<Option<NamedFile>>>, Error> {
        let folder = Path::new(&self.name).parent().unwrap_or(Path::new("."));
        let needed = ", which names the image of each frame";
        let places = names.iter().map(|name| self.column(name, needed));
        let places = places.collect::<Result<Vec<usize>, _>>()?;
        self.demand_whole()?;
        let row = |row: super::recording_file::Row| {
            let named = |&place: &usize| {
                let name = row.text(place).trim();
                let file = NamedFile { path: folder.join(name), line: row.line };
                (!name.is_empty()).then_some(file)
            };
            places.iter().map(named).collect()
        };
        Ok(self.rows().map(row).collect())
    }
}
