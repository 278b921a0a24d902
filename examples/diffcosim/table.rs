//! What learning came to, for people and machines.

use serde_json::json;
use stiction::learn::ErrorSummary;
use stiction::maximal::{PointConstraint, PointParameters, PointScene};

/// A task learned by a model.
pub struct Outcome {
    pub task: String,
    pub model: &'static str,
    pub error: ErrorSummary,
    /// Points in time of the error.
    pub times: usize,
    /// Pieces kept to judge by that could not be predicted.
    pub not_predicted: usize,
    pub parameters: PointParameters<f64>,
    pub seconds: f64,
    pub updates: usize,
    pub seed: u64,
    pub simulated: usize,
    pub left_out: usize,
    /// For each surface in how many of the pieces learned from it touches.
    pub touching: Vec<usize>,
}

fn list(numbers: &[f64]) -> String {
    let shown: Vec<String> = numbers.iter().map(|x| format!("{x:.4}")).collect();
    shown.join(" ")
}

/// Pieces from which on a surface counts as seen.
const SEEN: usize = 5;

/// What is seen of moments: of a disk in the plane their sum; of a top those about its pivot, over the first.
fn moments(scene: &PointScene, parameters: &PointParameters<f64>) -> (&'static str, Vec<f64>) {
    let moments = &parameters.moments;
    if scene.system.dimension() == 2 {
        return ("moments (m²)", moments.chunks_exact(2).map(|s| s[0] + s[1]).collect());
    }
    let arm = scene.system.constraints().iter().find_map(|constraint| match constraint {
        PointConstraint::BallJoint { weights, .. } => {
            let axes: Vec<(usize, f64)> = weights.iter().filter(|(p, _)| *p > 0).copied().collect();
            (axes.len() == 1).then(|| axes[0])
        }
        _ => None,
    });
    match (arm, &moments[..]) {
        (Some((point, arm)), &[a, b, c]) => {
            let mut about = [b + c, a + c, a + b];
            (0..3).filter(|k| k + 1 != point).for_each(|k| about[k] += arm * arm);
            ("moment ratios", about.map(|m| m / about[0]).to_vec())
        }
        _ => ("moments (m²)", moments.clone()),
    }
}

/// Masses are seen up to a common factor: over the first.
fn ratios(masses: &[f64]) -> Vec<f64> {
    masses.iter().map(|m| m / masses[0]).collect()
}

/// One outcome.
pub fn report(outcome: &Outcome, scene: &PointScene, as_json: bool) {
    let Outcome { task, model, error, parameters, .. } = outcome;
    let truth = &scene.parameters;
    if as_json {
        let numbers = |p: &PointParameters<f64>| json!({ "mass_ratios": ratios(&p.masses), "moments": p.moments, "friction": p.friction, "restitution": p.restitution });
        let line = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "task": task,
            "model": model,
            "seed": outcome.seed,
            "updates": outcome.updates,
            "relative_error": { "mean": error.mean, "half_width_95": error.half_width, "median": error.median, "pieces": error.count },
            "found": numbers(parameters),
            "true": numbers(truth),
            "pieces_simulated": outcome.simulated,
            "pieces_left_out": outcome.left_out,
            "pieces_not_predicted": outcome.not_predicted,
            "pieces_touching": outcome.touching,
            "seconds": outcome.seconds,
        });
        println!("{line}");
        return;
    }
    println!(
        "{task} by {model}, {} updates, seed {}, {:.0} s",
        outcome.updates, outcome.seed, outcome.seconds
    );
    println!(
        "  relative error of {} points {:.2e} ± {:.1e} (95 %), median {:.2e}, of {} pieces no one learned from",
        outcome.times, error.mean, error.half_width, error.median, error.count
    );
    if parameters.friction.len() == 1 {
        println!("  friction      {}", list(&parameters.friction));
        println!("           true {}", list(&truth.friction));
        println!("  restitution   {}", list(&parameters.restitution));
        println!("           true {}", list(&truth.restitution));
    } else {
        println!("  surface  pieces it touches in  friction   true  restitution   true");
        let mut worst = [0.0_f64; 2];
        for (k, &pieces) in outcome.touching.iter().enumerate() {
            let numbers = [
                &parameters.friction,
                &truth.friction,
                &parameters.restitution,
                &truth.restitution,
            ];
            let [mu, true_mu, e, true_e] = numbers.map(|n| n[k]);
            println!("  {k:>7}  {pieces:>20}  {mu:>8.4}  {true_mu:>5}  {e:>11.4}  {true_e:>5}");
            if pieces >= SEEN {
                worst = [worst[0].max((mu - true_mu).abs()), worst[1].max((e - true_e).abs())];
            }
        }
        println!(
            "  largest errors of those that touch in {SEEN} pieces or more: friction {:.1e}, restitution {:.1e}",
            worst[0], worst[1]
        );
    }
    println!("  mass ratios   {}", list(&ratios(&parameters.masses)));
    println!("           true {}", list(&ratios(&truth.masses)));
    if !truth.moments.is_empty() {
        let ((what, found), (_, expected)) = (moments(scene, parameters), moments(scene, truth));
        println!("  {what} {}", list(&found));
        println!("           true {}", list(&expected));
    }
}

/// All of them.
pub fn print(outcomes: &[Outcome]) {
    println!(
        "\n| task | model | relative error | ± 95 % | median | s |\n|---|---|---|---|---|---|"
    );
    for Outcome { task, model, error, seconds, .. } in outcomes {
        println!(
            "| {task} | {model} | {:.2e} | {:.1e} | {:.2e} | {seconds:.0} |",
            error.mean, error.half_width, error.median
        );
    }
}
