//! Freeing what a model lacks, one thing after the other, as far as recordings confirm it that did not help to find it.

use super::cross_validation::{distinct, folds, judged, of_originals, started_at};
use super::data::Dataset;
use super::experiment::Experiment;
use super::search::{Fit, FitStatus, fit};
use super::statistics::quantile_95;
use super::trust::{PairedDifference, ScoreTest, score_tests};
use crate::Error;

/// Claims that are tried in a round at most; and round edges.
const TRIED: usize = 3;
/// Why it ends.
const NOTHING: &str = "no number that is held shows in what is left";
const UNCONFIRMED: &str = "no half of the recordings confirms what shows in the other";
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
            // For a quarter of 5 % an interval is about a quarter wider, and more where recordings are few.
            let width = 1.28 * quantile_95(pairs.count.saturating_sub(1).max(1));
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
    let halves = folds(&originals, 2);
    if distinct(&originals) < FEWEST {
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
        let is_claim = |test: &ScoreTest| test.is_significant() && test.gain > 0.0;
        let (mut claims, others): (Vec<ScoreTest>, Vec<ScoreTest>) =
            tests.into_iter().partition(is_claim);
        claims.truncate(TRIED);
        let shows = !claims.is_empty();
        // What recordings say of round edges, fits alone can tell.
        claims.extend(others.into_iter().find(ScoreTest::is_rounding));
        if claims.is_empty() {
            improvement.end = NOTHING;
            break;
        }
        if !watch(round, "") {
            improvement.end = "stopped";
            break;
        }
        let losses = |experiment: &Experiment| {
            let judged = judged(experiment, dataset, now, &halves, threads)?;
            Some(of_originals(&originals, &judged.losses))
        };
        let before = losses(experiment);
        let mut tried = Vec::new();
        let mut adopted = None;
        for test in claims {
            if !watch(round, &test.name) {
                improvement.end = "stopped";
                break;
            }
            let next = test.freed(experiment, &now.identified);
            let after = losses(&next);
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
                    improvement.end = if shows { UNCONFIRMED } else { NOTHING };
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
