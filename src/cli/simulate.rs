//! `stiction simulate`

use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use nalgebra::Vector3;
use serde_json::{Value, json};

use super::contact_log::ContactLog;
use super::drive::{Drive, DriveOptions, check_step};
use super::interrupt;
use super::lock::Lock;
use super::outcome::Outcome;
use super::output::{self, number};
use super::plausibility;
use super::progress::Progress;
use super::run_length::run_length;
use super::scene_options::{SceneOptions, load_scene, looks, refuse_for_soft_bodies};
use super::simulate_soft::{self, Files};
use super::watched::watched;
use super::whole_files::{self, is_device};
use super::{archive, learned};
use crate::Error;
use crate::contact::ContactRecord;
use crate::dynamics::Kinematics;
use crate::model::{Joint, Scene};
use crate::simulation::{BeyondSpeed, Rollout, StepReport};
use crate::soft::SoftScene;
use crate::state::{Coordinates, State};
use crate::trajectory::{ColumnSelection, Controls, Recorded, Trajectory};
use crate::view::{Clip, Drawing, Playback, Role, TrackRecorder};

/// Roll out a scene and write its trajectory
///
/// The trajectory is CSV: a row for the initial state and one after each step; or an .npz archive with
/// arrays t, q, v, u (inputs of the steps) and meta (names of their columns, JSON). Exit code 1 if a
/// contact problem was not solved, 3 if a step is not plausible (the files are complete all the same), 2 if the
/// input is bad.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The scene: .toml, MJCF (.xml, .mjcf) or URDF (.urdf)
    #[arg(value_name = "SCENE")]
    scene: PathBuf,
    #[command(flatten)]
    options: SceneOptions,
    /// How many time steps; if left out, as many as make one second
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    #[command(flatten)]
    drive: DriveOptions,
    /// Write the trajectory here instead of on standard output
    #[arg(short, long, value_name = "OUT.csv|OUT.npz")]
    output: Option<PathBuf>,
    /// Write t and only these columns, in this order, such as link1/px,link2/* (all of link2)
    #[arg(long, value_name = "NAMES")]
    columns: Option<String>,
    /// Also write OUT.contacts.csv (impulses and modes of the touching contacts) and OUT.solver.csv
    /// (how each step was solved)
    #[arg(long)]
    contacts: bool,
    /// Write a page that plays the motion in 3-D with its contact forces, to open in a browser; the
    /// trajectory is then written only with -o
    #[arg(long, value_name = "OUT.html")]
    view: Option<PathBuf>,
    /// Of soft bodies: write the motion for ParaView into this folder, a .vtu file a frame and motion.pvd
    #[arg(long, value_name = "DIR")]
    vtu: Option<PathBuf>,
    /// See --vtu: a frame each so many steps [default: 1]
    #[arg(long, value_name = "N")]
    vtu_every: Option<usize>,
    /// Threads on which groups of bodies that do not touch each other are solved, where they are many; the result does
    /// not depend on it [default: 1]
    #[arg(long)]
    threads: Option<usize>,
    /// Print a summary as one JSON object; the trajectory is written only with -o
    #[arg(long)]
    json: bool,
}

/// A body that is this far from where it was (m) is elsewhere.
const PARTED: f64 = 1e-9;

