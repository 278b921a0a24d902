//! The search for parameters and starts, and what is known of them after it.

use nalgebra::DMatrix;

use super::marker_experiment::MarkerExperiment;
use super::marker_problem::MarkerProblem;
use super::marker_recording::MarkerRecording;
use super::rigid_fit::rigid_start;
use crate::Error;
use crate::identify::{LeastSquares, Outcome, Variables, minimize_over_kinks};
use crate::soft::{SoftScene, SoftStart};

/// Of a normal distribution 95 % are within so many standard deviations.
const HALF_WIDTH: f64 = 1.959963984540054;
/// Typical changes of a start: m, rad, m/s, rad/s.
const SCALES: [f64; 4] = [1e-3, 1e-2, 1e-2, 0.1];
/// A typical change of a parameter: in its logarithm, or of itself.
const SCALE: f64 = 0.1;
/// A logarithm may move by so much: a factor of a million.
const FAR: f64 = 13.8;
/// A mean of the squared residuals over their variances below this is zero.
const NOTHING: f64 = 1e-20;
/// A start may move by so many scales.
const MOST: f64 = 1e3;

/// A number that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedNumber {
    /// Its name.
    pub name: String,
    /// Where the search started.
    pub initial: f64,
    /// What was found.
    pub value: f64,
    /// Its standard error; none where the recordings do not tell it, or a bound holds it.
    pub standard_error: Option<f64>,
    /// 95 %.
    pub interval: Option<[f64; 2]>,
    /// Whether a bound holds it.
    pub at_bound: bool,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct MarkerFit {
    /// The parameters.
    pub parameters: Vec<FittedNumber>,
    /// How the body starts in each recording.
    pub starts: Vec<SoftStart>,
    /// The scene with the parameters, as it starts in the first recording.
    pub scene: SoftScene,
    /// How the last stage ended.
    pub outcome: Outcome,
    /// Mean of the squared residuals over their variances, at the start of the last stage and at its end.
    pub loss: [f64; 2],
    /// Of each recording the root of the mean square distance of markers from where they were seen, or of points from the surface (m).
    pub distances: Vec<f64>,
    /// Iterations of all stages.
    pub iterations: usize,
    /// Simulations of a recording, with derivatives.
    pub simulations: usize,
}

