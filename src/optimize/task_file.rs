//! Tasks from TOML files.

use std::path::Path;

use super::objective::{BodyPoint, Goal, Objective, Period};
use super::rigid_task::is_start;
use super::task::{Task, TaskScene, TaskVariable};
use super::{rigid_task, soft_task};
use crate::Error;
use crate::identify::{AdamSettings, Method};
use crate::model::{Scene, domain};
use crate::soft::{SoftBody, SoftScene};
use crate::table::{self, Table};

/// Most iterations, where a task does not say.
const ITERATIONS: usize = 100;
/// Steps of a task at most.
const MOST_STEPS: usize = 10_000_000;
/// Starts of a search at most.
const MOST_STARTS: usize = 10_000;
/// Knots of an input at most.
const MOST_KNOTS: usize = 10_000;
/// A scale where a variable begins at zero, in its unit.
const SCALE: f64 = 0.1;

impl Task {
    /// Reads a task, and its scene.
    ///
    /// # Errors
    /// If the file cannot be read, or is no task: with line and field.
    pub fn load(path: impl AsRef<Path>) -> Result<Task, Error> {
        let path = path.as_ref();
        let text = crate::text::read(path, crate::text::MOST_BYTES)?;
        Task::parse(&text, &path.display().to_string())
    }

    /// The same of the text of a file; `name` stands for it in messages, and for where its scene is.
    ///
    /// # Errors
    /// If it is no task.
    pub fn parse(text: &str, name: &str) -> Result<Task, Error> {
        let document = table::parse(text, name)?;
        read(&Table::root(text, name, &document), name)
    }
}

fn read(root: &Table, name: &str) -> Result<Task, Error> {
    root.only(&[
        "scene",
        "duration",
        "method",
        "adam",
        "iterations",
        "accuracy",
        "variable",
        "objective",
        "continuation",
        "starts",
        "seed",
    ])?;
    let file = root.required("scene", root.string("scene")?)?;
    let path = root.directory().join(file);
    let (scene, time_step) = match SoftScene::load(&path)? {
        Some(scene) => {
            let time_step = scene.time_step;
            (TaskScene::Soft(Box::new(scene)), time_step)
        }
        None => {
            let scene = Scene::load(&path)?;
            scene.settings.solver.demand_derivatives(file)?;
            let time_step = scene.settings.time_step;
            (TaskScene::Rigid(Box::new(scene)), time_step)
        }
    };
    let duration = root.required("duration", root.number("duration")?)?;
    let steps = (duration / time_step).round();
    let met = steps >= 1.0 && steps <= MOST_STEPS as f64;
    let demand = format!("must be from {time_step} s, a step, to {MOST_STEPS} steps");
    root.demand("duration", met, &demand, duration, "s")?;
    let steps = steps as usize;
    let adam = root.table("adam")?;
    let method = match root.string("method")?.unwrap_or("gauss_newton") {
        "gauss_newton" => Method::LevenbergMarquardt,
        "lbfgsb" => Method::Lbfgsb,
        "adam" => Method::Adam(AdamSettings::read(adam.as_ref())?),
        other => {
            let message =
                format!("must be \"gauss_newton\", \"lbfgsb\" or \"adam\", found {other:?}");
            return Err(root.error("method", message));
        }
    };
    if adam.is_some() && !matches!(method, Method::Adam(_)) {
        return Err(root.error("adam", "is of method = \"adam\""));
    }
    let iterations = root.count("iterations", 1_000_000)?.unwrap_or(ITERATIONS);
    let accuracy = root.number("accuracy")?.unwrap_or(0.0);
    root.demand("accuracy", accuracy >= 0.0, "must not be negative", accuracy, "m")?;
    let starts = root.count("starts", MOST_STARTS)?.unwrap_or(1);
    let seed = root.count_from("seed", 0, usize::MAX)?.unwrap_or(0) as u64;
    let variables = read_variables(root, &scene, steps)?;
    let times = Times { time_step, steps };
    let mut objectives = Vec::new();
    for table in root.tables("objective")? {
        objectives.push(read_objective(&table, &scene, &times)?);
    }
    if objectives.is_empty() {
        return Err(root.error("objective", "is missing: write [[objective]] with what is wanted"));
    }
    let mut continuation = Vec::new();
    if let Some(table) = root.table("continuation")? {
        for field in table.fields() {
            let values = table.required(field, table.list(field)?)?;
            if values.is_empty() {
                return Err(table.error(field, "must have a value a stage"));
            }
            let is_same = |own: &TaskVariable| own.name == field || clash(&scene, &own.name, field);
            if variables.iter().any(is_same) {
                return Err(table.error(field, "is a variable, and cannot be given in stages"));
            }
            continuation.push((field.to_string(), values));
        }
    }
    let name = name.to_string();
    let task = Task {
        name,
        scene,
        steps,
        variables,
        objectives,
        method,
        iterations,
        accuracy,
        continuation,
        starts,
        seed,
    };
    for (name, values) in &task.continuation {
        for &value in values {
            task.with(name, value).map_err(|error| {
                root.error("continuation", format!("{name}: {}", error.message()))
            })?;
        }
    }
    Ok(task)
}

