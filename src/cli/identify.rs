//! `stiction identify`
//!
//! `-o` writes a folder: `result.json`, `scene.toml` (the scene with the identified parameters) and
//! `report.html`; or one file, the result, where its name ends in `.json`.
//!
//! The result, by `-o` or `--json`, is one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads` | what made it |
//! | `experiment` | the experiment file as it was given |
//! | `status` | `converged`, `stalled`, `iteration_limit`, `stopped`, `unobservable` or `infeasible` |
//! | `loss`, `loss_at_start`, `loss_of_scene` | mean of the squared residuals over their standard deviations: at the result, at the start, and with the scene's own parameters |
//! | `iterations` | of the search |
//! | `rollouts` | the work done, in simulations of one recording without derivatives; measured, so it varies from run to run |
//! | `seconds` | wall time until all was found, before it was written |
//! | `parameters` | a list: `name`, `initial` (start of the search), `value`, `lower`, `upper`, `observable` (whether any recording depends on it), `at_bound`, `fixed` (not searched for), `standard_error` and `interval` (95 %; left out where there are none), `tied` (others that have its value) |
//! | `starts` | where the first stage of the search led from each start: `start` and `values` of the parameters, `loss` |
//! | `correlations` | of the estimates: `names`, and a row of `matrix` for each |
//! | `profiles` | how the loss of all recordings depends on each parameter (an empty list where that would take far longer than the search, or with `--no-profiles`): `name`, `values` with the `loss` at each, `others`, the other parameters and initial states: `fitted` anew at each value, or `held`; and `profile_rollouts`, the work, measured |
//! | `errors_from` | what standard errors are taken from: `linearisation`, or `halves` of the recordings (with `half_rollouts`, their work) |
//! | `holdout` | of recordings that were held out: `recordings`, `position_error_percent`, `rotation_error_deg`, and the same of the scene's own parameters with `_of_scene`; `null` where nothing of the kind is recorded |
//! | `learned` | learned terms as functions: `name`, `kind`, `of`; `axes`, the values of one or two of `of`; `outputs`, and of each its `values`, along the first axis for each value of the second, and `half_widths` of their 95 % band (an empty list where that is not known) |
//! | `truth` | true values by name, where the experiment states them |
//! | `solver` | contact problems of all windows at the result: `steps`, `unsolved`, `iterations` (sum), `worst_residual`, `least_margin` (distance to the nearest change of mode), `implausible` (how many steps are not plausible) |
//! | `score_tests` | what the fit would gain by numbers of the scene that it held, those that are claims first (an empty list where that would take far longer than the search): see `cli/lacking.rs` |
//! | `improvement` | with `--improve`: what was tried and adopted, and the improved fit: see `cli/lacking.rs` |
//! | `comparison` | with the result of the same experiment that stood where this one is written, if there was one: see `cli/comparison.rs` |
//! | `warnings` | sentences: questions about the recordings first, whether the model explains them, masses that show only over an inertia that is held fixed |
//!
//! Numbers that are not finite are `null`. `stiction evaluate --parameters` reads `parameters`.

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::given_recordings::RecordingArguments;
use super::held_out::HeldOut;
use super::outcome::Outcome;
use super::output::{UNSOLVED_SHARE, json_head, json_text, number, print, threads, warn};
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
    Comparison, Conclusion, Dataset, Doing, Effort, Experiment, Fit, FitStatus, Others, Problem,
    conclude, hold_out, improve, is_weight, masses_over_inertia, score_tests, unexplained,
};
use crate::markers::MarkerExperiment;
use crate::simulation::Plausibility;
use crate::view::FitReport;

