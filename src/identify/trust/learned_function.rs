//! What a learned term came to be: its values over what recordings visit, and how far they are known.

use nalgebra::{DMatrix, DVector};

use crate::ad::{self, Dual, LANES, Real};
use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;
use crate::identify::search::Fit;
use crate::model::{Feature, LearnedKind, LearnedTerm, Model, Parameters};

/// Values of a quantity along which a function is drawn, and along each of two.
const ALONG: usize = 121;
const ACROSS: usize = 31;
/// Points that recordings visited, at most.
const VISITED: usize = 600;
/// Terms of more weights have no band: their covariance would be larger than what is left of the fit.
const MOST_WEIGHTS: usize = 2_000;
/// Half the width of a 95 % interval of a normal number, in standard deviations.
const NORMAL_95: f64 = 1.96;
/// How much wider than what recordings visit it is drawn, on each side.
const MARGIN: f64 = 0.1;

/// A learned term as a function of what it depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedFunction {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: LearnedKind,
    /// What it is a function of.
    pub of: Vec<String>,
    /// The values of `of` that it is drawn over: all of the first with each of the second, where there are two; of more
    /// quantities the others are held in the middle of what is visited.
    pub axes: Vec<Vec<f64>>,
    /// What its values are of: a force, a coefficient of friction.
    pub outputs: Vec<String>,
    /// Of each output its values, along the first axis for each value of the second.
    pub values: Vec<Vec<f64>>,
    /// Half the width of their 95 % band; empty where it is not known.
    pub half_widths: Vec<Vec<f64>>,
    /// Points that the recordings visited, in the quantities of `axes`.
    pub visited: Vec<Vec<f64>>,
}

/// The learned terms of a fit, by what it identified.
pub fn learned_functions(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
) -> Vec<LearnedFunction> {
    let terms = 0..experiment.scene.model.learned.len();
    terms.map(|term| learned_function(experiment, dataset, fit, term)).collect()
}

fn learned_function(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    index: usize,
) -> LearnedFunction {
    let model = &experiment.scene.model;
    let term = &model.learned[index];
    let visited = visited(term, dataset);
    let ranges: Vec<[f64; 2]> =
        (0..term.of.len()).map(|place| drawn(term, &visited, place)).collect();
    let middle: Vec<f64> = ranges.iter().map(|[least, most]| 0.5 * (least + most)).collect();
    let shown = term.of.len().min(2);
    let count = if shown == 1 { ALONG } else { ACROSS };
    let axis = |&[least, most]: &[f64; 2]| -> Vec<f64> {
        (0..count).map(|k| least + (most - least) * k as f64 / (count - 1) as f64).collect()
    };
    let axes: Vec<Vec<f64>> = ranges[..shown].iter().map(axis).collect();
    let mut points = Vec::new();
    let second: &[f64] = axes.get(1).map_or(&[], Vec::as_slice);
    let rows: Vec<Option<f64>> = match shown {
        2 => second.iter().copied().map(Some).collect(),
        _ => vec![None],
    };
    for other in rows {
        for &x in &axes[0] {
            let mut point = middle.clone();
            point[0] = x;
            if let Some(other) = other {
                point[1] = other;
            }
            points.push(point);
        }
    }
    let outputs = output_names(model, term);
    let mut values = vec![Vec::new(); outputs.len()];
    let mut half_widths = vec![Vec::new(); outputs.len()];
    let uncertainty = uncertainty(experiment, fit, index);
    for point in &points {
        let found = evaluate(model, index, &fit.identified, point);
        values.iter_mut().zip(&found).for_each(|(list, &y)| list.push(y));
        let Some(Uncertainty { slots, covariance, quantile, before }) = &uncertainty else {
            continue;
        };
        let weights: Vec<f64> = slots.iter().map(|&slot| fit.identified.values[slot]).collect();
        let of = |weights: &[Dual<f64, LANES>]| {
            let mut parameters = fit.identified.cast();
            slots.iter().zip(weights).for_each(|(&slot, &x)| parameters.values[slot] = x);
            evaluate(model, index, &parameters, point)
        };
        let (_, slopes) = ad::jacobian::<LANES>(of, &weights);
        for (list, row) in half_widths.iter_mut().zip(slopes.row_iter()) {
            let row: DVector<f64> = row.transpose();
            let after = quantile * row.dot(&(covariance * &row)).max(0.0).sqrt();
            // Where one recording alone has been, leaving it out says too much: nothing is known less than beforehand.
            let own = row.iter().zip(before).filter(|(x, _)| **x != 0.0);
            let variance: f64 = own.map(|(x, sd)| (x * sd).powi(2)).sum();
            list.push(after.min(NORMAL_95 * variance.sqrt()));
        }
    }
    if uncertainty.is_none() {
        half_widths.clear();
    }
    let visited = visited.into_iter().map(|mut point| {
        point.truncate(shown);
        point
    });
    let visited = visited.collect();
    let (name, kind, of) = (term.name.clone(), term.kind, term.of.clone());
    LearnedFunction { name, kind, of, axes, outputs, values, half_widths, visited }
}

/// Points that recordings visited, in all quantities; none of places on a surface.
fn visited(term: &LearnedTerm, dataset: &Dataset) -> Vec<Vec<f64>> {
    let frames = |k: usize| dataset.trajectories[k].times.len();
    let count: usize = (0..dataset.trajectories.len()).map(frames).sum();
    let every = count.div_ceil(VISITED).max(1);
    let point = |state| -> Option<Vec<f64>> {
        let quantities = 0..term.of.len();
        quantities.map(|place| term.quantity_in(place, state).filter(|x| x.is_finite())).collect()
    };
    let mut own = Vec::new();
    let mut begin = 0;
    for (k, recording) in dataset.trajectories.iter().enumerate() {
        let states = recording.states.iter().enumerate();
        let chosen = states.filter(|(frame, _)| (begin + frame).is_multiple_of(every));
        own.extend(chosen.filter_map(|(_, state)| point(state)));
        begin += frames(k);
    }
    dataset.group().gather("visited", 0, own).into_iter().flatten().collect()
}

