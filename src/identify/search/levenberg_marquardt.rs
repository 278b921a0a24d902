//! Bounded Levenberg-Marquardt on summed normal equations.
//!
//! The sums J'J and J'r are all it asks of a problem, so that Jacobians of many trajectories need
//! not be kept, and unknowns that belong to one trajectory can be eliminated there. Damping after
//! `Marquardt63` (diagonal) and `Nielsen99` (its update); a bound that the gradient pushes against holds
//! its variable, and steps end at the bounds. Where it ends, a compass search (`Kolda03`) looks over the kinks
//! that changes of contact make.

use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// A sum of squares, cost(x) = |r(x)|² / 2.
pub trait LeastSquares {
    /// Evaluates residuals and Jacobian at `x`; returns the cost.
    fn linearize(&mut self, x: &[f64]) -> f64;

    /// J'J and J'r at the last linearised point, unknowns of the problem's own eliminated.
    fn normal_equations(&self) -> (DMatrix<f64>, DVector<f64>);

    /// Tries `x + step`.
    fn trial(&mut self, x: &[f64], step: &[f64]) -> Trial;

    /// Moves the eliminated unknowns to those of the last trial.
    fn accept(&mut self);

    /// Whether the cost is rough at the last linearised point: kinks everywhere, and derivatives that hold
    /// next to nowhere.
    fn is_rough(&self) -> bool {
        false
    }

    /// The change of the cost by the last trial in standard errors of it, where the problem knows how its parts disagree.
    fn significance(&self) -> Option<f64> {
        None
    }

    /// Whether it is worth a look over kinks where the search ends, two simulations a variable and length.
    fn has_kinks(&self) -> bool {
        true
    }
}

/// What came of a trial step.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// The cost there.
    pub cost: f64,
    /// The decrease that the linearisation predicts.
    pub predicted: f64,
    /// The largest step of an eliminated unknown, relative to its scale.
    pub eliminated_step: f64,
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// Neither the cost nor the variables change any more: a minimum, or a kink that none of the
    /// compass search's steps leads over.
    Converged,
    /// No step, however short, lowers the cost, yet the gradient is not zero.
    Stalled,
    /// The iterations are used up.
    IterationLimit,
    /// The cost at the start, or a derivative on the way, is not finite.
    Infeasible,
}

impl Outcome {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Converged => "converged",
            Outcome::Stalled => "stalled",
            Outcome::IterationLimit => "iteration_limit",
            Outcome::Infeasible => "infeasible",
        }
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Minimum {
    /// The best point found.
    pub x: Vec<f64>,
    /// The cost there.
    pub cost: f64,
    /// Linearisations used.
    pub iterations: usize,
    /// How it ended.
    pub outcome: Outcome,
}

/// Variables with bounds and scales.
#[derive(Clone, Copy, Debug)]
pub struct Variables<'a> {
    /// Least values.
    pub lower: &'a [f64],
    /// Largest values.
    pub upper: &'a [f64],
    /// Typical changes.
    pub scale: &'a [f64],
}

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Most linearisations.
    pub iterations: usize,
    /// A decrease below this share of the cost ends it, without a look over kinks: for searches that others
    /// follow. 0: it goes on to a minimum.
    pub enough: f64,
}

impl Limits {
    /// To a minimum, with so many linearisations at most.
    pub fn fine(iterations: usize) -> Limits {
        Limits { iterations, enough: 0.0 }
    }

    /// As far as the cost falls fast, with so many linearisations at most.
    pub fn coarse(iterations: usize) -> Limits {
        Limits { iterations, enough: COARSE }
    }

    /// To where the cost falls by less than a ten-thousandth in a step, as it goes on to for long where many variables say
    /// alike.
    pub fn flat(iterations: usize) -> Limits {
        Limits { iterations, enough: FLAT }
    }

    fn is_coarse(&self) -> bool {
        self.enough > 0.0
    }
}

