//! `stiction evaluate`

use std::path::PathBuf;

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::output::{
    ResultArguments, UNSOLVED_SHARE, json_head, json_text, number, optional, print, warn,
    warn_of_conflicts,
};
use super::result_file::read_parameters;
use super::{comparison, learned, plausibility, scene_options};
use crate::Error;
use crate::identify::{Comparison, Dataset, Experiment, RolloutStart, evaluate_from};
use crate::simulation::{Plausibility, StepReport};

/// Simulate whole recordings from their first frame and measure the distance.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The experiment (TOML)
    experiment: PathBuf,
    /// A result of `stiction identify` whose parameters to use instead of the scene's
    #[arg(long, value_name = "RESULT.json")]
    parameters: Option<PathBuf>,
    /// Another result of `stiction identify` to compare with, recording by recording
    #[arg(long, value_name = "RESULT.json")]
    compare: Option<PathBuf>,
    /// Recordings: a CSV file, a folder of them, or a pattern in quotes; replaces the experiment's
    #[arg(long, value_name = "DIR_OR_GLOB")]
    data: Option<String>,
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
    let experiment = Experiment::load(&arguments.experiment, arguments.data.as_deref())?;
    scene_options::warn(&experiment.scene);
    let dataset = Dataset::load(&experiment)?;
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

    let rows: Vec<Value> = evaluation
        .trajectories
        .iter()
        .enumerate()
        .map(|(k, t)| {
            let mut row = json!({
                "name": t.name,
                "frames": t.frames,
                "position_error_percent": optional(t.position_error_percent),
                "rotation_error_deg": optional(t.rotation_error_deg),
                "unsolved": t.report.unsolved,
            });
            if !t.report.plausibility.is_whole() {
                row["implausible"] = plausibility::json(&t.report.plausibility, model, time_step);
            }
            // Without hinges there is none.
            if let Some(joint) = t.joint_error_deg {
                row["joint_error_deg"] = number(joint);
            }
            if let Some(before) = &before {
                let before = &before.trajectories[k];
                row["before"] = json!({
                    "position_error_percent": optional(before.position_error_percent),
                    "rotation_error_deg": optional(before.rotation_error_deg),
                });
            }
            row
        })
        .collect();
    let mut object = json_head("evaluate", experiment.seed, threads);
    object.insert("experiment".into(), experiment.name.clone().into());
    object.insert("initial".into(), initial.into());
    object.insert("count".into(), rows.len().into());
    let position = optional(evaluation.position_error_percent);
    object.insert("position_error_percent".into(), position);
    object.insert("rotation_error_deg".into(), optional(evaluation.rotation_error_deg));
    if let Some(joint) = evaluation.joint_error_deg {
        object.insert("joint_error_deg".into(), number(joint));
    }
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
        let hinges = evaluation.joint_error_deg.is_some();
        let title = if hinges { format!(" {:>12}", "joint deg") } else { String::new() };
        print(&format!(
            "{:>8} {:>12} {:>14}{title}  trajectory",
            "frames", "position %", "rotation deg"
        ));
        for t in &evaluation.trajectories {
            let joint = t.joint_error_deg.map_or(String::new(), |x| format!(" {x:12.3}"));
            let [position, rotation] = [t.position_error_percent, t.rotation_error_deg]
                .map(|error| error.map_or("-".to_string(), |x| format!("{x:.3}")));
            print(&format!("{:8} {position:>12} {rotation:>14}{joint}  {}", t.frames, t.name));
        }
        let length = experiment.length_scale;
        let position = evaluation.position_error_percent;
        let errors = [
            position.map(|x| format!("position error {x:.3} % of {length} m")),
            evaluation.rotation_error_deg.map(|x| format!("rotation error {x:.3} degrees")),
            evaluation.joint_error_deg.map(|x| format!("joint error {x:.3} degrees")),
        ];
        let errors: Vec<String> = errors.into_iter().flatten().collect();
        print(&format!("{} trajectories: {}", evaluation.trajectories.len(), errors.join(", ")));
        for sentence in comparison.iter().flat_map(Comparison::sentences) {
            print(&sentence);
        }
    }
    let solved = total.unsolved as f64 <= UNSOLVED_SHARE * total.steps as f64;
    Ok(Outcome::of(evaluation.is_finite() && solved, &plausibility))
}
