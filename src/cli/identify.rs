//! `stiction identify`
//!
//! `-o` writes a folder: `result.json`, `scene.toml` (the scene with the identified parameters) and
//! `report.html`; or one file, the result, where its name ends in `.json`.
//!
//! What it holds: see `fit_result`.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::fit_result::{derivative_cost, errors_test, report, result_json};
use super::given_recordings::RecordingArguments;
use super::held_out::HeldOut;
use super::outcome::Outcome;
use super::output::{UNSOLVED_SHARE, json_text, number, print, threads, warn};
use super::processes::options;
use super::report_folder::Destination;
use super::resume::CheckpointFile;
use super::stages::Stages;
use super::whole_files::write_file;
#[cfg(feature = "plots")]
use super::whole_files::{check_place, check_places, folder};
use super::{
    comparison, identify_soft, interrupt, lacking, learned, observability, plausibility,
    scene_options,
};
use crate::Error;
use crate::identify::{
    Checkpoint, Comparison, Conclusion, Contender, Dataset, Doing, Effort, Experiment, FitStatus,
    Gathered, Group, Others, compare, conclude, hold_out, improve, introduce, masses_over_inertia,
    score_tests, unexplained,
};
use crate::markers::MarkerExperiment;
use crate::simulation::Plausibility;
use crate::view::FitReport;

/// Identify physical parameters from recorded trajectories.
///
/// Without an experiment file: the friction of a box from six built-in slides.
#[derive(Clone, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub recordings: RecordingArguments,
    /// Fit each of several experiments to the same recordings, and say which explains those better that it was not fitted
    /// to; give it twice or more. DIR then has comparison.json, and a folder for each model
    #[arg(long = "model", value_name = "EXPERIMENT", action = clap::ArgAction::Append,
        conflicts_with_all = ["check", "improve", "start"])]
    pub models: Vec<PathBuf>,
    /// Where to write: a folder for result.json, the identified scene.toml and report.html (a page with
    /// figures and a 3-D playback, to open in a browser); or, of a name that ends in .json, the result alone
    #[arg(short, long, value_name = "DIR|FILE.json")]
    pub output: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    pub json: bool,
    /// Fit nothing; say which parameters are identifiable from the recordings, and which are not
    #[arg(long, conflicts_with_all = ["output"])]
    check: bool,
    /// Threads to use; the result does not depend on it [default: all]
    #[arg(long)]
    pub threads: Option<usize>,
    /// Go on where a search with the same options stopped or was killed (it keeps checkpoint.json in the output
    /// folder), to the same result as if it had not; begin where there is nothing to go on from
    #[arg(long, requires = "output")]
    pub resume: bool,
    /// Hold this share of the recordings out of the fit, 0 to 1, and measure how it does on them; with --model, of each of
    /// the fits that judge, until every recording was held out once [default there: 0.2]
    #[arg(long, value_name = "FRACTION")]
    pub holdout: Option<f64>,
    /// Take standard errors from fits to so many random halves of the recordings, 0: from derivatives at the result [default: a
    /// test decides]
    #[arg(long, value_name = "COUNT")]
    half_samples: Option<usize>,
    /// Free what the scene holds and the recordings contradict, one thing after the other in so many rounds at most, as far
    /// as recordings confirm it that it was not fitted to; improved.toml in the output folder is the experiment with it
    #[arg(long, value_name = "ROUNDS", num_args = 0..=1, default_missing_value = "5")]
    improve: Option<usize>,
    /// Make no profiles of the loss along each parameter, which take about as long as the search, and do not go on
    /// from lower points that they meet
    #[arg(long)]
    no_profiles: bool,
    /// Starts of the first stage of the search, the experiment's own and others spread over the bounds
    #[arg(long, value_name = "COUNT")]
    starts: Option<usize>,
    /// Seed of everything random
    #[arg(long)]
    seed: Option<u64>,
    /// Start one parameter elsewhere than the experiment says; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    start: Vec<String>,
    /// Draw recordings, first guess and fit of up to six recordings (SVG)
    #[cfg(feature = "plots")]
    #[arg(long, value_name = "FILE.svg", conflicts_with = "models")]
    plot: Option<PathBuf>,
}