/// Where a search stands between two of its iterations: all that the rest of it depends on, besides the problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The best point so far.
    pub x: Vec<f64>,
    /// The cost there; nothing if it is not finite, or not known yet.
    pub cost: Option<f64>,
    /// Linearisations used.
    pub iterations: usize,
    /// How it ended, if it has.
    pub outcome: Option<Outcome>,
    damping: f64,
    growth: f64,
    slow: usize,
}

/// Damping at the start, and how fast it grows.
const DAMPING: f64 = 1e-3;
const GROWTH: f64 = 2.0;

impl Standing {
    /// Before the first iteration, at `x`.
    pub fn new(x: &[f64]) -> Standing {
        let (damping, growth) = (DAMPING, GROWTH);
        Standing {
            x: x.to_vec(),
            cost: None,
            iterations: 0,
            outcome: None,
            damping,
            growth,
            slow: 0,
        }
    }

    /// At its end, at `x`.
    pub fn ended(x: &[f64], outcome: Outcome) -> Standing {
        Standing { outcome: Some(outcome), ..Standing::new(x) }
    }
}

/// Steps below this fraction of the scale end the search.
const STEP_TOLERANCE: f64 = 1e-9;
/// Decreases of the cost below this fraction end the search.
const COST_TOLERANCE: f64 = 1e-10;
/// A decrease below this fraction of the cost is slow; so many slow iterations in a row end the search.
const SLOW: f64 = 1e-6;
const SLOW_ITERATIONS: usize = 3;
/// A decrease below this fraction ends a search among many variables that say alike.
const FLAT: f64 = 1e-4;
/// A decrease below this fraction ends a coarse search.
const COARSE: f64 = 1e-2;
/// A decrease below this fraction ends a search where the cost is rough: there it always falls a little further,
/// from one dent to the next.
pub(crate) const ROUGH: f64 = 5e-3;
/// Where the cost is rough, a change of it by less than this many standard errors, by how far its parts disagree, ends
/// the search. To first order that does not depend on how long the step is: it is the gradient in its own standard
/// errors. Of a whole Gauss-Newton step it is half of its length in standard errors of the variables; what is
/// left after it is much shorter. Kinks too small to be told apart from noise do not hold the search up.
const INSIGNIFICANT: f64 = 0.5;
/// Lengths of the steps that look over kinks, in scales of the variables.
const COMPASS: [f64; 4] = [0.1, 0.03, 0.01, 0.003];
/// A damping this large means that no step helps; in a coarse search, this large.
const MAX_DAMPING: f64 = 1e14;
const COARSE_DAMPING: f64 = 1e3;

/// Minimises `problem` from `start` within the bounds. `watch` is told of each iteration (number,
/// cost, x) and may end the search by returning false.
pub fn minimize(
    problem: &mut impl LeastSquares,
    start: &[f64],
    variables: Variables,
    max_iterations: usize,
    watch: &mut dyn FnMut(usize, f64, &[f64]) -> bool,
) -> Minimum {
    let limits = Limits::fine(max_iterations);
    let mut watch = |standing: &Standing, _: &mut _| {
        watch(standing.iterations, standing.cost.unwrap_or(f64::INFINITY), &standing.x)
    };
    proceed(problem, Standing::new(start), variables, limits, &mut watch)
}

/// What is told of each iteration, with the problem; it may end the search by returning false.
pub(crate) type Watch<'a, P> = &'a mut dyn FnMut(&Standing, &mut P) -> bool;

