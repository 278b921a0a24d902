//! Searches from several starts.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::optimum::{Optimum, optimize};
use super::task::{Task, TaskVariable};
use crate::Error;
use crate::identify::Outcome;
use crate::parallel::parallel;

/// A variable without bounds starts within so many of its scales of where it begins.
const REACH: f64 = 3.0;

/// What is told of each iteration of searches from several starts, on their threads: start, stage, number, cost. It ends them all
/// by returning false.
pub type WatchStarts<'a> = &'a (dyn Fn(usize, usize, usize, f64) -> bool + Sync);

/// Searches from several starts.
#[derive(Clone, Debug)]
pub struct StartsOptimum {
    /// What came of each, or why nothing did.
    pub starts: Vec<Result<StartEnd, Error>>,
    /// Which found the least cost, and that: of those that came to the last stage, and there of those in which all steps were solved, if
    /// there are any.
    pub best: Option<(usize, Optimum)>,
}

/// What came of the search from a start.
#[derive(Clone, Debug, PartialEq)]
pub struct StartEnd {
    /// The variables.
    pub x: Vec<f64>,
    /// The cost there.
    pub cost: f64,
    /// How the last stage ended.
    pub outcome: Outcome,
    /// Steps that were not solved there.
    pub unsolved: usize,
    /// Why a stage did not begin, if that was so: what there is then is of the stages before.
    pub failure: Option<Error>,
}

impl Task {
    /// Where its searches begin: where it says, and then at random by its seed, each number between its bounds, or where it has not
    /// both within three of its scales of where it says.
    pub fn starts(&self) -> Vec<Vec<f64>> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut drawn = |variable: &TaskVariable| -> Vec<f64> {
            let TaskVariable { lower, upper, scale, .. } = *variable;
            let mut number = |initial: f64| {
                let near =
                    [(initial - REACH * scale).max(lower), (initial + REACH * scale).min(upper)];
                let [low, high] = if (upper - lower).is_finite() { [lower, upper] } else { near };
                let share: f64 = random.random();
                let x = low + share * (high - low);
                if x.is_finite() && low <= high { x.clamp(low, high) } else { initial }
            };
            variable.initial.iter().map(|&initial| number(initial)).collect()
        };
        let mut others = || self.variables.iter().flat_map(&mut drawn).collect();
        std::iter::once(self.start()).chain((1..self.starts).map(|_| others())).collect()
    }

    /// The task that begins elsewhere.
    fn from(&self, x: &[f64]) -> Task {
        let mut task = self.clone();
        let numbers = task.variables.iter_mut().flat_map(|variable| &mut variable.initial);
        numbers.zip(x).for_each(|(initial, x)| *initial = *x);
        task
    }
}

/// Searches from all [`starts`](Task::starts) of a task; the same on any number of threads.
pub fn optimize_from_starts(task: &Task, threads: usize, watch: WatchStarts) -> StartsOptimum {
    let starts = task.starts();
    let best: Mutex<Option<(usize, Optimum)>> = Mutex::new(None);
    let ended = AtomicBool::new(false);
    // What came to the last stage, whose cost is that of the task, then what is solved, then the lower cost, then the first.
    let rank = |start: usize, found: &Optimum| {
        let left = task.stages().saturating_sub(found.stages.len());
        ((left, found.evaluated.unsolved > 0), found.evaluated.cost, start)
    };
    let ends = parallel(threads, starts.len(), |start| {
        if ended.load(Ordering::Relaxed) {
            return Err(Error::undefined(&task.name, "the search was ended before this start"));
        }
        let own = task.from(&starts[start]);
        let found = optimize(&own, &mut |stage, iteration, cost, _| {
            let goes_on = watch(start, stage, iteration, cost);
            !ended.fetch_or(!goes_on, Ordering::Relaxed) && goes_on
        })?;
        let end = StartEnd {
            x: found.x.clone(),
            cost: found.evaluated.cost,
            outcome: found.outcome,
            unsolved: found.evaluated.unsolved,
            failure: found.failure.clone(),
        };
        let mut best = best.lock().unwrap_or_else(PoisonError::into_inner);
        let is_better = best.as_ref().is_none_or(|(other, known)| {
            let (own, known) = (rank(start, &found), rank(*other, known));
            (own.0.cmp(&known.0)).then(own.1.total_cmp(&known.1)).then(own.2.cmp(&known.2)).is_lt()
        });
        if is_better {
            *best = Some((start, found));
        }
        Ok(end)
    });
    StartsOptimum { starts: ends, best: best.into_inner().unwrap_or_else(PoisonError::into_inner) }
}
