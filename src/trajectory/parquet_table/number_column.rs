//! Columns of numbers, and what is none.

use std::ops::Range;

use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::column::page::PageReader;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{BoolType, DataType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescPtr, ColumnDescriptor};

/// Rows that are taken from the reader at once: what it gives is soon put where it belongs.
const ROWS_AT_ONCE: usize = 4096;
/// From here on not every whole number is one of double precision.
const MOST_EXACT: u64 = 1 << 53;

/// A column of numbers, or of lists of as many numbers each.
#[derive(Clone, Debug)]
pub(super) struct NumberColumn {
    pub name: String,
    /// Its place among the columns of the file.
    pub leaf: usize,
    pub kind: NumberKind,
    /// How many numbers each of its lists has, if it has lists.
    pub width: Option<usize>,
}

impl NumberColumn {
    /// What its numbers are called.
    pub fn names(&self) -> Vec<String> {
        match self.width {
            None => vec![self.name.clone()],
            Some(width) => (0..width).map(|k| format!("{}[{k}]", self.name)).collect(),
        }
    }
}

/// How numbers are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberKind {
    Bool,
    Int32 { signed: bool },
    Int64 { signed: bool },
    Float,
    Double,
}

/// What a column is of.
pub(super) enum ColumnKind {
    Number(NumberKind),
    List(NumberKind),
    Text,
    /// In words.
    Other(String),
}

/// What a column is of, by its description.
pub(super) fn kind_of(column: &ColumnDescriptor) -> ColumnKind {
    let depth = column.path().parts().len();
    let (repeated, converted) = (column.max_rep_level(), column.converted_type());
    // A list is a group of a repeated group of an element; the oldest ones lack the last one or two.
    match (repeated, depth) {
        (0, 1) => {}
        (1, 1..=3) => {}
        (0, _) => return ColumnKind::Other("part of a structure".into()),
        (1, _) => return ColumnKind::Other("lists of structures".into()),
        _ => return ColumnKind::Other("lists of lists".into()),
    }
    let logical = column.logical_type_ref();
    let signed = !matches!(converted, ConvertedType::UINT_32 | ConvertedType::UINT_64)
        && !matches!(logical, Some(LogicalType::Integer(kind)) if !kind.is_signed);
    let decimal =
        converted == ConvertedType::DECIMAL || matches!(logical, Some(LogicalType::Decimal(_)));
    let number = match column.physical_type() {
        _ if decimal => return ColumnKind::Other("decimal numbers".into()),
        Type::BOOLEAN => NumberKind::Bool,
        Type::INT32 => NumberKind::Int32 { signed },
        Type::INT64 => NumberKind::Int64 { signed },
        Type::FLOAT => NumberKind::Float,
        Type::DOUBLE => NumberKind::Double,
        Type::BYTE_ARRAY if repeated == 0 => return ColumnKind::Text,
        Type::BYTE_ARRAY => return ColumnKind::Other("lists of text".into()),
        Type::INT96 => return ColumnKind::Other("times of 96 bits".into()),
        Type::FIXED_LEN_BYTE_ARRAY if logical == Some(&LogicalType::Float16) => {
            return ColumnKind::Other("numbers of 16 bits".into());
        }
        Type::FIXED_LEN_BYTE_ARRAY => return ColumnKind::Other("bytes".into()),
    };
    if repeated == 1 { ColumnKind::List(number) } else { ColumnKind::Number(number) }
}

/// Why what is compressed so cannot be read, if it cannot.
pub(super) fn unreadable(compression: Compression) -> Option<String> {
    use Compression::{GZIP, SNAPPY, UNCOMPRESSED};
    let name = match compression {
        UNCOMPRESSED | SNAPPY | GZIP(_) => return None,
        other => other.to_string(),
    };
    let name = name.split('(').next().unwrap_or_default().to_lowercase();
    Some(format!(
        "is compressed by {name}, which is not read: write the file with snappy, gzip or no compression"
    ))
}

