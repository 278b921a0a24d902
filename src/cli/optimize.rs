//! `stiction optimize`: variables of a scene that bring bodies where they are wanted.
//!
//! With `--json` or `-o`, one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads` | what made it |
//! | `task`, `method` | the file, and how it was searched |
//! | `outcome` | `converged`, `stalled` or `iteration_limit` |
//! | `variables` | name to value; of knots a list |
//! | `cost` | half the sum of squares of all residuals (m², with weights) |
//! | `residuals` | all of them, in the order of steps and objectives |
//! | `failure` | why a stage of the continuation did not begin; `null` if all did |
//! | `unsolved_steps` | steps that were not solved at the variables found |
//! | `best_start` | which start led to what is said here, from 1 on |
//! | `starts` | a list: `start`, `x`, `cost`, `outcome`, `unsolved_steps`, `failure` of the search from each |
//! | `stages` | a list: `values` (of the continuation), `cost`, `iterations`, `simulations`, `outcome`, `x` |

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::outcome::Outcome;
use super::output::{self, ResultArguments, json_head, json_text, number, print};
use super::{interrupt, scene_options, simulate_soft, whole_files};
use crate::Error;
use crate::identify;
use crate::optimize::{
    Landscape, Optimum, StartEnd, StartsOptimum, Task, TaskScene, TaskVariable, landscape,
    optimize_from_starts,
};

/// Search for starts, parameters or motor signals that bring bodies where they are wanted
///
/// The task (TOML) names a scene, variables with bounds, and objectives. Exit code 1 if the search did not converge, 2 if
/// the input is bad.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The task (TOML)
    task: PathBuf,
    /// Instead of a search: the cost and its gradient over two variables
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', requires = "reach")]
    landscape: Vec<String>,
    /// How far the landscape reaches to both sides of where the two variables begin
    #[arg(
        long,
        value_name = "X,Y",
        value_delimiter = ',',
        requires = "landscape",
        allow_negative_numbers = true
    )]
    reach: Vec<f64>,
    /// How many values of each the landscape has
    #[arg(long, value_name = "N,M", value_delimiter = ',', default_values_t = [41, 41])]
    grid: Vec<usize>,
    /// Where to draw the landscape (SVG)
    #[arg(long, value_name = "FILE", requires = "landscape")]
    plot: Option<PathBuf>,
    /// Where to write the motion found (CSV), of soft bodies
    #[arg(long, value_name = "FILE", conflicts_with = "landscape")]
    motion: Option<PathBuf>,
    /// Where to write the inputs found (CSV), a row a step, for simulate --controls
    #[arg(long, value_name = "FILE", conflicts_with = "landscape")]
    controls: Option<PathBuf>,
    #[command(flatten)]
    result: ResultArguments,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let threads = arguments.result.threads()?;
    let Arguments { plot, motion, controls, result, .. } = arguments;
    let files = [plot, motion, controls].into_iter().flatten().map(PathBuf::as_path);
    whole_files::check_places(files.chain(result.file()))?;
    let task = Task::load(&arguments.task)?;
    match &task.scene {
        TaskScene::Soft(scene) => scene.warnings.iter().for_each(|warning| output::warn(warning)),
        TaskScene::Rigid(scene) => scene_options::warn(scene),
    }
    if arguments.motion.is_some() && matches!(task.scene, TaskScene::Rigid(_)) {
        let message = "is of soft bodies: set the variables in the scene, and simulate it";
        return Err(Error::input("--motion", None, "", message));
    }
    if controls.is_some() && task.inputs(&task.start()).is_empty() {
        let message = "is of tasks whose variables are inputs, such as a motor's";
        return Err(Error::input("--controls", None, "", message));
    }
    match &arguments.landscape[..] {
        [] => search(arguments, &task, threads),
        [first, second] if first != second => draw(arguments, &task, [first, second], threads),
        _ => Err(Error::input("--landscape", None, "", "must be the names of two variables")),
    }
}

