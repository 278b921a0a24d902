//! What stands for MCAP files in programs that do not read them.

use std::path::Path;

use super::recording_file::RecordingFile;
use super::wanted_columns::WantedColumns;
use crate::Error;

/// Says that it cannot be read.
pub(super) fn read_bag(path: &Path, _: &dyn WantedColumns) -> Result<RecordingFile, Error> {
    let message = "is MCAP, which this program was built without: build it with --features mcap, or write CSV";
    Err(Error::input(path.display().to_string(), None, "", message))
}
