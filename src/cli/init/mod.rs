//! `stiction init`

use std::path::{Path, PathBuf};

use super::lock::Lock;
use super::outcome::Outcome;
use super::output;
use super::whole_files;
use crate::Error;

/// What is written.
const NAMES: [&str; 2] = ["scene.toml", "experiment.toml"];
const RIGID: [&str; 2] = [include_str!("scene.toml"), include_str!("experiment.toml")];
const SOFT: [&str; 2] = [include_str!("soft_scene.toml"), include_str!("soft_experiment.toml")];

/// Write a scene and an experiment to start from, with comments
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Where to; it is made if it is not there
    #[arg(default_value = ".")]
    directory: PathBuf,
    /// Of a soft body, instead of a rigid one
    #[arg(long)]
    soft: bool,
    /// Print what was written as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let Arguments { directory, soft, .. } = arguments;
    let texts = if *soft { SOFT } else { RIGID };
    let files: Vec<(PathBuf, &str)> =
        NAMES.iter().zip(texts).map(|(name, text)| (place(directory, name), text)).collect();
    // Whoever comes second finds the files of the first.
    let lock = Lock::of_folder(directory)?;
    // Nothing is written unless all of it can be.
    for (path, _) in &files {
        if path.symlink_metadata().is_ok() {
            let message = "is there already and is not overwritten; give another directory";
            return Err(Error::input(path.display().to_string(), None, "", message));
        }
    }
    let all: Vec<(&Path, &[u8])> =
        files.iter().map(|(path, text)| (path.as_path(), text.as_bytes())).collect();
    whole_files::write_files(&all)?;
    drop(lock);
    if arguments.json {
        let mut object = output::json_head("init", 0, 1);
        object.insert("files".into(), files.iter().map(|(path, _)| output::path(path)).collect());
        output::print(&output::json_text(object));
        return Ok(Outcome::Done);
    }
    let at = |name: &str| quoted(&place(directory, name));
    let [scene, experiment, recording, page] =
        ["scene.toml", "experiment.toml", "recording.csv", "motion.html"].map(at);
    let steps = if *soft { 150 } else { 60 };
    output::print(&format!(
        "{scene} and {experiment} written. Next:\n\n  \
         stiction simulate {scene} --steps {steps} --view {page}       # to look at\n  \
         stiction simulate {scene} --steps {steps} -o {recording}   # in place of a recording\n  \
         stiction identify {experiment}\n  \
         stiction gradcheck {scene}\n\n\
         Then change the scene to yours, and put your recordings where `data` of the experiment says."
    ));
    Ok(Outcome::Done)
}

/// A file in the directory, without `./` before it.
fn place(directory: &Path, name: &str) -> PathBuf {
    if directory == Path::new(".") { PathBuf::from(name) } else { directory.join(name) }
}

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    if text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
