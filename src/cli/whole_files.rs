//! Files that are whole or not there: each is written beside its place, under another name, and takes its place when
//! it lies on the disk. What a killed program leaves under such a name goes with the next one that writes there.

use std::collections::{BTreeSet, HashSet, hash_map::DefaultHasher};
use std::fs::{self, File, Metadata, TryLockError};
use std::hash::{Hash, Hasher};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::Error;

/// Writes a file, see [`write_files`].
pub(super) fn write_file(path: &Path, contents: &[u8]) -> Result<(), Error> {
    write_files(&[(path, contents)])
}

/// Writes files: all lie on the disk before the first takes its place, the last one last. Through a link the file it
/// points to is written; a device or pipe is written directly.
pub(super) fn write_files(files: &[(&Path, &[u8])]) -> Result<(), Error> {
    check_distinct(files.iter().map(|&(path, _)| path))?;
    let mut parts = Vec::new();
    for &(path, contents) in files {
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let there = fs::metadata(&target).ok();
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            fs::write(&target, contents).map_err(|error| unwritable(path, &error))?;
            continue;
        }
        let written = Part::write(&target, contents, there.as_ref());
        parts.push((path, written.map_err(|error| unwritable(path, &error))?));
    }
    let mut folders = BTreeSet::new();
    for (path, part) in parts {
        folders.insert(folder(&part.target));
        part.take_place().map_err(|error| unwritable(path, &error))?;
    }
    // The names are on the disk, too, where folders can be asked for that.
    for folder in folders {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
    Ok(())
}

/// An error unless a file can be made where one is to be written: said before a long run, not after.
pub(super) fn check_place(path: &Path) -> Result<(), Error> {
    if path.is_dir() {
        let message = "is a directory; give the name of a file";
        return Err(Error::input(path.display().to_string(), None, "", message));
    }
    let directory = folder(path);
    if !directory.is_dir() {
        let message = format!("there is no directory {}", directory.display());
        return Err(Error::input(path.display().to_string(), None, "", message));
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let there = fs::metadata(&target).ok();
    if there.as_ref().is_some_and(|there| !there.is_file()) {
        return Ok(());
    }
    let made = Part::write(&target, &[], there.as_ref());
    made.map(drop).map_err(|error| unwritable(path, &error))
}

/// The same for all files of a command, which must be different ones.
pub(super) fn check_places<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
    let paths: Vec<&Path> = paths.into_iter().collect();
    paths.iter().try_for_each(|path| check_place(path))?;
    check_distinct(paths)
}

/// An error if two things are to be written into one file, under whatever names.
fn check_distinct<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<(), Error> {
    let mut places = HashSet::new();
    for path in paths {
        let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        let place = match path.file_name() {
            Some(name) if !path.exists() => whole(&folder(path)).join(name),
            _ => whole(path),
        };
        if !(is_device(path) || places.insert(place)) {
            let message = "is to hold two things; give each a name of its own";
            return Err(Error::input(path.display().to_string(), None, "", message));
        }
    }
    Ok(())
}

/// Whether a name is there and is neither a file nor a folder: what is written there goes by.
pub(super) fn is_device(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir())
}

/// What cannot be written, and what to try.
pub(super) fn unwritable(path: &Path, error: &io::Error) -> Error {
    let advice = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or write elsewhere",
        ErrorKind::FileTooLarge => {
            "raise the limit on the size of files (`ulimit -f`), or write less"
        }
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            "write elsewhere, or make it writable"
        }
        ErrorKind::InvalidFilename => "give it another name",
        _ => "write elsewhere",
    };
    let message = format!("cannot be written: {error}; {advice}");
    Error::io(path, io::Error::new(error.kind(), message))
}

/// The folder that a file is in.
pub(super) fn folder(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => PathBuf::from("."),
        Some(parent) => parent.to_path_buf(),
        None => path.to_path_buf(),
    }
}

/// A file that has not taken its place yet; removed if it never does.
struct Part {
    target: PathBuf,
    path: PathBuf,
    /// Locked as long as somebody works on it.
    file: File,
}

impl Part {
    fn write(target: &Path, contents: &[u8], there: Option<&Metadata>) -> io::Result<Part> {
        if there.is_some_and(|there| there.permissions().readonly()) {
            let message = "the file that is there is read-only";
            return Err(io::Error::new(ErrorKind::PermissionDenied, message));
        }
        remove_orphans(target);
        let mut part = Part::new(target)?;
        part.file.write_all(contents)?;
        if let Some(there) = there {
            // Best effort: who may read it stays, where that can be said.
            let _ = part.file.set_permissions(there.permissions());
        }
        part.file.sync_all()?;
        Ok(part)
    }

    /// An empty one under a name that nobody has.
    fn new(target: &Path) -> io::Result<Part> {
        for number in 0_u32.. {
            let name = format!("{}{}-{number}{ENDING}", stem(target), std::process::id());
            let path = target.with_file_name(name);
            let file = match File::options().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                other => other?,
            };
            // Where there are no locks nobody takes it for an orphan either. Between the two calls somebody might have.
            if file.lock().is_ok() && !is_at(&file, &path) {
                continue;
            }
            return Ok(Part { target: target.to_path_buf(), path, file });
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    fn take_place(self) -> io::Result<()> {
        fs::rename(&self.path, &self.target)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // Best effort; if it has taken its place there is nothing to remove.
        let _ = fs::remove_file(&self.path);
    }
}

/// How the names of parts end.
const ENDING: &str = ".part";

/// How the names of the parts of a file begin: files can have longer names than would leave room for more.
fn stem(target: &Path) -> String {
    let mut hasher = DefaultHasher::new();
    target.file_name().hash(&mut hasher);
    format!(".stiction-{:016x}-", hasher.finish())
}

/// Removes what killed programs have left of a file; once for each.
fn remove_orphans(target: &Path) {
    static SEEN: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !seen.get_or_insert_default().insert(target.to_path_buf()) {
        return;
    }
    let stem = stem(target);
    let Ok(entries) = fs::read_dir(folder(target)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_part = name.to_str().is_some_and(|n| n.starts_with(&stem) && n.ends_with(ENDING));
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_part || !is_file {
            continue;
        }
        let path = entry.path();
        if let Ok(file) = File::options().write(true).open(&path)
            && file.try_lock().is_ok()
            && is_at(&file, &path)
        {
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether an open file is the one of that name: it may have been removed, and another made.
pub(super) fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |there: Metadata| (there.dev(), there.ino());
        let (own, there) = (file.metadata().map(number), fs::symlink_metadata(path).map(number));
        own.ok().is_some_and(|own| there.is_ok_and(|there| own == there))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.is_file()
    }
}

/// Whether somebody else holds the lock of a file.
pub(super) fn is_held(result: &Result<(), TryLockError>) -> bool {
    matches!(result, Err(TryLockError::WouldBlock))
}
