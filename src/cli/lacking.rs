//! What the model of a fit may lack: score tests, and `--improve`.
//!
//! JSON of a score test: `name`, `members` (names of numbers), `absent` (whether the scene has no such term), `held` and `proposed` (a value each), `gain` (share of the loss
//! that a Newton step takes off), `part` (of the recordings, from their first frames on, over which it shows most), `p_value`,
//! `adjusted_p_value` (of all tests together), `better` of `recordings`, `strongest` (names of recordings). Of `--improve`:
//! `rounds`, each a list of what was tried: a score test with `held_out` (the loss of recordings by fits to the half they are
//! not in, geometric means: `before`, `now`, the logarithm of their ratio, `difference`, its `standard_error`, `better`,
//! `worse`) and `adopted`; `end`, why it ended; `loss` and `parameters` (name to value) of the improved model.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::output::{number, optional, print, warn};
use super::report_folder::identified_scene;
use super::whole_files::{write_file, write_files};
use crate::identify::{Dataset, Experiment, Improvement, ScoreTest, Transform, Tried};
use crate::{Error, text};

/// How many are told at the terminal.
const TOLD: usize = 3;

pub(super) fn description(test: &ScoreTest, dataset: &Dataset) -> Value {
    let numbers = |values: &[f64]| values.iter().map(|x| number(*x)).collect::<Vec<Value>>();
    let named = |k: &usize| dataset.trajectories[*k].name.as_str();
    json!({
        "name": test.name,
        "members": test.members,
        "absent": test.absent,
        "held": numbers(&test.held),
        "proposed": numbers(&test.proposed),
        "gain": number(test.gain),
        "part": number(test.part),
        "p_value": number(test.p_value),
        "adjusted_p_value": number(test.adjusted_p_value),
        "better": test.better,
        "recordings": test.recordings,
        "strongest": test.strongest.iter().map(named).collect::<Vec<&str>>(),
    })
}

/// What is told of the tests: those that are claims.
pub(super) fn tell(tests: &[ScoreTest]) {
    let claims: Vec<&ScoreTest> = tests.iter().filter(|test| test.is_significant()).collect();
    if claims.is_empty() {
        return;
    }
    print(
        "what the scene holds and the recordings contradict (--improve frees what other recordings confirm):",
    );
    for test in claims.iter().take(TOLD) {
        print(&format!("  {}", sentence(test)));
    }
    if claims.len() > TOLD {
        print(&format!("  and {} more, in the result", claims.len() - TOLD));
    }
}

fn sentence(test: &ScoreTest) -> String {
    let ScoreTest { name, gain, part, better, recordings, adjusted_p_value, .. } = test;
    let part = match *part {
        part if part < 0.4 => " of the first quarter",
        part if part < 0.7 => " of the first half",
        _ => "",
    };
    let change = match (&test.held[..], &test.proposed[..]) {
        ([held], [proposed]) => format!(" ({held:.4} to about {proposed:.4})"),
        _ => String::new(),
    };
    let off = if test.absent { ", which the scene does not have" } else { "" };
    format!(
        "{name}{off}{change}: about {:.1} % of the loss{part}, better in {better} of {recordings} recordings (p = {adjusted_p_value:.1e})",
        100.0 * gain
    )
}

pub(super) fn improvement(improvement: &Improvement, dataset: &Dataset) -> Value {
    let tried = |tried: &Tried| {
        let mut object = description(&tried.test, dataset);
        object["held_out"] = tried.held_out.map_or(Value::Null, |pairs| {
            json!({
                "before": number(pairs.before.exp()),
                "now": number(pairs.now.exp()),
                "difference": number(pairs.difference),
                "standard_error": optional(pairs.standard_error),
                "better": pairs.better,
                "worse": pairs.worse,
            })
        });
        object["adopted"] = tried.adopted.into();
        object
    };
    let rounds = improvement.rounds.iter();
    let rounds: Vec<Vec<Value>> = rounds.map(|round| round.iter().map(tried).collect()).collect();
    let named = improvement.fit.parameters.iter().map(|p| (p.name.clone(), number(p.value)));
    json!({
        "rounds": rounds,
        "end": improvement.end,
        "loss": number(improvement.fit.loss),
        "parameters": named.collect::<Map<String, Value>>(),
    })
}

