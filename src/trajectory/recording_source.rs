//! Where recordings are: a file each, or many in a table.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "mcap")]
use super::mcap_bag::read_bag;
#[cfg(not(feature = "mcap"))]
use super::no_mcap::read_bag;
#[cfg(not(feature = "parquet"))]
use super::no_parquet::ParquetTable;
#[cfg(feature = "parquet")]
use super::parquet_table::ParquetTable;
use super::recording_file::RecordingFile;
use super::wanted_columns::WantedColumns;
use crate::Error;
use crate::parallel::parallel;

/// Where a recording is: a file, or some of the rows of a Parquet file.
#[derive(Clone, Debug)]
pub struct RecordingSource {
    path: PathBuf,
    part: Option<TablePart>,
}

/// A recording in a table.
#[derive(Clone, Debug)]
struct TablePart {
    table: Arc<ParquetTable>,
    /// Of the recording, in results.
    name: String,
    rows: Range<usize>,
}

impl RecordingSource {
    /// The file that it is in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Which of the recordings of its file it is, in words, if that has many.
    pub(crate) fn place(&self) -> Option<&str> {
        let part = self.part.as_ref()?;
        let path = self.path.display().to_string();
        part.name.strip_prefix(&path).filter(|rest| !rest.is_empty())
    }

    /// What it is called in results and messages: the file and, if that has many recordings, which of them.
    pub fn name(&self) -> String {
        self.part.as_ref().map_or_else(|| self.path.display().to_string(), |part| part.name.clone())
    }
}

impl From<PathBuf> for RecordingSource {
    /// A file that is one recording.
    fn from(path: PathBuf) -> RecordingSource {
        RecordingSource { path, part: None }
    }
}

/// Whether a file is of a kind, by its name.
fn is_of_kind(path: &Path, kind: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(kind))
}

/// Whether a file is a table of recordings.
fn is_table(path: &Path) -> bool {
    is_of_kind(path, "parquet")
}

/// Reads a file that is one recording.
fn load_one(path: &Path, wanted: &dyn WantedColumns) -> Result<RecordingFile, Error> {
    if is_of_kind(path, "mcap") { read_bag(path, wanted) } else { RecordingFile::load_rows(path) }
}

/// The recordings in files: of a Parquet file as many as its column `recording` tells apart, in the order of the file. If no column
/// is said it is the one of the name `recording`, if there is one, and else the file is one recording. Of other files, each is one.
///
/// Of a Parquet file its description and that column are read.
///
/// # Errors
/// If a Parquet file cannot be read, has no such column, or has rows of a recording in two places.
pub fn recordings_of(
    paths: Vec<PathBuf>,
    recording: Option<&str>,
) -> Result<Vec<RecordingSource>, Error> {
    let mut sources = Vec::new();
    for path in paths {
        if !is_table(&path) {
            sources.push(path.into());
            continue;
        }
        let table = Arc::new(ParquetTable::open(&path)?);
        for (name, rows) in table.recordings(recording)? {
            let part = TablePart { table: Arc::clone(&table), name, rows };
            sources.push(RecordingSource { path: path.clone(), part: Some(part) });
        }
    }
    Ok(sources)
}

/// Numbers of a table that are read at once, about.
const NUMBERS_AT_ONCE: usize = 1 << 22;

/// What `each` makes of the recordings, on so many threads, on which the result does not depend. Of tables and MCAP files only the
/// columns that are `wanted` are read, and what is read at once of a table is many recordings.
pub fn load_recordings<R: Send>(
    sources: &[RecordingSource],
    threads: usize,
    wanted: &dyn WantedColumns,
    each: impl Fn(RecordingFile) -> Result<R, Error> + Sync,
) -> Vec<Result<R, Error>> {
    let units = units(sources, threads, wanted);
    let read = parallel(threads, units.len(), |k| {
        let own = &sources[units[k].clone()];
        let Some(TablePart { table, .. }) = own.first().and_then(|source| source.part.as_ref())
        else {
            return own.iter().map(|s| each(load_one(&s.path, wanted)?)).collect();
        };
        let parts = own.iter().filter_map(|source| source.part.as_ref());
        let parts: Vec<_> = parts.map(|part| (part.name.as_str(), part.rows.clone())).collect();
        read_parts(table, &parts, wanted, &each)
    });
    read.into_iter().flat_map(|results: Vec<Result<R, Error>>| results).collect()
}

/// What `each` makes of some recordings of a table; where one is wrong, those before and after it all the same.
fn read_parts<R>(
    table: &ParquetTable,
    parts: &[(&str, Range<usize>)],
    wanted: &dyn WantedColumns,
    each: &(impl Fn(RecordingFile) -> Result<R, Error> + Sync),
) -> Vec<Result<R, Error>> {
    match table.read(parts, &|name| wanted.has(name)) {
        Ok(files) => files.into_iter().map(each).collect(),
        Err(error) if parts.len() < 2 => vec![Err(error)],
        // Half by half, for which of them is at fault.
        Err(_) => {
            let (first, second) = parts.split_at(parts.len() / 2);
            let mut found = read_parts(table, first, wanted, each);
            found.extend(read_parts(table, second, wanted, each));
            found
        }
    }
}

/// Which sources are read together: those of a table that follow each other there, in about as many groups as there are threads.
fn units(
    sources: &[RecordingSource],
    threads: usize,
    wanted: &dyn WantedColumns,
) -> Vec<Range<usize>> {
    let follows = |a: &RecordingSource, b: &RecordingSource| match (&a.part, &b.part) {
        (Some(a), Some(b)) => Arc::ptr_eq(&a.table, &b.table) && a.rows.end <= b.rows.start,
        _ => false,
    };
    let rows_of = |source: &RecordingSource| source.part.as_ref().map_or(0, |part| part.rows.len());
    let mut units = Vec::new();
    let mut first = 0;
    for run in sources.chunk_by(follows) {
        let rows: usize = run.iter().map(rows_of).sum();
        let width =
            run[0].part.as_ref().map_or(1, |part| part.table.width(&|name| wanted.has(name)));
        let most = rows.div_ceil(threads.max(1)).min(NUMBERS_AT_ONCE / width.max(1));
        let mut taken = 0;
        let mut begin = first;
        for source in run {
            first += 1;
            taken += rows_of(source);
            if taken >= most {
                units.push(begin..first);
                (begin, taken) = (first, 0);
            }
        }
        if begin < first {
            units.push(begin..first);
        }
    }
    units
}

impl RecordingFile {
    /// Reads a file. Of a Parquet file all rows are one after the other, whatever recordings they are of; of an MCAP file they are the
    /// messages of the topic that has most.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn load(path: impl AsRef<Path>) -> Result<RecordingFile, Error> {
        let path = path.as_ref();
        if !is_table(path) {
            return load_one(path, &|_: &str| true);
        }
        let table = ParquetTable::open(path)?;
        let name = path.display().to_string();
        let mut files = table.read(&[(&name, 0..table.rows())], &|_| true)?;
        files.pop().ok_or_else(|| Error::input(name, None, "", "has no rows"))
    }
}
