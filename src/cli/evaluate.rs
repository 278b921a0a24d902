//! `stiction evaluate`

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::output::{
    UNSOLVED_SHARE, check_directory, json_head, json_text, number, print, threads, write_file,
};
use super::{Outcome, scene_options};
use crate::Error;
use crate::identify::{Dataset, Experiment, FreeParameter, RolloutStart, evaluate_from};
use crate::model::Parameters;
use crate::simulation::StepReport;

/// Simulate whole recordings from their first frame and measure the distance.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The experiment (TOML)
    experiment: PathBuf,
    /// A result of `stiction identify` whose parameters to use instead of the scene's
    #[arg(long, value_name = "RESULT.json")]
    parameters: Option<PathBuf>,
    /// Recordings: a CSV file, a folder of them, or a pattern in quotes; replaces the experiment's
    #[arg(long, value_name = "DIR_OR_GLOB")]
    data: Option<String>,
    /// Where rollouts start: from the first recorded frame, or from the state that fits the frames before
    /// the first contact
    #[arg(long, value_enum, default_value = "recorded")]
    initial: Initial,
    /// Where to write the result (JSON)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
    /// Threads to use; the result does not depend on it [default: all]
    #[arg(long)]
    threads: Option<usize>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Initial {
    Recorded,
    Flight,
}

pub(super) fn run(arguments: &Arguments) -> Result<Outcome, Error> {
    let threads = threads(arguments.threads)?;
    arguments.output.as_deref().map_or(Ok(()), check_directory)?;
    let experiment = Experiment::load(&arguments.experiment, arguments.data.as_deref())?;
    scene_options::warn(&experiment.scene);
    let dataset = Dataset::load(&experiment)?;
    let parameters = match &arguments.parameters {
        Some(path) => read_parameters(path, &experiment)?,
        None => experiment.scene.parameters.clone(),
    };
    let (start, initial) = match arguments.initial {
        Initial::Recorded => (RolloutStart::Recorded, "recorded"),
        Initial::Flight => (RolloutStart::Flight, "flight"),
    };
    let evaluation = evaluate_from(&experiment, &dataset, &parameters, start, threads);
    let mut total = StepReport::default();
    evaluation.trajectories.iter().for_each(|t| total.merge(&t.report));

    let rows: Vec<Value> = evaluation
        .trajectories
        .iter()
        .map(|t| {
            let mut row = json!({
                "name": t.name,
                "frames": t.frames,
                "position_error_percent": number(t.position_error_percent),
                "rotation_error_deg": number(t.rotation_error_deg),
                "unsolved": t.report.unsolved,
            });
            // Without hinges there is none.
            if let Some(joint) = t.joint_error_deg {
                row["joint_error_deg"] = number(joint);
            }
            row
        })
        .collect();
    let mut object = json_head("evaluate", experiment.seed, threads);
    object.insert("experiment".into(), experiment.name.clone().into());
    object.insert("initial".into(), initial.into());
    object.insert("count".into(), rows.len().into());
    let position = number(evaluation.position_error_percent);
    object.insert("position_error_percent".into(), position);
    object.insert("rotation_error_deg".into(), number(evaluation.rotation_error_deg));
    if let Some(joint) = evaluation.joint_error_deg {
        object.insert("joint_error_deg".into(), number(joint));
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
    if let Some(path) = &arguments.output {
        write_file(path, (text.clone() + "\n").as_bytes())?;
    }
    if total.unsolved > 0 {
        eprintln!(
            "warning: {} contact problems in {} steps were not solved to the tolerance (worst \
             residual {:.1e})",
            total.unsolved, total.steps, total.worst.residual
        );
    }
    if arguments.json {
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
            print(&format!(
                "{:8} {:12.3} {:14.3}{joint}  {}",
                t.frames, t.position_error_percent, t.rotation_error_deg, t.name
            ));
        }
        let joint = evaluation.joint_error_deg;
        let joint = joint.map_or(String::new(), |x| format!(", joint error {x:.3} degrees"));
        print(&format!(
            "{} trajectories: position error {:.3} % of {} m, rotation error {:.3} degrees{joint}",
            evaluation.trajectories.len(),
            evaluation.position_error_percent,
            experiment.length_scale,
            evaluation.rotation_error_deg
        ));
    }
    let finite =
        evaluation.position_error_percent.is_finite() && evaluation.rotation_error_deg.is_finite();
    let solved = total.unsolved as f64 <= UNSOLVED_SHARE * total.steps as f64;
    Ok(if finite && solved { Outcome::Done } else { Outcome::Failed })
}

/// The scene's parameters with those of an identification result in their place.
fn read_parameters(path: &Path, experiment: &Experiment) -> Result<Parameters<f64>, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| Error::io(path, error))?;
    let file = path.display().to_string();
    let bad = |field: &str, message: String| Error::input(&file, None, field, message);
    let result: Value = serde_json::from_str(&text)
        .map_err(|error| Error::input(&file, error.line(), "", error.to_string()))?;
    let list = result.get("parameters").and_then(Value::as_array).ok_or_else(|| {
        bad("parameters", "is missing; give a result of `stiction identify -o`".into())
    })?;
    let mut parameters = experiment.scene.parameters.clone();
    for (i, entry) in list.iter().enumerate() {
        let field = |name: &str| format!("parameters[{i}].{name}");
        let name = entry
            .get("name")
            .and_then(Value::as_str)
            .ok_or_else(|| bad(&field("name"), "is missing".into()))?;
        let value = entry
            .get("value")
            .and_then(Value::as_f64)
            .ok_or_else(|| bad(&field("value"), "must be a number".into()))?;
        let mut names = vec![("name", name)];
        for tied in entry.get("tied").and_then(Value::as_array).into_iter().flatten() {
            let tied = tied.as_str();
            names.push((
                "tied",
                tied.ok_or_else(|| bad(&field("tied"), "must be a list of strings".into()))?,
            ));
        }
        for (key, name) in names {
            let slots = experiment
                .parameter(name)
                .ok_or_else(|| bad(&field(key), format!("the scene has no parameter {name:?}")))?;
            if !FreeParameter::allows(name, value) {
                return Err(bad(&field("value"), format!("{name} cannot be {value}")));
            }
            for slot in slots.slots {
                parameters.values[slot] = value;
            }
        }
    }
    Ok(parameters)
}
