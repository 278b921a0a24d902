//! `stiction simulate`

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::contact_log::ContactLog;
use super::output::{self, number};
use super::progress::Progress;
use super::{Outcome, run_length};
use crate::Error;
use crate::argmin::Status;
use crate::model::{Joint, Scene, System};
use crate::simulation::{Recorded, Rollout, StepReport, Trajectory};
use crate::state::{Coordinates, State};

/// Roll out a scene and write its trajectory
///
/// The trajectory is CSV: a row for the initial state and one after each step. Exit code 1 if a
/// contact problem was not solved (the files are complete all the same), 2 if the input is bad.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The scene file
    #[arg(value_name = "SCENE.toml")]
    scene: PathBuf,
    /// How many time steps; if left out, as many as make one second
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Write the trajectory here instead of on standard output
    #[arg(short, long, value_name = "OUT.csv")]
    output: Option<PathBuf>,
    /// Also write OUT.contacts.csv (impulses and modes of the touching contacts) and OUT.solver.csv
    /// (how each step was solved)
    #[arg(long)]
    contacts: bool,
    /// Print a summary as one JSON object; the trajectory is written only with -o
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    if arguments.contacts && arguments.output.is_none() {
        let message = "needs -o OUT.csv: contacts and solver health are written to files beside it";
        return Err(Error::input("--contacts", None, "", message));
    }
    let scene = Scene::load(&arguments.scene)?;
    let steps = run_length(&arguments.scene, scene.settings.time_step, arguments.steps)?;
    if let Some(path) = &arguments.output {
        output::check_directory(path)?;
    }
    let mut log = arguments.contacts.then(ContactLog::new);
    let progress = Progress::new(steps, arguments.json);
    let (trajectory, report) = roll_out(arguments, &scene, steps, log.as_mut(), progress)?;

    let mut text = Vec::new();
    trajectory.write(&scene.model, &mut text)?;
    let mut files = Vec::new();
    if let Some(path) = &arguments.output {
        files.push((path.clone(), text));
        if let Some(log) = log {
            let (contacts, solver) = log.finish().map_err(|error| Error::io(path, error))?;
            files.push((path.with_extension("contacts.csv"), contacts));
            files.push((path.with_extension("solver.csv"), solver));
        }
        for (path, contents) in &files {
            output::write_file(path, contents)?;
        }
    } else if !arguments.json {
        output::print(String::from_utf8_lossy(&text).trim_end());
    }
    let files: Vec<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
    if arguments.json {
        let mut object = output::json_head("simulate", 0, 1);
        object.insert("scene".into(), output::path(&arguments.scene));
        object.insert("steps".into(), steps.into());
        object.insert("time_step".into(), number(scene.settings.time_step));
        object.insert("final_time".into(), trajectory.times.last().copied().into());
        object.insert("final_state".into(), final_state(&scene, &trajectory));
        object.insert("solver".into(), output::solver_summary(&report));
        object.insert("files".into(), files.iter().map(|path| output::path(path)).collect());
        output::print(&output::json_text(object));
    } else if !files.is_empty() {
        let names: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
        output::print(&format!("{steps} steps written to {}", names.join(", ")));
    }
    output::warn_of_contacts(&report, &scene.settings);
    Ok(if report.unsolved == 0 { Outcome::Done } else { Outcome::Failed })
}

fn roll_out(
    arguments: &Arguments,
    scene: &Scene,
    steps: usize,
    mut log: Option<&mut ContactLog>,
    mut progress: Progress,
) -> Result<(Trajectory, StepReport), Error> {
    let Scene { model, parameters, state, settings, wrenches, .. } = scene;
    let system = System { model, parameters, settings };
    let mut rollout = Rollout::new(system, state.clone());
    let target = arguments.output.as_ref().unwrap_or(&arguments.scene);
    let mut trajectory = Trajectory {
        name: target.display().to_string(),
        times: vec![0.0],
        states: vec![state.clone()],
        recorded: Recorded::all(model),
    };
    for step in 1..=steps {
        let report = rollout.step(wrenches);
        let time = step as f64 * settings.time_step;
        if !is_finite(&rollout.state) || report.worst.status == Status::InvalidInput {
            let message = format!(
                "step {step}, to {time} s, does not give finite numbers: a load or a velocity is \
                 too large, or a number of the scene too extreme; nothing was written"
            );
            return Err(Error::input(arguments.scene.display().to_string(), None, "", message));
        }
        if let Some(log) = &mut log {
            let contacts = rollout.workspace.contacts();
            log.add(model, step, time, contacts, &report)
                .map_err(|error| Error::io(target, error))?;
        }
        trajectory.times.push(time);
        trajectory.states.push(rollout.state.clone());
        progress.set(step);
    }
    Ok((trajectory, rollout.report))
}

fn is_finite(state: &State<f64>) -> bool {
    state.q.iter().chain(&state.v).all(|x| x.is_finite())
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