/// An experiment on a soft body, if it is one.
fn soft_experiment(arguments: &Arguments) -> Result<Option<MarkerExperiment>, Error> {
    let (Some(path), data) = arguments.recordings.split(false)? else { return Ok(None) };
    let Some(experiment) = MarkerExperiment::load(path, &data)? else {
        return Ok(None);
    };
    #[cfg(feature = "plots")]
    let plots = arguments.plot.is_some();
    #[cfg(not(feature = "plots"))]
    let plots = false;
    for (option, given) in [
        ("--check", arguments.check),
        ("--resume", arguments.resume),
        ("--holdout", arguments.holdout.is_some()),
        ("--half-samples", arguments.half_samples.is_some()),
        ("--starts", arguments.starts.is_some()),
        ("--start", !arguments.start.is_empty()),
        ("--improve", arguments.improve.is_some()),
        ("--plot", plots),
    ] {
        if given {
            return Err(Error::input(option, None, "", "is not of soft bodies yet"));
        }
    }
    Ok(Some(experiment))
}

/// Of several processes, all of which run this, the first one alone looks at places for results, writes and prints.
pub(super) fn run(arguments: &Arguments, group: &Arc<Group>) -> Result<Outcome, Error> {
    introduce(group, if group.is_alone() { String::new() } else { options() })?;
    identified(arguments, group, false).map(|(outcome, _)| outcome)
}

