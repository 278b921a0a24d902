//! Standard errors from fits to halves of the recordings.
//!
//! The standard errors of a linearisation are those of the nearest minimum. Rollouts through many impacts have
//! kinks everywhere, and derivatives that hold next to nowhere; fits to halves of the recordings differ by
//! what is left of them, whatever they are like in between (`Shao95` 5.3).
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, WindowLength};
use crate::identify::search::{
    Effort, Fit, Halves, Limits, Problem, Standing, StartResult, Variables, proceed,
};
use crate::identify::statistics::{real_quantile_95, uniform};

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
    /// From how many squares that are independent errors are estimated: less than there are splits, as these have
    /// recordings in common.
    pub freedom: f64,
    /// Steps simulated for it.
    pub effort: Effort,
}

impl HalfSampling {
    /// How far fits to halves are off `whole`, the fit to all.
    pub(crate) fn about(whole: &[f64], halves: Halves) -> HalfSampling {
        let Halves { values, freedom, effort } = halves;
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
        HalfSampling { values, errors, correlations, freedom, effort }
    }

    /// Half the width of a 95 % interval in standard errors.
    pub(crate) fn quantile_95(&self) -> f64 {
        real_quantile_95(self.freedom)
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
/// Fewest recordings, apart from copies, that have halves.
const FEWEST: usize = 4;

/// Fits to random halves of the recordings, one after the other. Copies of a recording are in one half, and no split comes
/// twice: of four recordings there are three.
pub(crate) struct HalfFits<'a> {
    problem: Problem<'a>,
    fit: &'a Fit,
    starts: Vec<Vec<f64>>,
    limits: Limits,
    originals: Vec<usize>,
    distinct: usize,
    seed: u64,
    /// By split, whether each original is in its first half.
    splits: Vec<Vec<bool>>,
    /// All parameters, by half.
    pub values: Vec<Vec<f64>>,
}

impl<'a> HalfFits<'a> {
    /// Each begins where the first stage led from one of the starts in turn, since minima lie close together; at the result of
    /// all if there is one start. Nothing with fewer than four recordings, apart from copies.
    pub fn new(
        experiment: &'a Experiment,
        dataset: &'a Dataset,
        fit: &'a Fit,
        threads: usize,
    ) -> Option<HalfFits<'a>> {
        let all = dataset.originals();
        let distinct: Vec<usize> = (0..all.len()).filter(|&k| all[k] == k).collect();
        if distinct.len() < FEWEST {
            return None;
        }
        let places = all.iter().map(|of| distinct.binary_search(of).unwrap_or(0));
        let originals = places.collect();
        let initial = fit.initial_states.clone();
        let mut problem = Problem::starting_from(experiment, dataset, initial, threads);
        let whole: Vec<f64> = fit.parameters.iter().map(|p| p.value).collect();
        let least = fit.starts.iter().filter_map(|start| start.loss).fold(f64::INFINITY, f64::min);
        let good = |start: &&StartResult| start.loss.is_some_and(|x| x <= AS_GOOD * least);
        let mut starts: Vec<Vec<f64>> =
            fit.starts.iter().filter(good).map(|start| start.x.clone()).collect();
        if starts.is_empty() {
            starts.push(problem.space.variables(&whole));
        }
        problem.cap_sensitivity = experiment.window == WindowLength::Whole;
        let limits = Limits::fine(ITERATIONS);
        let seed = experiment.seed;
        let (splits, values, distinct) = (Vec::new(), Vec::new(), distinct.len());
        Some(HalfFits { problem, fit, starts, limits, originals, distinct, seed, splits, values })
    }

    /// Splits that there are.
    fn most(&self) -> usize {
        let n = self.distinct;
        // Many are as good as any number.
        let ways = (1..=n / 2).try_fold(1_usize, |ways, k| Some(ways.checked_mul(n + 1 - k)? / k));
        let ways = ways.unwrap_or(usize::MAX);
        if n.is_multiple_of(2) { ways / 2 } else { ways }
    }

