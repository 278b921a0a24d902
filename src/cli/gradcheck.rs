//! `stiction gradcheck`

mod agreement_table;
mod patience;
mod scenes;
mod soft_steps;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use agreement_table::{Ways, json, table, warn_of_kinks};
use patience::Patience;

use super::interrupt;
use super::outcome::Outcome;
use super::output;
use super::progress::Progress;
use super::run_length::MOST_STEPS;
use super::scene_options::{SceneOptions, load_scene};
use crate::Error;
use crate::model::{ContactSolver, Scene, StaggeredDerivative};
use crate::simulation::{Plausibility, Rollout};
use crate::soft::SoftScene;
use crate::verify::{Gradcheck, StepProgram};

/// Check derivatives of the step: tape, duals, duals through the optimality conditions, duals
/// through the iterations and central differences against each other.
///
/// Of soft bodies: the adjoint, forward, duals through the balance of momentum, and differences. Of soft and rigid bodies together: the
/// adjoint, forward and differences.
///
/// With respect to every parameter, the state before the step and the applied forces. Differences
/// are central where both sides keep the modes of contacts and joints, and of one side where only one does;
/// where none does, the derivative is counted as skipped. What changes at these kinks is named.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Scene (.toml, MJCF, URDF); without one, built-in scenes of every contact situation.
    scene: Option<PathBuf>,
    #[command(flatten)]
    options: SceneOptions,
    /// How many states to check, of each scene.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    steps: u16,
    /// Simulated time in s over which the states are spread. Those of built-in scenes follow each
    /// other.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    duration: f64,
    /// Time to take in s: states that are not checked by then are left out, and that is said.
    #[arg(long, value_name = "SECONDS", default_value_t = 50.0)]
    limit: f64,
    /// One JSON object on standard output.
    #[arg(long)]
    json: bool,
}

/// Longest simulation.
const MOST_SECONDS: f64 = 1e4;

const RIGID: Ways = Ways {
    with: "tape",
    others: &[
        ("duals", "dual_vs_tape", |e| e.dual_vs_tape),
        ("residual", "residual_vs_tape", |e| e.residual_vs_tape),
        ("unrolled", "unrolled_vs_tape", |e| e.unrolled_vs_tape),
        ("differences", "vs_differences", |e| e.vs_differences),
    ],
};

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let steps = usize::from(arguments.steps);
    if !(0.0..=MOST_SECONDS).contains(&arguments.duration) {
        let message = format!("must be between 0 and {MOST_SECONDS} s");
        return Err(Error::input("--duration", None, arguments.duration.to_string(), message));
    }
    let limit = Duration::try_from_secs_f64(arguments.limit).map_err(|_| {
        Error::input("--limit", None, arguments.limit.to_string(), "must be a time in s")
    })?;
    let (mut checks, mut implausible) = (Vec::new(), Vec::new());
    let mut pushed_apart = Value::Null;
    let most = if arguments.scene.is_some() { steps } else { steps * scenes::all().count() };
    let progress = Progress::new(most, arguments.json);
    let mut patience = Patience::new(limit, progress);
    if let Some(path) = &arguments.scene {
        if let Some(scene) = SoftScene::load(path)? {
            arguments.options.refuse_for_soft_bodies()?;
            let total = steps_in(path, scene.time_step, arguments.duration)?;
            return soft_steps::run(&scene, path, (steps, total), patience, arguments.json);
        }
        let scene = load_scene(path, &arguments.options, false)?;
        let total = steps_in(path, scene.settings.time_step, arguments.duration)?;
        interrupt::catch();
        pushed_apart = output::pushed_apart(&scene);
        let name = path.display().to_string();
        let stride = (total / steps).max(1);
        let (check, plausibility) = check(&name, &scene, steps, stride, &mut patience)?;
        implausible.extend(Implausible::new(&name, &scene, plausibility));
        checks.push((name, check));
    } else {
        interrupt::catch();
        for (name, text) in scenes::all() {
            let scene = Scene::parse(&text, name)?;
            let (check, plausibility) = check(name, &scene, steps, 1, &mut patience)?;
            implausible.extend(Implausible::new(name, &scene, plausibility));
            checks.push((name.to_string(), check));
        }
    }
    let mut total = Gradcheck::default();
    for (name, check) in &checks {
        warn(name, check);
        total.merge(check);
    }
    let mut plausibility = Plausibility::default();
    for own in &implausible {
        output::warn(&own.sentence);
        plausibility.merge(&own.plausibility, 0);
    }
    let states = patience.told();
    if arguments.json {
        let mut object = json(&checks, &total, &RIGID);
        object.insert("states".into(), states);
        object.insert("pushed_apart".into(), pushed_apart);
        let own = implausible.iter().map(|own| (own.name.clone(), own.json.clone()));
        object.insert("implausible".into(), Value::Object(own.collect()));
        output::print(&output::json_text(object));
    } else {
        output::print(&table(&checks, &total, &RIGID));
    }
    let passed = total.passed() && !interrupt::interrupted();
    Ok(Outcome::of(passed, &plausibility))
}

