//! `stiction evaluate`
//!
//! With `--json`, or in the file of `-o`, one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads` | what made it |
//! | `experiment` | the experiment file, or the scene that stands for one |
//! | `scene`, `parameters`, `compare` | the files of these options, where they are given |
//! | `initial`, `count`, `position_error_percent`, `rotation_error_deg`, `joint_error_deg`, `summary`, `comparison`, `solver`, `trajectories` | see [`Judgement`] |

use std::path::PathBuf;

use super::given_recordings::RecordingArguments;
use super::learned;
use super::outcome::Outcome;
use super::output::{ResultArguments, UNSOLVED_SHARE, json_head, json_text, path, print, warn};
use super::scene_options::{self, SceneOptions};
use crate::Error;
use crate::identify::{
    Comparison, Dataset, Doubt, ErrorSpread, Experiment, Judgement, RolloutStart, read_parameters,
};
use crate::model::Parameters;
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
    let read = |file: &Option<PathBuf>| -> Result<Option<Parameters<f64>>, Error> {
        let Some(path) = file else { return Ok(None) };
        let (parameters, warning) = read_parameters(path, &experiment)?;
        warning.iter().for_each(|warning| warn(warning));
        Ok(Some(parameters))
    };
    let [parameters, others] = [read(&arguments.parameters)?, read(&arguments.compare)?];
    let start = match arguments.initial {
        Initial::Recorded => RolloutStart::Recorded,
        Initial::Flight => RolloutStart::Flight,
    };
    let given = [parameters.as_ref(), others.as_ref()];
    let judgement = Judgement::new(&experiment, &dataset, given, (start, threads), &|| true)?;
    let (model, time_step) = (&experiment.scene.model, dataset.settings.time_step);

    let mut object = json_head("evaluate", experiment.seed, threads);
    for (key, file) in [
        ("scene", &arguments.scene),
        ("parameters", &arguments.parameters),
        ("compare", &arguments.compare),
    ] {
        if let Some(file) = file {
            object.insert(key.into(), path(file));
        }
    }
    object.extend(judgement.json(model, time_step));
    let text = json_text(object);
    arguments.result.write(&text)?;
    for doubt in judgement.doubts(model, time_step) {
        let (Doubt::Unsolved(sentence) | Doubt::Implausible(sentence)) = doubt;
        warn(&sentence);
    }
    if arguments.result.json {
        print(&text);
    } else {
        report(&judgement, experiment.length_scale);
        for sentence in judgement.comparison.iter().flat_map(Comparison::sentences) {
            print(&sentence);
        }
    }
    let solved = judgement.report.unsolved as f64 <= UNSOLVED_SHARE * judgement.report.steps as f64;
    let sound = judgement.evaluation.is_finite() && solved;
    Ok(Outcome::of(sound, &judgement.plausibility()))
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
        let mut experiment = Experiment::of_scene(&name, loaded);
        experiment.data = recordings_of(expand_all(&data)?, None)?;
        Ok(experiment)
    }
}

/// The recordings from the best to the worst, and what their errors come to.
fn report(judgement: &Judgement, length: f64) {
    let evaluation = &judgement.evaluation;
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
    for ([key, title], summary) in judgement.summaries() {
        let unit = if key.ends_with("percent") { &of } else { "degrees" };
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