fn search(arguments: &Arguments, task: &Task, threads: usize) -> Result<Outcome, Error> {
    interrupt::catch();
    let quiet = arguments.result.json;
    let StartsOptimum { starts: ends, best } =
        optimize_from_starts(task, threads, &|start, stage, iteration, cost| {
            if !quiet {
                let start = match task.starts {
                    0 | 1 => String::new(),
                    _ => format!("start {:>2}   ", start + 1),
                };
                let stage = match task.continuation[..] {
                    [] => String::new(),
                    _ => format!("stage {}   ", stage + 1),
                };
                output::say(&format!("{start}{stage}iteration {iteration:>4}   cost {cost:.6e}"));
            }
            !interrupt::interrupted()
        });
    let mut object = json_head("optimize", task.seed, threads);
    let starts: Vec<Value> =
        task.starts().iter().zip(&ends).map(|(x, end)| start_json(x, end)).collect();
    let told: Vec<String> = ends.iter().map(told_start).collect();
    let Some((best, found)) = best else {
        // The first says why.
        let message = "has no start";
        let first = ends.into_iter().find_map(Result::err);
        return Err(first.unwrap_or_else(|| Error::undefined(&task.name, message)));
    };
    add_optimum(&mut object, task, &found);
    object.insert("best_start".into(), (best + 1).into());
    object.insert("starts".into(), starts.into());
    let text = json_text(object);
    arguments.result.write(&text)?;
    if quiet {
        print(&text);
    } else {
        for (start, told) in told.iter().enumerate().filter(|_| told.len() > 1) {
            let mark = if start == best { "   the best" } else { "" };
            print(&format!("start {:>2}   {told}{mark}", start + 1));
        }
        report(task, &found);
    }
    if let (Some(file), Some(scene)) = (&arguments.motion, found.task.soft_scene(&found.x)) {
        let motion = simulate_soft::motion_csv(&scene, task.steps, &mut |_| (), &mut |_, _| ());
        whole_files::write_file(file, motion.as_bytes())?;
    }
    if let Some(file) = &arguments.controls {
        let inputs = task.inputs(&found.x);
        whole_files::write_file(file, controls_csv(task, &inputs).as_bytes())?;
        let is_input = |name: &String| inputs.iter().any(|(own, _)| own == name);
        let names = task.variables.iter().map(|variable| &variable.name);
        let names = names.chain(task.continuation.iter().map(|(name, _)| name));
        let others: Vec<&str> = names.filter(|name| !is_input(name)).map(String::as_str).collect();
        if !others.is_empty() {
            output::warn(&format!(
                "{} has inputs alone: what was found for {} is for the scene",
                file.display(),
                others.join(", ")
            ));
        }
    }
    let converged = found.outcome == identify::Outcome::Converged;
    let whole = found.evaluated.unsolved == 0 && found.stages.len() == task.stages();
    Ok(if converged && whole { Outcome::Done } else { Outcome::Failed })
}

/// How the search from a start ended.
fn told_start(end: &Result<StartEnd, Error>) -> String {
    let end = match end {
        Ok(end) => end,
        Err(error) => return error.to_string(),
    };
    let unsolved = match end.unsolved {
        0 => String::new(),
        steps => format!(", {steps} steps not solved"),
    };
    let failure = match &end.failure {
        Some(failure) => format!(", and then {failure}"),
        None => String::new(),
    };
    format!("{:<15}   cost {:.6e}{unsolved}{failure}", end.outcome.name(), end.cost)
}

fn start_json(start: &[f64], end: &Result<StartEnd, Error>) -> Value {
    match end {
        Ok(end) => json!({
            "start": start,
            "x": end.x,
            "cost": number(end.cost),
            "outcome": end.outcome.name(),
            "unsolved_steps": end.unsolved,
            "failure": end.failure.as_ref().map(ToString::to_string),
        }),
        Err(error) => json!({ "start": start, "failure": error.to_string() }),
    }
}

/// The inputs found, a row a step.
fn controls_csv(task: &Task, inputs: &[(String, Vec<f64>)]) -> String {
    let names = inputs.iter().map(|(name, _)| format!(",{name}"));
    let mut rows = format!("t{}\n", names.collect::<String>());
    for step in 0..task.steps {
        let values = inputs.iter().map(|(_, values)| format!(",{:?}", values[step]));
        let time = step as f64 * task.scene.time_step();
        rows += &format!("{time:?}{}\n", values.collect::<String>());
    }
    rows
}

fn add_optimum(object: &mut Map<String, Value>, task: &Task, found: &Optimum) {
    object.insert("task".into(), task.name.as_str().into());
    object.insert("method".into(), method(task).into());
    object.insert("outcome".into(), found.outcome.name().into());
    let mut rest = &found.x[..];
    let mut variables = Map::new();
    for variable in &task.variables {
        let (own, others) = rest.split_at(variable.initial.len());
        rest = others;
        let value = if let [one] = own { number(*one) } else { json!(own) };
        variables.insert(variable.name.clone(), value);
    }
    object.insert("variables".into(), variables.into());
    object.insert("cost".into(), number(found.evaluated.cost));
    object.insert("residuals".into(), json!(found.evaluated.residuals));
    let failure = found.failure.as_ref().map(ToString::to_string);
    object.insert("failure".into(), failure.into());
    object.insert("unsolved_steps".into(), found.evaluated.unsolved.into());
    let stage = |stage: &crate::optimize::TaskStage| {
        let values: Map<String, Value> =
            stage.values.iter().map(|(name, value)| (name.clone(), number(*value))).collect();
        json!({
            "values": values,
            "cost": number(stage.cost),
            "iterations": stage.iterations,
            "simulations": stage.simulations,
            "outcome": stage.outcome.name(),
            "x": stage.x,
        })
    };
    object.insert("stages".into(), found.stages.iter().map(stage).collect());
}

