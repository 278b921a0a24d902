//! Recordings that a simulation explains far worse than the others.

use crate::identify::data::Dataset;
use crate::identify::experiment::Experiment;
use crate::identify::residuals::{Measurement, residuals};
use crate::model::Parameters;
use crate::state::State;

/// A recording that stands out.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    /// Its place among the recordings.
    pub trajectory: usize,
    /// Its name.
    pub name: String,
    /// Mean square of its residuals, in standard deviations.
    pub mean_square: f64,
    /// How far the logarithm of that is above the median, in robust standard deviations.
    pub score: f64,
    /// The same in words.
    pub words: String,
}

/// Scores from which a recording stands out (`Iglewicz93`).
const LIMIT: f64 = 3.5;
/// Fewest recordings among which one can.
const LEAST: usize = 5;
/// Least spread that is told from none, of logarithms.
const LEAST_SPREAD: f64 = 0.1;
/// The median distance from the median of a normal distribution is its standard deviation over this.
const NORMAL: f64 = 1.4826;

/// The mean square of the residuals of each recording, in standard deviations and by no robust loss, with windows
/// simulated under `parameters` from `initial`; nothing for one without residuals, infinite where the simulation
/// fails.
pub fn misfits(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    initial: &[State<f64>],
    threads: usize,
) -> Vec<Option<f64>> {
    let measurement = Measurement { robust: None, ..Measurement::new(experiment, dataset) };
    let parts = dataset.each_window("misfits", threads, |k| {
        let mut r = Vec::new();
        residuals(&measurement, &dataset.windows[k], parameters, &initial[k], &mut r);
        (r.iter().map(|r| r * r).sum::<f64>(), r.len())
    });
    let mut sums = vec![(0.0, 0); dataset.trajectories.len()];
    for (window, (square, count)) in dataset.windows.iter().zip(parts) {
        let sum = &mut sums[window.trajectory];
        *sum = (sum.0 + square, sum.1 + count);
    }
    let mean = |(square, count): (f64, usize)| {
        let mean = square / count as f64;
        (count > 0).then_some(if mean.is_finite() { mean } else { f64::INFINITY })
    };
    sums.into_iter().map(mean).collect()
}

/// The recordings of which the mean square is far above that of most, by median and median distance of the
/// logarithms; the farthest first. None of fewer than five.
pub fn outliers(dataset: &Dataset, misfits: &[Option<f64>]) -> Vec<Outlier> {
    let known = misfits.iter().copied().enumerate();
    let known: Vec<(usize, f64)> = known.filter_map(|(k, mean)| Some((k, mean?))).collect();
    let sizes: Vec<f64> = known.iter().map(|&(_, mean)| mean).collect();
    let mut found: Vec<Outlier> = known
        .into_iter()
        .zip(scores(&sizes))
        .filter_map(|((trajectory, mean_square), Score { score, ratio })| {
            let name = dataset.trajectories.get(trajectory)?.name.clone();
            (score > LIMIT).then(|| {
                let times = ratio.sqrt();
                let words = format!(
                    "{name} is explained far worse than most recordings: its residuals are {times:.1} \
                     times as large as those of the median, {score:.1} robust standard deviations \
                     beyond it; look at it, or take a robust loss (huber, cauchy)"
                );
                Outlier { trajectory, name, mean_square, score, words }
            })
        })
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found
}

/// Which of these sizes, each positive, are far above most, as [`outliers`] are: of tosses, whose errors differ by
/// orders of magnitude as chance has it, next to none. What is not a number is.
pub fn stand_out(sizes: &[f64]) -> Vec<bool> {
    let known: Vec<f64> = sizes.iter().copied().filter(|size| !size.is_nan()).collect();
    let mut scores = scores(&known);
    let far = |size: &f64| size.is_nan() || scores.next().is_some_and(|own| own.score > LIMIT);
    sizes.iter().map(far).collect()
}

/// How far one of several sizes is above their median.
struct Score {
    /// Of the logarithm, in robust standard deviations.
    score: f64,
    /// How many times as large it is.
    ratio: f64,
}

/// Where each of several sizes is among them, by median and median distance of the logarithms; at the median with
/// fewer than [`LEAST`].
fn scores(sizes: &[f64]) -> impl Iterator<Item = Score> {
    // What is exact has a logarithm, too.
    let logarithms: Vec<f64> = sizes.iter().map(|size| size.max(f64::MIN_POSITIVE).ln()).collect();
    let center = median(logarithms.clone());
    let away = logarithms.iter().map(|x| (x - center).abs()).collect();
    let spread = (NORMAL * median(away)).max(LEAST_SPREAD);
    let few = sizes.len() < LEAST;
    logarithms.into_iter().map(move |x| {
        let above = if few { 0.0 } else { x - center };
        Score { score: above / spread, ratio: above.exp() }
    })
}

/// The middle of a list, or the mean of the two in the middle; 0 of none.
fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    let (low, high) = (list.len().saturating_sub(1) / 2, list.len() / 2);
    match (list.get(low), list.get(high)) {
        (Some(low), Some(high)) => 0.5 * (low + high),
        _ => 0.0,
    }
}
