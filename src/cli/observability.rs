//! `stiction identify --check`: which parameters are identifiable, before anything is fitted.
//!
//! With `--json`, one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads`, `experiment` | as of a result |
//! | `status` | `observable`, or `unobservable` if a parameter is not identifiable at any of the points at which was asked |
//! | `judged` | the point that this is said of: of those where all parameters are identifiable, or else of all, the one with the least loss: `at_start`, `at_scene` or `after_short_fit` |
//! | `explained` | whether the loss is at most 9 (residuals of three standard deviations) at one of them: where it is not, all below holds only if a fit explains the recordings |
//! | `warnings` | sentences: questions about the recordings |
//! | `at_start`, `at_scene`, `after_short_fit` | an object each, of the values at which was asked; the last one `null` where the first or the second explains the recordings already |
//! | `iterations`, `recordings` | of the short fit, which begins at the start: Levenberg-Marquardt iterations, at most 8, and how many recordings it looked at, at most 32; `loss` is of these |
//! | `loss` | mean of the squared residuals there |
//! | `singular_values` | of the Jacobian in typical changes of the parameters, decreasing: by how many standard deviations these move the residuals, all taken together |
//! | `parameters` | a list: `name`, `value`, `visibility` (`visible`, `weak`, `combined`, `invisible`), `standard_error` (expected for the stated noise, priors included; `null` where none), `standard_error_alone` (if all others were known), `width` (of the bounds) |
//! | `combinations` | a list of combinations that are not identifiable: `changes` (by name), `in_shares`, `visible` (what shows of them; `null` if it has no short name), `sentence` |
//! | `masses_over_inertia` | a list of what recordings tell only as a ratio to an inertia that the scene holds fixed: `parameters` (names, a mass among them), `bodies` (whose inertia), `sentence` |
//! | `remarks` | sentences |

use serde_json::{Map, Value, json};

use super::outcome::Outcome;
use super::output::{json_head, json_text, number, print};
use super::plausibility;
use crate::identify::{Dataset, Experiment, Observability, ShortFit, UNEXPLAINED};

/// Asks at the start, with the scene's values and, where neither explains the recordings, after a short fit; prints
/// what is found.
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
    let explains = |at: &Observability| at.loss <= UNEXPLAINED;
    // A start far off says little about the recordings of a right experiment.
    let short = (!explains(&at_start) && !explains(&at_scene)).then(|| {
        let fit = ShortFit::new(experiment, dataset, threads);
        let found = Observability::after(experiment, dataset, &fit, threads);
        (fit, found)
    });
    let mut points = vec![("at_start", "at the start".to_string(), &at_start)];
    if own != start {
        points.push(("at_scene", "with the scene's own values".to_string(), &at_scene));
    }
    if let Some((fit, found)) = &short {
        let when = format!(
            "after a short fit from the start, {} iterations on {} of {} recordings",
            fit.iterations,
            fit.recordings,
            dataset.trajectories.len()
        );
        points.push(("after_short_fit", when, found));
    }
    let told = points.iter().any(|(.., at)| at.is_complete());
    let candidates = points.iter().filter(|(.., at)| at.is_complete() == told);
    let best = candidates.min_by(|(.., a), (.., b)| a.loss.total_cmp(&b.loss));
    let (judged, at) = best.map_or(("at_start", &at_start), |&(key, _, at)| (key, at));
    let when = match judged {
        "at_scene" => "with the scene's own values",
        "after_short_fit" => "after a short fit",
        _ => "at the start",
    };
    let status = if told { "observable" } else { "unobservable" };
    let explained = points.iter().any(|(.., at)| explains(at));
    let mut object = json_head("identify --check", experiment.seed, threads);
    object.insert("experiment".into(), experiment.name.clone().into());
    object.insert("status".into(), status.into());
    object.insert("judged".into(), judged.into());
    object.insert("explained".into(), explained.into());
    object.insert("warnings".into(), questions.into());
    object.insert("at_start".into(), description(&at_start));
    object.insert("at_scene".into(), description(&at_scene));
    let after = short.as_ref().map_or(Value::Null, |(fit, found)| {
        let mut after = description(found);
        after["iterations"] = fit.iterations.into();
        after["recordings"] = fit.recordings.into();
        after
    });
    object.insert("after_short_fit".into(), after);
    if json {
        print(&json_text(object));
    } else {
        for (_, when, at) in &points {
            report(when, at);
        }
        let held = match at.masses_over_inertia.is_empty() {
            true => "",
            false => ", if the inertia that the scene holds fixed is right",
        };
        print(&match (told, explained) {
            (true, true) => format!(
                "observable: the recordings can tell these parameters{held} (judged {when})"
            ),
            (true, false) => format!(
                "observable only if the model explains the recordings, which it does not at any of these values{held} \
                 (judged {when}): first see whether a fit does"
            ),
            (false, _) => {
                format!(
                    "unobservable: the recordings cannot tell all of these parameters (judged {when})"
                )
            }
        });
    }
    let mut plausibility = at_start.report.plausibility;
    plausibility.merge(&at_scene.report.plausibility, 0);
    if let Some((_, found)) = &short {
        plausibility.merge(&found.report.plausibility, 0);
    }
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
    let ratios = at.masses_over_inertia.iter().map(|ratio| {
        json!({
            "parameters": ratio.parameters, "bodies": ratio.bodies, "sentence": ratio.sentence,
        })
    });
    let ratios: Vec<Value> = ratios.collect();
    let singular_values: Vec<Value> = at.singular_values.iter().map(|x| number(*x)).collect();
    json!({
        "loss": number(at.loss),
        "singular_values": singular_values,
        "parameters": parameters,
        "combinations": combinations,
        "masses_over_inertia": ratios,
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
