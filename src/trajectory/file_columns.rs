//! Columns of a recording that name files.

use std::path::{Path, PathBuf};

use super::rows::{Row, csv_error, line_of, reader};
use crate::Error;

/// A file that a row names, and the line it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedFile {
    /// Relative to the folder of the recording.
    pub path: PathBuf,
    /// For messages.
    pub line: usize,
}

/// The files that the columns of a CSV file with these names have, row by row; nothing where a field is empty.
///
/// # Errors
/// If the file cannot be read, or a column is missing.
pub fn load_file_columns(
    path: impl AsRef<Path>,
    names: &[&str],
) -> Result<Vec<Vec<Option<NamedFile>>>, Error> {
    let path = path.as_ref();
    let text = crate::text::read(path, crate::text::MOST_BYTES)?;
    let file = path.display().to_string();
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut reader = reader(&text);
    let header = reader.headers().map_err(|error| csv_error(&file, error))?.clone();
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        match header.iter().position(|column| column == *name) {
            Some(place) => places.push(place),
            None => {
                let columns: Vec<&str> = header.iter().take(20).collect();
                let message = format!(
                    "the column is missing, which names the image of each frame; the file begins with {}",
                    columns.join(",")
                );
                return Err(Error::input(&file, 1, *name, message));
            }
        }
    }
    let (mut rows, mut line) = (Vec::new(), 1);
    for record in reader.records() {
        let record = record.map_err(|error| csv_error(&file, error))?;
        line = record.position().map_or(line, |position| line_of(&text, position));
        Row { header: &header, record: &record, file: &file, line }.check_length()?;
        let named = |&place: &usize| {
            let name = record.get(place).unwrap_or_default().trim();
            (!name.is_empty()).then(|| NamedFile { path: folder.join(name), line })
        };
        rows.push(places.iter().map(named).collect());
    }
    Ok(rows)
}
