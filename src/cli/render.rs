//! `stiction render`

use std::path::{Path, PathBuf};

use serde_json::json;

use super::outcome::Outcome;
use super::output;
use super::progress::Progress;
use super::scene_options::{SceneOptions, load_scene};
use super::whole_files;
use crate::Error;
use crate::model::Scene;
use crate::render::write_animation;
use crate::state::State;
use crate::trajectory::Trajectory;
use crate::view::{Still, StillPicture};

/// Draw what a camera of a scene sees
///
/// The picture is in colour, each pixel the exact mean of what is seen in it (PNG of 8 bits), in the [light] of the scene; by a
/// camera of the scene, or one from where all is seen. With --mask it is the share of each pixel that bodies cover, from
/// black to white. Of a trajectory each frame is drawn: -o out/%04d.png numbers them, -o motion.apng makes one animated picture,
/// and -o frames.csv also writes a recording that `identify` takes, with the time and the picture of each frame.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The scene: .toml, MJCF (.xml, .mjcf) or URDF (.urdf)
    #[arg(value_name = "SCENE")]
    scene: PathBuf,
    #[command(flatten)]
    options: SceneOptions,
    /// Draw the mask: how much of each pixel bodies cover
    #[arg(long)]
    mask: bool,
    /// The camera; if left out, the only one
    #[arg(long, value_name = "NAME")]
    camera: Option<String>,
    /// The bodies in the mask, such as box,lid; if left out, all that move
    #[arg(long, value_name = "NAMES", requires = "mask")]
    bodies: Option<String>,
    /// Draw the frames of this trajectory (CSV) instead of the start of the scene
    #[arg(long, value_name = "MOTION.csv")]
    trajectory: Option<PathBuf>,
    /// Of a trajectory every so many frames [default: 1]
    #[arg(long, value_name = "N")]
    every: Option<usize>,
    /// The picture, or of a trajectory a pattern such as out/%04d.png, an animated PNG, or a recording
    #[arg(short, long, value_name = "OUT.png|OUT.apng|OUT.csv")]
    output: PathBuf,
    /// Print a summary as one JSON object
    #[arg(long)]
    json: bool,
}

/// What the pictures of a trajectory are called.
enum Names {
    One(PathBuf),
    /// What comes before and behind the number, and its digits.
    Pattern(String, usize, String),
    /// All in one.
    Animation(PathBuf),
    /// Beside a recording.
    Recording(PathBuf),
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let scene = load_scene(&arguments.scene, &arguments.options, false)?;
    let camera = find_camera(&arguments.scene, &scene, arguments)?;
    let still = match arguments.mask {
        true => Still::masked(&scene, camera, &find_bodies(&scene, arguments.bodies.as_deref())?),
        false => {
            let (still, warnings) = Still::in_colour(&scene, camera);
            warnings.iter().for_each(|warning| output::warn(&warning.to_string()));
            still
        }
    };
    if still.is_empty() {
        let message = "none of the bodies has a shape, so that nothing is seen";
        return Err(Error::input(arguments.scene.display().to_string(), None, "", message));
    }
    let names = Names::of(&arguments.output, arguments.trajectory.is_some())?;
    if let (Names::Recording(_), None) = (&names, camera) {
        let message = "the scene has no camera, of which a recording is: add a [[camera]], or draw pictures (.png, .apng)";
        return Err(Error::input(arguments.scene.display().to_string(), None, "camera", message));
    }
    let frames: Vec<(f64, State<f64>)> = match &arguments.trajectory {
        None => vec![(0.0, scene.state.clone())],
        Some(path) => {
            let Trajectory { times, states, .. } = Trajectory::load(path, &scene.model)?;
            let every = arguments.every.unwrap_or(1);
            if every == 0 {
                return Err(Error::input("--every", None, "", "must be at least 1"));
            }
            times.into_iter().zip(states).step_by(every).collect()
        }
    };
    if arguments.trajectory.is_none() && arguments.every.is_some() {
        return Err(Error::input("--every", None, "", "is for the frames of a --trajectory"));
    }
    let count = if matches!(names, Names::Animation(_)) { 1 } else { frames.len() };
    let files: Vec<PathBuf> = (0..count).map(|k| names.file(k)).collect();
    let known = camera.map(|camera| &scene.model.cameras[camera]);
    let camera_name = known.map_or("camera", |camera| camera.name.as_str());
    let table = names.table(camera_name, &frames, &files);
    let all = files.iter().chain(table.iter().map(|(path, _)| path));
    whole_files::check_places(all.map(PathBuf::as_path))?;
    let same = |a: &Path, b: &Path| match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    };
    let read = arguments.trajectory.iter().chain([&arguments.scene]);
    let written = || files.iter().chain(table.iter().map(|(path, _)| path));
    for input in read {
        if written().any(|output| same(input, output)) {
            let message = "is what is drawn, and would be replaced: give another name";
            return Err(Error::input(input.display().to_string(), None, "", message));
        }
    }
    let still = still.framing(frames.iter().map(|(_, state)| state));
    let mut progress = Progress::new(frames.len(), arguments.json);
    let mut unseen = 0;
    let write = |file: &Path, make: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut bytes = Vec::new();
        make(&mut bytes).map_err(|error| {
            let message = format!("cannot be written: {error}");
            Error::input(file.display().to_string(), None, "", message)
        })?;
        whole_files::write_file(file, &bytes)
    };
    let mut animation = Vec::new();
    for (k, (_, state)) in frames.iter().enumerate() {
        let drawn = still.draw(&scene.parameters, state);
        unseen += usize::from(drawn.is_empty());
        match (&names, &drawn) {
            (Names::Animation(_), _) => animation.push(drawn.in_colour()),
            (_, StillPicture::Mask(picture)) => write(&files[k], &|to| picture.write_png(to))?,
            (_, StillPicture::Colour { picture, .. }) => {
                write(&files[k], &|to| picture.write_png(to))?
            }
        }
        progress.set(k + 1);
    }
    if let Names::Animation(path) = &names {
        let span = frames.last().map_or(0.0, |last| last.0 - frames[0].0);
        let delay = span / (frames.len() as f64 - 1.0).max(1.0);
        write(path, &|to| write_animation(to, &animation, delay))?;
    }
    if let Some((path, text)) = &table {
        whole_files::write_file(path, text.as_bytes())?;
    }
    if unseen > 0 {
        let message = format!(
            "in {unseen} of {} pictures nothing is seen: does the camera look there?",
            frames.len()
        );
        output::warn(&message);
    }
    if arguments.json {
        let mut object = output::json_head("render", 0, 1);
        object.insert("camera".into(), json!(known.map(|camera| &camera.name)));
        object.insert("size".into(), json!(still.size()));
        object.insert("pictures".into(), files.iter().map(|file| output::path(file)).collect());
        object.insert("empty".into(), json!(unseen));
        output::print(&output::json_text(object));
    }
    Ok(Outcome::Done)
}