/// What is written beside the trajectory by `--contacts`.
const CONTACT_FILES: [&str; 2] = ["contacts.csv", "solver.csv"];

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    if let Some(mut scene) = SoftScene::load(&arguments.scene)? {
        arguments.refuse_for_soft_bodies(scene.rigid.is_some())?;
        let controls = match (&arguments.drive.controls, &mut scene.rigid) {
            (Some(path), Some(rigid)) => {
                let controls = Controls::load(path, &rigid.model)?;
                let before = rigid.state.clone();
                controls.place(&rigid.model, &mut rigid.state);
                refuse_to_part(path, &scene, &before)?;
                Some(controls)
            }
            _ => None,
        };
        let Arguments { scene: path, steps, output, view, vtu, vtu_every, json, .. } = arguments;
        let [output, view, folder] = [output, view, vtu].map(|path| path.as_deref());
        let files = Files { output, view, folder, every: *vtu_every, controls };
        return simulate_soft::run(&scene, (path, *steps), &files, *json);
    }
    if arguments.vtu.is_some() || arguments.vtu_every.is_some() {
        let message = "is for scenes with [[soft]] bodies; use --view, or an .npz archive";
        return Err(Error::input("--vtu", None, "", message));
    }
    if arguments.contacts && arguments.output.is_none() {
        let message = "needs -o OUT.csv: contacts and solver health are written to files beside it";
        return Err(Error::input("--contacts", None, "", message));
    }
    let is_archive = arguments
        .output
        .as_ref()
        .and_then(|path| path.extension())
        .is_some_and(|ending| ending.eq_ignore_ascii_case("npz"));
    if is_archive && arguments.columns.is_some() {
        let message = "is for CSV; an .npz archive holds everything";
        return Err(Error::input("--columns", None, "", message));
    }
    let mut scene =
        load_scene(&arguments.scene, &arguments.options, arguments.drive.settle.is_some())?;
    let threads = output::threads(Some(arguments.threads.unwrap_or(1)))?;
    let steps = run_length(&arguments.scene, scene.settings.time_step, arguments.steps)?;
    let beside = |path: &PathBuf| CONTACT_FILES.map(|ending| path.with_extension(ending));
    let logs = arguments.output.iter().filter(|_| arguments.contacts).flat_map(beside);
    let files = arguments.output.iter().chain(&arguments.view).cloned().chain(logs);
    let files: Vec<PathBuf> = files.collect();
    whole_files::check_places(files.iter().map(PathBuf::as_path))?;
    // Of two programs at once, files that belong together would be of both.
    let several = arguments.contacts || arguments.view.is_some();
    let place = arguments.output.as_deref().filter(|path| several && !is_device(path));
    let lock = place.map(Lock::of_file).transpose()?;
    let columns = match &arguments.columns {
        None => None,
        Some(list) => Some(
            ColumnSelection::parse(list, &scene.model)
                .map_err(|message| Error::input("--columns", None, "", message))?,
        ),
    };
    interrupt::catch();
    let Arguments { scene: path, options, json, .. } = arguments;
    let started = arguments.drive.start(path, options, *json, &mut scene, threads)?;
    let Some((drive, settled)) = started else { return Ok(Outcome::Failed) };
    let mut log = arguments.contacts.then(ContactLog::new);
    let mut inputs = is_archive.then(Vec::new);
    // Files of looks are read where something is drawn.
    let looks = arguments.view.as_ref().map(|_| looks(&scene.model)).unwrap_or_default();
    let drawing = Drawing::new(&scene.model, &scene.parameters, &looks);
    let span = [0.0, steps as f64 * scene.settings.time_step];
    let mut recorder = arguments.view.is_some().then(|| {
        let name = ("simulation", Role::Simulation);
        TrackRecorder::new(&scene.model, &scene.parameters, &drawing, name, span)
    });
    let progress = Progress::new(steps, arguments.json);
    let run = Run { arguments, scene: &scene, steps };
    let watch = Watch { log: log.as_mut(), inputs: inputs.as_mut(), recorder: recorder.as_mut() };
    let (trajectory, mut report) = run.roll_out(drive, watch, progress)?;
    let made = trajectory.steps();
    let plausibility = report.plausibility;
    let beyond_speed = BeyondSpeed::find(&scene.model, trajectory.states.iter());
    if let Some(settled) = &settled {
        report.merge(&settled.report);
    }

    let contents = match (inputs, &columns) {
        (Some(inputs), _) => archive::npz(&scene, &trajectory, &inputs)?,
        (None, columns) => {
            let mut text = Vec::new();
            match columns {
                Some(columns) => trajectory.write_columns(&scene.model, columns, &mut text)?,
                None => trajectory.write(&scene.model, &mut text)?,
            }
            text
        }
    };
    let mut files = Vec::new();
    if let Some(path) = &arguments.output {
        files.push((path.clone(), contents));
        if let Some(log) = log {
            let (contacts, solver) = log.finish().map_err(|error| Error::io(path, error))?;
            for (ending, text) in CONTACT_FILES.into_iter().zip([contacts, solver]) {
                files.push((path.with_extension(ending), text));
            }
        }
    } else if !arguments.json && arguments.view.is_none() {
        output::print(String::from_utf8_lossy(&contents).trim_end());
    }
    if let (Some(path), Some(recorder)) = (&arguments.view, recorder) {
        let name = arguments.scene.display().to_string();
        let clip = Clip { name: name.clone(), tracks: vec![recorder.finish()] };
        let page = Playback { drawing, clips: vec![clip] }.html(&name)?;
        files.push((path.clone(), page.into_bytes()));
    }
    let all: Vec<(&Path, &[u8])> =
        files.iter().map(|(path, text)| (path.as_path(), &text[..])).collect();
    whole_files::write_files(&all)?;
    drop(lock);
    let files: Vec<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
    if arguments.json {
        let mut object = output::json_head("simulate", 0, threads);
        object.insert("scene".into(), output::path(&arguments.scene));
        object.insert("steps".into(), made.into());
        object.insert("time_step".into(), number(scene.settings.time_step));
        object
            .insert("settled".into(), settled.as_ref().map(|settled| settled.json(&scene)).into());
        object.insert("pushed_apart".into(), output::pushed_apart(&scene));
        object.insert("final_time".into(), trajectory.times.last().copied().into());
        object.insert("final_state".into(), final_state(&scene, &trajectory));
        object.insert("solver".into(), output::solver_summary(&report, &scene.model));
        object.insert(
            "implausible".into(),
            plausibility.json(&scene.model, scene.settings.time_step),
        );
        let beyond = beyond_speed.iter();
        let beyond = beyond.map(|beyond| beyond.json(&scene.model, trajectory.times[beyond.first]));
        object.insert("beyond_speed".into(), beyond.collect());
        object.insert("files".into(), files.iter().map(|path| output::path(path)).collect());
        output::print(&output::json_text(object));
    } else if let Some(settled) = &settled {
        // Standard output may be the trajectory.
        output::note(&settled.sentence());
    }
    if !arguments.json && !files.is_empty() {
        let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
        output::print(&format!("{made} steps written to {}", names.join(", ")));
    }
    output::warn_of_contacts(&report, &scene.model, &scene.settings);
    if let Some(settled) = &settled {
        settled.warn(&scene);
    }
    plausibility::warn(&plausibility, "", &scene.model, scene.settings.time_step);
    learned::warn(&scene.model, trajectory.states.iter());
    for beyond in &beyond_speed {
        output::warn(&beyond.sentence(&scene.model, trajectory.times[beyond.first]));
    }
    if made < steps {
        output::warn(&format!("interrupted after {made} of {steps} steps"));
    }
    Ok(Outcome::of(report.unsolved == 0 && made == steps, &report.plausibility))
}