/// Identifies, after processes have introduced themselves: how it ended, and what was fitted to what. Prints no JSON object if it
/// is one of several.
pub(super) fn identified(
    arguments: &Arguments,
    group: &Arc<Group>,
    is_one_of_several: bool,
) -> Result<(Outcome, Option<Contender>), Error> {
    let begin = Instant::now();
    let threads = group.together(threads(arguments.threads))?;
    #[cfg(feature = "plots")]
    group.at_first(|| arguments.plot.as_deref().map_or(Ok(()), check_place))?;
    if let Some(experiment) = group.together(soft_experiment(arguments))? {
        if !group.is_alone() {
            let message = "a soft body is identified by one process";
            return Err(Error::input("processes", None, "", message));
        }
        let output = arguments.output.as_deref();
        let outcome = identify_soft::run(&experiment, output, arguments.json, threads)?;
        return Ok((outcome, None));
    }
    // Nothing at the others.
    let destination = group.at_first(|| {
        let destination = arguments.output.as_deref().map(Destination::new).transpose()?;
        #[cfg(feature = "plots")]
        if let (Some(path), Some(destination)) = (&arguments.plot, &destination) {
            let files = destination.files();
            let there = files.iter().filter(|file| folder(file).is_dir());
            check_places(there.chain([path]).map(PathBuf::as_path))?;
        }
        Ok(destination)
    })?;
    let destination = destination.flatten();
    let (path, data) = arguments.recordings.split(false)?;
    let (mut experiment, mut dataset);
    match &path {
        Some(path) => {
            let read = || {
                let experiment = Experiment::load(path, &data)?;
                let solver = experiment.scene.settings.solver;
                solver.demand_derivatives(&path.display().to_string())?;
                Ok(experiment)
            };
            experiment = group.together(read())?;
            scene_options::warn(&experiment.scene);
            compare(group, &experiment, None)?.iter().for_each(|warning| warn(warning));
            dataset = Dataset::load_shares(&experiment, group, threads)?;
        }
        None => {
            if arguments.improve.is_some() {
                let message = "needs an experiment; that of the built-in slides lacks nothing";
                return Err(Error::input("--improve", None, "", message));
            }
            if !group.is_alone() {
                let message =
                    "the built-in slides are too few for several processes: give an experiment";
                return Err(Error::input("processes", None, "", message));
            }
            experiment = Experiment::builtin()?;
            dataset = Dataset::builtin(&experiment)?;
        }
    }
    for start in &arguments.start {
        set_start(&mut experiment, start)?;
    }
    experiment.half_samples = arguments.half_samples.or(experiment.half_samples);
    experiment.profiles &= !arguments.no_profiles;
    experiment.starts = arguments.starts.unwrap_or(experiment.starts);
    if let Some(seed) = arguments.seed {
        experiment.seed = seed;
        experiment.draw_weights();
    }
    dataset.give_ranges(&mut experiment);
    let mut held_out = None;
    if let Some(share) = arguments.holdout {
        if !(share > 0.0 && share < 1.0) || dataset.trajectories.len() < 2 {
            let message = "must be between 0 and 1, of at least two recordings";
            return Err(Error::input("--holdout", None, share.to_string(), message));
        }
        let (kept, out) = hold_out(dataset, share, experiment.seed);
        dataset = kept;
        held_out = Some(out);
    }
    let lock = group.at_first(|| destination.as_ref().map(Destination::lock).transpose())?;
    let file = destination.as_ref().and_then(CheckpointFile::of);
    let is_kept = group.of_first("checkpoints", || file.is_some());
    let checkpoint = match arguments.resume {
        true => resumed(group, file.as_ref(), (&experiment, &dataset))?,
        false => None,
    };
    if !arguments.json {
        let processes = match group.count() {
            1 => String::new(),
            count => format!("{count} processes, each with "),
        };
        print(&format!(
            "{}: {} recordings, {} windows, {processes}{threads} threads",
            experiment.name,
            dataset.trajectories.len(),
            dataset.windows.len(),
        ));
    }
    // Before anything that takes long.
    let questions = dataset.questions(&experiment.scene);
    for question in &questions {
        warn(question);
    }
    if arguments.check {
        let json = arguments.json;
        return Ok((observability::run(&experiment, &dataset, threads, &questions, json), None));
    }
    // Weights are too many to be told one by one.
    let names: Vec<Option<&str>> =
        experiment.parameters.iter().map(|p| (!p.is_weight()).then_some(p.name.as_str())).collect();
    if let (Some(checkpoint), false) = (&checkpoint, arguments.json) {
        print(&format!("going on after {} iterations", checkpoint.iterations()));
    }
    interrupt::catch();
    let mut stages = Stages::new(arguments.json);
    let mut lost = None;
    let found = conclude(&experiment, &dataset, threads, checkpoint, &mut |doing| {
        match doing {
            Doing::Search(progress) => {
                // All gather it, the first one keeps it.
                let checkpoint = is_kept.then(|| progress.checkpoint());
                if let (Some(file), Some(checkpoint)) = (&file, &checkpoint)
                    && let Err(error) = file.save(checkpoint)
                {
                    lost.get_or_insert(error);
                }
                stages.enter("search", None);
                let values = names.iter().zip(progress.values);
                let values: Vec<String> =
                    values.filter_map(|(n, v)| n.map(|n| format!("{n} {v:.5}"))).collect();
                let (iteration, loss) = (progress.iteration, progress.loss);
                stages.tell(format!("{iteration:4}  loss {loss:.6e}  {}", values.join("  ")));
            }
            Doing::Halves(number, count) => {
                stages.enter("fits to halves of the recordings", Some(count));
                stages.done(number, count);
            }
            Doing::Profiles(number, count) => {
                stages.enter("how the loss depends on each parameter", Some(count));
                stages.done(number, count);
            }
        }
        !interrupt::interrupted()
    });
    if let Some(error) = lost {
        warn(&format!("this search cannot be resumed: {error}"));
    }
    let Conclusion { fit: mut result, halves, halves_test, profiles, profile_effort, complete } =
        found?;
    let first = dataset.only(0);
    // What it measures is told by the first process alone.
    let cost = if group.is_first() { derivative_cost(&experiment, &first, &result) } else { 1.0 };
    let steps_per_rollout = result.steps_per_rollout;
    let in_rollouts = |Effort { steps, derivative_steps }: Effort| {
        (steps as f64 + cost * derivative_steps as f64) / steps_per_rollout
    };
    let rollouts = in_rollouts(result.effort);
    let ended = group.agreed(complete && !interrupt::interrupted());
    let mut tests = Vec::new();
    if ended {
        stages.enter("what the fit would gain by what it held", None);
        tests = score_tests(&experiment, &dataset, &result, threads);
    }
    if arguments.improve.is_some() && !ended {
        warn("the search was stopped: nothing was tried to improve the model; --resume goes on");
    }
    let asked = arguments.improve.filter(|_| ended);
    let improved = asked.map(|rounds| {
        let mut tell = |round: usize, name: &str| {
            stages.enter("improving the model", None);
            stages.tell(format!("round {}, {name}", round + 1));
            !interrupt::interrupted()
        };
        improve(&experiment, &dataset, &result, rounds, threads, &mut tell)
    });
    let improved = improved.transpose()?;
    let mut doubts = masses_over_inertia(&experiment, &dataset, &result, threads);
    doubts.splice(0..0, unexplained(&experiment, &dataset, &result, threads));
    drop(stages);
    result.warnings.splice(0..0, doubts);
    let said = result.warnings.clone();
    result.warnings.splice(0..0, questions);
    if !complete {
        // The halves and profiles that are missing can be made, too, when it is resumed.
        result.status = FitStatus::Stopped;
    }
    let half_effort = halves.as_ref().map(|halves| halves.effort);
    let half_effort = half_effort.or(halves_test.map(|test| test.effort));
    let held_out = held_out.map(|out| HeldOut::new(&experiment, &out, &result, threads));
    let mut plausibility = Plausibility::default();
    for t in held_out.iter().flat_map(|held_out| &held_out.fitted.trajectories) {
        let (own, time_step) = (&t.report.plausibility, dataset.settings.time_step);
        plausibility::warn(own, &t.name, &experiment.scene.model, time_step);
        plausibility.merge(own, 0);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let mut object = result_json(&experiment, &result, threads, rollouts, seconds);
    object.insert("processes".into(), group.count().into());
    if !group.is_alone() {
        let Gathered { calls, bytes, seconds } = group.gathered();
        let gathered = json!({ "calls": calls, "bytes": bytes, "seconds": number(seconds) });
        object.insert("gathered".into(), gathered);
    }
    let from = if halves.is_some() { "halves" } else { "linearisation" };
    object.insert("errors_from".into(), from.into());
    if let Some(effort) = half_effort {
        object.insert("half_rollouts".into(), number(in_rollouts(effort)));
    }
    if let Some(test) = &halves_test {
        object.insert("errors_test".into(), errors_test(test));
    }
    let of_parameter = profiles.iter().map(|profile| {
        json!({
            "name": result.parameters[profile.parameter].name,
            "others": if profile.others == Others::Fitted { "fitted" } else { "held" },
            "values": profile.values,
            "loss": profile.loss,
        })
    });
    object.insert("profiles".into(), of_parameter.collect());
    object.insert("profile_rollouts".into(), number(in_rollouts(profile_effort)));
    let described = tests.iter().map(|test| lacking::description(test, &dataset));
    object.insert("score_tests".into(), described.collect());
    if let Some(improved) = &improved {
        object.insert("improvement".into(), lacking::improvement(improved, &dataset));
    }
    object.insert("learned".into(), learned::functions(&experiment, &dataset, &result));
    if let Some(held_out) = &held_out {
        object.insert("holdout".into(), held_out.json());
    }
    // What a resumed search replaces is its own result so far.
    let before = group.of_first("the previous result", || {
        let destination = destination.as_ref().filter(|_| !arguments.resume)?;
        comparison::previous(&destination.result(), &experiment)
    });
    let previous = before
        .map(|before| comparison::with_previous(before, &experiment, &dataset, &result, threads));
    if let Some(comparison) = &previous {
        object.insert("comparison".into(), comparison.json());
    }
    let has_report =
        group.of_first("reports", || destination.as_ref().is_some_and(Destination::has_report));
    let page = has_report.then(|| {
        let mut stages = Stages::new(arguments.json);
        stages.enter("the report", None);
        let found = FitReport::new(&experiment, &dataset, &result, threads);
        let held_out = held_out.as_ref().and_then(HeldOut::sentence);
        FitReport {
            seconds: Some(seconds),
            rollouts: Some(rollouts),
            result: found.result.iter().cloned().chain(held_out).collect(),
            errors_from: halves_test.map(|test| test.sentence()),
            ..found
                .trusted(&experiment, &dataset, &result, &profiles, threads)
                .tested(&tests, &dataset)
                .improved(improved.iter().flat_map(|found| lacking::told(found, result.loss)))
        }
    });
    #[cfg(feature = "plots")]
    let plot = match &arguments.plot {
        Some(_) => Some(crate::view::fit_plot(&experiment, &dataset, &result)?),
        None => None,
    };
    // With the report.
    object.insert("seconds".into(), number(begin.elapsed().as_secs_f64()));
    dataset.demand_agreement()?;
    let written = group.at_first(|| {
        let Some(destination) = &destination else { return Ok(None) };
        let text = json_text(object.clone()) + "\n";
        destination.write(&experiment, &result, &text, page).map(Some)
    })?;
    let written = written.flatten();
    let beside = group.at_first(|| {
        let Some(improved) = improved.as_ref().filter(|all| all.adopted().next().is_some()) else {
            return Ok(None);
        };
        match (&destination, &path) {
            (Some(Destination::Folder(folder)), Some(file)) => {
                lacking::write_improved(folder, file, (&experiment, improved), &data)
            }
            _ => {
                warn("the improved experiment is written into a folder only: give -o DIR");
                Ok(None)
            }
        }
    })?;
    let beside = beside.flatten();
    #[cfg(feature = "plots")]
    group.at_first(|| match (&arguments.plot, &plot) {
        (Some(path), Some(plot)) => write_file(path, plot.as_bytes()),
        _ => Ok(()),
    })?;
    if let Some(file) = &file
        && result.status != FitStatus::Stopped
    {
        file.remove();
    }
    for warning in &said {
        warn(warning);
    }
    if arguments.json {
        if !is_one_of_several {
            print(&json_text(object));
        }
    } else {
        report(&experiment, &result, begin.elapsed().as_secs_f64());
        if let Some(test) = &halves_test {
            print(&test.sentence());
        }
        match &improved {
            Some(improved) => lacking::tell_improvement(improved, result.loss),
            None => lacking::tell(&tests),
        }
        for sentence in previous.iter().flat_map(Comparison::sentences) {
            print(&format!("against the previous result: {sentence}"));
        }
        if let Some(held_out) = held_out {
            print(&held_out.text());
        }
        if let (Some(file), FitStatus::Stopped) = (&file, result.status) {
            print(&format!("--resume goes on from {}", file.path().display()));
        }
        if let Some(file) = written {
            print(&format!("written to {}", file.display()));
        }
        if let Some(file) = beside {
            print(&format!("the improved experiment: {}", file.display()));
        }
    }
    let solved = result.report.unsolved as f64 <= UNSOLVED_SHARE * result.report.steps as f64;
    let done = result.status == FitStatus::Converged && solved;
    plausibility.merge(&result.report.plausibility, 0);
    drop(lock);
    let outcome = Outcome::of(done, &plausibility);
    Ok((outcome, Some(Contender { experiment, dataset, fit: result })))
}

fn set_start(experiment: &mut Experiment, text: &str) -> Result<(), Error> {
    let bad = |message: String| Err(Error::input("--start", None, text, message));
    let Some((name, value)) = text.split_once('=') else {
        return bad("must be NAME=VALUE, such as floor-box/mu=0.3".into());
    };
    let Ok(value) = value.trim().parse::<f64>() else {
        return bad(format!("{value:?} is not a number"));
    };
    let Some(index) = experiment.parameters.iter().position(|p| p.name == name.trim()) else {
        let known: Vec<&str> = experiment.parameters.iter().map(|p| p.name.as_str()).collect();
        let known = known.join(", ");
        return bad(format!("the experiment identifies no parameter {name:?}, only {known}"));
    };
    let parameter = &mut experiment.parameters[index];
    if !(parameter.lower..=parameter.upper).contains(&value) {
        let (lower, upper) = (parameter.lower, parameter.upper);
        return bad(format!("must lie within its bounds, {value} is not in [{lower}, {upper}]"));
    }
    parameter.start = value;
    Ok(())
}

/// Where a search of the same experiment and recordings stood that is to go on, as the first process has it in a file; nothing where
/// there is none.
fn resumed(
    group: &Group,
    file: Option<&CheckpointFile>,
    (experiment, dataset): (&Experiment, &Dataset),
) -> Result<Option<Checkpoint>, Error> {
    let read = group.at_first(|| file.map_or(Ok(None), CheckpointFile::text))?.flatten();
    let name = file.map(|file| file.path().display().to_string());
    let found = group.of_first("a checkpoint", || name.zip(read));
    let Some((name, text)) = found else { return Ok(None) };
    CheckpointFile::understood(&name, &text, experiment, dataset).map(Some)
}
