//! What the built-in identification writes; it runs once for all tests.

use std::sync::OnceLock;

use crate::folder::Folder;
use crate::program::succeeds;

pub const FILES: [&str; 3] = ["out/report.html", "out/result.json", "out/scene.toml"];

/// What was printed, and the files.
static WRITTEN: OnceLock<(String, [String; 3])> = OnceLock::new();

/// Writes [`FILES`] into `folder` as `identify -o out` does; returns what it prints.
pub fn identify(folder: &Folder) -> &'static str {
    let (said, texts) = WRITTEN.get_or_init(|| {
        let own = Folder::new("report-builtin");
        let arguments = ["identify", "-o", "out", "--threads", "2", "--no-profiles"];
        let said = succeeds(&own.run(&arguments)).to_string();
        let mut entries: Vec<String> = std::fs::read_dir(own.path("out"))
            .unwrap()
            .map(|entry| format!("out/{}", entry.unwrap().file_name().into_string().unwrap()))
            .collect();
        entries.sort();
        assert_eq!(entries, FILES);
        (said, FILES.map(|file| own.read(file)))
    });
    std::fs::create_dir_all(folder.path("out")).unwrap();
    FILES.iter().zip(texts).for_each(|(file, text)| folder.write(file, text));
    said
}