/// [`minimize`] from where another search stood, as that would have gone on.
pub(crate) fn proceed<P: LeastSquares>(
    problem: &mut P,
    standing: Standing,
    variables: Variables,
    limits: Limits,
    watch: Watch<P>,
) -> Minimum {
    let mut search = Search { problem, variables, cost: 0.0, standing };
    search.cost = search.problem.linearize(&search.standing.x);
    let most = if limits.is_coarse() { COARSE_DAMPING } else { MAX_DAMPING };
    if search.standing.iterations == 0 {
        search.standing.iterations = 1;
        search.standing.cost = search.cost.is_finite().then_some(search.cost);
        if search.standing.cost.is_none() {
            search.standing.outcome = Some(Outcome::Infeasible);
        }
        if !watch(&search.standing, search.problem) {
            search.standing.outcome = Some(Outcome::IterationLimit);
        }
    }
    while search.standing.outcome.is_none() {
        let before = search.cost;
        let Some(attempt) = search.newton() else {
            search.standing.outcome = Some(Outcome::Infeasible);
            break;
        };
        let mut ended = None;
        let small = attempt.predicted <= COST_TOLERANCE * before;
        let at = &mut search.standing;
        if attempt.accepted {
            let gain = (before - search.cost) / attempt.predicted.max(f64::MIN_POSITIVE);
            let factor = (1.0 - (2.0 * gain - 1.0).powi(3)).max(1.0 / 3.0);
            (at.damping, at.growth) = ((at.damping * factor).max(1e-15), GROWTH);
            at.slow = if before - search.cost <= SLOW * before { at.slow + 1 } else { 0 };
            let flat = small && at.slow > 0;
            if attempt.short || flat || at.slow >= SLOW_ITERATIONS || search.cost == 0.0 {
                ended = Some(Outcome::Converged);
            }
        } else if attempt.short || small {
            ended = Some(Outcome::Converged);
        } else {
            at.damping *= at.growth;
            at.growth *= 2.0;
            if at.damping > most {
                ended = Some(Outcome::Stalled);
            }
        }
        // Where modes of contact change the cost has kinks, and the gradient ends at the first: look
        // over it before giving up.
        let fell = before - search.cost;
        let rough = search.problem.is_rough();
        let slow = if rough { limits.enough.max(ROUGH) } else { limits.enough };
        let enough = (limits.is_coarse() || rough) && attempt.accepted && fell <= slow * before;
        let significance = |problem: &P| problem.significance().unwrap_or(f64::INFINITY);
        if enough || (rough && significance(search.problem) <= INSIGNIFICANT) {
            ended = Some(Outcome::Converged);
        } else if ended.is_some()
            && !(limits.is_coarse() || rough)
            && search.problem.has_kinks()
            && search.standing.iterations < limits.iterations
            && search.compass()
        {
            let at = &mut search.standing;
            (ended, at.damping, at.growth, at.slow) = (None, DAMPING, GROWTH, 0);
        }
        let used_up = search.standing.iterations >= limits.iterations;
        search.standing.outcome = ended.or_else(|| used_up.then_some(Outcome::IterationLimit));
        if search.cost < before && !watch(&search.standing, search.problem) {
            search.standing.outcome = ended.or(Some(Outcome::IterationLimit));
        }
    }
    Minimum {
        outcome: search.standing.outcome.unwrap_or(Outcome::IterationLimit),
        x: search.standing.x,
        cost: search.cost,
        iterations: search.standing.iterations,
    }
}

/// A search under way; the problem is linearised at `x`.
struct Search<'a, P> {
    problem: &'a mut P,
    variables: Variables<'a>,
    cost: f64,
    standing: Standing,
}

/// What came of a Newton step.
struct Attempt {
    accepted: bool,
    /// The decrease that the linearisation predicted.
    predicted: f64,
    /// Whether it was too short to matter.
    short: bool,
}

