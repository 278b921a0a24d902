//! What a report shows of learned terms.

use serde::Serialize;

use crate::identify::{Dataset, Experiment, Fit, LearnedFunction, learned_functions};
use crate::model::{LearnedKind, LearnedTerm, Model};

/// A learned term as a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ReportedFunction {
    /// Its name.
    pub name: String,
    /// What it is, as scene files say it.
    pub kind: String,
    /// How many weights it has.
    pub weights: usize,
    /// What it is drawn over, with units.
    pub of: Vec<String>,
    /// The quantities that are held in the middle of what was visited.
    pub held: Vec<String>,
    /// The values of one or two of `of`.
    pub axes: Vec<Vec<f64>>,
    /// What its values are of, with units.
    pub outputs: Vec<String>,
    /// Of each output its values, along the first axis for each value of the second.
    pub values: Vec<Vec<f64>>,
    /// Half the width of the 95 % band of each; empty where it is not known.
    pub half_widths: Vec<Vec<f64>>,
    /// Points that the recordings visited.
    pub visited: Vec<Vec<f64>>,
}

/// The learned terms of a fit.
pub(super) fn reported(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
) -> Vec<ReportedFunction> {
    let model = &experiment.scene.model;
    let functions = learned_functions(experiment, dataset, fit);
    let reported = functions.into_iter().zip(&model.learned).map(|(function, term)| {
        let LearnedFunction { name, kind, of, axes, outputs, values, half_widths, visited } =
            function;
        let shown = axes.len();
        let quantity = |place: usize| match quantity_unit(model, term, place) {
            "" => of[place].clone(),
            unit => format!("{} ({unit})", of[place]),
        };
        let output = |(index, name): (usize, &String)| match output_unit(model, term, index) {
            "" => name.clone(),
            unit => format!("{name} ({unit})"),
        };
        ReportedFunction {
            kind: kind.name().to_string(),
            weights: term.network.weights(),
            of: (0..shown).map(quantity).collect(),
            held: of[shown..].to_vec(),
            outputs: outputs.iter().enumerate().map(output).collect(),
            name,
            axes,
            values,
            half_widths,
            visited,
        }
    });
    reported.collect()
}

/// Whether a velocity turns something, of joints that have one coordinate and of others.
fn turns(model: &Model, velocity: usize) -> bool {
    model.bodies.iter().map(|body| &body.joint).any(|joint| {
        let own = velocity.checked_sub(joint.v).filter(|&k| k < joint.kind.nv());
        own.is_some_and(|k| k >= joint.kind.translations())
    })
}

fn quantity_unit(model: &Model, term: &LearnedTerm, place: usize) -> &'static str {
    use crate::model::Feature;
    let input = (0..term.features.len()).find(|&input| term.quantity(input) == place);
    match input.map(|input| term.features[input]) {
        Some(Feature::Sine { .. } | Feature::Cosine { .. }) => "rad",
        Some(Feature::Coordinate { v, .. }) => {
            if turns(model, v) {
                "rad"
            } else {
                "m"
            }
        }
        Some(Feature::Velocity { v }) => {
            if turns(model, v) {
                "rad/s"
            } else {
                "m/s"
            }
        }
        Some(Feature::Place { .. }) => "m",
        _ => "",
    }
}

fn output_unit(model: &Model, term: &LearnedTerm, output: usize) -> &'static str {
    let turns = |v: Option<&usize>| v.is_some_and(|&v| turns(model, v));
    match term.kind {
        LearnedKind::Potential => match quantity_unit(model, term, output) {
            "rad" => "N m",
            "m" => "N",
            _ => "",
        },
        LearnedKind::Force if turns(term.velocities.get(output)) => "N m",
        LearnedKind::Force => "N",
        LearnedKind::Dissipation if turns(term.velocities.get(output)) => "N m s/rad",
        LearnedKind::Dissipation => "N s/m",
        LearnedKind::Friction => "",
    }
}