/// An error if controls lead a body from elsewhere than the scene has it, where that carries a soft one.
fn refuse_to_part(path: &Path, scene: &SoftScene, before: &State<f64>) -> Result<(), Error> {
    let Some(rigid) = scene.rigid.as_deref() else { return Ok(()) };
    let [old, new] =
        [before, &rigid.state].map(|state| Kinematics::new(&rigid.model, &rigid.parameters, state));
    for body in &scene.bodies {
        for hold in &body.holds {
            let Some(carrier) = hold.carrier else { continue };
            let apart = [Vector3::zeros(), Vector3::x(), Vector3::y()]
                .map(|local| (new.point(carrier, &local) - old.point(carrier, &local)).norm());
            if apart.iter().any(|apart| *apart > PARTED) {
                let name = &rigid.model.bodies[carrier].name;
                let message = format!(
                    "leads {name} from elsewhere than the scene has it, where it carries {}: have both start there",
                    body.name
                );
                return Err(Error::input(path.display().to_string(), None, "", message));
            }
        }
    }
    Ok(())
}

impl Arguments {
    /// What there is for rigid bodies only; `mixed`: some are beside the soft ones.
    fn refuse_for_soft_bodies(&self, mixed: bool) -> Result<(), Error> {
        let DriveOptions { controls, kp, kd, settle } = &self.drive;
        self.options.refuse_for_soft_bodies()?;
        let motors = if mixed { "write an [[actuator]]" } else { "they have no motors" };
        let given = [
            ("--contacts", self.contacts, "--vtu DIR has the impulses at the nodes"),
            ("--columns", self.columns.is_some(), "all columns are written"),
            ("--controls", controls.is_some() && !mixed, "they have no inputs"),
            ("--kp", kp.is_some(), motors),
            ("--kd", kd.is_some(), motors),
            ("--settle", settle.is_some(), "simulate longer"),
            ("--threads", self.threads.is_some_and(|n| n > 1), "they are simulated on one"),
        ];
        refuse_for_soft_bodies(&given)
    }
}

