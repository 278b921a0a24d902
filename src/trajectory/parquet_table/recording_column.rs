//! Which rows of a table are which recording.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use parquet::basic::Type;
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescPtr;

use super::number_column::{ColumnKind, NumberKind, kind_of, too_few};

/// Rows that are read at once.
const ROWS_AT_ONCE: usize = 1 << 14;
/// More recordings are taken for a mistake.
const MOST_RECORDINGS: usize = 1 << 22;

/// What tells a recording from the others.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum RecordingKey {
    Whole(i64),
    Unsigned(u64),
    Text(String),
}

impl fmt::Display for RecordingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecordingKey::Whole(number) => number.fmt(f),
            RecordingKey::Unsigned(number) => number.fmt(f),
            // What a terminal would take for a command is not.
            RecordingKey::Text(text) if text.chars().any(char::is_control) => {
                text.escape_debug().fmt(f)
            }
            RecordingKey::Text(text) => text.fmt(f),
        }
    }
}

/// Recordings in the order of their rows.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub found: Vec<(RecordingKey, Range<usize>)>,
    places: HashMap<RecordingKey, usize>,
}

/// Why a column tells no recordings.
pub(super) enum Unclear {
    Unreadable(ParquetError),
    /// The row, from 0, and in words what is wrong.
    Row(usize, String),
}

impl From<ParquetError> for Unclear {
    fn from(error: ParquetError) -> Unclear {
        Unclear::Unreadable(error)
    }
}

impl Runs {
    /// How many rows there are.
    fn rows(&self) -> usize {
        self.found.last().map_or(0, |(_, rows)| rows.end)
    }

    /// Takes the next row.
    fn push(&mut self, key: Option<RecordingKey>) -> Result<(), Unclear> {
        let row = self.rows();
        let Some(key) = key else {
            let message = "is empty: each row is of a recording".to_string();
            return Err(Unclear::Row(row, message));
        };
        if let Some((_, rows)) = self.found.last_mut().filter(|(last, _)| *last == key) {
            rows.end += 1;
            return Ok(());
        }
        if let Some(&other) = self.places.get(&key) {
            let (_, other) = &self.found[other];
            let message = format!(
                "recording {key} is in two places: rows {} to {}, and again here; sort the rows by recording and time",
                other.start + 1,
                other.end
            );
            return Err(Unclear::Row(row, message));
        }
        if self.found.len() == MOST_RECORDINGS {
            let message = format!(
                "there are more than {MOST_RECORDINGS} recordings: is this the column that tells them apart?"
            );
            return Err(Unclear::Row(row, message));
        }
        self.places.insert(key.clone(), self.found.len());
        self.found.push((key, row..row + 1));
        Ok(())
    }

    /// Takes the next `rows`, which are those of a row group.
    pub fn read(
        &mut self,
        column: ColumnDescPtr,
        pages: Box<dyn PageReader>,
        rows: usize,
    ) -> Result<(), Unclear> {
        match kind_of(&column) {
            ColumnKind::Number(NumberKind::Int32 { signed: true }) => {
                let key = |x: &i32| RecordingKey::Whole(i64::from(*x));
                self.read_keys::<Int32Type>(column, pages, rows, key)
            }
            ColumnKind::Number(NumberKind::Int32 { signed: false }) => {
                let key = |x: &i32| RecordingKey::Whole(i64::from(*x as u32));
                self.read_keys::<Int32Type>(column, pages, rows, key)
            }
            ColumnKind::Number(NumberKind::Int64 { signed: true }) => {
                self.read_keys::<Int64Type>(column, pages, rows, |x| RecordingKey::Whole(*x))
            }
            ColumnKind::Number(NumberKind::Int64 { signed: false }) => {
                let key = |x: &i64| RecordingKey::Unsigned(*x as u64);
                self.read_keys::<Int64Type>(column, pages, rows, key)
            }
            _ => {
                let text = |x: &ByteArray| String::from_utf8_lossy(x.data()).into_owned();
                let key = |x: &ByteArray| RecordingKey::Text(text(x));
                self.read_keys::<ByteArrayType>(column, pages, rows, key)
            }
        }
    }

    fn read_keys<T: DataType>(
        &mut self,
        column: ColumnDescPtr,
        pages: Box<dyn PageReader>,
        rows: usize,
        key: impl Fn(&T::T) -> RecordingKey,
    ) -> Result<(), Unclear> {
        let most = column.max_def_level();
        let mut reader = ColumnReaderImpl::<T>::new(column, pages);
        let (mut levels, mut values) = (Vec::new(), Vec::new());
        let mut left = rows;
        while left > 0 {
            levels.clear();
            values.clear();
            let count = left.min(ROWS_AT_ONCE);
            let (read, ..) = reader.read_records(count, Some(&mut levels), None, &mut values)?;
            if read != count {
                return Err(too_few().into());
            }
            left -= count;
            let mut given = values.iter();
            if most == 0 {
                given.try_for_each(|value| self.push(Some(key(value))))?;
            } else {
                let keys = levels.iter().map(|&level| match level == most {
                    true => given.next().map(&key),
                    false => None,
                });
                keys.into_iter().try_for_each(|key| self.push(key))?;
            }
        }
        Ok(())
    }
}

/// Whether a column can tell recordings apart; if not, in words what it is of.
pub(super) fn demand_keys(column: &ColumnDescPtr) -> Result<(), String> {
    let found = match (kind_of(column), column.physical_type()) {
        (ColumnKind::Number(NumberKind::Int32 { .. } | NumberKind::Int64 { .. }), _) => {
            return Ok(());
        }
        (ColumnKind::Text, _) => return Ok(()),
        (ColumnKind::Number(_), Type::BOOLEAN) => "true and false".to_string(),
        (ColumnKind::Number(_), _) => "numbers that are not whole".to_string(),
        (ColumnKind::List(_), _) => "lists".to_string(),
        (ColumnKind::Other(what), _) => what,
    };
    Err(format!("tells recordings apart by whole numbers or text, and is of {found}"))
}
