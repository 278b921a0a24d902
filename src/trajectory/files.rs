//! Which trajectory files a pattern stands for.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::Error;

/// Kinds of recordings; of the first that a directory has all are meant. Beside tables, archives may be anything.
const KINDS: [&str; 4] = ["csv", "parquet", "mcap", "npz"];

/// The files a pattern stands for, sorted: a file, all `*.csv` of a directory or, if there are none, all `*.parquet`, then all
/// `*.mcap`, then all `*.npz`, or the matches of a glob such as `tosses/*.csv`. Nothing found is an error.
pub fn expand(pattern: &str) -> Result<Vec<PathBuf>, Error> {
    let path = Path::new(pattern);
    if path.is_file() {
        return Ok(vec![path.to_path_buf()]);
    }
    let glob = if path.is_dir() {
        format!("{}/*", glob::Pattern::escape(pattern.trim_end_matches('/')))
    } else {
        pattern.to_string()
    };
    let matches = glob::glob(&glob).map_err(|error| {
        Error::input(pattern, None, "", format!("is not a valid pattern: {}", error.msg))
    })?;
    let mut files = Vec::new();
    for entry in matches {
        let file = entry.map_err(|error| {
            let file = error.path().to_path_buf();
            Error::io(file, error.into())
        })?;
        let known = |kind: &OsStr| KINDS.iter().any(|known| kind == *known);
        if file.is_file() && (!path.is_dir() || file.extension().is_some_and(known)) {
            files.push(file);
        }
    }
    if path.is_dir() {
        let is = |file: &PathBuf, kind: &str| file.extension().is_some_and(|own| own == kind);
        if let Some(kind) = KINDS.iter().find(|kind| files.iter().any(|file| is(file, kind))) {
            files.retain(|file| is(file, kind));
        }
    }
    files.sort();
    if files.is_empty() {
        let message = if path.is_dir() {
            "the directory has no *.csv, *.parquet, *.mcap or *.npz file; give the directory that holds the trajectories, or \
             a pattern in quotes such as 'tosses/*.csv'"
        } else {
            "no such file, and no file matches; give a file, a directory of recordings, or a \
             pattern in quotes such as 'tosses/*.csv'"
        };
        return Err(Error::input(pattern, None, "", message));
    }
    Ok(files)
}

/// The files that several patterns stand for, those of each in turn, none twice.
///
/// # Errors
/// If nothing is found of one.
pub fn expand_all(patterns: &[String]) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut known = HashSet::new();
    for pattern in patterns {
        for file in expand(pattern)? {
            // Whatever way it is named.
            let whole = file.canonicalize().unwrap_or_else(|_| file.clone());
            if known.insert(whole) {
                files.push(file);
            }
        }
    }
    Ok(files)
}
