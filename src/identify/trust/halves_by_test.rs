//! Whether errors are taken from fits to halves of the recordings: where these differ by more than the linearisation says.
//!
//! With the covariance C of the fit to all by linearisation, what two halves that have nothing in common differ by has the covariance
//! 4 C, to first order. So d'(4 C)^-1 d is a sum of as many squares as there are parameters, and its mean over splits is distributed
//! as Fisher's F, after the correction by Hotelling (`Hotelling31`) for C being estimated.
//!
//! A few splits say little: of errors that are twice as large as C says they would miss more than a third if they were to be wrong
//! in one of twenty cases only. So the level is one half. Where C is right, that costs work in every second case, and no more; where it is not,
//! intervals cover nearly what they should, however large the errors are.

use super::half_sampling::HalfFits;
use super::profile::DERIVATIVE;
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, Method, is_weight};
use crate::identify::search::{Effort, Fit, FitStatus, Halves, HalvesTest};
use crate::identify::statistics::f_quantile;

use nalgebra::{DMatrix, DVector};

/// Splits that are tested.
const SPLITS: usize = 3;
/// Fits to halves that errors are taken from.
pub(crate) const HALVES: usize = 20;
/// Beyond this quantile of what chance makes, errors are taken from halves.
const LEVEL: f64 = 0.5;
/// Work on halves at most, in that of the search, which counts as so many simulations of all windows at least.
const MOST: usize = 2;
const SHORT: usize = 20;
/// Parameters of which fits to halves are tested at most.
const PARAMETERS: usize = 10;

/// What the test came to: halves where errors are to be taken from them.
#[derive(Default)]
pub(crate) struct HalvesByTest {
    pub halves: Option<Halves>,
    pub test: Option<HalvesTest>,
}

/// Fits halves of the recordings, tests whether they differ by what the linearisation says, and goes on where they do not. Nothing of searches by
/// gradients alone, of recordings without noise, of fewer than four, where there are no errors by linearisation or of many parameters, or if
/// `watch`, which is told of each half, returns false.
pub(crate) fn halves_by_test(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    threads: usize,
    watch: &mut dyn FnMut(usize) -> bool,
) -> HalvesByTest {
    tested(experiment, dataset, fit, threads, watch).unwrap_or_default()
}

fn tested(
    experiment: &Experiment,
    dataset: &Dataset,
    fit: &Fit,
    threads: usize,
    watch: &mut dyn FnMut(usize) -> bool,
) -> Option<HalvesByTest> {
    let ended = !matches!(fit.status, FitStatus::Stopped | FitStatus::Infeasible);
    let few = fit.told.len() <= PARAMETERS && !fit.parameters.iter().any(|p| is_weight(&p.name));
    if !ended || !few || fit.is_exact() || experiment.method != Method::LevenbergMarquardt {
        return None;
    }
    let linearised = Linearised::of(fit)?;
    let work = |Effort { steps, derivative_steps }: Effort| {
        (steps + DERIVATIVE * derivative_steps) / dataset.simulated().max(1)
    };
    let allowed = MOST * work(fit.effort).max(SHORT);
    let mut fits = HalfFits::new(experiment, dataset, fit, threads)?;
    if !watch(0) {
        return None;
    }
    let mut is_cut_short = false;
    // Whether there are so many.
    let mut made = |fits: &mut HalfFits, count: usize| {
        while fits.values.len() < count {
            // Two make a split.
            is_cut_short = fits.values.len() >= 2 && work(fits.effort()) >= allowed;
            if is_cut_short || !fits.next() {
                break;
            }
            if !watch(fits.values.len()) {
                return false;
            }
        }
        true
    };
    if !made(&mut fits, 2 * SPLITS) {
        return None;
    }
    let (statistic, threshold) = linearised.compared(&fits);
    let splits = fits.values.len() / 2;
    let is_beyond = HalvesTest { statistic, threshold, ..HalvesTest::default() }.is_beyond();
    if is_beyond && !made(&mut fits, HALVES) {
        return None;
    }
    let effort = fits.effort();
    let test = HalvesTest { statistic, threshold, splits, is_cut_short, effort };
    let halves = is_beyond.then(|| fits.ended());
    Some(HalvesByTest { halves, test: Some(test) })
}

/// The covariance of a fit by linearisation, of the parameters that have errors.
struct Linearised<'a> {
    told: &'a [usize],
    errors: Vec<f64>,
    inverse: DMatrix<f64>,
    freedom: f64,
}

impl Linearised<'_> {
    /// Nothing where there is none, or it is estimated from too few squares.
    fn of(fit: &Fit) -> Option<Linearised<'_>> {
        let told = &fit.told[..];
        let errors = told.iter().map(|&i| fit.parameters[i].standard_error);
        let errors = errors.collect::<Option<Vec<f64>>>()?;
        let usable = errors.iter().all(|error| error.is_finite() && *error > 0.0);
        if told.is_empty() || !usable || fit.freedom < told.len() {
            return None;
        }
        let inverse = fit.correlations.clone().cholesky()?.inverse();
        Some(Linearised { told, errors, inverse, freedom: fit.freedom as f64 })
    }

    /// The statistic and its threshold.
    fn compared(&self, fits: &HalfFits) -> (f64, f64) {
        let numbers = self.told.len() as f64;
        let size = |difference: Vec<f64>| {
            let own = self.told.iter().zip(&self.errors).map(|(&i, error)| difference[i] / error);
            let own = DVector::from_iterator(self.told.len(), own);
            own.dot(&(&self.inverse * &own)) / numbers
        };
        let sizes: Vec<f64> = (0..).map_while(|k| fits.difference(k)).map(size).collect();
        let left = self.freedom - numbers + 1.0;
        let statistic = sizes.iter().sum::<f64>() / sizes.len() as f64 * left / self.freedom;
        let freedom = [numbers * fits.freedom(sizes.len()), left];
        (statistic, f_quantile(LEVEL, freedom))
    }
}
