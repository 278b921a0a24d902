//! `stiction linearize`

use std::path::{Path, PathBuf};

use super::linearize_soft;
use super::outcome::Outcome;
use super::output::{self, number};
use super::plausibility;
use super::progress::Progress;
use super::run_length::run_length;
use super::scene_options::{SceneOptions, load_scene, refuse_for_soft_bodies};
use super::whole_files;
use crate::Error;
use crate::linearize::{Convention, Linearizer};
use crate::model::Scene;
use crate::soft::SoftScene;
use crate::trajectory::{Controls, Trajectory};

/// A recorded time step that differs by more than this fraction from the scene's is remarked upon.
const TIME_STEP_TOLERANCE: f64 = 0.01;

/// Export Jacobians of the step along a trajectory
///
/// The file holds A, B, C of dx+ = A dx + B du + C dp for each step, x, u, f(x, u), and a description
/// of all names, units and conventions (`meta`). In Python: z = numpy.load("out.npz"); z["A"]; meta =
/// json.loads(bytes(z["meta"])). Exit code 1 if a contact problem was not solved (the file is
/// complete all the same), 2 if the input is bad.
///
/// Of soft bodies: y, the centre of mass and the markers of each body after each step, and dy_dp, how they change with
/// parameters and the start.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The scene: .toml, MJCF (.xml, .mjcf) or URDF (.urdf)
    #[arg(value_name = "SCENE")]
    scene: PathBuf,
    #[command(flatten)]
    options: SceneOptions,
    /// Linearise one step from each state of this trajectory; if left out, the scene is rolled out
    #[arg(long, value_name = "IN.csv", conflicts_with = "steps")]
    trajectory: Option<PathBuf>,
    /// Inputs over time, CSV: t and a column for each actuator (by its name) or force (body/f); held from row to
    /// row. Others stay as the scene has them
    #[arg(long, value_name = "U.csv")]
    controls: Option<PathBuf>,
    /// What is u: names of inputs, or controls, forces, all; if left out, the controls of a scene with actuators,
    /// else all forces
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    inputs: Option<Vec<String>>,
    /// What is p: names of parameters, or all, none; columns of C cost a pass through the step for every eight
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "all")]
    parameters: Vec<String>,
    /// How states, tangent vectors and forces are written: stiction, pinocchio, mujoco or drake
    #[arg(long, value_name = "NAME", default_value = "stiction")]
    convention: String,
    /// How many time steps are rolled out; if left out, as many as make one second
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// The file to write: .npz (NumPy) or .json
    #[arg(short, long, value_name = "OUT.npz|OUT.json")]
    output: PathBuf,
    /// Print a summary as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy)]
