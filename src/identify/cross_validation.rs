//! Cross-validation: each recording judged by a fit to others (`Stone74`).

use super::data::Dataset;
use super::experiment::{Experiment, WindowLength};
use super::search::{Fit, LeastSquares, Limits, Problem, Standing, Variables, proceed};
use crate::model::Parameters;
use crate::state::State;

/// Linearisations of a fit to some of the recordings at most.
const ITERATIONS: usize = 8;
/// How often initial states are fitted anew where they are, before a recording is judged.
const STARTS: usize = 4;

/// How many recordings there are apart from copies.
pub(crate) fn distinct(originals: &[usize]) -> usize {
    originals.iter().enumerate().filter(|(k, of)| k == *of).count()
}

/// What is said of each recording, of those that are no copies.
pub(crate) fn of_originals<T: Copy>(originals: &[usize], all: &[T]) -> Vec<T> {
    let own = all.iter().enumerate().filter(|(k, _)| originals[*k] == *k);
    own.map(|(_, own)| *own).collect()
}

/// In which of `count` folds each recording is: in turn, copies of one where that is.
pub(crate) fn folds(originals: &[usize], count: usize) -> Vec<usize> {
    let mut folds: Vec<usize> = Vec::with_capacity(originals.len());
    let mut next = 0;
    for (k, &of) in originals.iter().enumerate() {
        let is_original = of == k;
        folds.push(if is_original { next % count.max(1) } else { folds[of] });
        next += usize::from(is_original);
    }
    folds
}

/// The experiment, each parameter starting where the fit found it.
pub(crate) fn started_at(experiment: &Experiment, fit: &Fit) -> Experiment {
    let mut experiment = experiment.clone();
    for (parameter, fitted) in experiment.parameters.iter_mut().zip(&fit.parameters) {
        parameter.start = fitted.value;
    }
    experiment
}

/// What fits to all other folds make of each.
pub(crate) struct Judged {
    /// The logarithm of the loss of each recording.
    pub losses: Vec<f64>,
    /// What the fits found, of each fold that it was not fitted to.
    pub found: Vec<Parameters<f64>>,
}

/// Judges each recording by the parameters that a fit to the other folds finds, begun where the experiment starts; nothing where
/// a loss is not finite. `now` has the initial states from which starts are fitted.
pub(crate) fn judged(
    experiment: &Experiment,
    dataset: &Dataset,
    now: &Fit,
    folds: &[usize],
    threads: usize,
) -> Option<Judged> {
    let mut problem = Problem::new(experiment, dataset, threads);
    let estimated: Vec<State<f64>> = problem.initial.clone();
    problem.cap_sensitivity = experiment.window == WindowLength::Whole;
    let space = problem.space.clone();
    let (lower, upper, scale) = (space.lower(), space.upper(), space.scale());
    let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
    let mut judged =
        Judged { losses: vec![f64::NAN; dataset.trajectories.len()], found: Vec::new() };
    for fold in 0..=folds.iter().copied().max().unwrap_or(0) {
        problem.select(|trajectory| folds[trajectory] != fold);
        problem.initial.clone_from(&now.initial_states);
        let standing = Standing::new(&space.start());
        let limits = Limits::fine(ITERATIONS);
        let found = proceed(&mut problem, standing, variables, limits, &mut |_, _| true);
        problem.select(|trajectory| folds[trajectory] == fold);
        problem.initial.clone_from(&estimated);
        if problem.initial_unknowns() > 0 {
            for _ in 0..STARTS {
                problem.linearize(&found.x);
                problem.trial(&found.x, &vec![0.0; found.x.len()]);
                problem.accept();
            }
        }
        for (trajectory, (sum, count)) in problem.recording_squares(&found.x) {
            let loss = (sum / count.max(1) as f64).max(f64::MIN_POSITIVE);
            judged.losses[trajectory] = loss.ln();
        }
        let mut parameters = experiment.scene.parameters.clone();
        for (parameter, value) in experiment.parameters.iter().zip(space.told(&found.x)) {
            parameter.set(value, &mut parameters);
        }
        judged.found.push(parameters);
    }
    judged.losses.iter().all(|loss| loss.is_finite()).then_some(judged)
}
