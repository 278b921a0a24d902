//! A TOML file read field by field: every message names the line and the field.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Error;

/// A table of a TOML file.
pub(crate) struct Table<'a> {
    file: &'a str,
    text: &'a str,
    /// Where the table starts, in bytes.
    start: usize,
    /// Where it stands, as messages call it: `body.cube`; empty for the file as a whole.
    pub path: String,
    entries: &'a DeTable<'a>,
}

/// Parses a file; only its syntax can be at fault.
pub(crate) fn parse<'a>(text: &'a str, file: &str) -> Result<Spanned<DeTable<'a>>, Error> {
    DeTable::parse(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start);
        let line = line_of(text, start);
        let message = error.message().replace('\n', ", ");
        Error::input(file, line, key_at(text, line), message)
    })
}

impl<'a> Table<'a> {
    /// The file as a whole.
    pub fn root(text: &'a str, file: &'a str, document: &'a Spanned<DeTable<'a>>) -> Table<'a> {
        Table { file, text, start: 0, path: String::new(), entries: document.get_ref() }
    }

    /// An error about a field of this table (`joint.name`: of a table in it), or about the table itself if there is no
    /// such field.
    pub fn error(&self, field: &str, message: impl Into<String>) -> Error {
        Error::input(self.file, self.line(self.start_of(field)), self.path_of(field), message)
    }

    /// The line that a byte of the file stands in.
    pub fn line(&self, byte: usize) -> usize {
        line_of(self.text, byte)
    }

    /// Where a field starts, or the innermost table on the way to it, in bytes.
    pub fn start_of(&self, field: &str) -> usize {
        let (mut start, mut entries) = (self.start, Some(self.entries));
        for part in field.split('.') {
            let found = entries.and_then(|entries| entries.get_key_value(part));
            let Some((key, value)) = found else { break };
            (start, entries) = (key.span().start, value.get_ref().as_table());
        }
        start
    }

    /// `demand`, what was found instead and its unit as an error, unless `met`.
    pub fn demand(
        &self,
        field: &str,
        met: bool,
        demand: &str,
        found: f64,
        unit: &str,
    ) -> Result<(), Error> {
        if met {
            return Ok(());
        }
        let unit = if unit.is_empty() { String::new() } else { format!(" ({unit})") };
        Err(self.error(field, format!("{demand}, found {found}{unit}")))
    }

    /// The value of a field that must be there.
    pub fn required<V>(&self, field: &str, value: Option<V>) -> Result<V, Error> {
        value.ok_or_else(|| self.error(field, "is missing"))
    }

    /// An error if the table has any other field.
    pub fn only(&self, fields: &[&str]) -> Result<(), Error> {
        let unknown = self.entries.keys().filter(|key| !fields.contains(&key.get_ref().as_ref()));
        match unknown.min_by_key(|key| key.span().start) {
            Some(key) => {
                let message = format!("is not a field here; the fields are {}", fields.join(", "));
                Err(self.error(key.get_ref(), message))
            }
            None => Ok(()),
        }
    }

    /// Whether the field is there.
    pub fn has(&self, field: &str) -> bool {
        self.entries.contains_key(field)
    }

    /// A finite number.
    pub fn number(&self, field: &str) -> Result<Option<f64>, Error> {
        self.entries.get(field).map(|value| self.finite(field, value.get_ref())).transpose()
    }

    /// `N` finite numbers.
    pub fn numbers<const N: usize>(&self, field: &str) -> Result<Option<[f64; N]>, Error> {
        let Some(values) = self.list(field)? else { return Ok(None) };
        let found = values.len();
        let numbers = <[f64; N]>::try_from(values);
        let message = || format!("must be a list of {N} numbers, found {found}");
        numbers.map(Some).map_err(|_| self.error(field, message()))
    }

    /// Finite numbers; a single number is a list of one.
    pub fn list(&self, field: &str) -> Result<Option<Vec<f64>>, Error> {
        match self.entries.get(field).map(Spanned::get_ref) {
            None => Ok(None),
            Some(DeValue::Array(values)) => {
                let values = values.iter().map(|value| self.finite(field, value.get_ref()));
                values.collect::<Result<_, _>>().map(Some)
            }
            Some(value) => Ok(Some(vec![self.finite(field, value)?])),
        }
    }

    /// `N` lists of `M` finite numbers.
    pub fn matrix<const N: usize, const M: usize>(
        &self,
        field: &str,
    ) -> Result<Option<[[f64; M]; N]>, Error> {
        let Some(value) = self.entries.get(field) else { return Ok(None) };
        let wrong = || self.error(field, format!("must be {N} lists of {M} numbers"));
        let rows = value.get_ref().as_array().filter(|rows| rows.len() == N).ok_or_else(wrong)?;
        let mut matrix = [[0.0; M]; N];
        for (row, found) in matrix.iter_mut().zip(rows.iter()) {
            let found =
                found.get_ref().as_array().filter(|row| row.len() == M).ok_or_else(wrong)?;
            for (number, found) in row.iter_mut().zip(found.iter()) {
                *number = self.finite(field, found.get_ref())?;
            }
        }
        Ok(Some(matrix))
    }

    /// Lists of finite numbers.
    pub fn rows(&self, field: &str) -> Result<Option<Vec<Vec<f64>>>, Error> {
        let Some(value) = self.entries.get(field) else { return Ok(None) };
        let wrong = || self.error(field, "must be a list of lists of numbers");
        let rows = value.get_ref().as_array().ok_or_else(wrong)?.iter().map(|row| {
            let row = row.get_ref().as_array().ok_or_else(wrong)?;
            row.iter().map(|value| self.finite(field, value.get_ref())).collect()
        });
        rows.collect::<Result<_, _>>().map(Some)
    }

    /// Where the file is: what its other files are named from.
    pub fn directory(&self) -> &'a Path {
        Path::new(self.file).parent().unwrap_or(Path::new(""))
    }

    /// Whether a field is there and is a list.
    pub fn is_list(&self, field: &str) -> bool {
        self.entries.get(field).is_some_and(|value| value.get_ref().as_array().is_some())
    }

    /// A whole number from 1 to `most`.
    pub fn count(&self, field: &str, most: usize) -> Result<Option<usize>, Error> {
        self.count_from(field, 1, most)
    }

    /// A whole number of at least `least` and at most `most`.
    pub fn count_from(
        &self,
        field: &str,
        least: usize,
        most: usize,
    ) -> Result<Option<usize>, Error> {
        let Some(value) = self.entries.get(field) else { return Ok(None) };
        let integer = value.get_ref().as_integer();
        let count = integer.and_then(|i| usize::from_str_radix(i.as_str(), i.radix()).ok());
        match count {
            Some(count) if count > most => {
                Err(self.error(field, format!("must be at most {most}, found {count}")))
            }
            Some(count) if count >= least => Ok(Some(count)),
            _ => Err(self.error(field, format!("must be a whole number of at least {least}"))),
        }
    }

    /// A string.
    pub fn string(&self, field: &str) -> Result<Option<&'a str>, Error> {
        self.typed(field, "a string", DeValue::as_str)
    }

    /// True or false.
    pub fn boolean(&self, field: &str) -> Result<Option<bool>, Error> {
        self.typed(field, "true or false", DeValue::as_bool)
    }

    /// Strings.
    pub fn strings(&self, field: &str) -> Result<Option<Vec<&'a str>>, Error> {
        let what = "a list of strings";
        let Some(list) = self.typed(field, what, DeValue::as_array)? else { return Ok(None) };
        let strings = list.iter().map(|value| {
            value.get_ref().as_str().ok_or_else(|| self.error(field, format!("must be {what}")))
        });
        strings.collect::<Result<_, _>>().map(Some)
    }

    /// The names of the fields, in alphabetical order.
    pub fn fields(&self) -> Vec<&'a str> {
        self.entries.keys().map(|key| key.get_ref().as_ref()).collect()
    }

    /// A table.
    pub fn table(&self, field: &str) -> Result<Option<Table<'a>>, Error> {
        let Some(entries) = self.typed(field, "a table", DeValue::as_table)? else {
            return Ok(None);
        };
        let start = self.entries.get(field).map_or(self.start, |value| value.span().start);
        Ok(Some(self.inner(start, self.path_of(field), entries)))
    }

    /// The tables written `[[field]]`, none if there are none. Messages call them `field[0]`,
    /// `field[1]`, until they are given another path.
    pub fn tables(&self, field: &str) -> Result<Vec<Table<'a>>, Error> {
        let what = format!("a list of tables: write [[{field}]]");
        let Some(list) = self.typed(field, &what, DeValue::as_array)? else {
            return Ok(Vec::new());
        };
        let tables = list.iter().enumerate().map(|(index, value)| {
            let entries = value.get_ref().as_table();
            let entries = entries.ok_or_else(|| self.error(field, format!("must be {what}")))?;
            let path = format!("{}[{index}]", self.path_of(field));
            Ok(self.inner(value.span().start, path, entries))
        });
        tables.collect()
    }

    fn inner(&self, start: usize, path: String, entries: &'a DeTable<'a>) -> Table<'a> {
        Table { file: self.file, text: self.text, start, path, entries }
    }

    fn path_of(&self, field: &str) -> String {
        match (self.path.is_empty(), field.is_empty()) {
            (true, _) => field.to_string(),
            (_, true) => self.path.clone(),
            _ => format!("{}.{field}", self.path),
        }
    }

    fn typed<V>(
        &self,
        field: &str,
        what: &str,
        convert: impl Fn(&'a DeValue<'a>) -> Option<V>,
    ) -> Result<Option<V>, Error> {
        let Some(value) = self.entries.get(field) else { return Ok(None) };
        let value = value.get_ref();
        let message = || format!("must be {what}, found {}", article(value));
        convert(value).map(Some).ok_or_else(|| self.error(field, message()))
    }

    fn finite(&self, field: &str, value: &DeValue) -> Result<f64, Error> {
        let number = match value {
            DeValue::Integer(i) if i.radix() == 10 => i.as_str().parse().ok(),
            DeValue::Float(x) => x.as_str().parse::<f64>().ok(),
            _ => None,
        };
        match number {
            Some(number) if number.is_finite() => Ok(number),
            Some(number) => Err(self.error(field, format!("must be finite, found {number}"))),
            None => Err(self.error(field, format!("must be a number, found {}", article(value)))),
        }
    }
}

/// The type of a value, with its article.
fn article(value: &DeValue) -> String {
    let name = value.type_str();
    let article = if name.starts_with(['a', 'i']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// The line a byte stands in, counted from 1.
fn line_of(text: &str, byte: usize) -> usize {
    1 + text.bytes().take(byte).filter(|&b| b == b'\n').count()
}

/// The field that is being written in a line: its key, below the table header above it.
fn key_at(text: &str, line: usize) -> String {
    let headers = text.lines().take(line).filter(|line| line.trim_start().starts_with('['));
    let header = headers.last().map_or("", |line| {
        line.split('#').next().unwrap_or("").trim().trim_matches(['[', ']']).trim()
    });
    let key = text.lines().nth(line - 1).unwrap_or("");
    let key = key.split_once('=').map_or("", |(key, _)| key.trim());
    match (header.is_empty(), key.is_empty()) {
        (true, _) => key.to_string(),
        (_, true) => header.to_string(),
        _ => format!("{header}.{key}"),
    }
}