impl<P: LeastSquares> Search<'_, P> {
    /// Tries a damped step; nothing if a derivative is not finite.
    fn newton(&mut self) -> Option<Attempt> {
        let (mut h, mut g) = self.problem.normal_equations();
        let scale = self.variables.scale;
        for i in 0..g.len() {
            g[i] *= scale[i];
            for j in 0..g.len() {
                h[(i, j)] *= scale[i] * scale[j];
            }
        }
        if !g.iter().chain(h.iter()).all(|x| x.is_finite()) {
            return None;
        }
        let Standing { x, damping, .. } = &self.standing;
        let step = bounded_step(&h, &g, *damping, x, self.variables);
        let trial = self.problem.trial(x, &step);
        let sizes = step.iter().zip(scale).map(|(step, scale)| step.abs() / scale);
        let short = sizes.fold(trial.eliminated_step, f64::max) <= STEP_TOLERANCE;
        let accepted = trial.cost < self.cost;
        if accepted {
            self.accept(&step);
        }
        Some(Attempt { accepted, predicted: trial.predicted, short })
    }

    /// Tries steps along each variable, shorter and shorter; whether one lowered the cost by enough.
    fn compass(&mut self) -> bool {
        for length in COMPASS {
            for i in 0..self.standing.x.len() {
                for sign in [1.0, -1.0] {
                    let (lower, upper) = (self.variables.lower[i], self.variables.upper[i]);
                    let x = &self.standing.x;
                    let there = x[i] + sign * length * self.variables.scale[i];
                    let mut step = vec![0.0; x.len()];
                    step[i] = there.clamp(lower, upper) - x[i];
                    if step[i] == 0.0 {
                        continue;
                    }
                    let trial = self.problem.trial(x, &step);
                    if trial.cost < (1.0 - SLOW) * self.cost {
                        self.accept(&step);
                        return true;
                    }
                }
            }
        }
        false
    }

    fn accept(&mut self, step: &[f64]) {
        let bounds = self.variables.lower.iter().zip(self.variables.upper);
        for ((x, step), (&lower, &upper)) in self.standing.x.iter_mut().zip(step).zip(bounds) {
            *x = (*x + step).clamp(lower, upper);
        }
        self.problem.accept();
        self.cost = self.problem.linearize(&self.standing.x);
        self.standing.cost = Some(self.cost);
        self.standing.iterations += 1;
    }
}

/// Share of the way to a bound that a step may go: where a variable has no effect at its bound, as a restitution
/// of 0, a step that ends there would never come back.
const TO_BOUND: f64 = 0.8;
/// Closer than this, in scales, steps end at the bound.
const AT_BOUND: f64 = 1e-3;

/// Where a variable goes that is to move by `change`.
fn within(x: f64, change: f64, lower: f64, upper: f64, scale: f64) -> f64 {
    let bound = if change < 0.0 { lower } else { upper };
    let way = bound - x;
    if !bound.is_finite() || change.abs() < TO_BOUND * way.abs() {
        x + change
    } else if way.abs() <= AT_BOUND * scale {
        bound
    } else {
        x + TO_BOUND * way
    }
}

/// The damped step, in the variables' own units, within the bounds; `h` and `g` are J'J and J'r in scales of the variables.
pub(crate) fn bounded_step(
    h: &DMatrix<f64>,
    g: &DVector<f64>,
    damping: f64,
    x: &[f64],
    variables: Variables,
) -> Vec<f64> {
    let Variables { lower, upper, scale } = variables;
    let held = |i: usize| {
        h[(i, i)] <= 0.0 || (x[i] <= lower[i] && g[i] > 0.0) || (x[i] >= upper[i] && g[i] < 0.0)
    };
    let free: Vec<usize> = (0..x.len()).filter(|&i| !held(i)).collect();
    let mut step = vec![0.0; x.len()];
    let mut a = DMatrix::from_fn(free.len(), free.len(), |i, j| h[(free[i], free[j])]);
    for i in 0..free.len() {
        a[(i, i)] *= 1.0 + damping;
    }
    let b = DVector::from_fn(free.len(), |i, _| -g[free[i]]);
    if let Some(cholesky) = a.cholesky() {
        let d = cholesky.solve(&b);
        for (k, &i) in free.iter().enumerate() {
            step[i] = within(x[i], d[k] * scale[i], lower[i], upper[i], scale[i]) - x[i];
        }
    } else {
        // Not definite: the combination is not observable; go down the gradient, each variable on
        // its own curvature.
        for (k, &i) in free.iter().enumerate() {
            let d = b[k] / (h[(i, i)] * (1.0 + damping) * free.len() as f64);
            step[i] = within(x[i], d * scale[i], lower[i], upper[i], scale[i]) - x[i];
        }
    }
    step
}