enum Format {
    Npz,
    Json,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let format = format_of(&arguments.output)?;
    if let Some(scene) = SoftScene::load(&arguments.scene)? {
        arguments.refuse_for_soft_bodies(scene.rigid.is_some())?;
        let Arguments { scene: path, steps, parameters, output, json, .. } = arguments;
        whole_files::check_place(output)?;
        let steps = run_length(path, scene.time_step, *steps)?;
        return linearize_soft::run(&scene, (path, steps), parameters, output, *json);
    }
    let scene = load_scene(&arguments.scene, &arguments.options, false)?;
    let Scene { model, state, settings, .. } = &scene;
    whole_files::check_place(&arguments.output)?;
    let scene_name = arguments.scene.display().to_string();
    let system = scene.system();
    let convention = Convention::named(&arguments.convention).ok_or_else(|| {
        let known = Convention::ALL.map(Convention::name).join(", ");
        let message = format!("is no convention; there are {known}");
        Error::input("--convention", None, &arguments.convention, message)
    })?;
    let names = match arguments.parameters.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["all"] => model.parameter_names(),
        ["none"] => Vec::new(),
        _ => model.with_weights_named(&arguments.parameters),
    };
    let controlled = model.nu() > 0 || model.bodies.iter().any(|body| body.joint.prescribed);
    let selected = arguments
        .inputs
        .clone()
        .unwrap_or_else(|| vec![if controlled { "controls" } else { "forces" }.to_string()]);
    let controls = match &arguments.controls {
        Some(path) => Some(Controls::load(path, model)?),
        None => None,
    };
    let mut start = state.clone();
    if let Some(controls) = &controls {
        controls.place(model, &mut start);
    }
    let result = match &arguments.trajectory {
        Some(path) => {
            let trajectory = Trajectory::load(path, model)?;
            remark_on_time_step(&trajectory, settings.time_step);
            let mut progress = Progress::new(trajectory.states.len(), arguments.json);
            let name = path.display().to_string();
            let mut linearizer = Linearizer::new(&name, system, &scene.inputs, &selected, &names)?;
            // What is led goes as in the trajectory, where nothing else is said.
            let along = Controls::along(&trajectory, model);
            linearizer.drive(controls.as_ref().unwrap_or(&along));
            linearizer.states(&trajectory, |done| progress.set(done))?
        }
        None => {
            let steps = run_length(&arguments.scene, settings.time_step, arguments.steps)?;
            let mut progress = Progress::new(steps, arguments.json);
            let mut linearizer =
                Linearizer::new(&scene_name, system, &scene.inputs, &selected, &names)?;
            if let Some(controls) = &controls {
                linearizer.drive(controls);
            }
            linearizer.rollout(&start, steps, |done| progress.set(done))?
        }
    };
    let result = result.expressed(convention, model, &scene_name)?;
    let contents = match format {
        Format::Json => result.to_json(&system).into_bytes(),
        Format::Npz => result
            .to_npz(&system)
            .map_err(|error| Error::io(&arguments.output, std::io::Error::other(error)))?,
    };
    whole_files::write_file(&arguments.output, &contents)?;

    let report = result.report();
    let undetermined = result.determined.iter().filter(|&&determined| !determined).count();
    let (steps, nx, nu) = result.b.dim();
    let np = result.parameters.len();
    if arguments.json {
        let mut object = output::json_head("linearize", 0, 1);
        object.insert("scene".into(), output::path(&arguments.scene));
        let trajectory = arguments.trajectory.as_deref().map(output::path);
        object.insert("trajectory".into(), trajectory.into());
        object.insert("steps".into(), steps.into());
        object.insert("time_step".into(), number(settings.time_step));
        object.insert("pushed_apart".into(), output::pushed_apart(&scene));
        let shapes =
            serde_json::json!({"A": [steps, nx, nx], "B": [steps, nx, nu], "C": [steps, nx, np]});
        object.insert("shapes".into(), shapes);
        object.insert("convention".into(), convention.name().into());
        object.insert("input_names".into(), result.inputs.clone().into());
        object.insert("parameter_names".into(), names.into());
        object.insert("undetermined".into(), undetermined.into());
        object.insert("solver".into(), output::solver_summary(&report, model));
        let implausible = report.plausibility.json(model, settings.time_step);
        object.insert("implausible".into(), implausible);
        object.insert("files".into(), vec![output::path(&arguments.output)].into());
        output::print(&output::json_text(object));
    } else {
        let text = format!(
            "{steps} steps written to {}: A {nx} x {nx}, B {nx} x {nu}, C {nx} x {np} each",
            arguments.output.display()
        );
        output::print(&text);
    }
    output::warn_of_contacts(&report, model, settings);
    plausibility::warn(&report.plausibility, "", model, settings.time_step);
    if undetermined > 0 {
        output::warn(&format!(
            "{undetermined} of {steps} steps have no derivative (NaN in .npz, null in \
             .json; `determined` in `meta` says which): the contacts do not determine one"
        ));
    }
    Ok(Outcome::of(report.unsolved + undetermined == 0, &report.plausibility))
}

impl Arguments {
    /// What there is for rigid bodies only.
    fn refuse_for_soft_bodies(&self, mixed: bool) -> Result<(), Error> {
        let [controls, inputs] = match mixed {
            true => [
                "inputs are those of the scene, all along",
                "those of rigid bodies are --parameters",
            ],
            false => ["they have no inputs", "they have none"],
        };
        self.options.refuse_for_soft_bodies()?;
        let is_other = self.convention != Convention::ALL[0].name();
        refuse_for_soft_bodies(&[
            ("--trajectory", self.trajectory.is_some(), "their motion is that of the scene"),
            ("--controls", self.controls.is_some(), controls),
            ("--inputs", self.inputs.is_some(), inputs),
            ("--convention", is_other, "nodes have no orientation"),
        ])
    }
}

/// Which file format the name of a file asks for.
fn format_of(path: &Path) -> Result<Format, Error> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => Ok(Format::Npz),
        Some("json") => Ok(Format::Json),
        _ => {
            let message = "the name of the output must end in .npz or .json";
            Err(Error::input(path.display().to_string(), None, "", message))
        }
    }
}

/// Says so if the frames of a trajectory are not a step of the scene apart.
fn remark_on_time_step(trajectory: &Trajectory, time_step: f64) {
    let gaps = || trajectory.times.windows(2).map(|pair| pair[1] - pair[0]);
    let off = |gap: f64| (gap / time_step - 1.0).abs() > TIME_STEP_TOLERANCE;
    if gaps().any(off) {
        let (least, most) =
            gaps().fold((f64::INFINITY, 0.0_f64), |(l, m), gap| (l.min(gap), m.max(gap)));
        output::note(&format!(
            "{}: the frames are {least} s to {most} s apart, the time step of the scene is \
             {time_step} s; each state is linearised over one step of the scene",
            trajectory.name
        ));
    }
}
