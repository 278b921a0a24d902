//! Where the files are that a URDF names.

use std::path::{Path, PathBuf};

use crate::formats::reach;
use crate::text;

/// Finds `package://name/file` in the directories of `ROS_PACKAGE_PATH` and in those above the URDF;
/// `file://` is a path, all others are relative to the directory of the URDF. An error if that is a file which the
/// model may not read.
pub(super) fn find(name: &str, directory: &Path) -> Result<Option<PathBuf>, String> {
    // Further folders are looked through, which only this machine has.
    text::place(name, directory, || find_on_disk(name, directory))
}

fn find_on_disk(name: &str, directory: &Path) -> Result<Option<PathBuf>, String> {
    let package = name.strip_prefix("package://").or(name.strip_prefix("model://"));
    let Some(path) = package else {
        let path = directory.join(name.strip_prefix("file://").unwrap_or(name));
        let path = path.is_file().then_some(path);
        path.as_ref().map_or(Ok(()), |path| reach::check(path, directory))?;
        return Ok(path);
    };
    // Some write a third slash.
    let path = path.trim_start_matches('/');
    let inner = path.split_once('/').map_or(path, |(_, inner)| inner);
    if ![path, inner].into_iter().all(|path| reach::stays(Path::new(path))) {
        return Err(format!("{name} leads out of its package"));
    }
    Ok(in_package(path, directory))
}

/// A file that a package has: its name, and the path in it.
fn in_package(path: &str, directory: &Path) -> Option<PathBuf> {
    let there = |path: PathBuf| path.is_file().then_some(path);
    let (package, inner) = path.split_once('/')?;
    let listed = std::env::var_os("ROS_PACKAGE_PATH").unwrap_or_default();
    // Listed are the packages, or the directories they are in.
    for root in std::env::split_paths(&listed) {
        let own = root.file_name().is_some_and(|name| name == package);
        let found = there(root.join(path)).or_else(|| there(root.join(inner)).filter(|_| own));
        if found.is_some() {
            return found;
        }
    }
    let absolute = std::fs::canonicalize(if directory.as_os_str().is_empty() {
        Path::new(".")
    } else {
        directory
    });
    absolute.ok()?.ancestors().find_map(|above| {
        let own = above.file_name().is_some_and(|name| name == package);
        there(above.join(path)).or_else(|| there(above.join(inner)).filter(|_| own))
    })
}
