//! Parquet files: a row a frame, many recordings a file.

mod number_column;
mod page_guard;
mod recording_column;

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

use bytes::Bytes;
use parquet::column::page::PageReader;
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ParquetMetaData, ParquetMetaDataOptions, ParquetMetaDataReader, ParquetStatisticsPolicy,
};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;

use super::column_names::RECORDING;
use super::recording_file::{NumberRow, RecordingFile, TableColumns, UnusableColumn};
use crate::Error;
use number_column::{
    ColumnKind, NumberColumn, NumbersRead, first_length, kind_of, read_numbers, unreadable,
};
use page_guard::{PageGuard, bytes_at};
use recording_column::{Runs, Unclear, demand_keys};

/// Numbers that are read at once, and rows of a file, at most.
const MOST_NUMBERS: u64 = crate::text::MOST_BYTES / 8;
/// Columns of a row group that are read at once, though not all of their rows are wanted; page by page if they are longer.
const SHORT: u64 = 1 << 20;
/// Likewise where most of their rows are.
const LONG: u64 = 1 << 26;

/// A file: what it says of itself, and where its rows are.
#[derive(Debug)]
pub(super) struct ParquetTable {
    path: PathBuf,
    /// For messages.
    name: String,
    metadata: ParquetMetaData,
    /// The first row of each row group, and how many rows there are.
    starts: Vec<usize>,
    columns: Vec<NumberColumn>,
    /// All columns, for messages.
    names: Arc<[String]>,
    unusable: Arc<[UnusableColumn]>,
}

