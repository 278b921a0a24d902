//! What `stiction identify` found, for machines and for people.
//!
//! The result, by `-o` or `--json`, is one JSON object:
//!
//! | key | what it holds |
//! |---|---|
//! | `program`, `version`, `command`, `seed`, `threads`, `processes` | what made it |
//! | `experiment` | the experiment file as it was given |
//! | `status` | `converged`, `stalled`, `iteration_limit`, `stopped`, `unobservable` or `infeasible` |
//! | `loss`, `loss_at_start`, `loss_of_scene` | mean of the squared residuals over their standard deviations: at the result, at the start, and with the scene's own parameters |
//! | `iterations` | of the search |
//! | `rollouts` | the work done, in simulations of one recording without derivatives; measured, so it varies from run to run |
//! | `seconds` | wall time until all was found, before it was written |
//! | `gathered` | of several processes what the first one gathered until then: `calls`, `bytes`, and `seconds` in which it waited and gathered |
//! | `parameters` | a list: `name`, `initial` (start of the search), `value`, `lower`, `upper`, `observable` (whether any recording depends on it), `at_bound`, `fixed` (not searched for), `standard_error` and `interval` (95 %; left out where there are none), `tied` (others that have its value) |
//! | `starts` | where the first stage of the search led from each start: `start` and `values` of the parameters, `loss` |
//! | `correlations` | of the estimates: `names`, and a row of `matrix` for each |
//! | `profiles` | how the loss of all recordings depends on each parameter (an empty list where that would take far longer than the search, or with `--no-profiles`): `name`, `values` with the `loss` at each, `others`, the other parameters and initial states: `fitted` anew at each value, or `held`; and `profile_rollouts`, the work, measured |
//! | `errors_from` | what standard errors are taken from: `linearisation`, or `halves` of the recordings; `half_rollouts`, the work of fits to these, if there were any |
//! | `errors_test` | where nothing was asked for: how far fits to halves of the recordings differ, in squares of what the linearisation says: `statistic`, `threshold` (beyond it errors are taken from halves), `splits`, `is_cut_short` (by the work allowed) |
//! | `holdout` | of recordings that were held out: `recordings`, `position_error_percent`, `rotation_error_deg` and, with hinges, `joint_error_deg`, and the same of the scene's own parameters with `_of_scene`; `null` where nothing of the kind is recorded |
//! | `learned` | learned terms as functions: `name`, `kind`, `of`; `axes`, the values of one or two of `of`; `outputs`, and of each its `values`, along the first axis for each value of the second, and `half_widths` of their 95 % band (an empty list where that is not known) |
//! | `truth` | true values by name, where the experiment states them |
//! | `solver` | contact problems of all windows at the result: `steps`, `unsolved`, `iterations` (sum), `worst_residual`, `least_margin` (distance to the nearest change of mode), `implausible` (how many steps are not plausible) |
//! | `score_tests` | what the fit would gain by numbers of the scene that it held, those that are claims first (an empty list where that would take far longer than the search): see `cli/lacking.rs` |
//! | `improvement` | with `--improve`: what was tried and adopted, and the improved fit: see `cli/lacking.rs` |
//! | `comparison` | with the result of the same experiment that stood where this one is written, if there was one: see `Comparison::json` |
//! | `warnings` | sentences: questions about the recordings first, whether the model explains them, masses that show only over an inertia that is held fixed |
//!
//! Numbers that are not finite are `null`. `stiction evaluate --parameters` reads `parameters`.

use std::time::Instant;

use serde_json::{Map, Value, json};

use super::learned;
use super::output::{json_head, number, print};
use crate::identify::{Dataset, Experiment, Fit, HalvesTest, Problem, is_weight};

/// What a step with derivatives costs in steps without, measured on one recording.
pub(super) fn derivative_cost(experiment: &Experiment, dataset: &Dataset, result: &Fit) -> f64 {
    use crate::identify::LeastSquares;
    let x: Vec<f64> = result.parameters.iter().map(|p| p.value).collect();
    let mut problem = Problem::new(experiment, dataset, 1);
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

pub(super) fn result_json(
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

/// What fits to halves said of the linearisation.
pub(super) fn errors_test(test: &HalvesTest) -> Value {
    json!({
        "statistic": number(test.statistic),
        "threshold": number(test.threshold),
        "splits": test.splits,
        "is_cut_short": test.is_cut_short,
    })
}

pub(super) fn report(experiment: &Experiment, result: &Fit, seconds: f64) {
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
