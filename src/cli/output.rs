//! Where results go: a file, one JSON object on standard output, and what is said on standard error.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};

use super::whole_files::{check_place, write_file};
use crate::Error;
use crate::error::shortened;
use crate::model::{Model, Scene, Settings};
use crate::simulation::{Conflicts, StepReport};

/// Where the result of a command goes, and on how many threads it is made.
#[derive(clap::Args)]
pub(super) struct ResultArguments {
    /// Where to write the result (JSON)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Threads to use; the result does not depend on it [default: all]
    #[arg(long)]
    threads: Option<usize>,
}

impl ResultArguments {
    /// The number of threads, after a look at whether the result can be written.
    pub fn threads(&self) -> Result<usize, Error> {
        let threads = threads(self.threads)?;
        self.output.as_deref().map_or(Ok(()), check_place)?;
        Ok(threads)
    }

    /// Where the result is wanted.
    pub fn file(&self) -> Option<&Path> {
        self.output.as_deref()
    }

    /// Writes the result where it is wanted.
    pub fn write(&self, text: &str) -> Result<(), Error> {
        let Some(path) = &self.output else { return Ok(()) };
        write_file(path, format!("{text}\n").as_bytes())
    }
}

/// The head of every JSON result: program, version, seed and threads.
pub(super) fn json_head(command: &str, seed: u64, threads: usize) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("program".into(), "stiction".into());
    head.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    head.insert("command".into(), command.into());
    head.insert("seed".into(), seed.into());
    head.insert("threads".into(), threads.into());
    head
}

/// A number for JSON: null where it is not finite, which JSON cannot say.
pub(super) fn number(x: f64) -> Value {
    serde_json::Number::from_f64(x).map_or(Value::Null, Value::Number)
}

/// A number for JSON; null for none.
pub(super) fn optional(x: Option<f64>) -> Value {
    x.map_or(Value::Null, number)
}

/// A path for JSON.
pub(super) fn path(path: &Path) -> Value {
    path.display().to_string().into()
}

/// How the contact problems of a run were solved, for JSON.
pub(super) fn solver_summary(report: &StepReport, model: &Model) -> Value {
    let contradicting = report.conflicts.first.map(|(_, conflict)| conflict.names(model));
    serde_json::json!({
        "status": report.worst.status.name(),
        "unsolved": report.unsolved,
        "iterations": report.worst.iterations,
        "worst_residual": number(report.worst.residual),
        "least_margin": number(report.worst.margin),
        "worst_complementarity": number(report.residuals.complementarity),
        "worst_cone": number(report.residuals.cone),
        "worst_dissipation": number(report.residuals.dissipation),
        "contradicting": contradicting,
    })
}

/// What was pushed apart, as it started in each other, for JSON; null if nothing was.
pub(super) fn pushed_apart(scene: &Scene) -> Value {
    let Scene { model, pushed_apart: Some(pushed), .. } = scene else { return Value::Null };
    let moved = model.bodies.iter().zip(&pushed.moved).filter(|(_, way)| **way > 0.0);
    let bodies = moved.map(|(body, &way)| (body.name.clone(), number(way)));
    let deepest = pushed.deepest.map(|(pair, depth)| {
        serde_json::json!({ "pair": model.pair_name(pair), "depth": number(depth) })
    });
    serde_json::json!({
        "pairs": pushed.pairs,
        "deepest": deepest,
        "bodies": Value::Object(bodies.collect()),
        "rounds": pushed.rounds,
        "iterations": pushed.iterations,
        "worst_residual": number(pushed.residual),
        "left": pushed.left,
        "depth_left": number(pushed.depth_left),
    })
}

/// Says on standard error what to know about the solution of the contact problems.
pub(super) fn warn_of_contacts(report: &StepReport, model: &Model, settings: &Settings) {
    for warning in report.warnings(settings) {
        warn(&warning);
    }
    warn_of_conflicts(&report.conflicts, "", model, settings.time_step);
}

/// Says on standard error which conditions contradict each other, if any, `of` something: a recording, or nothing.
pub(super) fn warn_of_conflicts(conflicts: &Conflicts, of: &str, model: &Model, time_step: f64) {
    if let Some(sentence) = conflicts.sentence(model, Some(time_step)) {
        let of = if of.is_empty() { String::new() } else { format!("{of}: ") };
        warn(&format!("{of}{sentence}"));
    }
}