/// What the scene has at the start under a name, and where that may be; nothing if there is no such name.
fn known(scene: &TaskScene, name: &str) -> Option<(f64, [f64; 2])> {
    let unbounded = [f64::NEG_INFINITY, f64::INFINITY];
    match scene {
        TaskScene::Soft(scene) => {
            let value = scene.value(scene.parameter(name)?);
            let last = name.rsplit('/').next().unwrap_or(name);
            let bounds = match last {
                "youngs_modulus" | "lame_mu" | "density" | "stiffness" => [1e-9, f64::INFINITY],
                "poisson_ratio" => [0.0, 0.499],
                "lame_lambda" | "viscosity" | "mu" | "damping" | "rest_length" => {
                    [0.0, f64::INFINITY]
                }
                _ => unbounded,
            };
            Some((value, bounds))
        }
        TaskScene::Rigid(scene) => {
            if let Some(parameter) = scene.model.parameter(name) {
                let (lower, upper) = domain(name);
                return Some((scene.parameters.values[parameter.slots[0]], [lower, upper]));
            }
            let is_known = rigid_task::is_input(scene, name) || is_start(scene, name);
            is_known.then(|| (scene.simulate()[name], unbounded))
        }
    }
}

/// Whether two names stand for the same numbers of the scene, in part.
fn clash(scene: &TaskScene, a: &str, b: &str) -> bool {
    match scene {
        TaskScene::Soft(scene) => match (scene.parameter(a), scene.parameter(b)) {
            (Some(a), Some(b)) => SoftScene::clash(a, b),
            _ => false,
        },
        TaskScene::Rigid(scene) => match (scene.model.parameter(a), scene.model.parameter(b)) {
            (Some(a), Some(b)) => a.slots.iter().any(|slot| b.slots.contains(slot)),
            _ => false,
        },
    }
}

fn all_names(scene: &TaskScene) -> String {
    match scene {
        TaskScene::Soft(scene) => {
            let names: Vec<String> = scene.parameters().into_iter().map(|(name, _)| name).collect();
            names.join(", ")
        }
        TaskScene::Rigid(scene) => {
            let model = &scene.model;
            let starts = [model.configuration_names(), model.velocity_names()].concat();
            let starts = starts.into_iter().filter(|name| is_start(scene, name)).collect();
            [model.told_parameter_names(), starts, model.input_names()].concat().join(", ")
        }
    }
}

