//! `stiction simulate` of soft bodies.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use serde_json::{Value, json};

use super::interrupt;
use super::lock::Lock;
use super::outcome::Outcome;
use super::output::{self, number};
use super::plausibility;
use super::progress::Progress;
use super::run_length::run_length;
use super::watched::watched;
use super::whole_files;
use crate::Error;
use crate::contact::ContactRecord;
use crate::npz::Npz;
use crate::simulation::StepReport;
use crate::soft::{
    SoftRollout, SoftScene, SoftState, SoftStepReport, collection, unstructured_grid,
};
use crate::state::State;
use crate::trajectory::Controls;
use crate::view::{Clip, Drawing, Playback, SoftTrackRecorder};

/// Numbers that are kept for an archive at most: 4 GiB.
const MOST_NUMBERS: usize = 1 << 29;

/// What drives the rigid bodies, what is written, and where.
pub(super) struct Files<'a> {
    /// The motion.
    pub output: Option<&'a Path>,
    /// A page that plays it.
    pub view: Option<&'a Path>,
    /// Files for ParaView.
    pub folder: Option<&'a Path>,
    /// Of these a frame each so many steps.
    pub every: Option<usize>,
    /// Inputs of the rigid bodies over time.
    pub controls: Option<Controls>,
}

/// The file that lists all frames.
const COLLECTION: &str = "motion.pvd";

impl Files<'_> {
    /// Makes the folder, and sees that everything can be written, into a file of its own, by nobody else at once.
    fn prepare(&self) -> Result<[Option<Lock>; 2], Error> {
        let Files { output, view, folder, .. } = *self;
        if let Some(folder) = folder {
            fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        }
        let collection = folder.map(|folder| folder.join(COLLECTION));
        let files = output.into_iter().chain(view);
        for file in files.clone() {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let parent = fs::canonicalize(whole_files::folder(file)).ok();
            let inside = folder.is_some_and(|folder| parent == fs::canonicalize(folder).ok());
            if inside && name.starts_with("motion_") && name.ends_with(".vtu") {
                let message = "is the name of a frame; give another one, or another --vtu DIR";
                return Err(Error::input(file.display().to_string(), None, "", message));
            }
        }
        whole_files::check_places(files.chain(collection.as_deref()))?;
        let several = view.is_some() || folder.is_some();
        let file = output.filter(|path| several && !whole_files::is_device(path));
        Ok([file.map(Lock::of_file).transpose()?, folder.map(Lock::of_folder).transpose()?])
    }
}

/// A step, as it is written down.
struct Made {
    states: Vec<SoftState>,
    report: SoftStepReport,
    energies: [f64; 3],
    rigid: Option<(State<f64>, Vec<ContactRecord>)>,
}

/// What has been written down.
#[derive(Default)]
struct Motion {
    rows: String,
    times: Vec<f64>,
    /// Of each body the places of all nodes at all times, where they are wanted.
    places: Vec<Vec<f64>>,
    /// Likewise lengths and tensions of all cables, and forces of all holds.
    forces: Vec<[Vec<f64>; 2]>,
    /// Likewise the state of the rigid bodies.
    rigid: [Vec<f64>; 2],
    /// Files for ParaView, and their times.
    frames: Vec<(f64, String)>,
    unsolved: usize,
    /// How the rigid bodies did.
    beside: StepReport,
    /// Of the step solved worst.
    worst: SoftStepReport,
    iterations: usize,
    energies: Vec<[f64; 3]>,
}

