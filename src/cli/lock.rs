//! One program at a time in a place for results: the second is told who is there.

use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::whole_files::{is_at, is_held, unwritable};
use crate::Error;

/// A lock that the system takes back from a program that is gone, however it ended.
pub(super) struct Lock {
    path: PathBuf,
    /// Open as long as the lock is held.
    _file: File,
    /// A folder that was made for it.
    made: Option<PathBuf>,
}

/// Longest text that says who holds a lock.
const MOST_BYTES: u64 = 100;

impl Lock {
    /// The lock of a folder, which is made if it is not there; gone again with the lock if nothing is in it then.
    pub fn of_folder(folder: &Path) -> Result<Lock, Error> {
        let made = !folder.exists();
        fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error))?;
        let made = made.then(|| folder.to_path_buf());
        let mut lock = Lock::take(folder.join(".stiction-lock"), folder);
        match (&mut lock, made) {
            (Ok(lock), made) => lock.made = made,
            // Best effort; what is not empty stays.
            (Err(_), Some(folder)) => drop(fs::remove_dir(folder)),
            (Err(_), None) => {}
        }
        lock
    }

    /// The lock of a file.
    pub fn of_file(file: &Path) -> Result<Lock, Error> {
        let mut name = std::ffi::OsString::from(".");
        name.push(file.file_name().unwrap_or_default());
        name.push(".stiction-lock");
        Lock::take(file.with_file_name(name), file)
    }

    /// Takes the lock of `place`, or says who has it.
    fn take(path: PathBuf, place: &Path) -> Result<Lock, Error> {
        let failed = |error| unwritable(place, &error);
        loop {
            let mut options = File::options();
            options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(&path).map_err(failed)?;
            if is_held(&file.try_lock()) {
                let message = format!(
                    "another stiction ({}) is writing here; wait until it is done, or write elsewhere",
                    holder(&mut file)
                );
                return Err(Error::input(place.display().to_string(), None, "", message));
            }
            // Its last holder may have removed it meanwhile.
            if !is_at(&file, &path) {
                continue;
            }
            let now =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            let text = format!("process {}, since {}", std::process::id(), date(now));
            let lock = Lock { path, _file: file, made: None };
            let mut file = &lock._file;
            let written = file.set_len(0).and_then(|()| file.write_all(text.as_bytes()));
            written.map_err(failed)?;
            return Ok(lock);
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Best effort: what is left behind locks nobody out.
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// What the holder of a lock has written into it.
fn holder(file: &mut File) -> String {
    let mut text = Vec::new();
    let read = file.rewind().and_then(|()| file.take(MOST_BYTES).read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    let text: String = text.chars().filter(|c| !c.is_control()).collect();
    match read {
        Ok(length) if length > 0 => text,
        _ => "process unknown".to_string(),
    }
}

/// A time after 1970 in seconds as a date, UTC.
fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that leap days end them: of 400 years, of the year, of 5 months 153 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, early) = (day - (153 * month + 2) / 5 + 1, month < 10);
    let (year, month) =
        (400 * era + year + u64::from(!early), if early { month + 3 } else { month - 9 });
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} UTC")
}