fn read_variables(
    root: &Table,
    scene: &TaskScene,
    steps: usize,
) -> Result<Vec<TaskVariable>, Error> {
    let mut variables: Vec<TaskVariable> = Vec::new();
    for mut table in root.tables("variable")? {
        table.only(&["name", "initial", "lower", "upper", "scale", "knots"])?;
        let name = table.required("name", table.string("name")?)?;
        table.path = format!("variable.{name}");
        let Some((value, [least, most])) = known(scene, name) else {
            let message = format!(
                "is no number of the scene, found {name:?}; there are {}",
                all_names(scene)
            );
            return Err(table.error("name", message));
        };
        if variables.iter().any(|other| other.name == name) {
            return Err(table.error("name", "is a variable twice"));
        }
        if let Some(other) = variables.iter().find(|other| clash(scene, &other.name, name)) {
            let message = format!("is told twice, beside {}", other.name);
            return Err(table.error("name", message));
        }
        let knots = table.count("knots", MOST_KNOTS)?;
        let varies = match scene {
            TaskScene::Rigid(scene) => rigid_task::is_input(scene, name),
            TaskScene::Soft(scene) => soft_task::input(scene, name).is_some(),
        };
        if knots.is_some() && !varies {
            return Err(table.error("knots", "are of inputs, such as those of motors"));
        }
        if knots.is_some_and(|knots| knots < 2 || knots > steps) {
            let message = format!(
                "must be at least 2, of the first and the last step, and at most {steps}, of each"
            );
            return Err(table.error("knots", message));
        }
        let count = knots.unwrap_or(1);
        let initial = match table.is_list("initial") {
            true => table.list("initial")?.unwrap_or_default(),
            false => vec![table.number("initial")?.unwrap_or(value); count],
        };
        if initial.len() != count {
            let message = format!("must have {count} values, a knot each, found {}", initial.len());
            return Err(table.error("initial", message));
        }
        let lower = table.number("lower")?.unwrap_or(least);
        let upper = table.number("upper")?.unwrap_or(most);
        let demand = format!("must be from {least} to below upper");
        table.demand("lower", lower >= least && lower < upper, &demand, lower, "")?;
        table.demand("upper", upper <= most, &format!("must be at most {most}"), upper, "")?;
        for &initial in &initial {
            let inside = (lower..=upper).contains(&initial);
            let demand = format!("must be within {lower} and {upper}");
            table.demand("initial", inside, &demand, initial, "")?;
        }
        let size = initial.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let usual = if size > 0.0 { size } else { SCALE };
        let scale = table.number("scale")?.unwrap_or(usual);
        table.demand("scale", scale > 0.0, "must be positive", scale, "")?;
        variables.push(TaskVariable { name: name.to_string(), initial, lower, upper, scale });
    }
    if variables.is_empty() {
        let message = format!(
            "is missing: write [[variable]] with the name of what may change; there are {}",
            all_names(scene)
        );
        return Err(root.error("variable", message));
    }
    Ok(variables)
}

/// How long the task is.
struct Times {
    time_step: f64,
    steps: usize,
}

fn read_objective(table: &Table, scene: &TaskScene, times: &Times) -> Result<Objective, Error> {
    table.only(&[
        "body",
        "point",
        "target",
        "axes",
        "from_point",
        "to_point",
        "direction",
        "effort",
        "time",
        "from",
        "until",
        "weight",
    ])?;
    let weight = table.number("weight")?.unwrap_or(1.0);
    table.demand("weight", weight > 0.0, "must be positive", weight, "")?;
    let step = |field: &str| -> Result<Option<usize>, Error> {
        let Some(time) = table.number(field)? else { return Ok(None) };
        let step = (time / times.time_step).round();
        let met = (0.0..=times.steps as f64).contains(&step);
        let demand = format!("must be within 0 and {} s", times.steps as f64 * times.time_step);
        table.demand(field, met, &demand, time, "s")?;
        Ok(Some(step as usize))
    };
    let is_effort = table.has("effort");
    let period = match (step("time")?, step("from")?, step("until")?) {
        (Some(at), None, None) => {
            let at = at.max(usize::from(is_effort));
            Period { first: at, last: at }
        }
        (None, None, None) if !is_effort => Period { first: times.steps, last: times.steps },
        (None, from, until) => {
            // Inputs act in steps, of which the first ends at number 1.
            let first = from.unwrap_or(0).max(usize::from(is_effort));
            Period { first, last: until.unwrap_or(times.steps) }
        }
        _ => return Err(table.error("time", "is a moment; from and until are a period")),
    };
    if period.first > period.last {
        return Err(table.error("until", "must not be before from"));
    }
    if let Some(name) = table.string("effort")? {
        let Some(rigid) = scene.rigid() else {
            return Err(table.error("effort", "is of inputs of rigid bodies"));
        };
        let names = rigid.model.input_names();
        let input = names.iter().position(|own| own == name).ok_or_else(|| {
            let message = format!("is no input, found {name:?}; there are {}", names.join(", "));
            table.error("effort", message)
        })?;
        refuse(
            table,
            "effort",
            &["body", "point", "target", "axes", "from_point", "to_point", "direction"],
        )?;
        return Ok(Objective { goal: Goal::Effort { input }, period, weight });
    }
    let body = read_body(table, scene)?;
    let goal = match (table.numbers::<3>("target")?, table.numbers::<3>("direction")?) {
        (Some(target), None) => {
            refuse(table, "target", &["from_point", "to_point"])?;
            let wanted = read_axes(table)?;
            let target = [0, 1, 2].map(|k| wanted[k].then_some(target[k]));
            Goal::Place { body, place: read_place(table, "point", scene, body)?, target }
        }
        (None, Some(direction)) => {
            refuse(table, "direction", &["point", "axes"])?;
            for field in ["from_point", "to_point"] {
                table.required(field, table.has(field).then_some(()))?;
            }
            let length = direction.iter().map(|x| x * x).sum::<f64>().sqrt();
            table.demand("direction", length > 0.0, "must have a length", length, "")?;
            let from = read_place(table, "from_point", scene, body)?;
            let to = read_place(table, "to_point", scene, body)?;
            if from == to {
                return Err(table.error("to_point", "is from_point: there is no direction"));
            }
            Goal::Direction { body, from, to, target: direction.map(|x| x / length) }
        }
        _ => {
            let message = "needs target = [x, y, z], or direction = [x, y, z] with from_point and to_point, or effort = \"input\"";
            return Err(table.error("", message));
        }
    };
    Ok(Objective { goal, period, weight })
}