fn method(task: &Task) -> &'static str {
    match task.method {
        identify::Method::LevenbergMarquardt => "gauss_newton",
        identify::Method::Lbfgsb => "lbfgsb",
        identify::Method::Adam(_) => "adam",
    }
}

fn report(task: &Task, found: &Optimum) {
    let simulations: usize = found.stages.iter().map(|stage| stage.simulations).sum();
    let how = match found.outcome {
        identify::Outcome::Converged => "converged",
        identify::Outcome::Stalled => "stalled: no step, however short, lowers the cost",
        identify::Outcome::IterationLimit => "stopped before it converged",
        identify::Outcome::Infeasible => "has no finite cost",
    };
    print(&format!("{how}, {simulations} simulations, cost {:.6e}", found.evaluated.cost));
    let width = task.variables.iter().map(|own| own.name.len()).max().unwrap_or(0);
    let mut rest = &found.x[..];
    for TaskVariable { name, initial, .. } in &task.variables {
        let (own, others) = rest.split_at(initial.len());
        rest = others;
        let values: Vec<String> = own.iter().map(|x| format!("{x:.9}")).collect();
        let values =
            if let [one] = &values[..] { one } else { &format!("[{}]", values.join(", ")) };
        print(&format!("  {name:<width$}  {values}"));
    }
    if let Some(failure) = &found.failure {
        output::warn(&format!("stage {} did not begin: {failure}", found.stages.len() + 1));
    }
    if found.evaluated.unsolved > 0 {
        let message = format!("{} steps were not solved there", found.evaluated.unsolved);
        output::warn(&message);
    }
}

fn draw(
    arguments: &Arguments,
    task: &Task,
    names: [&str; 2],
    threads: usize,
) -> Result<Outcome, Error> {
    let (reach, grid) = match (&arguments.reach[..], &arguments.grid[..]) {
        (&[x, y], &[n, m]) => ([x, y], [n, m]),
        _ => {
            return Err(Error::input("--reach", None, "", "must be two numbers, of each variable"));
        }
    };
    if !reach.iter().all(|x| *x > 0.0 && x.is_finite()) {
        return Err(Error::input("--reach", None, "", "must be positive"));
    }
    if !grid.iter().all(|n| (2..=1000).contains(n)) {
        return Err(Error::input("--grid", None, "", "must be from 2 to 1000 values of each"));
    }
    let found = landscape(task, names, reach, grid, threads)?;
    if let Some(file) = &arguments.plot {
        plot(&found, file)?;
    }
    let mut object = json_head("optimize", 0, threads);
    object.insert("task".into(), task.name.as_str().into());
    object.insert("names".into(), json!(found.names));
    object.insert("first".into(), json!(found.first));
    object.insert("second".into(), json!(found.second));
    object.insert("cost".into(), found.cost.iter().map(|x| number(*x)).collect());
    let both = |g: &[f64; 2]| Value::from(g.map(number).to_vec());
    object.insert("gradient".into(), found.gradient.iter().map(both).collect());
    let text = json_text(object);
    arguments.result.write(&text)?;
    if arguments.result.json {
        print(&text);
    } else {
        let least = found.cost.iter().enumerate().filter(|(_, cost)| cost.is_finite());
        let least = least.min_by(|a, b| a.1.total_cmp(b.1));
        if least.is_none() {
            output::warn(
                "no point of the grid has a finite cost: simulations are not solved there",
            );
        }
        if let Some((at, cost)) = least {
            let (x, y) = (found.first[at % grid[0]], found.second[at / grid[0]]);
            let [a, b] = &found.names;
            print(&format!("least cost of the grid {cost:.6e} at {a} = {x}, {b} = {y}"));
        }
    }
    Ok(Outcome::Done)
}

#[cfg(feature = "plots")]
fn plot(landscape: &Landscape, file: &Path) -> Result<(), Error> {
    let svg = crate::view::landscape_plot(landscape)?;
    whole_files::write_file(file, svg.as_bytes())
}

#[cfg(not(feature = "plots"))]
fn plot(_: &Landscape, _: &Path) -> Result<(), Error> {
    Err(Error::input("--plot", None, "", "this program was built without the feature plots"))
}
