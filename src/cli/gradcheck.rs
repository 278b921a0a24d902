//! `stiction gradcheck`

mod scenes;

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::interrupt;
use super::outcome::Outcome;
use super::output;
use super::plausibility;
use super::progress::Progress;
use super::run_length::MOST_STEPS;
use super::scene_options::{SceneOptions, load_scene};
use crate::Error;
use crate::model::{ContactSolver, Scene, StaggeredDerivative};
use crate::simulation::{Plausibility, Rollout};
use crate::verify::{Errors, Gradcheck, StepProgram};

/// Check derivatives of the step: tape, duals, duals through the optimality conditions, duals
/// through the iterations and central differences against each other.
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
    let mut patience = Patience { start: Instant::now(), limit, progress, checked: 0, asked: 0 };
    if let Some(path) = &arguments.scene {
        let scene = load_scene(path, &arguments.options, false)?;
        let total = (arguments.duration / scene.settings.time_step).round();
        if total > MOST_STEPS as f64 {
            let message = format!(
                "{} s would be {total:.3e} steps, {MOST_STEPS} at most; say how many with --duration",
                arguments.duration
            );
            let name = path.display().to_string();
            return Err(Error::input(name, None, "simulation.time_step", message));
        }
        interrupt::catch();
        pushed_apart = output::pushed_apart(&scene);
        let name = path.display().to_string();
        let stride = (total as usize / steps).max(1);
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
    let Patience { checked, asked, progress, .. } = patience;
    drop(progress);
    if checked < asked {
        let why = match interrupt::interrupted() {
            true => "interrupted".to_string(),
            false => format!("{} s are over (--limit)", arguments.limit),
        };
        output::warn(&format!("{checked} of {asked} states were checked: {why}"));
    }
    if arguments.json {
        let mut object = json(&checks, &total);
        object.insert("states".into(), json!({ "asked": asked, "checked": checked }));
        object.insert("pushed_apart".into(), pushed_apart);
        let own = implausible.iter().map(|own| (own.name.clone(), own.json.clone()));
        object.insert("implausible".into(), Value::Object(own.collect()));
        output::print(&output::json_text(object));
    } else {
        output::print(&table(&checks, &total));
    }
    let passed = total.passed() && !interrupt::interrupted();
    Ok(Outcome::of(passed, &plausibility))
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
        let json = plausibility::json(&plausibility, model, time_step);
        Some(Implausible { name: name.to_string(), plausibility, sentence, json })
    }
}

/// How long a check may take, and how many states were to be checked, and were.
struct Patience {
    start: Instant,
    limit: Duration,
    progress: Progress,
    checked: usize,
    asked: usize,
}

impl Patience {
    fn lasts(&self) -> bool {
        !interrupt::interrupted() && self.start.elapsed() < self.limit
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
    let (skipped, cases) = (check.skipped_at_kinks(), check.cases());
    if 2 * skipped > cases {
        output::warn(&format!(
            "{name}: {skipped} of {cases} derivatives are at kinks, where there is no \
             difference to compare with"
        ));
    }
}

fn table(checks: &[(String, Gradcheck)], total: &Gradcheck) -> String {
    // One line a scene, or a parameter of the only one.
    let lines: Vec<(&str, Errors, [usize; 3])> = match checks {
        [(_, check)] => check
            .rows
            .iter()
            .map(|row| {
                (row.name.as_str(), row.worst, [row.cases, row.one_sided, row.skipped_at_kinks])
            })
            .collect(),
        _ => checks.iter().map(|(name, c)| (name.as_str(), c.max(), counts(c))).collect(),
    };
    let width = lines.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0).max(9);
    let mut text = format!(
        "largest relative difference from the tape\n{:width$}     duals  residual  unrolled  differences  cases  one-sided  skipped\n",
        ""
    );
    let mut line = |name: &str, e: &Errors, counts: &str| {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{name:width$}  {:8.1e}  {:8.1e}  {:8.1e}  {:11.1e}{counts}",
            e.dual_vs_tape, e.residual_vs_tape, e.unrolled_vs_tape, e.vs_differences
        );
    };
    let counted = |[cases, one_sided, skipped]: [usize; 3]| {
        format!("  {cases:5}  {one_sided:9}  {skipped:7}")
    };
    for &(name, ref errors, counts) in &lines {
        line(name, errors, &counted(counts));
    }
    line("all", &total.max(), &counted(counts(total)));
    line("tolerance", &total.tolerances, "");
    let kinks = total.kinks();
    for (kink, count) in kinks.iter().take(MOST_KINKS) {
        let _ = writeln!(text, "{count} at a kink of {kink}");
    }
    if kinks.len() > MOST_KINKS {
        let _ = writeln!(text, "and at {} others", kinks.len() - MOST_KINKS);
    }
    text + if total.passed() { "passed" } else { "FAILED" }
}

/// How many kinks are named in the table; JSON has all.
const MOST_KINKS: usize = 20;

/// Derivatives compared, of those with the difference of one side, with none.
fn counts(check: &Gradcheck) -> [usize; 3] {
    [check.cases(), check.one_sided(), check.skipped_at_kinks()]
}

fn json(checks: &[(String, Gradcheck)], total: &Gradcheck) -> Map<String, Value> {
    let mut object = output::json_head("gradcheck", 0, 1);
    object.insert("status".into(), if total.passed() { "passed" } else { "failed" }.into());
    for (name, number) in entries(&total.max()) {
        let key = format!("max_{name}");
        object.insert(key, number);
    }
    object.insert("cases".into(), total.cases().into());
    object.insert("one_sided".into(), total.one_sided().into());
    object.insert("skipped_at_kinks".into(), total.skipped_at_kinks().into());
    object.insert("kinks".into(), json!(total.kinks()));
    object.insert("unsolved".into(), total.report.unsolved.into());
    object.insert("contradictory".into(), total.contradictory.steps.into());
    object.insert("steps".into(), total.report.steps.into());
    object.insert("worst_residual".into(), output::number(total.report.worst.residual));
    object.insert("tolerances".into(), entries(&total.tolerances).collect::<Map<_, _>>().into());
    let mut rows = Vec::new();
    for (scene, check) in checks {
        for row in &check.rows {
            let mut entry = Map::new();
            entry.insert("scene".into(), json!(scene));
            entry.insert("input".into(), json!(row.name));
            entry.extend(entries(&row.worst));
            entry.insert("cases".into(), row.cases.into());
            entry.insert("one_sided".into(), row.one_sided.into());
            entry.insert("skipped_at_kinks".into(), row.skipped_at_kinks.into());
            entry.insert("kinks".into(), json!(row.kinks));
            rows.push(Value::Object(entry));
        }
    }
    object.insert("rows".into(), rows.into());
    object
}

fn entries(errors: &Errors) -> impl Iterator<Item = (String, Value)> {
    [
        ("dual_vs_tape", errors.dual_vs_tape),
        ("residual_vs_tape", errors.residual_vs_tape),
        ("unrolled_vs_tape", errors.unrolled_vs_tape),
        ("vs_differences", errors.vs_differences),
    ]
    .into_iter()
    .map(|(name, x)| (name.to_string(), output::number(x)))
}