/// The camera that is meant; nothing where there is none, and in colour none is needed.
fn find_camera(path: &Path, scene: &Scene, arguments: &Arguments) -> Result<Option<usize>, Error> {
    let cameras = &scene.model.cameras;
    let known: Vec<&str> = cameras.iter().map(|camera| camera.name.as_str()).collect();
    match (arguments.camera.as_deref(), cameras.len()) {
        (None, 0) if !arguments.mask => Ok(None),
        (_, 0) => {
            let message = "the scene has no camera: add a [[camera]] with name, size, eye, target and fov_y_deg (to what `import` makes of URDF and MJCF)";
            Err(Error::input(path.display().to_string(), None, "camera", message))
        }
        (None, 1) => Ok(Some(0)),
        (None, _) => {
            let message = format!("says which one of {}", known.join(", "));
            Err(Error::input("--camera", None, "", message))
        }
        (Some(name), _) => {
            let found = known.iter().position(|other| *other == name).ok_or_else(|| {
                let message =
                    format!("there is no camera {name:?}; there are {}", known.join(", "));
                Error::input("--camera", None, "", message)
            });
            found.map(Some)
        }
    }
}

fn find_bodies(scene: &Scene, names: Option<&str>) -> Result<Vec<usize>, Error> {
    let bodies = &scene.model.bodies;
    let Some(names) = names else {
        return Ok((0..bodies.len()).filter(|&body| bodies[body].tree.is_some()).collect());
    };
    let find = |name: &str| {
        bodies.iter().position(|body| body.name == name).ok_or_else(|| {
            let known: Vec<&str> = bodies.iter().map(|body| body.name.as_str()).collect();
            let message = format!("there is no body {name:?}; there are {}", known.join(", "));
            Error::input("--bodies", None, "", message)
        })
    };
    names.split(',').map(|name| find(name.trim())).collect()
}

impl Names {
    fn of(output: &Path, many: bool) -> Result<Names, Error> {
        let text = output.display().to_string();
        let wrong = |message: &str| Err(Error::input(text.clone(), None, "", message));
        let is = |ending: &str| {
            output.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
        };
        if is("csv") {
            return match many {
                true => Ok(Names::Recording(output.to_path_buf())),
                false => wrong(
                    "is a recording, of the frames of a --trajectory; without one give the name of a .png",
                ),
            };
        }
        if is("apng") {
            return match many {
                true => Ok(Names::Animation(output.to_path_buf())),
                false => wrong("moves: give a --trajectory, or the name of a .png"),
            };
        }
        if !is("png") {
            return wrong(
                "must end in .png, in .apng for a picture that moves, or in .csv for a recording with its pictures",
            );
        }
        if !many {
            return Ok(Names::One(output.to_path_buf()));
        }
        let Some((before, rest)) = text.split_once('%') else {
            return wrong(
                "is one name for many pictures: say where their number goes, such as out/%04d.png",
            );
        };
        let Some((digits, behind)) = rest.split_once('d') else {
            return wrong("must have the number of a picture as %d or %04d");
        };
        let width = if digits.is_empty() { Ok(0) } else { digits.parse::<usize>() };
        match width {
            Ok(width) if width <= 20 => {
                Ok(Names::Pattern(before.to_string(), width, behind.to_string()))
            }
            _ => wrong("must have the number of a picture as %d or %04d"),
        }
    }

    fn file(&self, k: usize) -> PathBuf {
        match self {
            Names::One(path) | Names::Animation(path) => path.clone(),
            Names::Pattern(before, width, behind) => {
                PathBuf::from(format!("{before}{k:0width$}{behind}"))
            }
            Names::Recording(path) => {
                let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("mask");
                path.with_file_name(format!("{stem}_{k:04}.png"))
            }
        }
    }

    /// The recording that names the pictures.
    fn table(
        &self,
        camera: &str,
        frames: &[(f64, State<f64>)],
        files: &[PathBuf],
    ) -> Option<(PathBuf, String)> {
        let Names::Recording(path) = self else { return None };
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Memory takes all that is written.
        let _ = writer.write_record(["t", camera]);
        for ((time, _), file) in frames.iter().zip(files) {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let _ = writer.write_record([&time.to_string(), name]);
        }
        let text = String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default();
        Some((path.clone(), text))
    }
}