/// The numbers of some rows of a column.
#[derive(Debug, Default)]
pub(super) struct NumbersRead {
    /// Row by row as many as the lists have; NaN where there is none.
    pub values: Vec<f64>,
    /// Whole numbers that double precision does not have, by their rows.
    pub whole: Vec<(usize, i64)>,
    /// Rows with lists of other lengths, and these.
    pub odd: Vec<(usize, usize)>,
}

impl NumbersRead {
    /// Appends the rows of a column of numbers.
    fn put(&mut self, batch: &Batch) {
        let first = self.values.len();
        if batch.most == 0 {
            self.values.extend(&batch.numbers);
            self.whole.extend(batch.whole.iter().map(|&(place, whole)| (first + place, whole)));
            return;
        }
        let mut numbers = batch.numbers.iter();
        let mut whole = batch.whole.iter().peekable();
        let mut taken = 0;
        for &level in &batch.definitions {
            if level < batch.most {
                self.values.push(f64::NAN);
                continue;
            }
            if let Some((_, exact)) = whole.next_if(|(place, _)| *place == taken) {
                self.whole.push((self.values.len(), *exact));
            }
            taken += 1;
            self.values.push(numbers.next().copied().unwrap_or(f64::NAN));
        }
    }

    /// Appends the rows of a column of lists.
    fn put_lists(&mut self, batch: &Batch, width: usize) {
        let mut numbers = batch.numbers.iter();
        let mut levels = batch.definitions.as_slice();
        for length in batch.lengths() {
            let row = self.values.len();
            self.values.resize(row + width, f64::NAN);
            if length.is_some_and(|length| length != width) {
                self.odd.push((row / width.max(1), length.unwrap_or_default()));
            }
            // A list without an element has a level, too.
            let (own, rest) = levels.split_at(length.unwrap_or_default().max(1).min(levels.len()));
            levels = rest;
            let given = own.iter().map(|&level| match level == batch.most {
                true => numbers.next().copied().unwrap_or(f64::NAN),
                false => f64::NAN,
            });
            // All of them are taken, whether there is a place for them or not.
            given.enumerate().for_each(|(k, x)| {
                if k < width {
                    self.values[row + k] = x;
                }
            });
        }
    }
}

/// Some rows as the reader gives them.
#[derive(Default)]
struct Batch {
    /// Of each entry what there is of it: a number, if this is `most`.
    definitions: Vec<i16>,
    most: i16,
    /// From here on a list has an entry.
    element: i16,
    /// Of each entry of lists: 0 where a list begins.
    repetitions: Vec<i16>,
    /// Those that there are.
    numbers: Vec<f64>,
    /// Those that are not exact, by their places among these.
    whole: Vec<(usize, i64)>,
}

impl Batch {
    /// How long each list is; nothing where there is no list.
    fn lengths(&self) -> impl Iterator<Item = Option<usize>> {
        let Batch { definitions, element, .. } = self;
        let mut first = 0;
        let list = move |repetitions: &[i16]| {
            let level = definitions.get(first).copied().unwrap_or_default();
            first += repetitions.len();
            match repetitions.len() {
                1 if level + 1 < *element => None,
                1 if level < *element => Some(0),
                length => Some(length),
            }
        };
        self.repetitions.chunk_by(|_, &next| next > 0).map(list)
    }
}

/// How long the first list of a column is among so many rows; nothing if there is none.
pub(super) fn first_length(
    column: ColumnDescPtr,
    kind: NumberKind,
    pages: Box<dyn PageReader>,
    rows: usize,
) -> Result<Option<usize>, ParquetError> {
    let mut found = None;
    // The first row has it nearly always.
    let all = 0..rows;
    each_batch(column, kind, pages, std::slice::from_ref(&all), 64, &mut |batch| {
        found = batch.lengths().find_map(|length| length);
        found.is_none()
    })?;
    Ok(found)
}