/// Says on standard error what is not right, but does not stop anything.
pub(super) fn warn(warning: &str) {
    say(&format!("warning: {}", shortened(warning)));
}

/// So many warnings about a file are told one by one; of more, `--verbose` tells all.
const FEW: usize = 3;

/// Whether all is told.
static VERBOSE: AtomicBool = AtomicBool::new(false);

/// Tells all from now on.
pub(super) fn be_verbose() {
    VERBOSE.store(true, Ordering::Relaxed);
}

/// What a warning is about: of the number of a body the number.
fn topic(warning: &Error) -> &str {
    let field = warning.field();
    let Some(own) = field.strip_prefix("body.") else { return field };
    // Names may have dots in them.
    for group in [".joint.", ".shape.", ".visual."] {
        if let Some(at) = own.rfind(group) {
            return &own[at + 1..];
        }
    }
    own.rsplit_once('.').map_or("body", |(_, number)| number)
}

/// How much of a motion it spoils, the worst first: what cannot move, what nothing holds, what starts in something.
fn rank(warning: &Error) -> usize {
    match topic(warning) {
        "mass" => 0,
        "link.collision" => 1,
        "position" | "shape" => 2,
        _ => 3,
    }
}

/// Says what is not right about a file; if it is much, the worst of it, and in the same line what else there is.
pub(super) fn warn_of_file(warnings: &[Error]) {
    if warnings.len() <= FEW || VERBOSE.load(Ordering::Relaxed) {
        warnings.iter().for_each(|warning| warn(&warning.to_string()));
        return;
    }
    let mut ranked: Vec<&Error> = warnings.iter().collect();
    ranked.sort_by_key(|warning| rank(warning));
    let mut topics: Vec<(&str, usize)> = Vec::new();
    for topic in ranked[1..].iter().map(|warning| topic(warning)) {
        match topics.iter_mut().find(|(known, _)| *known == topic) {
            Some((_, count)) => *count += 1,
            None => topics.push((topic, 1)),
        }
    }
    let named = |&(topic, count): &(&str, usize)| match (topic, count) {
        ("", count) => format!("others ({count})"),
        (topic, 1) => topic.to_string(),
        (topic, count) => format!("{topic} ({count})"),
    };
    let topics: Vec<String> = topics.iter().map(named).collect();
    let (first, others, topics) = (ranked[0], ranked.len() - 1, topics.join(", "));
    warn(&format!("{first}; and {others} more, of {topics}: --verbose tells them"));
}

/// Says on standard error what is good to know.
pub(super) fn note(note: &str) {
    say(&format!("note: {note}"));
}

/// Whether another process says and prints everything.
static SILENT: AtomicBool = AtomicBool::new(false);

/// Says and prints nothing from now on: another process does.
pub(super) fn be_silent() {
    SILENT.store(true, Ordering::Relaxed);
}

/// Whether another process says and prints everything.
pub(super) fn is_silent() -> bool {
    SILENT.load(Ordering::Relaxed)
}

/// Says a line on standard error. Where nobody listens, as on a full disk, nothing can be said about that.
pub(super) fn say(line: &str) {
    if is_silent() {
        return;
    }
    // `eprintln!` would panic.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Share of the steps whose contact problem may stay unsolved, each at the best residual found and
/// said so, before what is made of many recordings counts as not converged.
pub(super) const UNSOLVED_SHARE: f64 = 1e-3;

/// Whether something could not be printed.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints text on standard output. A reader that has closed the pipe is not an error; anything else
/// is remembered, see [`lost`].
pub(super) fn print(text: &str) {
    if is_silent() {
        return;
    }
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.write_all(b"\n"));
    if let Err(error) = written.and_then(|()| out.flush())
        && error.kind() != std::io::ErrorKind::BrokenPipe
        && !LOST.swap(true, Ordering::Relaxed)
    {
        say(&format!("error: standard output: {error}"));
    }
}

/// Whether something that was to be printed is lost.
pub(super) fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// The text of a JSON object, indented.
pub(super) fn json_text(object: Map<String, Value>) -> String {
    format!("{:#}", Value::Object(object))
}

/// The number of threads asked for, or that of the machine.
pub(super) fn threads(asked: Option<usize>) -> Result<usize, Error> {
    match asked {
        Some(0) => Err(Error::input("--threads", None, "0", "must be at least 1")),
        Some(threads) => Ok(threads),
        None => Ok(std::thread::available_parallelism().map_or(1, |n| n.get())),
    }
}
