//! The order in which a search goes about a hard problem: short horizons and few trajectories first, from several
//! starts.
//!
//! A rollout through many impacts depends on parameters in many kinks, and from far off its end says next to
//! nothing about them. Its first part does: the search begins there, where it is also cheap, and each
//! stage starts where the one before it ended. From several starts only the first stage is made; the best
//! of its results goes on.

use super::SearchSpace;
use super::levenberg_marquardt::Limits;
use crate::identify::data::Dataset;
use crate::identify::experiment::{
    Experiment, FreeParameter, InitialState, Transform, WindowLength,
};
use crate::identify::statistics::uniform;

/// One search of those that follow each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchStage {
    /// Recorded steps of each window that count at most.
    pub horizon: usize,
    /// Every n-th trajectory counts.
    pub every: usize,
    /// Whether fitted initial states are held where they are.
    pub hold_initial: bool,
    /// Through which blur masks are looked at: the number of the entry in the list of each camera, or its last.
    pub blur: usize,
    /// When it ends.
    pub limits: Limits,
}

impl SearchStage {
    /// All of the recordings, to the end.
    pub fn whole(experiment: &Experiment) -> SearchStage {
        SearchStage {
            horizon: usize::MAX,
            every: 1,
            hold_initial: false,
            blur: usize::MAX,
            limits: Limits::fine(experiment.max_iterations),
        }
    }
}

/// Shortest first horizon, recorded steps, and shortest recordings that are taken in parts.
const SHORTEST: usize = 8;
const LEAST_STEPS: usize = 4 * SHORTEST;
/// Starts, unless the experiment says how many.
const DEFAULT_STARTS: usize = 4;
/// Trajectories that are enough for the first stage, and for the ones between it and the last.
const FIRST: usize = 32;
const BETWEEN: usize = 100;
/// Iterations of the first stage, and of the ones between it and the last.
const FIRST_ITERATIONS: usize = 8;
const BETWEEN_ITERATIONS: usize = 6;
/// Frames of the shortest horizon of masks.
const LEAST_MASKS: usize = 3;
/// Most iterations of stages on shorter horizons, where weights of learned terms are searched for.
const SHORT_ITERATIONS: usize = 25;
/// Most iterations with initial states held: noise in them soon decides more than parameters do.
const HELD_ITERATIONS: usize = 10;

/// The stages of an experiment, at least one.
pub fn stages(experiment: &Experiment, dataset: &Dataset) -> Vec<SearchStage> {
    let most = experiment.max_iterations;
    let fitted = experiment.initial_state == InitialState::Fitted;
    let count = dataset.trajectories.len();
    let steps = dataset.mean_steps() as usize;
    let whole = usize::MAX;
    let mut stages = Vec::new();
    let mut coarse = |horizon: usize, enough: usize, iterations: usize| {
        stages.push(SearchStage {
            horizon,
            every: (count / enough).max(1),
            hold_initial: fitted,
            blur: usize::MAX,
            limits: Limits::coarse(iterations.min(most.div_ceil(2))),
        });
    };
    if experiment.continuation && experiment.window == WindowLength::Whole && steps >= LEAST_STEPS {
        coarse((3 * steps / 10).max(SHORTEST), FIRST, FIRST_ITERATIONS);
        coarse(6 * steps / 10, BETWEEN, BETWEEN_ITERATIONS);
        if count >= 2 * BETWEEN {
            coarse(whole, BETWEEN, BETWEEN_ITERATIONS);
        }
    } else if experiment.starts > 1 {
        coarse(whole, BETWEEN, FIRST_ITERATIONS);
    }
    let mut last = SearchStage::whole(experiment);
    let has_weights = experiment.parameters.iter().any(|p| !p.fixed && p.is_weight());
    if has_weights {
        last.limits = Limits::flat(most);
        // Long motions tell of small changes only; short ones are nearly linear in what acts.
        stages.clear();
        let longest = dataset.windows.iter().map(|window| window.steps).max().unwrap_or(0);
        for parts in [4, 2] {
            let horizon = longest / parts;
            if experiment.continuation && horizon >= SHORTEST / 2 {
                let limits = Limits::flat(SHORT_ITERATIONS.min(most.div_ceil(2)));
                stages.push(SearchStage { horizon, limits, ..last });
            }
        }
    } else if !experiment.masks.is_empty() && experiment.continuation {
        stages = sharper(experiment, dataset, last);
    } else if fitted {
        // Parameters first: far from them, initial states would bend to make up for them.
        let iterations = most.div_ceil(2).min(HELD_ITERATIONS);
        let limits = Limits::fine(iterations);
        stages.push(SearchStage { hold_initial: true, limits, ..last });
    }
    stages.push(last);
    stages
}

