//! Columns of a recording that are no numbers of the state: what sensors read.

use std::path::Path;

use super::rows::{Row, csv_error, line_of, reader};
use crate::Error;

/// The columns of a CSV file with these names, row by row; nothing where a field is empty or `nan`.
///
/// # Errors
/// If the file cannot be read, a column is missing, or a field is not a number.
pub fn load_columns(
    path: impl AsRef<Path>,
    names: &[&str],
) -> Result<Vec<Vec<Option<f64>>>, Error> {
    let path = path.as_ref();
    let text = crate::text::read(path, crate::text::MOST_BYTES)?;
    let file = path.display().to_string();
    let mut reader = reader(&text);
    let header = reader.headers().map_err(|error| csv_error(&file, error))?.clone();
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let mut found = header.iter().enumerate().filter(|(_, column)| column == name);
        match (found.next(), found.next()) {
            (Some((place, _)), None) => places.push(place),
            (None, _) => return Err(Error::input(&file, 1, *name, "is missing")),
            _ => return Err(Error::input(&file, 1, *name, "is there twice")),
        }
    }
    let (mut rows, mut line) = (Vec::new(), 1);
    for record in reader.records() {
        let record = record.map_err(|error| csv_error(&file, error))?;
        line = record.position().map_or(line, |position| line_of(&text, position));
        let row = Row { header: &header, record: &record, file: &file, line };
        row.check_length()?;
        let numbers = places.iter().map(|&place| row.measured(place));
        rows.push(numbers.collect::<Result<_, _>>()?);
    }
    Ok(rows)
}