/// Rolls out the scene of the file `path`.
pub(super) fn run(
    scene: &SoftScene,
    (scene_path, steps): (&Path, Option<usize>),
    wanted: &Files,
    json: bool,
) -> Result<Outcome, Error> {
    let Files { output, view, .. } = *wanted;
    for warning in &scene.warnings {
        output::warn(warning);
    }
    let steps = run_length(scene_path, scene.time_step, steps)?;
    let every = wanted.every.unwrap_or(1);
    if every == 0 || wanted.every.is_some() && wanted.folder.is_none() {
        let message = "must be at least 1, beside --vtu DIR";
        return Err(Error::input("--vtu-every", None, "", message));
    }
    let ending = output.and_then(Path::extension);
    let is_archive = ending.is_some_and(|ending| ending.eq_ignore_ascii_case("npz"));
    let nodes: usize = scene.bodies.iter().map(|body| body.position.len()).sum();
    if is_archive && nodes.saturating_mul(3 * (steps + 1)) > MOST_NUMBERS {
        let message = format!(
            "{nodes} nodes in {steps} steps are more than 4 GiB: make fewer steps, or a .csv"
        );
        return Err(Error::input("--output", None, "", message));
    }
    let _locks = wanted.prepare()?;
    interrupt::catch();
    let mut motion = Motion { rows: header(scene), ..Motion::default() };
    motion.places.resize(scene.bodies.len(), Vec::new());
    motion.forces.resize(scene.bodies.len(), Default::default());
    let drawing = Drawing::of_soft_bodies(scene);
    let mut recorder = view.map(|_| {
        let span = [0.0, steps as f64 * scene.time_step];
        SoftTrackRecorder::new(scene, &drawing, span, 1)
    });
    let mut progress = Progress::new(steps, json);
    let mut write_down = |made: Made| {
        let step = motion.times.len();
        let time = step as f64 * scene.time_step;
        if is_archive {
            for (places, state) in motion.places.iter_mut().zip(&made.states) {
                places.extend(state.position.as_flattened());
            }
            for ([cables, holds], state) in motion.forces.iter_mut().zip(&made.states) {
                cables.extend(state.cables.as_flattened());
                holds.extend(state.holds.as_flattened());
            }
            if let Some((State { q, v }, _)) = &made.rigid {
                motion.rigid[0].extend(q);
                motion.rigid[1].extend(v);
            }
        } else {
            let rigid = made.rigid.as_ref().map(|(state, _)| state);
            add_row(scene, time, (&made.states, rigid), &mut motion.rows);
        }
        if let Some(recorder) = &mut recorder {
            if let Some((state, contacts)) = &made.rigid {
                recorder.beside(state, contacts.iter());
            }
            recorder.frame(time, &made.states);
        }
        if let Some(folder) = wanted.folder.filter(|_| step.is_multiple_of(every)) {
            let file = format!("motion_{step:07}.vtu");
            let grid = unstructured_grid(&scene.bodies, &made.states);
            whole_files::write_file(&folder.join(&file), grid.as_bytes())?;
            motion.frames.push((time, file));
        }
        motion.unsolved += usize::from(made.report.unsolved > 0);
        motion.beside.merge(&made.report.rigid);
        motion.iterations += made.report.worst.iterations;
        motion.worst.take_worse(&made.report.worst);
        motion.times.push(time);
        motion.energies.push(made.energies);
        progress.set(step);
        Ok(())
    };
    let (own, controls) = (scene.clone(), wanted.controls.clone());
    let work = move |sender: &SyncSender<Made>| {
        let mut rollout = SoftRollout::new(&own);
        for step in 0..=steps {
            if let (Some(controls), Some(inputs), 1..) = (&controls, rollout.rigid_inputs(), step) {
                controls.apply((step - 1) as f64 * own.time_step, own.time_step, inputs);
            }
            let report = if step > 0 { rollout.step() } else { SoftStepReport::default() };
            let (states, energies) = (rollout.states().to_vec(), rollout.energies());
            let rigid = rollout
                .rigid_state()
                .map(|state| (state.clone(), rollout.rigid_contacts().copied().collect()));
            if !energies.iter().all(|x| x.is_finite())
                || sender.send(Made { states, report, energies, rigid }).is_err()
            {
                break;
            }
        }
    };
    watched(work, &mut write_down)?;
    let made = motion.times.len().saturating_sub(1);
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    if let Some(path) = output {
        let contents = match is_archive {
            true => archive(scene, &motion).map_err(|error| Error::io(path, error))?,
            false => std::mem::take(&mut motion.rows).into_bytes(),
        };
        files.push((path.to_path_buf(), contents));
    }
    if let (Some(path), Some(recorder)) = (view, recorder) {
        let name = scene_path.display().to_string();
        let clip = Clip { name: name.clone(), tracks: vec![recorder.finish()] };
        let page = Playback { drawing, clips: vec![clip] }.html(&name)?;
        files.push((path.to_path_buf(), page.into_bytes()));
    }
    if let Some(folder) = wanted.folder {
        let all = motion.frames.iter().map(|(time, file)| (*time, file.as_str()));
        files.push((folder.join(COLLECTION), collection(all).into_bytes()));
    }
    let all: Vec<(&Path, &[u8])> =
        files.iter().map(|(path, text)| (path.as_path(), &text[..])).collect();
    whole_files::write_files(&all)?;
    if json {
        let names: Vec<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
        output::print(&output::json_text(summary(scene, scene_path, &motion, &names)));
    } else if files.is_empty() {
        output::print(motion.rows.trim_end());
    } else {
        let names: Vec<String> = files.iter().map(|(path, _)| path.display().to_string()).collect();
        output::print(&format!("{made} steps written to {}", names.join(", ")));
    }
    if motion.unsolved > 0 {
        let worst = &motion.worst.worst;
        output::warn(&format!(
            "{} of {made} steps were not solved to {:e}: the worst has a residual of {:e}; try smaller steps",
            motion.unsolved, scene.newton.accepted, worst.residual
        ));
    }
    let plausibility = &motion.beside.plausibility;
    if let Some(rigid) = &scene.rigid {
        output::warn_of_contacts(&motion.beside, &rigid.model, &rigid.settings);
        plausibility::warn(plausibility, "", &rigid.model, scene.time_step);
    }
    if made < steps {
        let why =
            if interrupt::interrupted() { "interrupted" } else { "stopped at what is not finite" };
        output::warn(&format!("{why} after {made} of {steps} steps"));
    }
    Ok(Outcome::of(motion.unsolved == 0 && made == steps, plausibility))
}

