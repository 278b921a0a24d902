//! What stands in files, of which none is without end.

mod kept_files;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::Error;

pub use kept_files::KeptFiles;
pub(crate) use kept_files::{canonical, is_file, place, reach};

/// Bytes of a file of numbers or of settings: none has as many, but a device has no end.
pub(crate) const MOST_BYTES: u64 = 1 << 30;

/// The bytes of a file of at most `most` bytes; a pipe or device may never end.
///
/// # Errors
/// If it cannot be read, is longer, or is no file.
pub(crate) fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let io = |error| Error::io(path, error);
    kept_files::contents(
        path,
        || lost(path),
        || {
            let there = std::fs::metadata(path).map_err(io)?;
            if !there.is_file() || there.len() > most {
                let message = format!("must be a file of at most {most} bytes");
                return Err(Error::input(path.display().to_string(), None, "", message));
            }
            std::fs::read(path).map_err(io)
        },
    )
}

fn lost(path: &Path) -> Error {
    let message = "is not among the files that were kept";
    Error::input(path.display().to_string(), None, "", message)
}

/// The text of a file, or of a pipe, of at most `most` bytes.
///
/// # Errors
/// If it cannot be read, is longer, or is no text.
pub(crate) fn read(path: &Path, most: u64) -> Result<String, Error> {
    let io = |error| Error::io(path, error);
    let bad = |line: Option<usize>, message: String| {
        Error::input(path.display().to_string(), line, "", message)
    };
    let bytes = kept_files::contents(
        path,
        || lost(path),
        || {
            let file = File::open(path).map_err(io)?;
            // A file is read at once; a pipe says it is of no length.
            let length = file.metadata().map_or(0, |there| there.len().min(most));
            let mut bytes = Vec::with_capacity(length as usize + 1);
            file.take(most + 1).read_to_end(&mut bytes).map_err(io)?;
            if bytes.len() as u64 > most {
                return Err(bad(
                    None,
                    format!("is longer than {most} bytes, the most that is read"),
                ));
            }
            Ok(bytes)
        },
    )?;
    String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        bad(Some(line), "is not text in UTF-8".to_string())
    })
}