/// What is written down on the way.
struct Watch<'a, 'b> {
    log: Option<&'a mut ContactLog>,
    /// The inputs of all steps.
    inputs: Option<&'a mut Vec<f64>>,
    recorder: Option<&'a mut TrackRecorder<'b>>,
}

/// The simulation that was asked for.
struct Run<'a> {
    arguments: &'a Arguments,
    scene: &'a Scene,
    steps: usize,
}

/// A step, as it is written down.
struct Made {
    state: State<f64>,
    report: StepReport,
    /// Where they are wanted.
    inputs: Vec<f64>,
    contacts: Vec<ContactRecord>,
}

impl Run<'_> {
    /// The motion, up to where Ctrl-C was pressed.
    fn roll_out(
        &self,
        mut drive: Drive,
        mut watch: Watch,
        mut progress: Progress,
    ) -> Result<(Trajectory, StepReport), Error> {
        let Run { arguments, scene, steps } = *self;
        let Scene { model, state, settings, .. } = scene;
        let target = arguments.output.as_ref().unwrap_or(&arguments.scene);
        let file = arguments.scene.display().to_string();
        let mut trajectory = Trajectory {
            name: target.display().to_string(),
            times: vec![0.0],
            states: vec![state.clone()],
            recorded: Recorded::all(model),
        };
        if let Some(recorder) = &mut watch.recorder {
            recorder.frame(0.0, state);
        }
        let own = scene.clone();
        let wants_inputs = watch.inputs.is_some();
        let wants_contacts = watch.log.is_some() || watch.recorder.is_some();
        let work = move |sender: &SyncSender<Made>| {
            let dt = own.settings.time_step;
            let mut rollout = Rollout::new(own.system(), own.state.clone());
            rollout.workspace.use_threads(drive.threads);
            for step in 1..=steps {
                drive.update(&own, Some((step - 1) as f64 * dt), &rollout.state);
                let report = rollout.step(&drive.inputs);
                check_step(&file, (step, step as f64 * dt), &rollout.state, &report)?;
                let (mut inputs, mut contacts) = (Vec::new(), Vec::new());
                if wants_inputs {
                    inputs.clone_from(&drive.inputs);
                    own.model.schedule((step - 1) as f64 * dt, dt, &mut inputs);
                }
                if wants_contacts {
                    contacts.extend(rollout.workspace.contacts().copied());
                }
                let made = Made { state: rollout.state.clone(), report, inputs, contacts };
                if sender.send(made).is_err() {
                    break;
                }
            }
            Ok(())
        };
        let mut total = StepReport::default();
        let write_down = |made: Made| {
            let Made { state, report, inputs, contacts } = made;
            let step = trajectory.times.len();
            let time = step as f64 * settings.time_step;
            if let Some(all) = &mut watch.inputs {
                all.extend(inputs);
            }
            if let Some(log) = &mut watch.log {
                log.add(model, step, time, contacts.iter(), &report)
                    .map_err(|error| Error::io(target, error))?;
            }
            if let Some(recorder) = &mut watch.recorder {
                recorder.contacts(contacts.iter());
                recorder.frame(time, &state);
            }
            total.merge(&report);
            trajectory.times.push(time);
            trajectory.states.push(state);
            progress.set(step);
            Ok(())
        };
        watched(work, write_down)?.unwrap_or(Ok(()))?;
        Ok((trajectory, total))
    }
}

/// The last state, body by body.
fn final_state(scene: &Scene, trajectory: &Trajectory) -> Value {
    let Some(state) = trajectory.states.last() else { return Value::Null };
    let bodies = scene.model.bodies.iter().filter_map(|body| {
        let &Joint { kind, q, v, .. } = &body.joint;
        let (q, v) = (&state.q[q..q + kind.nq()], &state.v[v..v + kind.nv()]);
        let numbers = match kind.coordinates()? {
            Coordinates::Pose => json!({
                "position": q[..3],
                "orientation": q[3..],
                "velocity": v[..3],
                "angular_velocity": v[3..],
            }),
            Coordinates::Rotation => json!({ "orientation": q, "angular_velocity": v }),
            Coordinates::Number => json!({ "q": q[0], "v": v[0] }),
        };
        Some((body.name.clone(), numbers))
    });
    Value::Object(bodies.collect())
}