/// The motion of a scene, a row a step, which `observe` sees too; `drive` says what acts before each.
pub(super) fn motion_csv(
    scene: &SoftScene,
    steps: usize,
    drive: &mut dyn FnMut(&mut SoftRollout),
    observe: &mut dyn FnMut(f64, &SoftRollout),
) -> String {
    let mut rollout = SoftRollout::new(scene);
    let mut rows = header(scene);
    for step in 0..=steps {
        if step > 0 {
            drive(&mut rollout);
            rollout.step();
        }
        let time = step as f64 * scene.time_step;
        observe(time, &rollout);
        add_row(scene, time, (rollout.states(), rollout.rigid_state()), &mut rows);
    }
    rows
}

fn header(scene: &SoftScene) -> String {
    let mut row = String::from("t");
    for body in &scene.bodies {
        for column in ["px", "py", "pz", "vx", "vy", "vz"] {
            // Writing to a String does not fail.
            let _ = write!(row, ",{}/{column}", body.name);
        }
        for marker in &body.markers {
            for column in ["px", "py", "pz"] {
                let _ = write!(row, ",{}/{}/{column}", body.name, marker.name);
            }
        }
        for cable in &body.cables {
            let _ = write!(row, ",{0}/length,{0}/tension", cable.name);
        }
        for hold in &body.holds {
            let _ = write!(row, ",{0}/fx,{0}/fy,{0}/fz", hold.name);
        }
    }
    for name in scene.rigid.iter().flat_map(|own| {
        own.model.configuration_names().into_iter().chain(own.model.velocity_names())
    }) {
        let _ = write!(row, ",{name}");
    }
    row.push('\n');
    row
}

/// Of each body the centre of mass (m), its velocity (m/s), the markers (m), lengths and tensions of cables (m, N), forces of holds
/// on it (N); then the state of the rigid bodies.
fn add_row(
    scene: &SoftScene,
    time: f64,
    (states, rigid): (&[SoftState], Option<&State<f64>>),
    rows: &mut String,
) {
    let _ = write!(rows, "{time}");
    for (body, state) in scene.bodies.iter().zip(states) {
        let markers = body.markers.iter().flat_map(|marker| state.position[marker.node]);
        let centre = [body.mean(&state.position), body.mean(&state.velocity)];
        let forces = state.cables.iter().flatten().chain(state.holds.iter().flatten()).copied();
        for x in centre.into_iter().flatten().chain(markers).chain(forces) {
            let _ = write!(rows, ",{x}");
        }
    }
    for x in rigid.into_iter().flat_map(|state| state.q.iter().chain(&state.v)) {
        let _ = write!(rows, ",{x}");
    }
    rows.push('\n');
}

