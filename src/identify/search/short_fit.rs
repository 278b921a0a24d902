//! Where a few iterations lead: what `--check` judges where neither the start nor the scene explains the recordings.

use super::continuation::stages;
use super::levenberg_marquardt::{Limits, Standing, Variables, proceed};
use super::{Problem, SearchSpace};
use crate::identify::data::Dataset;
use crate::identify::experiment::{Experiment, WindowLength};
use crate::state::State;

/// Iterations with the horizon of the first stage, and with the whole one after it; one with the whole one has all.
const COARSE_ITERATIONS: usize = 5;
const MOST_ITERATIONS: usize = 8;
/// Recordings it looks at, spread over all.
const RECORDINGS: usize = 32;

/// The end of a fit that is short, whatever the experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortFit {
    /// All parameters, fixed ones too.
    pub values: Vec<f64>,
    /// Levenberg-Marquardt iterations made.
    pub iterations: usize,
    /// How many recordings were looked at.
    pub recordings: usize,
    /// Mean of their squared residuals at the end, priors included; 1 is noise alone.
    pub loss: f64,
    /// Starts of all windows, fitted where the experiment fits them and the recording was looked at.
    pub initial_states: Vec<State<f64>>,
}

impl ShortFit {
    /// From the start, by Levenberg-Marquardt, whatever method the experiment names.
    pub fn new(experiment: &Experiment, dataset: &Dataset, threads: usize) -> ShortFit {
        let mut problem = Problem::new(experiment, dataset, threads);
        let space: SearchSpace = problem.space.clone();
        let (lower, upper, scale) = (space.lower(), space.upper(), space.scale());
        let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
        let every = dataset.trajectories.len().div_ceil(RECORDINGS).max(1);
        let first = stages(experiment, dataset).first().copied();
        let blur = first.map_or(usize::MAX, |stage| stage.blur);
        let first = first.map_or(usize::MAX, |stage| stage.horizon);
        problem.cap_sensitivity = experiment.window == WindowLength::Whole;
        let mut x = space.start();
        let (mut iterations, mut loss) = (0, f64::INFINITY);
        let parts = [(first, COARSE_ITERATIONS), (usize::MAX, MOST_ITERATIONS)];
        for (horizon, most) in parts.into_iter().skip(usize::from(first == usize::MAX)) {
            problem.restrict(every, horizon);
            problem.blur(if horizon == usize::MAX { usize::MAX } else { blur });
            // Far from the parameters, starts would bend to make up for them.
            problem.hold_initial = horizon != usize::MAX;
            let limits = Limits::coarse(most.saturating_sub(iterations));
            let standing = Standing::new(&x);
            let minimum = proceed(&mut problem, standing, variables, limits, &mut |_, _| true);
            iterations += minimum.iterations;
            loss = 2.0 * minimum.cost / problem.residual_count().max(1) as f64;
            if minimum.cost.is_finite() {
                x = minimum.x;
            }
        }
        let recordings = dataset.trajectories.len().div_ceil(every);
        let (values, initial_states) = (space.told(&x), problem.initial);
        ShortFit { values, iterations, recordings, loss, initial_states }
    }
}
