//! Freeing what a model lacks, one thing after the other, as far as recordings confirm it that did not help to find it.

use super::data::Dataset;
use super::experiment::{Experiment, WindowLength};
use super::search::{
    Fit, FitStatus, LeastSquares, Limits, Problem, Standing, Variables, fit, proceed,
};
use super::statistics::quantile_95;
use super::trust::{PairedDifference, ScoreTest, score_tests};
use crate::Error;
use crate::state::State;

/// What is tried in a round at most.
const TRIED: usize = 3;
/// Linearisations of a fit to a half of the recordings at most.
const ITERATIONS: usize = 8;
/// How often initial states are fitted anew where they are, before a half is judged.
const STARTS: usize = 4;
/// Fewest recordings, apart from copies, of which halves judge each other.
const FEWEST: usize = 6;

/// A thing that was tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What the score test said of it.
    pub test: ScoreTest,
    /// Logarithms of the loss of each recording without and with it, each by a fit to the half it is not in; nothing if a fit
    /// failed. So a recording that is amplified counts as much as another one, and copies of one as one.
    pub held_out: Option<PairedDifference>,
    /// Whether it was adopted.
    pub adopted: bool,
}

impl Tried {
    /// Whether recordings that it was not fitted to are better explained, by more than chance makes of so many of them (95 %,
    /// of what is tried in a round together).
    pub fn is_confirmed(&self) -> bool {
        self.held_out.is_some_and(|pairs| {
            // For a third of 5 % an interval is about a fifth wider, and more where recordings are few.
            let width = 1.25 * quantile_95(pairs.count.saturating_sub(1).max(1));
            pairs.standard_error.is_some_and(|error| pairs.difference < -width * error)
        })
    }
}

/// How a model was improved.
#[derive(Clone, Debug)]
pub struct Improvement {
    /// What was tried, round by round.
    pub rounds: Vec<Vec<Tried>>,
    /// The experiment with what was adopted, each parameter starting at what was found.
    pub experiment: Experiment,
    /// Its fit.
    pub fit: Fit,
    /// Why it ended.
    pub end: &'static str,
}

impl Improvement {
    /// What was adopted, in that order.
    pub fn adopted(&self) -> impl Iterator<Item = &Tried> {
        self.rounds.iter().flatten().filter(|tried| tried.adopted)
    }
}

/// Frees numbers of the scene that the fit held, in `rounds` rounds at most: in each those that score tests claim, the most
/// gaining first, until a half of the recordings confirms one that was fitted to the other half. Recordings that are copies of
/// each other are in one half. `watch` is told of the round and what is tried, and may end it by returning false.
///
/// # Errors
/// Those of [`fit`].
pub fn improve(
    experiment: &Experiment,
    dataset: &Dataset,
    found: &Fit,
    rounds: usize,
    threads: usize,
    watch: &mut dyn FnMut(usize, &str) -> bool,
) -> Result<Improvement, Error> {
    let mut watch = |round: usize, name: &str| dataset.group().agreed(watch(round, name));
    let mut improvement = Improvement {
        rounds: Vec::new(),
        experiment: started_at(experiment, found),
        fit: found.clone(),
        end: "as many rounds as were asked for",
    };
    let originals = dataset.originals();
    let halves = halves(&originals);
    let distinct = originals.iter().enumerate().filter(|(k, of)| k == *of).count();
    if distinct < FEWEST {
        improvement.end = "too few recordings for halves that judge each other";
        return Ok(improvement);
    }
    for round in 0..rounds {
        let Improvement { experiment, fit: now, .. } = &improvement;
        let tests = score_tests(experiment, dataset, now, threads);
        if tests.is_empty() {
            improvement.end = "the numbers that are held were not tested: there are none or too many, or no noise";
            break;
        }
        let claims: Vec<ScoreTest> =
            tests.into_iter().filter(|test| test.is_significant() && test.gain > 0.0).collect();
        if claims.is_empty() {
            improvement.end = "no number that is held shows in what is left";
            break;
        }
        if !watch(round, "") {
            improvement.end = "stopped";
            break;
        }
        let before = judged(experiment, dataset, now, &halves, threads);
        let mut tried = Vec::new();
        let mut adopted = None;
        for test in claims.into_iter().take(TRIED) {
            if !watch(round, &test.name) {
                improvement.end = "stopped";
                break;
            }
            let next = test.freed(experiment, &now.identified);
            let after = judged(&next, dataset, now, &halves, threads);
            let held_out = before
                .as_ref()
                .zip(after)
                .and_then(|(before, after)| PairedDifference::new(before, &after));
            let mut one = Tried { test, held_out, adopted: false };
            if one.is_confirmed() {
                let again =
                    fit(&going_on(&next), dataset, threads, &mut |_| watch(round, &one.test.name))?;
                let ended = !matches!(again.status, FitStatus::Stopped | FitStatus::Infeasible);
                one.adopted = ended && again.loss < now.loss;
                if one.adopted {
                    adopted = Some((started_at(&next, &again), again));
                }
            }
            tried.push(one);
            if adopted.is_some() {
                break;
            }
        }
        improvement.rounds.push(tried);
        match adopted {
            Some((experiment, fit)) => {
                (improvement.experiment, improvement.fit) = (experiment, fit);
            }
            None => {
                if improvement.end != "stopped" {
                    improvement.end = "no half of the recordings confirms what shows in the other";
                }
                break;
            }
        }
    }
    Ok(improvement)
}

