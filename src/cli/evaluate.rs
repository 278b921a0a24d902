//! `stiction evaluate`
//!
//! With `--json`, or in the file of `-o`, one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads` | what made it |
//! | `experiment` | the experiment file, or the scene that stands for one |
//! | `scene`, `parameters`, `compare` | the files of these options, where they are given |
//! | `initial` | where rollouts start: `recorded` or `flight` |
//! | `count` | how many recordings there are |
//! | `position_error_percent`, `rotation_error_deg`, `joint_error_deg` | means over the recordings |
//! | `summary` | of each kind of error: `mean`, `median`, `most_of_nine_tenths`, and `least` and `largest` with their `error` and the `name` of the recording |
//! | `comparison` | with `--compare`: see `cli/comparison.rs` |
//! | `solver` | `steps`, `unsolved`, `worst_residual` of the contact problems |
//! | `trajectories` | a list in the order of the recordings: `name`, `frames`, errors, `unsolved`, `before` (errors with `--compare`), `implausible` |

use std::path::PathBuf;

use serde_json::{Value, json};

use super::given_recordings::RecordingArguments;
use super::outcome::Outcome;
use super::output::{
    ResultArguments, UNSOLVED_SHARE, json_head, json_text, number, optional, path, print, warn,
    warn_of_conflicts,
};
use super::result_file::read_parameters;
use super::scene_options::{self, SceneOptions};
use super::{comparison, learned, plausibility};
use crate::Error;
use crate::identify::{
    Comparison, Dataset, ErrorSpread, Evaluation, Experiment, Noise, RolloutStart, TrajectoryError,
    evaluate_from,
};
use crate::simulation::{Plausibility, StepReport};
use crate::trajectory::{expand_all, recordings_of};

