//! Standard errors from fits to halves of the recordings.
//!
//! The standard errors of a linearisation are those of the nearest minimum. Rollouts through many impacts have
//! kinks everywhere, and derivatives that hold next to nowhere; fits to halves of the recordings differ by
//! what is left of them, whatever they are like in between (`Shao95` 5.3).
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, WindowLength};
use crate::identify::search::{Effort, Fit, Limits, Problem, Standing, Variables, proceed};
use crate::identify::statistics::{quantile_95, uniform};

use nalgebra::DMatrix;

/// What fits to random halves of the recordings came to.
#[derive(Clone, Debug, PartialEq)]
pub struct HalfSampling {
    /// All parameters, by half; every second one of what the one before it left out.
    pub values: Vec<Vec<f64>>,
    /// The standard error of each parameter as found from all recordings: how far halves are off, root mean
    /// square. A half is off from the whole by as much as the whole from the truth.
    pub errors: Vec<f64>,
    /// The correlations of the estimates; 0 of parameters that do not differ.
    pub correlations: DMatrix<f64>,
    /// Steps simulated for it.
    pub effort: Effort,
}

impl HalfSampling {
    /// How far fits to halves are off `whole`, the fit to all.
    pub(crate) fn about(whole: &[f64], values: Vec<Vec<f64>>, effort: Effort) -> HalfSampling {
        let n = whole.len();
        let share = 1.0 / values.len() as f64;
        let spread = DMatrix::from_fn(n, n, |i, j| {
            values.iter().map(|v| (v[i] - whole[i]) * (v[j] - whole[j])).sum::<f64>() * share
        });
        let errors: Vec<f64> = (0..n).map(|i| spread[(i, i)].sqrt()).collect();
        let correlations = DMatrix::from_fn(n, n, |i, j| {
            let size = errors[i] * errors[j];
            if size > 0.0 { (spread[(i, j)] / size).clamp(-1.0, 1.0) } else { 0.0 }
        });
        HalfSampling { values, errors, correlations, effort }
    }

    /// Half the width of a 95 % interval in standard errors: what one half says of the other is the same, to
    /// first order, so that errors are taken from as many squares as there are pairs of halves.
    pub(crate) fn quantile_95(&self) -> f64 {
        quantile_95(self.values.len().div_ceil(2))
    }
}

impl Fit {
    /// Takes standard errors and correlations from fits to halves of the recordings.
    pub fn take_errors(&mut self, halves: &HalfSampling) {
        let told = |&i: &usize| self.parameters[i].observable && halves.errors[i] > 0.0;
        self.told = (0..self.parameters.len()).filter(told).collect();
        let half_width = halves.quantile_95();
        for (i, parameter) in self.parameters.iter_mut().enumerate() {
            (parameter.standard_error, parameter.interval) = (None, None);
            if self.told.contains(&i) {
                parameter.take_error(halves.errors[i], half_width * halves.errors[i]);
            }
        }
        self.correlations = DMatrix::from_fn(self.told.len(), self.told.len(), |a, b| {
            halves.correlations[(self.told[a], self.told[b])]
        });
    }
}

/// Most iterations of a fit to a half.
const ITERATIONS: usize = 8;
/// First stages that came to at most this many times the least loss led to the same place.
const AS_GOOD: f64 = 1.2;

/// Fits each of `count` random halves of the recordings, each from where the first stage led from one of the
/// starts in turn, since minima lie close together; from the result of all if there is one start. Nothing with
/// fewer than four recordings, or if `watch`, which is told of each half, returns false before the second.
pub fn half_sampling(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    count: usize,
    threads: usize,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Option<HalfSampling> {
    let recordings = dataset.trajectories.len();
    if recordings < 4 {
        return None;
    }
    let initial = fit.initial_states.clone();
    let mut problem = Problem::starting_from(experiment, dataset, initial, threads);
    let space = problem.space.clone();
    let scale = space.scale();
    let (lower, upper) = (space.lower(), space.upper());
    let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
    let whole: Vec<f64> = fit.parameters.iter().map(|p| p.value).collect();
    let least = fit.starts.iter().filter_map(|start| start.loss).fold(f64::INFINITY, f64::min);
    let good = fit.starts.iter().filter(|start| start.loss.is_some_and(|x| x <= AS_GOOD * least));
    let mut starts: Vec<Vec<f64>> = good.map(|start| start.x.clone()).collect();
    if starts.is_empty() {
        starts.push(space.variables(&whole));
    }
    problem.cap_sensitivity = experiment.window == WindowLength::Whole;
    let limits = Limits::fine(ITERATIONS);
    let mut seed = experiment.seed;
    let mut values = Vec::new();
    let mut half = Vec::new();
    for number in 0..count {
        if number % 2 == 0 {
            half = random_half(recordings, &mut seed);
        } else {
            half.iter_mut().for_each(|own| *own = !*own);
        }
        problem.select(|trajectory| half[trajectory]);
        problem.initial.clone_from(&fit.initial_states);
        let standing = Standing::new(&starts[number % starts.len()]);
        let found = proceed(&mut problem, standing, variables, limits, &mut |_, _| true);
        values.push(space.told(&found.x));
        if !watch(number + 1) {
            break;
        }
    }
    if values.len() < 2 {
        return None;
    }
    Some(HalfSampling::about(&whole, values, problem.effort))
}

/// Whether each of `count` recordings is in a half chosen at random (Fisher and Yates).
fn random_half(count: usize, seed: &mut u64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..count).collect();
    let mut half = vec![false; count];
    for chosen in 0..count / 2 {
        let other = chosen + (uniform(seed) * (count - chosen) as f64) as usize;
        order.swap(chosen, other.min(count - 1));
        half[order[chosen]] = true;
    }
    half
}