/// The experiment, to be searched from where it starts: first parts of recordings would lead away from what is known.
fn going_on(experiment: &Experiment) -> Experiment {
    Experiment { continuation: false, starts: 1, ..experiment.clone() }
}

/// The experiment, each parameter starting where the fit found it.
fn started_at(experiment: &Experiment, fit: &Fit) -> Experiment {
    let mut experiment = experiment.clone();
    for (parameter, fitted) in experiment.parameters.iter_mut().zip(&fit.parameters) {
        parameter.start = fitted.value;
    }
    experiment
}

/// In which half each recording is: every other one, copies of one where that is.
fn halves(originals: &[usize]) -> Vec<bool> {
    let mut halves: Vec<bool> = Vec::with_capacity(originals.len());
    let mut second = false;
    for (k, &of) in originals.iter().enumerate() {
        halves.push(if of == k { second } else { halves[of] });
        second ^= of == k;
    }
    halves
}

/// The logarithm of the loss of each recording by the parameters that a fit to the other half finds; nothing where one is not finite.
fn judged(
    experiment: &Experiment,
    dataset: &Dataset,
    now: &Fit,
    halves: &[bool],
    threads: usize,
) -> Option<Vec<f64>> {
    let mut problem = Problem::new(experiment, dataset, threads);
    let estimated: Vec<State<f64>> = problem.initial.clone();
    problem.cap_sensitivity = experiment.window == WindowLength::Whole;
    let space = problem.space.clone();
    let (lower, upper, scale) = (space.lower(), space.upper(), space.scale());
    let variables = Variables { lower: &lower, upper: &upper, scale: &scale };
    let mut losses = vec![f64::NAN; dataset.trajectories.len()];
    for half in [false, true] {
        problem.select(|trajectory| halves[trajectory] != half);
        problem.initial.clone_from(&now.initial_states);
        let standing = Standing::new(&space.start());
        let limits = Limits::fine(ITERATIONS);
        let found = proceed(&mut problem, standing, variables, limits, &mut |_, _| true);
        problem.select(|trajectory| halves[trajectory] == half);
        problem.initial.clone_from(&estimated);
        if problem.initial_unknowns() > 0 {
            for _ in 0..STARTS {
                problem.linearize(&found.x);
                problem.trial(&found.x, &vec![0.0; found.x.len()]);
                problem.accept();
            }
        }
        for (trajectory, (sum, count)) in problem.recording_squares(&found.x) {
            losses[trajectory] = (sum / count.max(1) as f64).max(f64::MIN_POSITIVE).ln();
        }
    }
    let originals = dataset.originals();
    let first = losses.iter().enumerate().filter(|(k, _)| originals[*k] == *k);
    let losses: Vec<f64> = first.map(|(_, loss)| *loss).collect();
    losses.iter().all(|loss| loss.is_finite()).then_some(losses)
}
