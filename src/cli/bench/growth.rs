//! How the time of a step grows with the number of bodies of a family.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::family::Family;
use super::measure::{Bench, Statistics, Times, measure, microseconds};
use crate::Error;
use crate::cli::drive::DriveOptions;
use crate::cli::outcome::Outcome;
use crate::cli::output::{self, number};
use crate::cli::run_length::run_length;
use crate::cli::scene_options::{SceneOptions, warn};
use crate::cli::whole_files;

/// Steps of a size, and Jacobians among them, if the command line does not say.
const STEPS: usize = 200;
const JACOBIANS: usize = 2;

/// The figures of one size.
struct Row {
    n: usize,
    /// By name, in columns.
    figures: Vec<(&'static str, f64)>,
    unsolved: usize,
    json: Map<String, Value>,
}

/// What the command line asks for.
pub(super) struct Growth<'a> {
    pub family: Family,
    /// None: those of the family.
    pub sizes: &'a [usize],
    pub write: Option<&'a Path>,
    pub options: &'a SceneOptions,
    pub drive: &'a DriveOptions,
    pub steps: Option<usize>,
    pub jacobians: Option<usize>,
    pub repeats: usize,
    pub json: bool,
}

impl Growth<'_> {
    /// Times all sizes, or writes their scenes.
    pub fn run(&self) -> Result<Outcome, Error> {
        let sizes = match self.sizes {
            [] => self.family.sizes(),
            sizes => sizes,
        };
        let [least, most] = self.family.limits();
        if let Some(&n) = sizes.iter().find(|&&n| !(least..=most).contains(&n)) {
            let name = self.family.name();
            let message = format!("must be from {least} to {most} of a {name}, found {n}");
            return Err(Error::input("--sizes", None, "", message));
        }
        if let Some(folder) = self.write {
            return write(self.family, sizes, folder, self.json);
        }
        let mut rows = Vec::new();
        let mut outcome = Outcome::Done;
        for &n in sizes {
            let Some((row, found)) = self.time(n)? else { return Ok(Outcome::Failed) };
            if !self.json {
                if rows.is_empty() {
                    output::print(&self.head(&row));
                }
                output::print(&text(&row));
            }
            rows.push(row);
            outcome = outcome.worse(found);
        }
        let growth = growth(&rows);
        if self.json {
            output::print(&output::json_text(summary(self.family, rows, &growth)));
        } else if !growth.is_empty() {
            let exponents = growth.iter().map(|(name, e)| format!("{name} n^{e:.2}"));
            output::print(&format!("growth: {}", exponents.collect::<Vec<_>>().join(", ")));
        }
        Ok(outcome)
    }

    /// Nothing if it was interrupted or did not settle, which was said.
    fn time(&self, n: usize) -> Result<Option<(Row, Outcome)>, Error> {
        let name = format!("{}{n}", self.family.name());
        let mut scene = self.family.description(n)?.scene()?;
        warn(&scene);
        let path = PathBuf::from(&name);
        let started = self.drive.start(&path, self.options, self.json, &mut scene, 1)?;
        let Some((mut drive, settled)) = started else { return Ok(None) };
        let steps = Some(self.steps.unwrap_or(STEPS));
        let steps = run_length(&path, scene.settings.time_step, steps)?;
        let jacobians = self.jacobians.unwrap_or(JACOBIANS).min(steps);
        let (repeats, json) = (self.repeats, self.json);
        let bench = Bench { path: &path, scene: &scene, steps, jacobians, settled, repeats, json };
        let (times, statistics) = measure(&bench, &mut drive)?;
        Ok(Some((row(&bench, n, &times, &statistics), bench.outcome(&statistics))))
    }

    fn head(&self, row: &Row) -> String {
        let names = row.figures.iter().map(|(name, _)| format!("{:>20}", name.replace('_', " ")));
        format!(
            "{}: {} steps of 0.005 s, best of {}, 1 thread, stiction {}; times in us a step, of A and B each, and\n\
             of a step with its adjoint (gradient)\n\
             {:>8}{}  unsolved",
            self.family.name(),
            self.steps.unwrap_or(STEPS),
            self.repeats,
            env!("CARGO_PKG_VERSION"),
            "n",
            names.collect::<String>()
        )
    }
}