/// Fields that say nothing beside another one.
fn refuse(table: &Table, beside: &str, fields: &[&str]) -> Result<(), Error> {
    match fields.iter().find(|field| table.has(field)) {
        Some(field) => Err(table.error(field, format!("has no meaning beside {beside}"))),
        None => Ok(()),
    }
}

/// Along which axes a target counts: all, if nothing is said.
fn read_axes(table: &Table) -> Result<[bool; 3], Error> {
    let Some(axes) = table.strings("axes")? else { return Ok([true; 3]) };
    let mut wanted = [false; 3];
    for axis in &axes {
        let place = ["x", "y", "z"].iter().position(|own| own == axis);
        let place = place.ok_or_else(|| {
            table.error("axes", format!("must be some of \"x\", \"y\", \"z\", found {axis:?}"))
        })?;
        wanted[place] = true;
    }
    if axes.is_empty() {
        return Err(table.error("axes", "asks for nothing"));
    }
    Ok(wanted)
}

fn read_body(table: &Table, scene: &TaskScene) -> Result<usize, Error> {
    let names: Vec<&str> = match scene {
        TaskScene::Rigid(scene) => scene.model.bodies.iter().map(|b| b.name.as_str()).collect(),
        TaskScene::Soft(scene) => {
            let rigid = scene.rigid.iter().flat_map(|scene| &scene.model.bodies);
            let soft = scene.bodies.iter().map(|body| &body.name);
            soft.chain(rigid.map(|body| &body.name)).map(String::as_str).collect()
        }
    };
    match table.string("body")? {
        None if names.len() == 1 => Ok(0),
        None => Err(table.error("body", format!("is missing; there are {}", names.join(", ")))),
        Some(name) => names.iter().position(|own| *own == name).ok_or_else(|| {
            let message = format!("is no body, found {name:?}; there are {}", names.join(", "));
            table.error("body", message)
        }),
    }
}

/// A point of a body: by a name, or of a rigid one by its place in the body.
fn read_place(
    table: &Table,
    field: &str,
    scene: &TaskScene,
    body: usize,
) -> Result<BodyPoint, Error> {
    let of_soft = match scene {
        TaskScene::Rigid(_) => None,
        TaskScene::Soft(scene) => scene.bodies.get(body),
    };
    if table.is_list(field) {
        if of_soft.is_some() {
            let message = "of a soft body is \"centre\", \"surface\" or the name of a marker";
            return Err(table.error(field, message));
        }
        let local = table.required(field, table.numbers::<3>(field)?)?;
        return Ok(BodyPoint::Local(local));
    }
    let name = table.string(field)?.unwrap_or("centre");
    match (name, of_soft) {
        ("centre", _) => Ok(BodyPoint::Centre),
        (_, None) => {
            let message =
                "of a rigid body is \"centre\", its centre of mass, or [x, y, z] in its frame (m)";
            Err(table.error(field, message))
        }
        ("surface", Some(_)) => Ok(BodyPoint::Surface),
        (_, Some(SoftBody { markers, .. })) => {
            let found = markers.iter().find(|marker| marker.name == name);
            found.map(|marker| BodyPoint::Node(marker.node)).ok_or_else(|| {
                let names: Vec<&str> = markers.iter().map(|marker| marker.name.as_str()).collect();
                let message = format!(
                    "must be \"centre\", \"surface\" or a marker ({}), found {name:?}",
                    names.join(", ")
                );
                table.error(field, message)
            })
        }
    }
}