/// How many steps of `time_step` make the duration (s) of the simulation of a scene.
fn steps_in(path: &Path, time_step: f64, duration: f64) -> Result<usize, Error> {
    let total = (duration / time_step).round();
    if total > MOST_STEPS as f64 {
        let message = format!(
            "{duration} s would be {total:.3e} steps, {MOST_STEPS} at most; say how many with --duration"
        );
        let name = path.display().to_string();
        return Err(Error::input(name, None, "simulation.time_step", message));
    }
    Ok(total as usize)
}

/// A scene whose simulation made steps that no body makes.
struct Implausible {
    name: String,
    plausibility: Plausibility,
    sentence: String,
    json: Value,
}

impl Implausible {
    /// Nothing if all is well.
    fn new(name: &str, scene: &Scene, plausibility: Plausibility) -> Option<Implausible> {
        let (model, time_step) = (&scene.model, scene.settings.time_step);
        let sentence = format!("{name}: {}", plausibility.sentence(model, time_step)?);
        let json = plausibility.json(model, time_step);
        Some(Implausible { name: name.to_string(), plausibility, sentence, json })
    }
}

/// Checks `count` states of the simulation of a scene, `stride` steps apart; also says whether its steps are plausible.
fn check(
    name: &str,
    scene: &Scene,
    count: usize,
    stride: usize,
    patience: &mut Patience,
) -> Result<(Gradcheck, Plausibility), Error> {
    let Scene { settings, state, inputs, .. } = scene;
    settings.solver.demand_derivatives(name)?;
    if let ContactSolver::Staggered { derivative: StaggeredDerivative::Implicit, .. } =
        settings.solver
    {
        let message = "implicit is the derivative of the contact law, not of the passes that are \
                       simulated, so there is nothing to compare it with; check \"unrolled\"";
        return Err(Error::input(name, None, "simulation.derivative", message));
    }
    let system = scene.system();
    let mut rollout = Rollout::new(system, state.clone());
    let (mut total, mut last) = (Gradcheck::default(), Plausibility::default());
    patience.asked += count;
    for number in 0..count {
        // The state before the first check is the scene's.
        for _ in 0..if number == 0 { 0 } else { stride } {
            if !patience.lasts() {
                return Ok((total, rollout.report.plausibility));
            }
            rollout.step(inputs);
        }
        let program = StepProgram::new(system, &rollout.state, inputs, &rollout.memory, 1);
        let check = Gradcheck::while_wanted(&program, &mut || patience.lasts())
            .map_err(|error| Error::input(name, None, "", error.to_string()))?;
        let Some(check) = check else { break };
        total.merge(&check);
        last = check.report.plausibility;
        last.merge(&check.contradictory.plausibility, 0);
        patience.checked += 1;
        patience.progress.set(patience.checked);
    }
    // The last step that was checked is not one of the rollout.
    let mut plausibility = rollout.report.plausibility;
    plausibility.merge(&last, rollout.report.steps);
    Ok((total, plausibility))
}

/// Says what the verdict does not cover.
fn warn(name: &str, check: &Gradcheck) {
    let report = &check.report;
    let contradictory = check.contradictory.steps;
    if contradictory > 0 {
        output::warn(&format!(
            "{name}: in {contradictory} of {} steps conditions contradict each other or cannot be met: nothing is compared \
             there, as there is no solution that could have derivatives (simulate says which conditions)",
            report.steps + contradictory
        ));
    }
    if report.unsolved > 0 {
        output::warn(&format!(
            "{name}: in {} of {} checked steps a contact problem was {} (residual {:.1e}); \
             the derivatives are those of the best that was found",
            report.unsolved, report.steps, report.worst.status, report.worst.residual
        ));
    }
    warn_of_kinks(name, check);
}