/// What was tried, what came of it, and what is found, in sentences.
pub(super) fn told(improvement: &Improvement, before: f64) -> Vec<String> {
    let told = |tried: &Tried| {
        let verdict = match (tried.adopted, &tried.held_out) {
            (true, _) => "adopted",
            (false, Some(_)) if tried.is_confirmed() => {
                "confirmed, but all together are not explained better"
            }
            (false, Some(_)) => "not confirmed",
            (false, None) => "has no fit to judge",
        };
        let judged = tried.held_out.map_or(String::new(), |pairs| {
            format!(
                "; on recordings it was not fitted to {:.4} instead of {:.4}, less in {} of {}",
                pairs.now.exp(),
                pairs.before.exp(),
                pairs.better,
                pairs.count
            )
        });
        format!("{verdict}: {}{judged}", sentence(&tried.test))
    };
    let mut sentences: Vec<String> = improvement.rounds.iter().flatten().map(told).collect();
    let (loss, end) = (improvement.fit.loss, improvement.end);
    sentences.push(match improvement.adopted().next() {
        None => format!("nothing was added to the model: {end}"),
        Some(_) => format!("improved: loss {loss:.6} instead of {before:.6}; ended: {end}"),
    });
    sentences
}

pub(super) fn tell_improvement(improvement: &Improvement, before: f64) {
    told(improvement, before).iter().for_each(|sentence| print(sentence));
    if improvement.adopted().next().is_some() {
        for p in &improvement.fit.parameters {
            print(&format!("  {:32} {:12.6}", p.name, p.value));
        }
    }
}

/// A file for the improved experiment in a folder, where none is.
fn place(folder: &Path) -> PathBuf {
    let numbered = |k: usize| match k {
        1 => folder.join("improved.toml"),
        _ => folder.join(format!("improved-{k}.toml")),
    };
    // Nor any file beside it that is called after it.
    let names = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names: Vec<String> =
        names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let free = |path: &PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let taken = |name: &String| {
            let rest = name.strip_prefix(stem);
            let own = ["-scene.toml", "_"];
            rest.is_some_and(|rest| own.into_iter().any(|own| rest.starts_with(own)))
        };
        !path.exists() && !names.iter().any(taken)
    };
    (1..).map(numbered).find(free).unwrap_or_else(|| numbered(1))
}

/// Writes the improved experiment of `file` into a folder, with the scene that it needs where that has more terms. Returns where;
/// nothing, after a warning, where it could not be read again.
pub(super) fn write_improved(
    folder: &Path,
    file: &Path,
    (experiment, improvement): (&Experiment, &Improvement),
    data: &[String],
) -> Result<Option<PathBuf>, Error> {
    let (source, place) = (text::read(file, text::MOST_BYTES)?, place(folder));
    let own = &improvement.experiment;
    let (mut scene, mut made) = (None, Vec::new());
    if own.scene.model != experiment.scene.model {
        let stem = place.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let prefix = format!("{stem}_");
        let (text, archives) = identified_scene(own, &improvement.fit, (folder, &prefix))?;
        made.extend(archives.into_iter().map(|(name, bytes)| (folder.join(name), bytes)));
        let name = format!("{stem}-scene.toml");
        made.push((folder.join(&name), text.into_bytes()));
        scene = Some(name);
    }
    let text = improved_experiment((file, &source), data, (folder, scene.as_deref()), improvement)?;
    let files: Vec<(&Path, &[u8])> =
        made.iter().map(|(path, bytes)| (path.as_path(), &bytes[..])).collect();
    write_files(&files)?;
    // What cannot be read again is not left there.
    let done = match Experiment::parse(&text, &place, &[], None) {
        Ok(_) => write_file(&place, text.as_bytes()).map(|()| true),
        Err(error) => {
            warn(&format!("the improved experiment is not written: {error}"));
            Ok(false)
        }
    };
    if !matches!(done, Ok(true)) {
        files.iter().for_each(|(path, _)| drop(std::fs::remove_file(path)));
    }
    Ok(done?.then_some(place))
}