/// Simulate whole recordings from their first frame and measure the distance.
///
/// What the recordings are of is said by an experiment; or by `--scene` alone, if their columns have our names.
#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    recordings: RecordingArguments,
    /// A scene in place of the experiment's: .toml, MJCF (.xml, .mjcf) or URDF (.urdf)
    #[arg(long, value_name = "SCENE")]
    scene: Option<PathBuf>,
    #[command(flatten)]
    options: SceneOptions,
    /// A result of `stiction identify`, or the scene it wrote, whose parameters to use instead of the scene's
    #[arg(long, value_name = "RESULT.json|SCENE.toml")]
    parameters: Option<PathBuf>,
    /// Another result of `stiction identify`, or another such scene, to compare with, recording by recording
    #[arg(long, value_name = "RESULT.json|SCENE.toml")]
    compare: Option<PathBuf>,
    /// Where rollouts start: from the first recorded frame, or from the state that fits the frames before
    /// the first contact
    #[arg(long, value_enum, default_value = "recorded")]
    initial: Initial,
    #[command(flatten)]
    result: ResultArguments,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Initial {
    Recorded,
    Flight,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let threads = arguments.result.threads()?;
    let experiment = arguments.experiment()?;
    let dataset = Dataset::load_on(&experiment, threads)?;
    dataset.notes.iter().for_each(|note| warn(note));
    learned::warn(&experiment.scene.model, dataset.states());
    let parameters = match &arguments.parameters {
        Some(path) => read_parameters(path, &experiment)?,
        None => experiment.scene.parameters.clone(),
    };
    let (start, initial) = match arguments.initial {
        Initial::Recorded => (RolloutStart::Recorded, "recorded"),
        Initial::Flight => (RolloutStart::Flight, "flight"),
    };
    let evaluation = evaluate_from(&experiment, &dataset, &parameters, start, threads);
    if evaluation.position_error_percent.or(evaluation.rotation_error_deg).is_none() {
        let message = "record no position, orientation or joint angle, and these alone are compared; what \
                       sensors read is not: `stiction identify` says how well it fits (loss)";
        return Err(Error::input(&experiment.name, None, "data", message));
    }
    let before = arguments.compare.as_ref().map(|path| {
        let parameters = read_parameters(path, &experiment)?;
        Ok::<_, Error>(evaluate_from(&experiment, &dataset, &parameters, start, threads))
    });
    let before = before.transpose()?;
    let comparison = before.as_ref().map(|before| Comparison::new(before, &evaluation));
    let mut total = StepReport::default();
    evaluation.trajectories.iter().for_each(|t| total.merge(&t.report));
    let (model, time_step) = (&experiment.scene.model, dataset.settings.time_step);

    let rows = evaluation.trajectories.iter().enumerate().map(|(k, t)| {
        let mut row = row(t, before.as_ref().map(|before| &before.trajectories[k]));
        if !t.report.plausibility.is_whole() {
            row["implausible"] = plausibility::json(&t.report.plausibility, model, time_step);
        }
        row
    });
    let rows: Vec<Value> = rows.collect();
    let mut object = json_head("evaluate", experiment.seed, threads);
    object.insert("experiment".into(), experiment.name.clone().into());
    for (key, file) in [
        ("scene", &arguments.scene),
        ("parameters", &arguments.parameters),
        ("compare", &arguments.compare),
    ] {
        if let Some(file) = file {
            object.insert(key.into(), path(file));
        }
    }
    object.insert("initial".into(), initial.into());
    object.insert("count".into(), rows.len().into());
    let position = optional(evaluation.position_error_percent);
    object.insert("position_error_percent".into(), position);
    object.insert("rotation_error_deg".into(), optional(evaluation.rotation_error_deg));
    if let Some(joint) = evaluation.joint_error_deg {
        object.insert("joint_error_deg".into(), number(joint));
    }
    object.insert("summary".into(), summary_json(&evaluation));
    if let Some(comparison) = &comparison {
        object.insert("comparison".into(), comparison::description(comparison));
    }
    object.insert(
        "solver".into(),
        json!({
            "steps": total.steps,
            "unsolved": total.unsolved,
            "worst_residual": number(total.worst.residual),
        }),
    );
    object.insert("trajectories".into(), rows.into());
    let text = json_text(object);
    arguments.result.write(&text)?;
    if total.unsolved > 0 {
        warn(&format!(
            "{} contact problems in {} steps were not solved to the tolerance (worst residual {:.1e})",
            total.unsolved, total.steps, total.worst.residual
        ));
    }
    let mut plausibility = Plausibility::default();
    for (of, evaluation) in [("", Some(&evaluation)), ("with --compare: ", before.as_ref())] {
        for t in evaluation.iter().flat_map(|evaluation| &evaluation.trajectories) {
            let (of, own) = (format!("{of}{}", t.name), &t.report.plausibility);
            warn_of_conflicts(&t.report.conflicts, &of, model, time_step);
            plausibility::warn(own, &of, model, time_step);
            plausibility.merge(own, 0);
        }
    }
    if arguments.result.json {
        print(&text);
    } else {
        report(&evaluation, experiment.length_scale);
        for sentence in comparison.iter().flat_map(Comparison::sentences) {
            print(&sentence);
        }
    }
    let solved = total.unsolved as f64 <= UNSOLVED_SHARE * total.steps as f64;
    Ok(Outcome::of(evaluation.is_finite() && solved, &plausibility))
}

impl Arguments {
    /// What the recordings are of. Says what is not right about its scene.
    fn experiment(&self) -> Result<Experiment, Error> {
        let (path, data) = self.recordings.split(self.scene.is_some())?;
        let Some(scene) = &self.scene else {
            let SceneOptions { keyframe, floating_base, max_hull_vertices } = &self.options;
            for (option, given) in [
                ("--keyframe", keyframe.is_some()),
                ("--floating-base", *floating_base),
                ("--max-hull-vertices", max_hull_vertices.is_some()),
            ] {
                if given {
                    let message = "is of a scene given by --scene; an experiment says it itself";
                    return Err(Error::input(option, None, "", message));
                }
            }
            let message = "is missing: EXPERIMENT.toml, or --scene SCENE --data RECORDINGS";
            let missing = || Error::input("evaluate", None, "experiment", message);
            let experiment = Experiment::load(path.ok_or_else(missing)?, &data)?;
            scene_options::warn(&experiment.scene);
            return Ok(experiment);
        };
        let loaded = scene_options::load_scene(scene, &self.options, false)?;
        if let Some(path) = path {
            return Experiment::load_with_scene(path, loaded, &data);
        }
        if data.is_empty() {
            let message = "needs recordings: --data FILES, or an experiment";
            return Err(Error::input("--scene", None, scene.display().to_string(), message));
        }
        let name = scene.display().to_string();
        let mut experiment = Experiment::new(&name, loaded, Vec::new(), Noise::default());
        experiment.columns.fill.clone_from(&experiment.scene.state);
        experiment.data = recordings_of(expand_all(&data)?, None)?;
        Ok(experiment)
    }
}