/// Identify physical parameters from recorded trajectories.
///
/// Without an experiment file: the friction of a box from six built-in slides.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    recordings: RecordingArguments,
    /// Where to write: a folder for result.json, the identified scene.toml and report.html (a page with
    /// figures and a 3-D playback, to open in a browser); or, of a name that ends in .json, the result alone
    #[arg(short, long, value_name = "DIR|FILE.json")]
    output: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    /// Fit nothing; say which parameters are identifiable from the recordings, and which are not
    #[arg(long, conflicts_with_all = ["output"])]
    check: bool,
    /// Threads to use; the result does not depend on it [default: all]
    #[arg(long)]
    threads: Option<usize>,
    /// Go on where a search with the same options stopped or was killed (it keeps checkpoint.json in the output
    /// folder), to the same result as if it had not; begin where there is nothing to go on from
    #[arg(long, requires = "output")]
    resume: bool,
    /// Hold this share of the recordings out of the fit, 0 to 1, and measure how it does on them
    #[arg(long, value_name = "FRACTION")]
    holdout: Option<f64>,
    /// Take standard errors from fits to so many random halves of the recordings
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
    #[arg(long, value_name = "FILE.svg")]
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

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let begin = Instant::now();
    let threads = threads(arguments.threads)?;
    #[cfg(feature = "plots")]
    if let Some(path) = &arguments.plot {
        check_place(path)?;
    }
    if let Some(experiment) = soft_experiment(arguments)? {
        return identify_soft::run(
            &experiment,
            arguments.output.as_deref(),
            arguments.json,
            threads,
        );
    }
    let destination = arguments.output.as_deref().map(Destination::new).transpose()?;
    #[cfg(feature = "plots")]
    if let (Some(path), Some(destination)) = (&arguments.plot, &destination) {
        let files = destination.files();
        let there = files.iter().filter(|file| folder(file).is_dir());
        check_places(there.chain([path]).map(PathBuf::as_path))?;
    }
    let (path, data) = arguments.recordings.split(false)?;
    let (mut experiment, mut dataset);
    match &path {
        Some(path) => {
            experiment = Experiment::load(path, &data)?;
            scene_options::warn(&experiment.scene);
            let solver = experiment.scene.settings.solver;
            solver.demand_derivatives(&path.display().to_string())?;
            dataset = Dataset::load_on(&experiment, threads)?;
        }
        None => {
            if arguments.improve.is_some() {
                let message = "needs an experiment; that of the built-in slides lacks nothing";
                return Err(Error::input("--improve", None, "", message));
            }
            experiment = Experiment::builtin()?;
            dataset = Dataset::builtin(&experiment)?;
        }
    }
    for start in &arguments.start {
        set_start(&mut experiment, start)?;
    }
    experiment.half_samples = arguments.half_samples.unwrap_or(experiment.half_samples);
    experiment.profiles &= !arguments.no_profiles;
    experiment.starts = arguments.starts.unwrap_or(experiment.starts);
    if let Some(seed) = arguments.seed {
        experiment.seed = seed;
        experiment.draw_weights();
    }
    experiment.take_ranges(dataset.states());
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
    let lock = destination.as_ref().map(Destination::lock).transpose()?;
    let file = destination.as_ref().and_then(CheckpointFile::of);
    let checkpoint = match &file {
        Some(file) if arguments.resume => file.load(&experiment, &dataset)?,
        _ => None,
    };
    if !arguments.json {
        print(&format!(
            "{}: {} recordings, {} windows, {} threads",
            experiment.name,
            dataset.trajectories.len(),
            dataset.windows.len(),
            threads
        ));
    }
    // Before anything that takes long.
    let questions = dataset.questions(&experiment.scene);
    for question in &questions {
        warn(question);
    }
    if arguments.check {
        return Ok(observability::run(&experiment, &dataset, threads, &questions, arguments.json));
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
                if let Some(file) = &file
                    && let Err(error) = file.save(&progress.checkpoint())
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
    let found =
        found.map_err(|error| Error::input(&experiment.name, None, "method", error.to_string()))?;
    let Conclusion { fit: mut result, halves, profiles, profile_effort, complete } = found;
    let cost = derivative_cost(&experiment, &dataset, &result);
    let steps_per_rollout = result.steps_per_rollout;
    let in_rollouts = |Effort { steps, derivative_steps }: Effort| {
        (steps as f64 + cost * derivative_steps as f64) / steps_per_rollout
    };
    let rollouts = in_rollouts(result.effort);
    let ended = complete && !interrupt::interrupted();
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
    let improved = improved.transpose();
    let improved = improved
        .map_err(|error| Error::input(&experiment.name, None, "method", error.to_string()))?;
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
    let half_rollouts = halves.map(|halves| in_rollouts(halves.effort));
    let held_out = held_out.map(|out| HeldOut::new(&experiment, &out, &result, threads));
    let mut plausibility = Plausibility::default();
    for t in held_out.iter().flat_map(|held_out| &held_out.fitted.trajectories) {
        let (own, time_step) = (&t.report.plausibility, dataset.settings.time_step);
        plausibility::warn(own, &t.name, &experiment.scene.model, time_step);
        plausibility.merge(own, 0);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let mut object = result_json(&experiment, &result, threads, rollouts, seconds);
    let from = if half_rollouts.is_some() { "halves" } else { "linearisation" };
    object.insert("errors_from".into(), from.into());
    if let Some(half_rollouts) = half_rollouts {
        object.insert("half_rollouts".into(), number(half_rollouts));
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
    let previous = destination.as_ref().filter(|_| !arguments.resume).and_then(|destination| {
        let file = destination.result();
        comparison::with_previous(&file, &experiment, &dataset, &result, threads)
    });
    if let Some(comparison) = &previous {
        object.insert("comparison".into(), comparison::description(comparison));
    }
    let mut written = None;
    if let Some(destination) = &destination {
        let mut stages = Stages::new(arguments.json);
        stages.enter("the report", None);
        let text = json_text(object.clone()) + "\n";
        written = Some(destination.write(&experiment, &result, &text, || {
            let found = FitReport::new(&experiment, &dataset, &result, threads);
            let held_out = held_out.as_ref().and_then(HeldOut::sentence);
            FitReport {
                seconds: Some(seconds),
                rollouts: Some(rollouts),
                result: found.result.iter().cloned().chain(held_out).collect(),
                ..found
                    .trusted(&experiment, &dataset, &result, &profiles, threads)
                    .tested(&tests, &dataset)
                    .improved(improved.iter().flat_map(|found| lacking::told(found, result.loss)))
            }
        })?);
    }
    let mut beside = None;
    if let (Some(improved), Some(file)) = (&improved, &path)
        && improved.adopted().next().is_some()
    {
        if let Some(Destination::Folder(folder)) = &destination {
            beside = lacking::write_improved(folder, file, (&experiment, improved), &data)?;
        } else {
            warn("the improved experiment is written into a folder only: give -o DIR");
        }
    }
    #[cfg(feature = "plots")]
    if let Some(path) = &arguments.plot {
        write_file(path, crate::view::fit_plot(&experiment, &dataset, &result)?.as_bytes())?;
    }
    if let Some(file) = &file
        && result.status != FitStatus::Stopped
    {
        file.remove();
    }
    for warning in &said {
        warn(warning);
    }
    if arguments.json {
        print(&json_text(object));
    } else {
        report(&experiment, &result, begin.elapsed().as_secs_f64());
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
    Ok(Outcome::of(done, &plausibility))
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

/// What a step with derivatives costs in steps without, measured on one window.
fn derivative_cost(experiment: &Experiment, dataset: &Dataset, result: &Fit) -> f64 {
    use crate::identify::LeastSquares;
    let x: Vec<f64> = result.parameters.iter().map(|p| p.value).collect();
    let mut problem = Problem::new(experiment, dataset, 1);
    problem.select(|trajectory| trajectory == 0);
    let x = problem.space.variables(&x);
    // A warm-up of each, then the faster of three.
    let mut time = |with_derivatives: bool| {
        (0..4)
            .map(|_| {
                let before = problem.effort;
                let begin = Instant::now();
                if with_derivatives {
                    match experiment.method {
                        crate::identify::Method::Adam(_) | crate::identify::Method::Lbfgsb => {
                            drop(problem.gradient(&x));
                        }
                        crate::identify::Method::LevenbergMarquardt => {
                            problem.linearize(&x);
                        }
                    }
                } else {
                    problem.cost(&x);
                }
                let steps = problem.effort.steps - before.steps + problem.effort.derivative_steps
                    - before.derivative_steps;
                begin.elapsed().as_secs_f64() / steps.max(1) as f64
            })
            .fold(f64::INFINITY, f64::min)
    };
    (time(true) / time(false)).max(1.0)
}

fn result_json(
    experiment: &Experiment,
    result: &Fit,
    threads: usize,
    rollouts: f64,
    seconds: f64,
) -> Map<String, Value> {
    let mut object = json_head("identify", experiment.seed, threads);
    let tied = experiment.parameters.iter().map(|p| experiment.tied(p));
    let parameters: Vec<Value> = result
        .parameters
        .iter()
        .zip(tied)
        .map(|(p, tied)| {
            let mut row = json!({
                "name": p.name,
                "initial": number(p.initial),
                "value": number(p.value),
                "lower": number(p.lower),
                "upper": number(p.upper),
                "observable": p.observable,
                "at_bound": p.at_bound,
                "fixed": p.fixed,
                "tied": tied,
            });
            if let Some(error) = p.standard_error {
                row["standard_error"] = number(error);
            }
            if let Some(interval) = p.interval {
                row["interval"] = interval.map(number).to_vec().into();
            }
            row
        })
        .collect();
    let truth: Map<String, Value> =
        experiment.truth.iter().map(|(name, &x)| (name.clone(), number(x))).collect();
    object.insert("experiment".into(), experiment.name.clone().into());
    object.insert("status".into(), result.status.name().into());
    object.insert("loss".into(), number(result.loss));
    object.insert("loss_at_start".into(), number(result.loss_at_start));
    object.insert("loss_of_scene".into(), number(result.loss_of_scene));
    object.insert("iterations".into(), result.iterations.into());
    object.insert("rollouts".into(), number(rollouts));
    object.insert("seconds".into(), number(seconds));
    object.insert("parameters".into(), parameters.into());
    let starts = result
        .starts
        .iter()
        .map(|start| json!({ "start": start.start, "values": start.values, "loss": start.loss }));
    object.insert("starts".into(), starts.collect());
    let told: Vec<&str> = result.told.iter().map(|&i| result.parameters[i].name.as_str()).collect();
    let rows = result.correlations.row_iter();
    let matrix: Vec<Vec<Value>> =
        rows.map(|row| row.iter().map(|&x| number(x)).collect()).collect();
    object.insert("correlations".into(), json!({ "names": told, "matrix": matrix }));
    object.insert("truth".into(), truth.into());
    object.insert(
        "solver".into(),
        json!({
            "steps": result.report.steps,
            "unsolved": result.report.unsolved,
            "iterations": result.report.worst.iterations,
            "worst_residual": number(result.report.worst.residual),
            "least_margin": number(result.report.worst.margin),
            "implausible": result.report.plausibility.steps,
        }),
    );
    object.insert("warnings".into(), result.warnings.clone().into());
    object
}

fn report(experiment: &Experiment, result: &Fit, seconds: f64) {
    print(&format!("{} after {} iterations, {seconds:.2} s", result.status, result.iterations));
    print(&format!(
        "loss {:.6}  (start {:.6}, scene's own parameters {:.6}; mean square in standard \
         deviations, 1 is noise alone)",
        result.loss, result.loss_at_start, result.loss_of_scene
    ));
    print(&format!(
        "{:32} {:>12} {:>12} {:>12} {:>12}",
        "parameter", "start", "value", "std error", "truth"
    ));
    for (name, count, known) in learned::weights(result) {
        print(&format!("{name:32} {count} numbers{known}"));
    }
    for p in result.parameters.iter().filter(|p| !is_weight(&p.name)) {
        let truth = experiment.truth.get(&p.name).map_or(String::new(), |x| format!("{x:.6}"));
        let note = match (p.fixed, p.observable, p.at_bound) {
            (true, ..) => "  fixed",
            (_, false, _) => "  unobservable",
            (_, _, true) => "  at its bound",
            _ => "",
        };
        let error = p.standard_error.map_or(String::new(), |x| format!("{x:.6}"));
        print(&format!(
            "{:32} {:12.6} {:12.6} {error:>12} {truth:>12}{note}",
            p.name, p.initial, p.value
        ));
    }
}
