//! Tables of recorded places: their columns by name, their numbers.

use csv::{Reader, ReaderBuilder, StringRecord, Trim};

use crate::Error;

/// The column of times, if no other is named.
const TIME: &str = "t";

/// No time (s) or place (m) is farther.
const FAR: f64 = 1e12;

/// A CSV file that is read row by row.
pub(super) struct MarkerTable<'a> {
    file: &'a str,
    reader: Reader<&'a [u8]>,
    header: StringRecord,
    record: StringRecord,
    time: usize,
}

impl<'a> MarkerTable<'a> {
    /// Reads the header. `time`: the column of times, where it is not `t`.
    pub fn new(text: &'a str, file: &'a str, time: Option<&str>) -> Result<Self, Error> {
        let mut reader = ReaderBuilder::new();
        let mut reader = reader.trim(Trim::All).from_reader(text.as_bytes());
        let header = reader.headers().map_err(|error| wrong_file(file, &error))?.clone();
        let mut table = MarkerTable { file, reader, header, record: StringRecord::new(), time: 0 };
        table.time = table.column(time.unwrap_or(TIME))?;
        Ok(table)
    }

    /// Where a column is.
    pub fn column(&self, name: &str) -> Result<usize, Error> {
        let mut places = self.header.iter().enumerate().filter(|(_, own)| *own == name);
        match (places.next(), places.next()) {
            (Some((place, _)), None) => Ok(place),
            (Some(_), Some(_)) => Err(Error::input(self.file, 1, name, "is a column twice")),
            _ => {
                let known: Vec<&str> = self.header.iter().collect();
                let message = format!(
                    "is no column; there are {}: name others in [columns] of the experiment",
                    known.join(", ")
                );
                Err(Error::input(self.file, 1, name, message))
            }
        }
    }

    /// Where the columns of a place are.
    pub fn columns(&self, what: &str, names: &[String]) -> Result<[usize; 3], Error> {
        let [x, y, z] = names else {
            let message = "must be the names of three columns, of x, y and z";
            return Err(Error::input(self.file, None, what, message));
        };
        Ok([self.column(x)?, self.column(y)?, self.column(z)?])
    }

    /// The time of the next row (s); nothing after the last.
    pub fn next_time(&mut self) -> Result<Option<f64>, Error> {
        let read = self.reader.read_record(&mut self.record);
        if !read.map_err(|error| wrong_file(self.file, &error))? {
            return Ok(None);
        }
        let time = self.number(self.time)?;
        time.map(Some).ok_or_else(|| self.wrong_time("must be a number".into()))
    }

    /// A message on the time of the row.
    pub fn wrong_time(&self, message: String) -> Error {
        self.wrong(self.time, message)
    }

    /// The place in three columns of the row; none if one of them is empty.
    pub fn place(&self, [x, y, z]: [usize; 3]) -> Result<Option<[f64; 3]>, Error> {
        Ok(match (self.number(x)?, self.number(y)?, self.number(z)?) {
            (Some(x), Some(y), Some(z)) => Some([x, y, z]),
            _ => None,
        })
    }

    fn number(&self, column: usize) -> Result<Option<f64>, Error> {
        match self.record.get(column).unwrap_or("") {
            "" => Ok(None),
            text if text.eq_ignore_ascii_case("nan") => Ok(None),
            text => match text.parse::<f64>() {
                Ok(number) if number.abs() <= FAR => Ok(Some(number)),
                Ok(number) if number.is_finite() => {
                    let message = format!("must be at most {FAR:e}, found {text:?}: in m and s?");
                    Err(self.wrong(column, message))
                }
                _ => Err(self.wrong(column, format!("must be a finite number, found {text:?}"))),
            },
        }
    }

    fn wrong(&self, column: usize, message: String) -> Error {
        let line = self.record.position().map(|position| position.line() as usize);
        Error::input(self.file, line, self.header.get(column).unwrap_or(""), message)
    }
}

fn wrong_file(file: &str, error: &csv::Error) -> Error {
    let line = error.position().map(|position| position.line() as usize);
    Error::input(file, line, "", error.to_string())
}
