//! How far the names of files in a model reach: a model may come from anyone, and says which files are read.

use std::env;
use std::path::{Component, Path, PathBuf};

use crate::text;

/// The variable of the environment that lists further folders to read from.
const VARIABLE: &str = "STICTION_PATH";

/// What the folder of a package, or of a working copy, has in it.
const MARKS: [&str; 3] = ["package.xml", "model.config", ".git"];

/// What all folders of a package of Python have in them, but for those of its data.
const PYTHON: &str = "__init__.py";

/// Folders of a package that models stand in, beside others that their meshes are in.
const INNER: [&str; 9] =
    ["urdf", "xacro", "robot", "robots", "model", "models", "mjcf", "xml", "scenes"];

/// An error if a file that a model in `directory` names is neither in its package nor in a folder of [`VARIABLE`]. The
/// package is the nearest folder at or above `directory` that has one of [`MARKS`]; without any, the farthest that has
/// [`PYTHON`]; without that, `directory` itself, or, where that has one of the names [`INNER`], the one above. Names
/// count as they are written: links lead where they were made to lead.
pub(super) fn check(file: &Path, directory: &Path) -> Result<(), String> {
    text::reach(file, directory, || check_on_disk(file, directory))
}

fn check_on_disk(file: &Path, directory: &Path) -> Result<(), String> {
    let (Some(file), Some(directory)) = (whole(file), whole(directory)) else { return Ok(()) };
    let package = package(&directory);
    let listed = env::var_os(VARIABLE).unwrap_or_default();
    // An empty list has one empty name.
    let listed = env::split_paths(&listed).filter(|folder| !folder.as_os_str().is_empty());
    let mut listed = listed.filter_map(|folder| whole(&folder));
    if file.starts_with(&package) || listed.any(|folder| file.starts_with(folder)) {
        return Ok(());
    }
    let folder = file.parent().unwrap_or(&file);
    Err(format!(
        "{} lies outside of {}, beyond which this model does not read; if it may, list its folder in the variable of \
         the environment {VARIABLE}={}",
        file.display(),
        package.display(),
        folder.display()
    ))
}

/// Whether a name stays in the folder it is looked for in.
pub(super) fn stays(name: &Path) -> bool {
    let mut depth = 0_usize;
    name.components().all(|part| match part {
        Component::Normal(_) => {
            depth += 1;
            true
        }
        Component::CurDir => true,
        Component::ParentDir => {
            let inside = depth > 0;
            depth = depth.saturating_sub(1);
            inside
        }
        Component::RootDir | Component::Prefix(_) => false,
    })
}

fn package(directory: &Path) -> PathBuf {
    let marked = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).exists());
    if let Some(marked) = directory.ancestors().find(marked) {
        return marked.to_path_buf();
    }
    if let Some(whole) = directory.ancestors().filter(|folder| folder.join(PYTHON).exists()).last()
    {
        return whole.to_path_buf();
    }
    let name = directory.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match directory.parent().filter(|_| INNER.contains(&name)) {
        Some(above) => above.to_path_buf(),
        None => directory.to_path_buf(),
    }
}

/// A path from the root on, without `.` and `..`; nothing if there is no current folder.
fn whole(path: &Path) -> Option<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let mut whole = PathBuf::new();
    for part in std::path::absolute(path).ok()?.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    Some(whole)
}