/// The numbers in `ranges` of rows of a row group, one range after the other; `width` of lists.
pub(super) fn read_numbers(
    column: ColumnDescPtr,
    (kind, width): (NumberKind, Option<usize>),
    pages: Box<dyn PageReader>,
    ranges: &[Range<usize>],
    into: &mut NumbersRead,
) -> Result<(), ParquetError> {
    each_batch(column, kind, pages, ranges, ROWS_AT_ONCE, &mut |batch| {
        match width {
            None => into.put(batch),
            Some(width) => into.put_lists(batch, width),
        }
        true
    })
}

/// Shows `visit` the rows in `ranges`, some at once, until it has seen enough.
fn each_batch(
    column: ColumnDescPtr,
    kind: NumberKind,
    pages: Box<dyn PageReader>,
    ranges: &[Range<usize>],
    at_once: usize,
    visit: &mut dyn FnMut(&Batch) -> bool,
) -> Result<(), ParquetError> {
    let exact = |x: i64| (x as f64, (x.unsigned_abs() > MOST_EXACT).then_some(x));
    let size = (ranges, at_once);
    match kind {
        NumberKind::Bool => {
            batches::<BoolType>(column, pages, size, |x| (f64::from(u8::from(*x)), None), visit)
        }
        NumberKind::Int32 { signed: true } => {
            batches::<Int32Type>(column, pages, size, |x| (f64::from(*x), None), visit)
        }
        NumberKind::Int32 { signed: false } => {
            batches::<Int32Type>(column, pages, size, |x| (f64::from(*x as u32), None), visit)
        }
        NumberKind::Int64 { signed: true } => {
            batches::<Int64Type>(column, pages, size, |x| exact(*x), visit)
        }
        NumberKind::Int64 { signed: false } => {
            let unsigned = |x: &i64| if *x < 0 { (*x as u64 as f64, None) } else { exact(*x) };
            batches::<Int64Type>(column, pages, size, unsigned, visit)
        }
        NumberKind::Float => {
            batches::<FloatType>(column, pages, size, |x| (f64::from(*x), None), visit)
        }
        NumberKind::Double => batches::<DoubleType>(column, pages, size, |x| (*x, None), visit),
    }
}

fn batches<T: DataType>(
    column: ColumnDescPtr,
    pages: Box<dyn PageReader>,
    (ranges, at_once): (&[Range<usize>], usize),
    number: impl Fn(&T::T) -> (f64, Option<i64>),
    visit: &mut dyn FnMut(&Batch) -> bool,
) -> Result<(), ParquetError> {
    let mut batch = Batch {
        most: column.max_def_level(),
        element: column.repeated_ancestor_def_level(),
        ..Batch::default()
    };
    let mut reader = ColumnReaderImpl::<T>::new(column, pages);
    let mut values = Vec::new();
    let mut at = 0;
    for range in ranges {
        let before = range.start - at;
        if before > 0 && reader.skip_records(before)? != before {
            return Err(too_few());
        }
        at = range.start;
        while at < range.end {
            batch.definitions.clear();
            batch.repetitions.clear();
            values.clear();
            let count = (range.end - at).min(at_once);
            let (read, _, _) = reader.read_records(
                count,
                Some(&mut batch.definitions),
                Some(&mut batch.repetitions),
                &mut values,
            )?;
            if read != count {
                return Err(too_few());
            }
            batch.numbers.clear();
            batch.whole.clear();
            for value in &values {
                let (x, whole) = number(value);
                batch.whole.extend(whole.map(|whole| (batch.numbers.len(), whole)));
                batch.numbers.push(x);
            }
            if !visit(&batch) {
                return Ok(());
            }
            at += count;
        }
    }
    Ok(())
}

/// The pages of a column have fewer rows than the file says.
pub(super) fn too_few() -> ParquetError {
    ParquetError::EOF("a column ends before its rows do".into())
}