    /// The next split into halves, if there is another one.
    fn split(&mut self) -> bool {
        if self.splits.len() >= self.most() {
            return false;
        }
        loop {
            let half = random_half(self.distinct, &mut self.seed);
            let other: Vec<bool> = half.iter().map(|own| !own).collect();
            if !self.splits.iter().any(|known| *known == half || *known == other) {
                self.splits.push(half);
                return true;
            }
        }
    }

    /// Fits the next half; false where there is no other one.
    pub fn next(&mut self) -> bool {
        let number = self.values.len();
        let is_second = number % 2 == 1;
        if !is_second && !self.split() {
            return false;
        }
        let Some(half) = self.splits.last() else { return false };
        let HalfFits { problem, originals, .. } = self;
        problem.select(|trajectory| half[originals[trajectory]] != is_second);
        problem.initial.clone_from(&self.fit.initial_states);
        let space = problem.space.clone();
        let (lower, upper, scale) = (space.lower(), space.upper(), space.scale());
        let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
        let standing = Standing::new(&self.starts[number % self.starts.len()]);
        let found = proceed(problem, standing, variables, self.limits, &mut |_, _| true);
        self.values.push(space.told(&found.x));
        true
    }

    /// Their work so far.
    pub fn effort(&self) -> Effort {
        self.problem.effort
    }

    /// From how many squares a mean square over the first `count` splits is estimated: what two splits say is correlated as far as
    /// they have recordings in common (`Satterthwaite46`).
    pub fn freedom(&self, count: usize) -> f64 {
        let contrasts: Vec<Vec<f64>> = self.splits[..count].iter().map(|s| contrast(s)).collect();
        let mut sum = 0.0;
        for one in &contrasts {
            for other in &contrasts {
                let cosine: f64 = one.iter().zip(other).map(|(a, b)| a * b).sum();
                sum += cosine * cosine;
            }
        }
        (count * count) as f64 / sum.max(1.0)
    }

    /// The difference of the halves of a split, in units in which its covariance is that of the fit to all, to first order.
    pub fn difference(&self, split: usize) -> Option<Vec<f64>> {
        let [one, other] = [2 * split, 2 * split + 1].map(|half| self.values.get(half));
        let first = self.splits.get(split)?.iter().filter(|own| **own).count();
        let n = self.distinct as f64;
        let sizes = [first as f64, n - first as f64];
        // It is C n / a + C n / b, that is 4 C where halves are alike.
        let unit = (sizes[0] * sizes[1]).sqrt() / n;
        Some(one?.iter().zip(other?).map(|(a, b)| unit * (a - b)).collect())
    }

    /// What they came to.
    pub fn ended(self) -> Halves {
        let freedom = self.freedom(self.splits.len());
        let effort = self.effort();
        Halves { values: self.values, freedom, effort }
    }
}

/// What a split compares, with length 1: the mean of one half with that of the other.
fn contrast(half: &[bool]) -> Vec<f64> {
    let first = half.iter().filter(|own| **own).count() as f64;
    let (n, second) = (half.len() as f64, half.len() as f64 - first);
    let [one, other] = [(second / (first * n)).sqrt(), -(first / (second * n)).sqrt()];
    half.iter().map(|own| if *own { one } else { other }).collect()
}

/// Fits each of `count` random halves of the recordings, or all there are; see [`HalfSampling`]. Nothing with fewer than four
/// recordings, apart from copies, or if `watch`, which is told of each half, returns false before the second.
pub fn half_sampling(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    count: usize,
    threads: usize,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Option<HalfSampling> {
    let halves = fitted_halves(experiment, dataset, fit, count, threads, watch)?;
    let whole: Vec<f64> = fit.parameters.iter().map(|p| p.value).collect();
    Some(HalfSampling::about(&whole, halves))
}

/// The same, before anything is made of it.
pub(crate) fn fitted_halves(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    count: usize,
    threads: usize,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Option<Halves> {
    let mut fits = HalfFits::new(experiment, dataset, fit, threads)?;
    while fits.values.len() < count && fits.next() && watch(fits.values.len()) {}
    (fits.values.len() >= 2).then(|| fits.ended())
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
