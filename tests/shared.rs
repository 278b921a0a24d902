//! The folder of shared reference data, which lies outside the repository.

use std::path::{Path, PathBuf};

/// The path of `name` in the shared folder: `$STICTION_SHARED`, or `../shared` beside the
/// repository. `None` if it is not there, after saying so.
///
/// # Panics
/// If it is not there although `STICTION_REQUIRE_SHARED` is 1.
pub fn shared(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("STICTION_SHARED")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"), PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    let required = std::env::var_os("STICTION_REQUIRE_SHARED").is_some_and(|value| value == "1");
    assert!(!required, "{} is required (STICTION_REQUIRE_SHARED=1) but missing", path.display());
    eprintln!("skipped: {} is missing (set STICTION_SHARED)", path.display());
    None
}