/// Over what a quantity is drawn.
fn drawn(term: &LearnedTerm, visited: &[Vec<f64>], place: usize) -> [f64; 2] {
    let values = visited.iter().map(|point| point[place]);
    let ends = values
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], x| [least.min(x), most.max(x)]);
    let [least, most] = match ends[0] < ends[1] {
        true => ends,
        false => term.range.get(place).copied().unwrap_or([-1.0, 1.0]),
    };
    let margin = MARGIN * (most - least);
    [least - margin, most + margin]
}

/// What the values of a term are called.
fn output_names(model: &Model, term: &LearnedTerm) -> Vec<String> {
    let forces = model.input_names();
    match term.kind {
        LearnedKind::Potential => {
            term.of.iter().map(|name| format!("force along {name}")).collect()
        }
        LearnedKind::Force => term.velocities.iter().map(|&v| forces[v].clone()).collect(),
        LearnedKind::Dissipation => {
            term.velocities.iter().map(|&v| format!("damping of {}", forces[v])).collect()
        }
        LearnedKind::Friction => {
            term.pair.iter().map(|&pair| format!("{}/mu", model.pair_name(pair))).collect()
        }
    }
}

/// The values of a term where what it is a function of has these values: forces, N or N m (of a potential along each of the
/// quantities), viscous friction, or a coefficient of friction.
fn evaluate<T: Real>(
    model: &Model,
    index: usize,
    parameters: &Parameters<T>,
    point: &[f64],
) -> Vec<T> {
    let term = &model.learned[index];
    let weights = parameters.weights(model, index);
    // Of each input what it is, and how it grows with its quantity.
    let inputs: Vec<(T, f64)> = term
        .features
        .iter()
        .enumerate()
        .map(|(k, feature)| {
            let x = point[term.quantity(k)];
            let (value, slope) = match feature {
                Feature::Sine { .. } => (x.sin(), x.cos()),
                Feature::Cosine { .. } => (x.cos(), -x.sin()),
                _ => (x, 1.0),
            };
            (T::constant(value), slope)
        })
        .collect();
    let x: Vec<T> = inputs.iter().map(|(x, _)| *x).collect();
    match term.kind {
        LearnedKind::Potential => {
            let (_, gradient) = term.network.gradient(weights, &x);
            let mut forces = vec![T::zero(); point.len()];
            for (k, (&slope, (_, grows))) in gradient.iter().zip(&inputs).enumerate() {
                forces[term.quantity(k)] -= slope * (grows * term.amplitude);
            }
            forces
        }
        LearnedKind::Force => {
            let outputs = term.network.value(weights, &x);
            outputs.into_iter().map(|y| y * term.amplitude).collect()
        }
        LearnedKind::Dissipation => {
            let outputs = term.network.value(weights, &x);
            outputs.into_iter().map(|y| y * y * term.amplitude).collect()
        }
        LearnedKind::Friction => {
            let outputs = term.network.value(weights, &x);
            let mu = term.pair.map_or(T::zero(), |pair| parameters.mu(model, pair));
            outputs.into_iter().map(|y| mu * (y * term.amplitude).exp()).collect()
        }
    }
}

/// How far the parameters of a term are known.
struct Uncertainty {
    slots: Vec<usize>,
    covariance: DMatrix<f64>,
    /// What a standard error times is half the width of a 95 % interval.
    quantile: f64,
    /// Standard deviations beforehand; infinite where nothing was known.
    before: Vec<f64>,
}

/// Of the parameters of a term that have standard errors; of friction the coefficient it multiplies, too.
fn uncertainty(experiment: &Experiment, fit: &Fit, index: usize) -> Option<Uncertainty> {
    let model = &experiment.scene.model;
    let slots = model.weight_slots(index);
    if slots.len() > MOST_WEIGHTS {
        return None;
    }
    let own = model.learned[index].pair.map(|pair| fit.identified.pair_slots(model, pair).mu);
    let find = model.parameter_finder();
    let mut chosen = Vec::new();
    let mut quantile = 0.0_f64;
    for (row, &place) in fit.told.iter().enumerate() {
        let fitted = &fit.parameters[place];
        // Sensors have parameters of their own.
        let Some(found) = find(&fitted.name) else { continue };
        let (slot, error) = (found.slots[0], fitted.standard_error?);
        if !(slots.contains(&slot) || own == Some(slot)) {
            continue;
        }
        if let Some([_, upper]) = fitted.interval
            && slots.contains(&slot)
            && error > 0.0
        {
            quantile = quantile.max((upper - fitted.value) / error);
        }
        let prior = experiment.parameters[place].prior;
        chosen.push((row, slot, error, prior.map_or(f64::INFINITY, |prior| prior.sd)));
    }
    if quantile == 0.0 {
        return None;
    }
    let covariance = DMatrix::from_fn(chosen.len(), chosen.len(), |a, b| {
        let ((i, _, first, _), (j, _, second, _)) = (chosen[a], chosen[b]);
        first * second * fit.correlations[(i, j)]
    });
    let (slots, before) = chosen.into_iter().map(|(_, slot, _, sd)| (slot, sd)).unzip();
    Some(Uncertainty { slots, covariance, quantile, before })
}