/// Finds parameters and starts. `watch(stage, iteration, loss)` is told of each iteration, and ends the search by returning
/// false. The same on any number of threads.
///
/// # Errors
/// If the first frames of a recording do not tell how the body starts, or a simulation from there has no derivative.
pub fn fit_markers(
    experiment: &MarkerExperiment,
    threads: usize,
    watch: &mut dyn FnMut(usize, usize, f64) -> bool,
) -> Result<MarkerFit, Error> {
    let body = &experiment.scene.bodies[0];
    let mut starts = Vec::with_capacity(experiment.recordings.len());
    for recording in &experiment.recordings {
        // Of the flight, if it is told when that ends.
        let flight = experiment.stages.first().map(|&end| recording.until(end));
        let first = flight.as_ref().unwrap_or(recording);
        starts.push(rigid_start(body, first, experiment.scene.time_step).ok_or_else(|| {
            let message = "its first frames do not tell how the body starts: three markers, not on a line, in two frames, or six points of its surface";
            Error::input(&recording.name, None, "", message)
        })?);
    }
    let parameters = &experiment.parameters;
    let mut values: Vec<f64> = parameters.iter().map(|parameter| parameter.start).collect();
    let (mut iterations, mut simulations) = (0, 0);
    let ends = experiment.stages.iter().copied().map(Some).chain([None]);
    let mut last = None;
    let mut interrupted = false;
    for (stage, end) in ends.enumerate() {
        let cut = |recording: &MarkerRecording| match end {
            Some(end) => recording.until(end),
            None => recording.clone(),
        };
        let recordings: Vec<MarkerRecording> = experiment.recordings.iter().map(cut).collect();
        let mut problem = MarkerProblem::new(experiment, &recordings, &starts, threads);
        let count = recordings.iter().map(MarkerRecording::count).sum::<usize>().max(1);
        let mut x = vec![0.0; problem.len()];
        for ((x, parameter), value) in x.iter_mut().zip(parameters).zip(&values) {
            *x = if parameter.log { value.ln() } else { *value };
        }
        let scale = |k: usize| SCALES[(k - parameters.len()) % SoftStart::NUMBERS / 3];
        let of = |k: usize, parameter: &dyn Fn(usize) -> f64, start: &dyn Fn(usize) -> f64| {
            if k < parameters.len() { parameter(k) } else { start(k) }
        };
        let all = |parameter: &dyn Fn(usize) -> f64, start: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..x.len()).map(|k| of(k, parameter, start)).collect()
        };
        // In flight the material hardly shows, and would be fitted to noise.
        let is_flight = stage == 0 && end.is_some();
        // A logarithm has no way back from minus infinity, where its parameter has no effect.
        let held = |k: usize, value: f64| match parameters[k].log {
            _ if is_flight => x[k],
            true => {
                let start = parameters[k].start.ln();
                value.ln().clamp(start - FAR, start + FAR)
            }
            false => value,
        };
        let lower = all(&|k| held(k, parameters[k].lower), &|k| -MOST * scale(k));
        let upper = all(&|k| held(k, parameters[k].upper), &|k| MOST * scale(k));
        let scales = all(
            &|k| {
                if parameters[k].log { SCALE } else { SCALE * parameters[k].start.abs().max(SCALE) }
            },
            &scale,
        );
        let variables = Variables { lower: &lower, upper: &upper, scale: &scales };
        let mut first = None;
        let loss = |cost: f64| 2.0 * cost / count as f64;
        let found = minimize_over_kinks(
            &mut problem,
            &x,
            variables,
            (experiment.iterations, NOTHING * count as f64),
            &mut |iteration, cost, _| {
                first.get_or_insert(loss(cost));
                let goes_on = watch(stage, iteration, loss(cost));
                interrupted |= !goes_on;
                goes_on
            },
        );
        if found.outcome == Outcome::Infeasible {
            let message = "the simulation from the start has no finite derivative: are the first values far off?";
            return Err(Error::undefined(&experiment.name, message));
        }
        // At the best point; a trial after it may have been elsewhere.
        problem.linearize(&found.x);
        values = problem.values(&found.x);
        starts = (0..recordings.len()).map(|k| problem.start(&found.x, k)).collect();
        iterations += found.iterations;
        simulations += problem.simulations;
        let fitted = numbers(experiment, &problem, &found.x, &lower, &upper, found.cost);
        let losses = [first.unwrap_or(f64::NAN), loss(found.cost)];
        last = Some((fitted, losses, problem.distances(), found.outcome));
        if interrupted {
            break;
        }
    }
    let (parameters, loss, distances, outcome) =
        last.ok_or_else(|| Error::undefined(&experiment.name, "there is nothing to fit"))?;
    let mut scene = experiment.scene.clone();
    for (own, value) in experiment.parameters.iter().zip(&values) {
        scene.set(own.parameter, *value);
    }
    experiment.recordings[0].place(&mut scene, starts[0]);
    Ok(MarkerFit { parameters, starts, scene, outcome, loss, distances, iterations, simulations })
}

/// What is known of the parameters at `x`: standard errors by the linearisation and the size of the residuals, at least that of
/// the noise: what is less may be a dent of the loss.
fn numbers(
    experiment: &MarkerExperiment,
    problem: &MarkerProblem,
    x: &[f64],
    lower: &[f64],
    upper: &[f64],
    cost: f64,
) -> Vec<FittedNumber> {
    let (h, _) = problem.normal_equations();
    let n = x.len();
    let held = |k: usize| x[k] <= lower[k] || x[k] >= upper[k];
    let free: Vec<usize> = (0..n).filter(|&k| h[(k, k)] > 0.0 && !held(k)).collect();
    // Scaled to ones on the diagonal, so that what is singular is told from what is small.
    let root = |k: usize| h[(k, k)].sqrt();
    let scaled = DMatrix::from_fn(free.len(), free.len(), |i, j| {
        let (i, j) = (free[i], free[j]);
        h[(i, j)] / (root(i) * root(j))
    });
    let inverse = scaled.cholesky().map(|cholesky| cholesky.inverse());
    let spare = problem.residuals().saturating_sub(free.len()).max(1);
    let variance = (2.0 * cost / spare as f64).max(1.0);
    let error = |k: usize| {
        let at = free.iter().position(|&own| own == k)?;
        let own = inverse.as_ref()?[(at, at)];
        let error = (own * variance).sqrt() / root(k);
        error.is_finite().then_some(error)
    };
    let values = problem.values(x);
    let each = experiment.parameters.iter().zip(values).enumerate();
    each.map(|(k, (parameter, value))| {
        let error = error(k);
        let half = error.map(|error| HALF_WIDTH * error);
        FittedNumber {
            name: parameter.name.clone(),
            initial: parameter.start,
            value,
            standard_error: error.map(|e| if parameter.log { e * value } else { e }),
            interval: half.map(|half| match parameter.log {
                true => [value * (-half).exp(), value * half.exp()],
                false => [value - half, value + half],
            }),
            // What is held in flight is not at a bound.
            at_bound: held(k) && lower[k] < upper[k],
        }
    })
    .collect()
}
