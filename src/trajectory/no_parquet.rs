//! What stands for Parquet files in programs that do not read them.

use std::ops::Range;
use std::path::Path;

use super::recording_file::RecordingFile;
use crate::Error;

/// There is none.
#[derive(Debug)]
pub(super) enum ParquetTable {}

impl ParquetTable {
    /// Says that it cannot be read.
    pub fn open(path: &Path) -> Result<ParquetTable, Error> {
        let message = "is Parquet, which this program was built without: build it with --features parquet, or write CSV";
        Err(Error::input(path.display().to_string(), None, "", message))
    }

    pub fn rows(&self) -> usize {
        match *self {}
    }

    pub fn recordings(&self, _: Option<&str>) -> Result<Vec<(String, Range<usize>)>, Error> {
        match *self {}
    }

    pub fn read(
        &self,
        _: &[(&str, Range<usize>)],
        _: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<RecordingFile>, Error> {
        match *self {}
    }

    pub fn width(&self, _: &dyn Fn(&str) -> bool) -> usize {
        match *self {}
    }
}
