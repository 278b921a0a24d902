//! `stiction init`

use std::path::{Path, PathBuf};

mod given;

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
    #[arg(long, conflicts_with_all = ["scene", "recordings"])]
    soft: bool,
    /// For a scene that is there already (TOML, URDF, MJCF)
    #[arg(long, value_name = "FILE")]
    scene: Option<PathBuf>,
    /// For these recordings: a file, a folder, or a pattern in quotes. What the names of their columns probably mean is written to the
    /// experiment
    #[arg(long, value_name = "DIR_OR_GLOB")]
    recordings: Option<String>,
    /// Print what was written as one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let Arguments { directory, soft, .. } = arguments;
    let texts = if *soft { SOFT } else { RIGID };
    let mut files: Vec<(PathBuf, String)> = NAMES
        .iter()
        .zip(texts)
        .map(|(name, text)| (place(directory, name), text.to_string()))
        .collect();
    let mut told = Vec::new();
    if arguments.scene.is_some() || arguments.recordings.is_some() {
        let found = given::experiment(
            arguments.scene.as_deref(),
            arguments.recordings.as_deref(),
            directory,
            RIGID,
        )?;
        (files[1].1, told) = found;
        if arguments.scene.is_some() {
            files.remove(0);
        }
    }
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
    told.iter().for_each(|line| output::warn(line));
    if arguments.json {
        let mut object = output::json_head("init", 0, 1);
        object.insert("files".into(), files.iter().map(|(path, _)| output::path(path)).collect());
        output::print(&output::json_text(object));
        return Ok(Outcome::Done);
    }
    if files.len() == 1 || arguments.recordings.is_some() {
        let experiment = quoted(&place(directory, NAMES[1]));
        output::print(&format!(
            "{experiment} written: look through it, and say there what is to be found. Next:\n\n  \
             stiction identify {experiment} --check          # what the recordings can tell\n  \
             stiction identify {experiment} -o fit           # parameters, and a report to look at"
        ));
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