/// What is said of a recording, and of the same one with what it is compared with.
fn row(t: &TrajectoryError, before: Option<&TrajectoryError>) -> Value {
    let mut row = json!({
        "name": t.name,
        "frames": t.frames,
        "position_error_percent": optional(t.position_error_percent),
        "rotation_error_deg": optional(t.rotation_error_deg),
        "unsolved": t.report.unsolved,
    });
    // Without hinges there is none.
    if let Some(joint) = t.joint_error_deg {
        row["joint_error_deg"] = number(joint);
    }
    if let Some(before) = before {
        row["before"] = json!({
            "position_error_percent": optional(before.position_error_percent),
            "rotation_error_deg": optional(before.rotation_error_deg),
        });
        if let Some(joint) = before.joint_error_deg {
            row["before"]["joint_error_deg"] = number(joint);
        }
    }
    row
}

/// A kind of error: its name in JSON and in words, what it is of a recording, and its unit in words.
type Kind<'a> = (&'static str, &'static str, fn(&TrajectoryError) -> Option<f64>, &'a str);

/// Those that there are of, with what they come to.
fn summaries<'a>(evaluation: &Evaluation, of: &'a str) -> Vec<(Kind<'a>, ErrorSpread)> {
    let kinds: [Kind; 3] = [
        ("position_error_percent", "position error", |t| t.position_error_percent, of),
        ("rotation_error_deg", "rotation error", |t| t.rotation_error_deg, "degrees"),
        ("joint_error_deg", "joint error", |t| t.joint_error_deg, "degrees"),
    ];
    let found = kinds.into_iter().filter_map(|kind| Some((kind, evaluation.summary(kind.2)?)));
    found.collect()
}

fn summary_json(evaluation: &Evaluation) -> Value {
    let names = |(error, k): (f64, usize)| json!({ "error": number(error), "name": evaluation.trajectories[k].name });
    let summaries = summaries(evaluation, "").into_iter().map(|((key, ..), summary)| {
        let summary = json!({
            "mean": number(summary.mean),
            "median": number(summary.median),
            "most_of_nine_tenths": number(summary.most_of_nine_tenths),
            "least": names(summary.least),
            "largest": names(summary.largest),
        });
        (key.to_string(), summary)
    });
    Value::Object(summaries.collect())
}

/// The recordings from the best to the worst, and what their errors come to.
fn report(evaluation: &Evaluation, length: f64) {
    let hinges = evaluation.joint_error_deg.is_some();
    let title = if hinges { format!(" {:>12}", "joint deg") } else { String::new() };
    print(&format!(
        "{:>8} {:>12} {:>14}{title}  trajectory",
        "frames", "position %", "rotation deg"
    ));
    for t in evaluation.sorted() {
        let joint = t.joint_error_deg.map_or(String::new(), |x| format!(" {x:12.3}"));
        let [position, rotation] = [t.position_error_percent, t.rotation_error_deg]
            .map(|error| error.map_or("-".to_string(), |x| format!("{x:.3}")));
        print(&format!("{:8} {position:>12} {rotation:>14}{joint}  {}", t.frames, t.name));
    }
    let count = evaluation.trajectories.len();
    print(&format!("{count} trajector{}", if count == 1 { "y" } else { "ies" }));
    let of = format!("% of {length} m");
    for ((_, title, _, unit), summary) in summaries(evaluation, &of) {
        let ErrorSpread { mean, median, most_of_nine_tenths, largest: (largest, worst), .. } =
            summary;
        let spread = match count {
            1 => String::new(),
            _ => format!(
                "; median {median:.3}, nine tenths at most {most_of_nine_tenths:.3}, most {largest:.3} ({})",
                evaluation.trajectories[worst].name
            ),
        };
        print(&format!("{title} {mean:.3} {unit}{spread}"));
    }
}