/// The experiment of `file` with what was adopted, as a file in `folder`: every parameter starts at what was found, and files
/// are named from there; with the file `scene` in the folder as its scene, where that has terms that the other has not.
fn improved_experiment(
    (file, source): (&Path, &str),
    data: &[String],
    (folder, scene): (&Path, Option<&str>),
    improvement: &Improvement,
) -> Result<String, Error> {
    let name = file.display().to_string();
    let wrong = |message: String| Error::input(&name, None, "", message);
    let mut document: toml::Table =
        toml::from_str(source).map_err(|error| wrong(error.to_string()))?;
    let from = way_to(file, folder);
    let moved = |own: &toml::Value| match own {
        toml::Value::String(own) => toml::Value::String(from.join(own).display().to_string()),
        other => other.clone(),
    };
    match (scene, document.get_mut("scene")) {
        (Some(scene), _) => {
            document.insert("scene".into(), scene.into());
            // They say how files of robots are read, and this is none.
            for field in ["floating_base", "max_hull_vertices"] {
                document.remove(field);
            }
        }
        (None, Some(scene)) => *scene = moved(scene),
        (None, None) => {}
    }
    if let Some(toml::Value::Array(data)) = document.get_mut("data") {
        data.iter_mut().for_each(|own| *own = moved(own));
    }
    if !data.is_empty() {
        let here = way_to(Path::new("here"), folder);
        let data = data.iter().map(|given| here.join(given).display().to_string());
        document.insert("data".into(), data.collect::<Vec<_>>().into());
    }
    let experiment: &Experiment = &improvement.experiment;
    let adopted = || improvement.adopted().flat_map(|tried| &tried.test.members);
    let speed =
        |member: &String| Some(format!("{}/stribeck_speed", member.strip_suffix("/mu_static")?));
    let companions: Vec<String> = adopted().filter_map(speed).collect();
    let is_free = |name: &&String| experiment.parameters.iter().any(|p| p.name == **name);
    let members: Vec<&String> = adopted().chain(companions.iter().filter(is_free)).collect();
    let tables = document.entry("parameter").or_insert_with(|| toml::Value::Array(Vec::new()));
    let toml::Value::Array(tables) = tables else {
        return Err(wrong("has a parameter that is no table".into()));
    };
    let named = |table: &toml::Value| {
        table.get("name").and_then(toml::Value::as_str).unwrap_or_default().to_string()
    };
    // What was held is not held any more.
    tables.retain(|table| !members.contains(&&named(table)));
    for table in tables.iter_mut() {
        let name = named(table);
        let full = table.get("full").and_then(toml::Value::as_bool).unwrap_or_default();
        let Some(table) = table.as_table_mut() else { continue };
        if let Some(found) = experiment.parameters.iter().find(|p| p.name == name) {
            table.insert("start".into(), found.start.into());
            continue;
        }
        // The numbers of an inertia, in their order.
        let (body, whole) = name.rsplit_once('/').unwrap_or_default();
        let of_body = experiment.parameters.iter().filter(|p| {
            let field = p.name.strip_prefix(body).and_then(|field| field.strip_prefix('/'));
            let inertia = field.is_some_and(|field| field.starts_with("inertia/"));
            let rest = |field: &str| field == "mass" || field.starts_with("center_of_mass/");
            matches!(p.transform, Transform::Inertial { .. })
                && (inertia || whole == "inertial" && field.is_some_and(rest))
        });
        let starts: Vec<toml::Value> = of_body.map(|p| p.start.into()).collect();
        if (whole == "inertial" || full) && !starts.is_empty() {
            table.insert("start".into(), starts.into());
        }
    }
    for member in members {
        let Some(found) = experiment.parameters.iter().rfind(|p| p.name == *member) else {
            continue;
        };
        let mut table = toml::Table::new();
        table.insert("name".into(), member.as_str().into());
        table.insert("start".into(), found.start.into());
        // A delay has bounds of its own, by which readings are left out.
        if experiment.delay_range(found.slots.slots[0]).is_some() {
            table.insert("lower".into(), found.lower.into());
            table.insert("upper".into(), found.upper.into());
        }
        tables.push(table.into());
    }
    document.insert("seed".into(), (experiment.seed as i64).into());
    if let Some(half_samples) = experiment.half_samples {
        document.insert("half_samples".into(), (half_samples as i64).into());
    }
    // Going on from first parts of recordings would lead away from where it starts.
    document.insert("continuation".into(), false.into());
    document.insert("starts".into(), 1.into());
    let body = toml::to_string(&document).map_err(|error| wrong(error.to_string()))?;
    let mut head = String::from("# By `stiction identify --improve`, which added");
    for tried in improvement.adopted() {
        head += &format!(" {}", tried.test.name);
    }
    Ok(head.replace(char::is_control, " ") + "\n" + &body)
}

/// The way from a folder to that of a file.
fn way_to(file: &Path, folder: &Path) -> PathBuf {
    let parent = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let whole = |path: &Path| std::fs::canonicalize(path);
    let (Ok(to), Ok(from)) = (whole(parent), whole(folder)) else { return parent.to_path_buf() };
    let common = to.components().zip(from.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| std::path::Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}