/// The stages of recordings by masks before the `last`: short horizons and a large blur together, where outlines that do not
/// meet yet still pull at each other, then the whole windows through less and less of it. Either alone gets stuck.
fn sharper(experiment: &Experiment, dataset: &Dataset, last: SearchStage) -> Vec<SearchStage> {
    let limits = Limits::coarse(FIRST_ITERATIONS.min(experiment.max_iterations.div_ceil(2)));
    let longest = dataset.windows.iter().map(|window| window.steps).max().unwrap_or(0);
    let blurs = experiment.masks.iter().map(|sensor| sensor.blur.len()).max().unwrap_or(1);
    let fitted = experiment.initial_state == InitialState::Fitted;
    // Where states at the start are fitted, the first frames told them already; parameters come next.
    let begin = SearchStage { blur: 0, hold_initial: fitted, limits, ..last };
    let shares = if fitted { [2, 4, 6] } else { [1, 2, 4] };
    let horizons = shares.map(|share| (share * longest).div_ceil(6)).into_iter();
    let horizons = horizons.filter(|&horizon| horizon >= LEAST_MASKS && horizon < longest);
    let mut stages: Vec<SearchStage> =
        horizons.map(|horizon| SearchStage { horizon, ..begin }).collect();
    if fitted {
        stages.push(begin);
    }
    stages.extend((0..blurs - 1).map(|blur| SearchStage { blur, limits, ..last }));
    stages
}

/// The points from which the first stage is made, as variables of `space`: the start of the experiment, then
/// points spread evenly over the bounds (of a Halton sequence, shifted by the seed). Numbers of inertias
/// that are searched for together keep their start.
pub fn starts(experiment: &Experiment, space: &SearchSpace) -> Vec<Vec<f64>> {
    let start = space.start();
    let mut seed = experiment.seed;
    let shifts: Vec<f64> = start.iter().map(|_| uniform(&mut seed)).collect();
    let spread = |k: usize| {
        // Weights are drawn anew.
        let mut other = experiment.clone();
        other.seed = other.seed.wrapping_add(k as u64);
        other.draw_weights();
        let mut values: Vec<f64> = other.parameters.iter().map(|p| p.start).collect();
        for (variable, &place) in space.free().iter().enumerate() {
            if !space.is_shared(variable) && !other.parameters[place].is_weight() {
                let share = (halton(k, variable) + shifts[variable]).fract();
                values[place] = between(&experiment.parameters[place], share);
            }
        }
        space.variables(&values)
    };
    let others = (1..starts_made(experiment)).map(spread);
    std::iter::once(start.clone()).chain(others).collect()
}

/// How many starts are made.
pub fn starts_made(experiment: &Experiment) -> usize {
    if experiment.starts == 0 { DEFAULT_STARTS } else { experiment.starts }
}

/// A value at a share of the way from the lower to the upper bound; where there is none, of the way from a third
/// to three times the start, or from five typical changes below to five above it.
fn between(parameter: &FreeParameter, share: f64) -> f64 {
    let &FreeParameter { start, lower, upper, scale, transform, .. } = parameter;
    let [least, most] = if (upper - lower).is_finite() {
        [lower, upper]
    } else {
        let around = match transform == Transform::Log {
            true => [start / 3.0, start * 3.0],
            false => [start - 5.0 * scale, start + 5.0 * scale],
        };
        around.map(|x| x.clamp(lower, upper))
    };
    (least + share * (most - least)).clamp(lower, upper)
}

/// Number `k` of the Halton sequence (`Halton60`) in dimension `dimension`, 0 to 1.
fn halton(k: usize, dimension: usize) -> f64 {
    let prime = (2_usize..)
        .filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d)))
        .nth(dimension)
        .unwrap_or(2);
    let (mut k, mut digit, mut sum) = (k, 1.0, 0.0);
    while k > 0 {
        digit /= prime as f64;
        sum += digit * (k % prime) as f64;
        k /= prime;
    }
    sum
}
