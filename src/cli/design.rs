//! `stiction design`: which of several experiments is the most informative.
//!
//! With `--json` or `-o`, one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads` | what made it |
//! | `parameters` | names of those that are asked for |
//! | `ranking` | a list, the most informative first: `experiment`, `frames` (of all recordings), `log_determinant` (of the information on these parameters in their typical changes; `null` if it is singular), `standard_errors` (by name; `null` where one stays open), `open` (how many combinations stay open), `reasons` (sentences) |
//! | `best_pair` | the same of the two that are the most informative together, with `experiments`; `null` with a single one |

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::outcome::Outcome;
use super::output::{ResultArguments, json_head, json_text, optional, print};
use super::{plausibility, scene_options};
use crate::Error;
use crate::identify::{Candidate, Dataset, Design, Experiment, Information};
use crate::simulation::Plausibility;

/// Rank experiments by the information they give on parameters.
///
/// An experiment without recordings is simulated from the start of its scene.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The experiments (TOML), with recordings or without
    #[arg(required = true)]
    experiments: Vec<PathBuf>,
    /// The parameters that are asked for [default: all that every experiment identifies]
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    parameters: Vec<String>,
    /// How long experiments without recordings last, s
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    duration: f64,
    /// Near which values of the parameters: those of the scene, or the starts of the search
    #[arg(long, value_enum, default_value = "scene")]
    at: At,
    #[command(flatten)]
    result: ResultArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum At {
    Scene,
    Start,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let threads = arguments.result.threads()?;
    let mut candidates = Vec::new();
    let mut frames = Vec::new();
    for path in &arguments.experiments {
        let (candidate, count) = candidate(arguments, path, threads)?;
        candidates.push(candidate);
        frames.push(count);
    }
    let chosen = chosen(&arguments.parameters, &candidates)?;
    let ranking = Design::ranking(&candidates, &chosen);
    let pair = Design::best_pair(&candidates, &chosen);

    let names = |design: &Design| -> Vec<String> {
        design.candidates.iter().map(|&k| candidates[k].name.clone()).collect()
    };
    let rows: Vec<Value> = ranking
        .iter()
        .map(|design| {
            let mut row = description(design, &chosen);
            row["experiment"] = names(design).concat().into();
            row["frames"] = design.candidates.iter().map(|&k| frames[k]).sum::<usize>().into();
            row
        })
        .collect();
    let mut object = json_head("design", 0, threads);
    object.insert("parameters".into(), json!(chosen));
    object.insert("ranking".into(), rows.into());
    object.insert(
        "best_pair".into(),
        pair.as_ref().map_or(Value::Null, |design| {
            let mut row = description(design, &chosen);
            row["experiments"] = names(design).into();
            row
        }),
    );
    let text = json_text(object);
    arguments.result.write(&text)?;
    if arguments.result.json {
        print(&text);
    } else {
        report(&ranking, pair.as_ref(), &chosen, &names);
    }
    let best = ranking.iter().chain(&pair).map(|design| design.open).min();
    let mut plausibility = Plausibility::default();
    candidates.iter().for_each(|c| plausibility.merge(&c.information.report.plausibility, 0));
    Ok(Outcome::of(best == Some(0), &plausibility))
}

/// The information of an experiment, and how many frames it has.
fn candidate(
    arguments: &Arguments,
    path: &PathBuf,
    threads: usize,
) -> Result<(Candidate, usize), Error> {
    let experiment = Experiment::load_planned(path)?;
    scene_options::warn(&experiment.scene);
    experiment.scene.settings.solver.demand_derivatives(&experiment.name)?;
    let free = &experiment.parameters;
    let values: Vec<f64> = match arguments.at {
        At::Scene => free.iter().map(|p| p.get(&experiment.scene.parameters)).collect(),
        At::Start => free.iter().map(|p| p.start).collect(),
    };
    let dataset = if experiment.data.is_empty() {
        let mut parameters = experiment.scene.parameters.clone();
        for (parameter, &value) in free.iter().zip(&values) {
            parameter.set(value, &mut parameters);
        }
        Dataset::planned(&experiment, &parameters, arguments.duration)?
    } else {
        Dataset::load_on(&experiment, threads)?
    };
    let information = Information::at(&experiment, &dataset, &values, threads);
    let frames = dataset.trajectories.iter().map(|t| t.times.len()).sum();
    let (model, time_step) = (&experiment.scene.model, dataset.settings.time_step);
    let plausibility = &information.report.plausibility;
    plausibility::warn(plausibility, &experiment.name, model, time_step);
    Ok((Candidate { name: experiment.name, information }, frames))
}

/// The parameters that are asked for: as given, or those of all candidates.
fn chosen<'a>(given: &'a [String], candidates: &'a [Candidate]) -> Result<Vec<&'a str>, Error> {
    let has = |candidate: &Candidate, name: &str| {
        candidate.information.unknowns.iter().any(|unknown| unknown.name == name)
    };
    let mut chosen: Vec<&str> = Vec::new();
    for name in given.iter().map(|name| name.trim()) {
        if !candidates.iter().any(|candidate| has(candidate, name)) {
            let message = "is identified by none of the experiments";
            return Err(Error::input("--parameters", None, name, message));
        }
        if !chosen.contains(&name) {
            chosen.push(name);
        }
    }
    if given.is_empty() {
        let first = candidates.iter().take(1).flat_map(|first| &first.information.unknowns);
        let names = first.map(|unknown| unknown.name.as_str());
        chosen = names.filter(|name| candidates.iter().all(|c| has(c, name))).collect();
    }
    if chosen.is_empty() {
        let message = "the experiments have no parameter in common; say which are asked for";
        return Err(Error::input("--parameters", None, "", message));
    }
    Ok(chosen)
}

fn description(design: &Design, chosen: &[&str]) -> Value {
    let errors = chosen.iter().zip(&design.standard_errors);
    let errors: Map<String, Value> =
        errors.map(|(name, error)| (name.to_string(), optional(*error))).collect();
    json!({
        "log_determinant": optional(design.log_determinant),
        "standard_errors": errors,
        "open": design.open,
        "reasons": design.reasons,
    })
}

fn report(
    ranking: &[Design],
    pair: Option<&Design>,
    chosen: &[&str],
    names: &dyn Fn(&Design) -> Vec<String>,
) {
    let line = |place: &str, design: &Design| {
        let size = design.log_determinant.map_or("-".to_string(), |x| format!("{x:.3}"));
        let errors: Vec<String> = design
            .standard_errors
            .iter()
            .map(|error| error.map_or(format!(" {:>14}", "open"), |x| format!(" {x:14.4e}")))
            .collect();
        print(&format!(
            "{place:>4} {size:>10}{}  {}",
            errors.concat(),
            names(design).join(" and ")
        ));
        design.reasons.iter().for_each(|reason| print(&format!("                {reason}")));
    };
    print("ln det of the information in typical changes, and expected standard errors of");
    let titles: Vec<String> =
        (1..=chosen.len()).map(|k| format!(" {:>14}", format!("({k})"))).collect();
    for (k, name) in chosen.iter().enumerate() {
        print(&format!("  ({}) {name}", k + 1));
    }
    print(&format!("{:>4} {:>10}{}  experiment", "rank", "ln det", titles.concat()));
    for (k, design) in ranking.iter().enumerate() {
        line(&(k + 1).to_string(), design);
    }
    if let Some(pair) = pair {
        line("pair", pair);
    }
}