impl ParquetTable {
    /// Reads what a file says of itself, and the first row of columns of lists.
    ///
    /// # Errors
    /// If it cannot be read, or says what cannot be.
    pub fn open(path: &Path) -> Result<ParquetTable, Error> {
        let name = path.display().to_string();
        let io = |error| Error::io(path, error);
        let mut file = File::open(path).map_err(io)?;
        let there = file.metadata().map_err(io)?;
        let length = there.len();
        if !there.is_file() || !is_parquet(&mut file, length).map_err(io)? {
            let message = "is not Parquet, or is cut off: it does not begin and end with PAR1";
            return Err(Error::input(name, None, "", message));
        }
        let mut options = ParquetMetaDataOptions::new();
        for skip in [
            ParquetMetaDataOptions::set_column_stats_policy,
            ParquetMetaDataOptions::set_encoding_stats_policy,
            ParquetMetaDataOptions::set_size_stats_policy,
        ] {
            skip(&mut options, ParquetStatisticsPolicy::SkipAll);
        }
        let reader = ParquetMetaDataReader::new().with_metadata_options(Some(options));
        let metadata =
            guarded(|| reader.parse_and_finish(&file)).map_err(|error: ParquetError| {
                Error::input(&name, None, "", format!("its end cannot be read: {error}"))
            })?;
        let mut table = ParquetTable {
            path: path.to_path_buf(),
            starts: starts(&metadata, length).map_err(|(row, column, message)| {
                Error::input(&name, row, column, format!("is damaged: {message}"))
            })?,
            name,
            metadata,
            columns: Vec::new(),
            names: Arc::new([]),
            unusable: Arc::new([]),
        };
        table.find_columns(&file);
        Ok(table)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Finds the columns of numbers, and what the others are.
    fn find_columns(&mut self, file: &File) {
        let (mut names, mut unusable) = (Vec::<String>::new(), Vec::<UnusableColumn>::new());
        for leaf in 0..self.metadata.file_metadata().schema_descr().num_columns() {
            let column = self.description(leaf);
            let name = root_name(&column);
            let mut shown = name.clone();
            let mut not = |message: String| {
                unusable.push(UnusableColumn { name: name.clone(), row: None, message });
            };
            let groups = self.metadata.row_groups();
            let packed =
                groups.iter().find_map(|group| unreadable(group.column(leaf).compression()));
            let of = |what: &str| format!("must be of numbers, and is of {what}");
            let number = match kind_of(&column) {
                ColumnKind::Number(kind) => Some((kind, false)),
                ColumnKind::List(kind) => Some((kind, true)),
                ColumnKind::Text => {
                    not(of("text"));
                    None
                }
                ColumnKind::Other(what) => {
                    not(of(&what));
                    None
                }
            };
            match (number, packed) {
                (None, _) => {}
                (Some(_), Some(message)) => not(message),
                (Some((kind, false)), None) => {
                    self.columns.push(NumberColumn { name: name.clone(), leaf, kind, width: None });
                }
                (Some((kind, true)), None) => match self.first_length(file, leaf, kind) {
                    Err(error) => not(format!("cannot be read: {error}")),
                    Ok(None | Some(0)) => not("has no list with an entry in its first rows".into()),
                    Ok(Some(width)) => {
                        shown = format!("{name}[0..{width}]");
                        let last = width - 1;
                        not(format!(
                            "is a list of {width} numbers: ask for {name}[0] to {name}[{last}]"
                        ));
                        let width = Some(width);
                        self.columns.push(NumberColumn { name: name.clone(), leaf, kind, width });
                    }
                },
            }
            if names.last() != Some(&shown) {
                names.push(shown);
            }
        }
        self.names = names.into();
        self.unusable = unusable.into();
    }

    /// How long the lists of a column are, by the first one.
    fn first_length(
        &self,
        file: &File,
        leaf: usize,
        kind: number_column::NumberKind,
    ) -> Result<Option<usize>, ParquetError> {
        for (group, rows) in self.starts.windows(2).enumerate() {
            let count = rows[1] - rows[0];
            let length = guarded(|| {
                let pages = self.pages(file, (group, leaf), 1, None)?;
                first_length(self.description(leaf), kind, pages, count)
            })?;
            if length.is_some() {
                return Ok(length.filter(|&length| length as u64 <= MOST_NUMBERS));
            }
        }
        Ok(None)
    }

    fn description(&self, leaf: usize) -> ColumnDescPtr {
        self.metadata.file_metadata().schema_descr().column(leaf)
    }

    /// The bytes of columns of a row group, and where they begin, if they are few: then they are read at once.
    fn few_bytes(
        &self,
        file: &File,
        group: usize,
        columns: &[&NumberColumn],
    ) -> Result<Option<(u64, Bytes)>, ParquetError> {
        let row_group = self.metadata.row_group(group);
        let ranges = columns.iter().map(|column| row_group.column(column.leaf).byte_range());
        let ends = |(first, last): (u64, u64), (start, length): (u64, u64)| {
            (first.min(start), last.max(start + length))
        };
        let (first, last) = ranges.fold((u64::MAX, 0), ends);
        match last.checked_sub(first).filter(|&length| length <= SHORT) {
            Some(_) => Ok(Some((first, bytes_at(file, first..last)?))),
            None => Ok(None),
        }
    }

    /// The pages of a column of a row group, of which so many rows are wanted, and `bytes` may have been read already.
    fn pages(
        &self,
        file: &File,
        (group, leaf): (usize, usize),
        wanted: usize,
        bytes: Option<&(u64, Bytes)>,
    ) -> Result<Box<dyn PageReader>, ParquetError> {
        let rows = self.starts[group + 1] - self.starts[group];
        let chunk = self.metadata.row_group(group).column(leaf);
        let (start, length) = chunk.byte_range();
        let whole = length <= SHORT || (2 * wanted >= rows && length <= LONG);
        let of = (chunk.compression(), u64::try_from(chunk.num_values())?);
        let guard = PageGuard::new(file, start..start + length, of, bytes, whole)?;
        Ok(Box::new(SerializedPageReader::new(Arc::new(guard), chunk, rows, None)?))
    }

    /// The recordings in the order of the file: what each is called, and its rows. `column` tells them apart; if it is not said, that
    /// of the name `recording`, and if there is none, all rows are one.
    ///
    /// # Errors
    /// If the column is missing, cannot be read, or has a recording in two places.
    pub fn recordings(&self, column: Option<&str>) -> Result<Vec<(String, Range<usize>)>, Error> {
        let wanted = column.unwrap_or(RECORDING);
        let error = |row: Option<usize>, message: String| {
            Error::input(&self.name, row.map(|row| row + 1), wanted, message)
        };
        if self.rows() == 0 {
            return Err(Error::input(&self.name, None, "", "has no rows"));
        }
        let schema = self.metadata.file_metadata().schema_descr();
        let leaf = schema.columns().iter().position(|column| root_name(column) == wanted);
        let leaf = match (leaf, column) {
            (Some(leaf), _) => leaf,
            (None, None) => return Ok(vec![(self.name.clone(), 0..self.rows())]),
            (None, Some(_)) => {
                let begin: Vec<&str> = self.names.iter().take(20).map(String::as_str).collect();
                let message = format!(
                    "the column is missing, which tells recordings apart; the file begins with {}",
                    begin.join(",")
                );
                return Err(error(None, message));
            }
        };
        let description = self.description(leaf);
        demand_keys(&description).map_err(|message| error(None, message))?;
        let file = File::open(&self.path).map_err(|error| Error::io(&self.path, error))?;
        let mut runs = Runs::default();
        for (group, rows) in self.starts.windows(2).enumerate() {
            let count = rows[1] - rows[0];
            if let Some(message) =
                unreadable(self.metadata.row_group(group).column(leaf).compression())
            {
                return Err(error(None, message));
            }
            guarded(|| {
                let pages = self.pages(&file, (group, leaf), count, None)?;
                runs.read(description.clone(), pages, count)
            })
            .map_err(|unclear| match unclear {
                Unclear::Unreadable(why) => {
                    error(Some(rows[0]), format!("cannot be read from here on: {why}"))
                }
                Unclear::Row(row, message) => error(Some(row), message),
            })?;
        }
        let named = |(key, rows)| (format!("{}: {wanted} {key}", self.name), rows);
        Ok(runs.found.into_iter().map(named).collect())
    }

    /// How many of the numbers of a row are wanted.
    pub fn width(&self, wanted: &dyn Fn(&str) -> bool) -> usize {
        let names = self.columns.iter().flat_map(NumberColumn::names);
        names.filter(|name| wanted(name)).count()
    }

    /// Reads recordings, of which each begins where the one before has ended, or later; of their columns those that are wanted.
    ///
    /// # Errors
    /// If a column cannot be read, or there are too many numbers.
    pub fn read(
        &self,
        recordings: &[(&str, Range<usize>)],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<RecordingFile>, Error> {
        let mut header = Vec::new();
        // Of each number of a row: which of the columns that are read has it, and where.
        let mut places = Vec::new();
        let mut columns: Vec<&NumberColumn> = Vec::new();
        for column in &self.columns {
            let before = places.len();
            for (k, name) in column.names().into_iter().enumerate().filter(|(_, name)| wanted(name))
            {
                places.push((columns.len(), column.width.unwrap_or(1), k));
                header.push(name);
            }
            if places.len() > before {
                columns.push(column);
            }
        }
        let rows: usize = recordings.iter().map(|(_, rows)| rows.len()).sum();
        let across: usize = columns.iter().map(|column| column.width.unwrap_or(1)).sum();
        if (rows as u64).saturating_mul(across.max(1) as u64) > MOST_NUMBERS {
            let message = format!(
                "{rows} rows of {across} numbers are more than is read at once: which column tells its recordings apart?"
            );
            return Err(Error::input(&self.name, None, RECORDING, message));
        }
        let file = File::open(&self.path).map_err(|error| Error::io(&self.path, error))?;
        let read = self.read_columns(&file, &columns, recordings)?;
        let mut files = Vec::new();
        let mut first = 0;
        let mut whole: Vec<_> = read.iter().map(|column| column.whole.iter().peekable()).collect();
        for (name, own) in recordings {
            let row = |k: usize| {
                let at = first + k;
                let numbers = places.iter().map(|&(column, width, k)| {
                    read[column].values.get(at * width + k).copied().unwrap_or(f64::NAN)
                });
                let numbers = numbers.collect();
                let mut exact = Vec::new();
                for (place, &(column, ..)) in places.iter().enumerate() {
                    let next = whole[column].next_if(|(row, _)| *row == at);
                    exact.extend(next.map(|&(_, whole)| (place, whole)));
                }
                NumberRow { line: own.start + k + 1, numbers, whole: exact }
            };
            let table = TableColumns {
                path: self.name.clone(),
                names: Arc::clone(&self.names),
                unusable: Arc::clone(&self.unusable),
                here: odd_lists(&columns, &read, first..first + own.len(), own.start),
            };
            let rows = (0..own.len()).map(row).collect();
            files.push(RecordingFile::of_table(name.to_string(), &header, rows, table));
            first += own.len();
        }
        Ok(files)
    }

    /// The rows of some recordings in each column, one after the other.
    fn read_columns(
        &self,
        file: &File,
        columns: &[&NumberColumn],
        recordings: &[(&str, Range<usize>)],
    ) -> Result<Vec<NumbersRead>, Error> {
        let mut read: Vec<NumbersRead> = columns.iter().map(|_| NumbersRead::default()).collect();
        for (group, rows) in self.starts.windows(2).enumerate() {
            let first = recordings.partition_point(|(_, own)| own.end <= rows[0]);
            let inside = recordings[first..].iter().take_while(|(_, own)| own.start < rows[1]);
            let mut ranges: Vec<Range<usize>> = Vec::new();
            for (_, own) in inside {
                let own = own.start.max(rows[0]) - rows[0]..own.end.min(rows[1]) - rows[0];
                match ranges.last_mut().filter(|last| last.end == own.start) {
                    Some(last) => last.end = own.end,
                    None => ranges.push(own),
                }
            }
            let wanted = ranges.iter().map(ExactSizeIterator::len).sum();
            if wanted == 0 {
                continue;
            }
            let error = |column: &str, why: ParquetError| {
                let message = format!("cannot be read from here on: {why}");
                Error::input(&self.name, rows[0] + 1, column, message)
            };
            let bytes = self.few_bytes(file, group, columns).map_err(|why| error("", why))?;
            for (column, read) in columns.iter().zip(&mut read) {
                guarded(|| {
                    let pages = self.pages(file, (group, column.leaf), wanted, bytes.as_ref())?;
                    let kind = (column.kind, column.width);
                    read_numbers(self.description(column.leaf), kind, pages, &ranges, read)
                })
                .map_err(|why| error(&column.name, why))?;
            }
        }
        Ok(read)
    }
}

/// The columns of which a recording has a list of another length: its rows among those that were read, and the first of them in the
/// file.
fn odd_lists(
    columns: &[&NumberColumn],
    read: &[NumbersRead],
    rows: Range<usize>,
    start: usize,
) -> Vec<UnusableColumn> {
    let odd = columns.iter().zip(read).filter_map(|(column, read)| {
        let next = read.odd.partition_point(|(row, _)| *row < rows.start);
        let &(row, length) = read.odd.get(next).filter(|(row, _)| *row < rows.end)?;
        let width = column.width?;
        let message =
            format!("is a list of {length} numbers, and the first of the file has {width}");
        let row = Some(start + row - rows.start + 1);
        let named = move |name| UnusableColumn { name, row, message: message.clone() };
        Some(column.names().into_iter().map(named))
    });
    odd.flatten().collect()
}

/// The name of the column of the table that this is, or is a part of.
fn root_name(column: &ColumnDescPtr) -> String {
    column.path().parts().first().cloned().unwrap_or_default()
}

/// Whether a file has the marks of the format.
fn is_parquet(file: &mut File, length: u64) -> std::io::Result<bool> {
    const MARK: &[u8; 4] = b"PAR1";
    if length < 12 {
        return Ok(false);
    }
    let (mut first, mut last) = ([0; 4], [0; 4]);
    file.read_exact(&mut first)?;
    file.seek(SeekFrom::End(-4))?;
    file.read_exact(&mut last)?;
    Ok(&first == MARK && &last == MARK)
}

/// The first row of each row group, and how many rows there are; or a row, a column and what cannot be of them in a file of this
/// length.
fn starts(
    metadata: &ParquetMetaData,
    length: u64,
) -> Result<Vec<usize>, (Option<usize>, String, String)> {
    let columns = metadata.file_metadata().schema_descr().num_columns();
    let mut starts = vec![0];
    let mut begin = 0_u64;
    for group in metadata.row_groups() {
        let wrong = |column: &str, message: &str| {
            Err((Some(begin as usize + 1), column.to_string(), message.to_string()))
        };
        let rows = u64::try_from(group.num_rows()).unwrap_or(u64::MAX);
        if rows > MOST_NUMBERS || begin + rows > MOST_NUMBERS {
            let message = format!("it says to have more than {MOST_NUMBERS} rows");
            return Err((None, String::new(), message));
        }
        if group.num_columns() != columns {
            return wrong("", "a row group has other columns than the file");
        }
        for chunk in group.columns() {
            let description = chunk.column_descr();
            let name = chunk.column_path().string();
            let start = chunk.dictionary_page_offset().unwrap_or(chunk.data_page_offset());
            let ends = start.checked_add(chunk.compressed_size());
            let inside = start >= 0
                && chunk.compressed_size() >= 0
                && ends.is_some_and(|end| end as u64 <= length);
            if !inside || chunk.file_path().is_some() {
                return wrong(&name, "its pages are not in the file");
            }
            let values = u64::try_from(chunk.num_values()).unwrap_or(u64::MAX);
            let fits = match description.max_rep_level() {
                0 => values == rows,
                _ => values <= MOST_NUMBERS,
            };
            if !fits {
                return wrong(&name, "it says to have more or fewer values than there are rows");
            }
        }
        begin += rows;
        starts.push(begin as usize);
    }
    Ok(starts)
}

thread_local! {
    /// Whether this thread is inside the crate.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Keeps panics of the crate off standard error: they become errors. Others are told as before.
fn quieten() {
    static ONCE: Once = Once::new();
    if std::thread::panicking() {
        return;
    }
    ONCE.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !INSIDE.get() {
                others(panic);
            }
        }));
    });
}

/// What the crate makes of a file. On damaged ones its readers may panic, of which more can be wrong than is checked here.
fn guarded<R, E: From<ParquetError>>(read: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    quieten();
    let before = INSIDE.replace(true);
    let found = catch_unwind(AssertUnwindSafe(read));
    INSIDE.set(before);
    found.unwrap_or_else(|_| {
        Err(ParquetError::General("a page is not what its header says".into()).into())
    })
}
