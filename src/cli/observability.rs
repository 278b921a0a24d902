//! `stiction identify --check`: which parameters are identifiable, before anything is fitted.
//!
//! With `--json`, one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads`, `experiment` | as of a result |
//! | `status` | `observable`, or `unobservable` if a parameter is not identifiable at the start or with the scene's values |
//! | `explained` | whether the loss is at most 9 (residuals of three standard deviations) at one of the two: where it is not, all below holds only if a fit explains the recordings |
//! | `warnings` | sentences: questions about the recordings |
//! | `at_start`, `at_scene` | an object each, of the values at which was asked: |
//! | `loss` | mean of the squared residuals there |
//! | `singular_values` | of the Jacobian in typical changes of the parameters, decreasing: by how many standard deviations these move the residuals, all taken together |
//! | `parameters` | a list: `name`, `value`, `visibility` (`visible`, `weak`, `combined`, `invisible`), `standard_error` (expected for the stated noise, priors included; `null` where none), `standard_error_alone` (if all others were known), `width` (of the bounds) |
//! | `combinations` | a list of combinations that are not identifiable: `changes` (by name), `in_shares`, `visible` (what shows of them; `null` if it has no short name), `sentence` |
//! | `remarks` | sentences |

use serde_json::{Map, Value, json};

use super::outcome::Outcome;
use super::output::{json_head, json_text, number, print};
use super::plausibility;
use crate::identify::{Dataset, Experiment, Observability, UNEXPLAINED};

/// Asks at the start and with the scene's values, and prints what is found.
pub(super) fn run(
    experiment: &Experiment,
    dataset: &Dataset,
    threads: usize,
    questions: &[String],
    json: bool,
) -> Outcome {
    let parameters = &experiment.parameters;
    let start: Vec<f64> = parameters.iter().map(|p| p.start).collect();
    let own: Vec<f64> = parameters.iter().map(|p| p.get(&experiment.scene.parameters)).collect();
    let ask = |values: &[f64]| Observability::at(experiment, dataset, values, threads);
    let at_start = ask(&start);
    let at_scene = if own == start { at_start.clone() } else { ask(&own) };
    let told = at_start.is_complete() || at_scene.is_complete();
    let status = if told { "observable" } else { "unobservable" };

    let least = at_start.loss.min(at_scene.loss);
    let explained = least <= UNEXPLAINED;
    let mut object = json_head("identify --check", experiment.seed, threads);
    object.insert("experiment".into(), experiment.name.clone().into());
    object.insert("status".into(), status.into());
    object.insert("explained".into(), explained.into());
    object.insert("warnings".into(), questions.into());
    object.insert("at_start".into(), description(&at_start));
    object.insert("at_scene".into(), description(&at_scene));
    if json {
        print(&json_text(object));
    } else {
        report("at the start", &at_start);
        if own != start {
            report("with the scene's own values", &at_scene);
        }
        print(match (told, explained) {
            (true, true) => "observable: the recordings can tell these parameters",
            (true, false) => {
                "observable only if the model explains the recordings, which it does not at these values: first see \
                 whether a fit does"
            }
            (false, _) => "unobservable: the recordings cannot tell all of these parameters",
        });
    }
    let mut plausibility = at_start.report.plausibility;
    plausibility.merge(&at_scene.report.plausibility, 0);
    plausibility::warn(&plausibility, "", &experiment.scene.model, dataset.settings.time_step);
    Outcome::of(told, &plausibility)
}

fn description(at: &Observability) -> Value {
    let optional = |x: Option<f64>| x.map_or(Value::Null, number);
    let parameters: Vec<Value> = at
        .parameters
        .iter()
        .map(|p| {
            json!({
                "name": p.name,
                "value": number(p.value),
                "visibility": p.visibility.name(),
                "standard_error": optional(p.standard_error),
                "standard_error_alone": number(p.alone),
                "width": number(p.width),
            })
        })
        .collect();
    let combinations: Vec<Value> = at
        .combinations
        .iter()
        .map(|combination| {
            let changes: Map<String, Value> =
                combination.changes.iter().map(|(name, x)| (name.clone(), number(*x))).collect();
            json!({
                "changes": changes,
                "in_shares": combination.in_shares,
                "visible": combination.visible,
                "sentence": combination.sentence,
            })
        })
        .collect();
    let singular_values: Vec<Value> = at.singular_values.iter().map(|x| number(*x)).collect();
    json!({
        "loss": number(at.loss),
        "singular_values": singular_values,
        "parameters": parameters,
        "combinations": combinations,
        "remarks": at.remarks,
    })
}

fn report(when: &str, at: &Observability) {
    print(&format!("{when} (loss {:.6}):", at.loss));
    print(&format!(
        "{:32} {:>12} {:>12} {:>12} {:>12}",
        "parameter", "value", "std error", "alone", "bounds apart"
    ));
    for p in &at.parameters {
        let error = p.standard_error.map_or("-".to_string(), |x| format!("{x:.3e}"));
        let alone = if p.alone.is_finite() { format!("{:.3e}", p.alone) } else { "-".to_string() };
        print(&format!(
            "{:32} {:12.6} {error:>12} {alone:>12} {:12.6}  {}",
            p.name,
            p.value,
            p.width,
            p.visibility.name()
        ));
    }
    let values: Vec<String> = at.singular_values.iter().map(|x| format!("{x:.3e}")).collect();
    print(&format!(
        "singular values {} (standard deviations by which typical changes move all residuals)",
        values.join(", ")
    ));
    at.remarks.iter().for_each(|remark| print(&format!("  {remark}")));
}