fn write(family: Family, sizes: &[usize], folder: &Path, json: bool) -> Result<Outcome, Error> {
    fs::create_dir_all(folder).map_err(|error| whole_files::unwritable(folder, &error))?;
    let file = |n: &usize| (folder.join(format!("{}{n}.xml", family.name())), family.mjcf(*n));
    let files: Vec<(PathBuf, String)> = sizes.iter().map(file).collect();
    let whole: Vec<(&Path, &[u8])> =
        files.iter().map(|(path, text)| (path.as_path(), text.as_bytes())).collect();
    whole_files::write_files(&whole)?;
    let names: Vec<Value> = files.iter().map(|(path, _)| output::path(path)).collect();
    let mut object = output::json_head("bench", 0, 1);
    object.insert("family".into(), family.name().into());
    object.insert("files".into(), names.into());
    let lines = files.iter().map(|(path, _)| format!("written: {}", path.display()));
    output::print(&match json {
        true => output::json_text(object),
        false => lines.collect::<Vec<_>>().join("\n"),
    });
    Ok(Outcome::Done)
}

fn row(bench: &Bench, n: usize, times: &Times, statistics: &Statistics) -> Row {
    let mean = |sum: usize| sum as f64 / bench.steps as f64;
    let mut figures = vec![("step", microseconds(times.step, bench.steps))];
    figures.extend(bench.stages(times));
    if let Some(time) = times.jacobians {
        figures.push(("jacobian", microseconds(time, bench.jacobians)));
    }
    if let Some(time) = times.gradients {
        figures.push(("gradient", microseconds(time, bench.jacobians)));
    }
    figures.push(("iterations", mean(statistics.report.worst.iterations)));
    figures.push(("contacts", mean(statistics.touching)));
    let json = bench.json(times, statistics);
    Row { n, figures, unsolved: statistics.report.unsolved, json }
}

fn text(row: &Row) -> String {
    let figures = row.figures.iter().map(|(_, figure)| format!("{figure:>20.2}"));
    format!("{:>8}{}  {:>8}", row.n, figures.collect::<String>(), row.unsolved)
}

/// The exponents of n by which times grow, by least squares of logarithms.
fn growth(rows: &[Row]) -> Vec<(&'static str, f64)> {
    let names = rows.first().map_or(&[][..], |row| &row.figures);
    let times = names.iter().map(|&(name, _)| name);
    let times = times.filter(|name| !["iterations", "contacts", "rest"].contains(name));
    let exponent = |name: &'static str| {
        let points: Vec<[f64; 2]> = rows
            .iter()
            .filter_map(|row| {
                let (_, time) = row.figures.iter().find(|(of, _)| *of == name)?;
                (*time > 0.0).then(|| [(row.n as f64).ln(), time.ln()])
            })
            .collect();
        let count = points.len() as f64;
        let mean = [0, 1].map(|k| points.iter().map(|p| p[k]).sum::<f64>() / count);
        let [xx, xy] =
            [0, 1].map(|k| points.iter().map(|p| (p[0] - mean[0]) * (p[k] - mean[k])).sum::<f64>());
        (xx > 0.0).then(|| (name, xy / xx))
    };
    times.filter_map(exponent).collect()
}

fn summary(family: Family, rows: Vec<Row>, growth: &[(&'static str, f64)]) -> Map<String, Value> {
    let mut object = output::json_head("bench", 0, 1);
    object.insert("family".into(), family.name().into());
    let sizes: Vec<Value> =
        rows.into_iter().map(|row| json!({ "n": row.n, "result": row.json })).collect();
    object.insert("sizes".into(), sizes.into());
    let growth = growth.iter().map(|(name, exponent)| (name.to_string(), number(*exponent)));
    object.insert("growth".into(), Value::Object(growth.collect()));
    object
}