/// t (T), and of each body its nodes x (T, n, 3), tetrahedra (m, 4) and mass of the nodes (n), of each cable length and tension (T), of
/// each hold its force on the body (T, 3); of the rigid bodies q (T, nq) and v (T, nv).
fn archive(scene: &SoftScene, motion: &Motion) -> std::io::Result<Vec<u8>> {
    let times = motion.times.len();
    let mut archive = Npz::new();
    archive.add("t", &[times], &motion.times)?;
    archive.add("energy", &[times, 3], motion.energies.as_flattened())?;
    for (body, places) in scene.bodies.iter().zip(&motion.places) {
        let (name, nodes) = (&body.name, body.position.len());
        archive.add(&format!("{name}/x"), &[times, nodes, 3], places)?;
        let corners = body.mesh.tetrahedra.iter().flatten().map(|&node| node as i64);
        let tetrahedra = format!("{name}/tetrahedra");
        archive.add_integers(&tetrahedra, &[body.mesh.tetrahedra.len(), 4], corners)?;
        let volumes = body.elements.unit_weight().iter();
        let masses: Vec<f64> = volumes.map(|volume| body.parameters.density * volume).collect();
        archive.add(&format!("{name}/mass"), &[nodes], &masses)?;
    }
    for (body, [cables, holds]) in scene.bodies.iter().zip(&motion.forces) {
        for (k, own) in body.cables.iter().enumerate() {
            let column = |number: usize| -> Vec<f64> {
                cables.chunks(2 * body.cables.len()).map(|row| row[2 * k + number]).collect()
            };
            archive.add(&format!("{}/length", own.name), &[times], &column(0))?;
            archive.add(&format!("{}/tension", own.name), &[times], &column(1))?;
        }
        for (k, own) in body.holds.iter().enumerate() {
            let rows = holds.chunks(3 * body.holds.len());
            let forces: Vec<f64> = rows.flat_map(|row| &row[3 * k..3 * k + 3]).copied().collect();
            archive.add(&format!("{}/force", own.name), &[times, 3], &forces)?;
        }
    }
    for (name, numbers) in ["q", "v"].into_iter().zip(&motion.rigid) {
        if scene.rigid.is_some() {
            archive.add(name, &[times, numbers.len() / times.max(1)], numbers)?;
        }
    }
    archive.finish()
}

fn summary(
    scene: &SoftScene,
    path: &Path,
    motion: &Motion,
    files: &[&Path],
) -> serde_json::Map<String, Value> {
    let mut object = output::json_head("simulate", 0, 1);
    let energy = |energies: Option<&[f64; 3]>| {
        energies.map(|[kinetic, elastic, potential]| {
            json!({
                "kinetic": number(*kinetic),
                "elastic": number(*elastic),
                "potential": number(*potential),
            })
        })
    };
    let bodies = scene.bodies.iter().map(|body| {
        let numbers = json!({
            "nodes": body.position.len(),
            "tetrahedra": body.mesh.tetrahedra.len(),
            "mass": number(body.mass()),
        });
        (body.name.clone(), numbers)
    });
    object.insert("scene".into(), output::path(path));
    object.insert("steps".into(), motion.times.len().saturating_sub(1).into());
    object.insert("time_step".into(), number(scene.time_step));
    object.insert("final_time".into(), motion.times.last().copied().into());
    object.insert("bodies".into(), Value::Object(bodies.collect()));
    object.insert(
        "energy".into(),
        json!({ "first": energy(motion.energies.first()), "last": energy(motion.energies.last()) }),
    );
    object.insert(
        "solver".into(),
        json!({
            "status": motion.worst.worst.status.name(),
            "unsolved": motion.unsolved,
            "iterations": motion.iterations,
            "worst_residual": number(motion.worst.worst.residual),
        }),
    );
    if let Some(rigid) = &scene.rigid {
        let solver = output::solver_summary(&motion.beside, &rigid.model);
        let implausible = motion.beside.plausibility.json(&rigid.model, scene.time_step);
        object.insert("rigid".into(), json!({ "solver": solver, "implausible": implausible }));
    }
    object.insert("files".into(), files.iter().map(|path| output::path(path)).collect());
    object
}
