//! `stiction init`

use std::path::{Path, PathBuf};

mod given;
mod robot;

use robot::Robot;

use super::import::MU;
use super::lock::Lock;
use super::outcome::Outcome;
use super::output;
use super::whole_files;
use crate::Error;
use crate::model::Scene;

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
    /// For a robot (URDF, MJCF): its scene is written, with the ground, the servos and the height of the base that its file leaves out
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scene", "soft"])]
    robot: Option<PathBuf>,
    /// The first link of that URDF floats; if left out, it is fixed to the world
    #[arg(long, requires = "robot")]
    floating_base: bool,
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
    let robot = arguments.robot.as_deref().map(|path| {
        // Where its meshes are is said from there.
        Robot::load(path, arguments.floating_base, MU, directory)
    });
    let robot = robot.transpose()?;
    if let Some(robot) = &robot {
        files[0].1.clone_from(&robot.text);
    }
    let mut told = Vec::new();
    if robot.is_some() || arguments.scene.is_some() || arguments.recordings.is_some() {
        let own = match (&robot, &arguments.scene) {
            (Some(robot), _) => (robot.scene.clone(), None),
            (None, Some(path)) => (Scene::load(path)?, Some(path.as_path())),
            (None, None) => (Scene::parse(RIGID[0], NAMES[0])?, None),
        };
        (files[1].1, told) = given::experiment(own, arguments.recordings.as_deref(), directory)?;
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
    robot.iter().for_each(|robot| robot.warn(directory));
    told.iter().for_each(|line| output::warn(line));
    if arguments.json {
        let mut object = output::json_head("init", 0, 1);
        object.insert("files".into(), files.iter().map(|(path, _)| output::path(path)).collect());
        output::print(&output::json_text(object));
        return Ok(Outcome::Done);
    }
    if files.len() == 1 || arguments.recordings.is_some() {
        let experiment = quoted(&place(directory, NAMES[1]));
        let scene = arguments.scene.clone().unwrap_or_else(|| place(directory, NAMES[0]));
        let scene = quoted(&scene);
        let written: Vec<String> = files.iter().map(|(path, _)| quoted(path)).collect();
        let written = written.join(" and ");
        output::print(&format!(
            "{written} written: look through it, and say there what is to be found. Next:\n\n  \
             stiction simulate {scene} --steps 500 --view motion.html   # the scene, to look at\n  \
             stiction identify {experiment} --check          # what the recordings can tell\n  \
             stiction identify {experiment} -o fit           # parameters, and a report to look at"
        ));
        return Ok(Outcome::Done);
    }
    let at = |name: &str| quoted(&place(directory, name));
    let [scene, experiment, recording, page] =
        ["scene.toml", "experiment.toml", "recording.csv", "motion.html"].map(at);
    let steps = match (soft, &robot) {
        (true, _) => 150,
        (false, Some(_)) => 500,
        (false, None) => 60,
    };
    // Soft bodies have no such check.
    let check = match soft {
        true => String::new(),
        false => {
            format!("stiction identify {experiment} --check      # what the recording can tell\n  ")
        }
    };
    let what = if robot.is_some() { "what starts where" } else { "the scene to yours" };
    output::print(&format!(
        "{scene} and {experiment} written. Next:\n\n  \
         stiction simulate {scene} --steps {steps} --view {page}       # to look at\n  \
         stiction simulate {scene} --steps {steps} -o {recording}   # in place of a recording\n  \
         {check}stiction identify {experiment} -o fit       # parameters, and a report to look at\n  \
         stiction gradcheck {scene}\n\n\
         Then change {what}, and put your recordings where `data` of the experiment says."
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
