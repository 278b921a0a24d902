//! Rows of CSV files, with their places in messages.

use csv::StringRecord;

use crate::Error;

/// A row, with its place in messages.
pub(super) struct Row<'a> {
    pub header: &'a StringRecord,
    pub record: &'a StringRecord,
    pub file: &'a str,
    pub line: usize,
}

impl Row<'_> {
    /// An error unless the row has as many fields as the header.
    pub fn check_length(&self) -> Result<(), Error> {
        let (found, expected) = (self.record.len(), self.header.len());
        if found == expected {
            return Ok(());
        }
        let column = found.min(expected - 1);
        Err(self.error(column, format!("the row has {found} fields, the header {expected}")))
    }

    /// A finite number; never -0.
    pub fn number(&self, column: usize) -> Result<f64, Error> {
        let text = self.record.get(column).unwrap_or("");
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(number + 0.0),
            Ok(_) => Err(self.error(column, format!("must be finite, found {text}"))),
            Err(_) => Err(self.error(column, format!("must be a number, found {text:?}"))),
        }
    }

    /// A finite number; nothing where the field is empty or not a number (`nan`).
    pub fn measured(&self, column: usize) -> Result<Option<f64>, Error> {
        let text = self.record.get(column).unwrap_or("");
        match text.is_empty() || text.eq_ignore_ascii_case("nan") {
            true => Ok(None),
            false => self.number(column).map(Some),
        }
    }

    /// A time after the last one.
    pub fn time(&self, column: usize, last: Option<&f64>) -> Result<f64, Error> {
        let time = self.number(column)?;
        match last {
            Some(last) if time <= *last => {
                let message = format!("must increase from row to row, found {time} after {last}");
                Err(self.error(column, message))
            }
            _ => Ok(time),
        }
    }

    /// An error about a field of this row.
    pub fn error(&self, column: usize, message: String) -> Error {
        let name = self.header.get(column).unwrap_or("");
        Error::input(self.file, self.line, name, message)
    }
}

/// A reader of the text of a CSV file.
pub(super) fn reader(text: &str) -> csv::Reader<&[u8]> {
    let mut reader = csv::ReaderBuilder::new();
    reader.flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes())
}

/// The line of a record: its position comes before the blank lines that precede it.
pub(super) fn line_of(text: &str, position: &csv::Position) -> usize {
    let rest = text.as_bytes().iter().skip(position.byte() as usize);
    let blank = rest.take_while(|byte| matches!(byte, b'\n' | b'\r')).filter(|&&b| b == b'\n');
    position.line() as usize + blank.count()
}

/// What went wrong with a CSV file.
pub(super) fn csv_error(name: &str, error: csv::Error) -> Error {
    let line = error.position().map(|position| position.line() as usize);
    let message = error.to_string();
    match error.into_kind() {
        csv::ErrorKind::Io(error) => Error::io(name, error),
        _ => Error::input(name, line, "", message),
    }
}
