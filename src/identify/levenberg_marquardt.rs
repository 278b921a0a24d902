//! Bounded Levenberg-Marquardt on summed normal equations.
//!
//! The sums J'J and J'r are all it asks of a problem, so that Jacobians of many trajectories need
//! not be kept, and unknowns that belong to one trajectory can be eliminated there. Damping after
//! Marquardt (diagonal) and Nielsen (its update); a bound that the gradient pushes against holds
//! its variable, and steps end at the bounds. Where it ends, a compass search looks over the kinks
//! that changes of contact make.

use nalgebra::{DMatrix, DVector};

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Steps below this fraction of the scale end the search.
const STEP_TOLERANCE: f64 = 1e-9;
/// Decreases of the cost below this fraction end the search.
const COST_TOLERANCE: f64 = 1e-10;
/// A decrease below this fraction of the cost is slow; so many slow iterations in a row end the search.
const SLOW: f64 = 1e-6;
const SLOW_ITERATIONS: usize = 3;
/// Lengths of the steps that look over kinks, in scales of the variables.
const COMPASS: [f64; 4] = [0.1, 0.03, 0.01, 0.003];
/// A damping this large means that no step helps.
const MAX_DAMPING: f64 = 1e14;

/// Minimises `problem` from `start` within the bounds. `watch` is told of each iteration (number,
/// cost, x) and may end the search by returning false.
pub fn minimize(
    problem: &mut impl LeastSquares,
    start: &[f64],
    variables: Variables,
    max_iterations: usize,
    watch: &mut dyn FnMut(usize, f64, &[f64]) -> bool,
) -> Minimum {
    let mut search = Search { problem, variables, x: start.to_vec(), cost: 0.0, iterations: 1 };
    search.cost = search.problem.linearize(&search.x);
    let mut outcome = if search.cost.is_finite() { None } else { Some(Outcome::Infeasible) };
    if !watch(1, search.cost, &search.x) {
        outcome = Some(Outcome::IterationLimit);
    }
    let mut slow = 0;
    let (mut damping, mut growth) = (1e-4, 2.0);
    while outcome.is_none() {
        let before = search.cost;
        let Some(attempt) = search.newton(damping) else {
            outcome = Some(Outcome::Infeasible);
            break;
        };
        let mut ended = None;
        if attempt.accepted {
            let gain = (before - search.cost) / attempt.predicted.max(f64::MIN_POSITIVE);
            damping = (damping * (1.0 - (2.0 * gain - 1.0).powi(3)).max(1.0 / 3.0)).max(1e-15);
            growth = 2.0;
            slow = if before - search.cost <= SLOW * before { slow + 1 } else { 0 };
            let flat = attempt.predicted <= COST_TOLERANCE * before && slow > 0;
            if attempt.short || flat || slow >= SLOW_ITERATIONS || search.cost == 0.0 {
                ended = Some(Outcome::Converged);
            }
        } else if attempt.short || attempt.predicted <= COST_TOLERANCE * before {
            ended = Some(Outcome::Converged);
        } else {
            damping *= growth;
            growth *= 2.0;
            if damping > MAX_DAMPING {
                ended = Some(Outcome::Stalled);
            }
        }
        // Where modes of contact change the cost has kinks, and the gradient ends at the first: look
        // over it before giving up.
        if ended.is_some() && search.iterations < max_iterations && search.compass() {
            (ended, damping, growth, slow) = (None, 1e-4, 2.0, 0);
        }
        if search.cost < before && !watch(search.iterations, search.cost, &search.x) {
            ended = ended.or(Some(Outcome::IterationLimit));
        }
        outcome = ended
            .or_else(|| (search.iterations >= max_iterations).then_some(Outcome::IterationLimit));
    }
    Minimum {
        outcome: outcome.unwrap_or(Outcome::IterationLimit),
        x: search.x,
        cost: search.cost,
        iterations: search.iterations,
    }
}

/// A search under way; the problem is linearised at `x`.
struct Search<'a, P> {
    problem: &'a mut P,
    variables: Variables<'a>,
    x: Vec<f64>,
    cost: f64,
    iterations: usize,
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
    fn newton(&mut self, damping: f64) -> Option<Attempt> {
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
        let step = bounded_step(&h, &g, damping, &self.x, self.variables);
        let trial = self.problem.trial(&self.x, &step);
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
            for i in 0..self.x.len() {
                for sign in [1.0, -1.0] {
                    let (lower, upper) = (self.variables.lower[i], self.variables.upper[i]);
                    let there = self.x[i] + sign * length * self.variables.scale[i];
                    let mut step = vec![0.0; self.x.len()];
                    step[i] = there.clamp(lower, upper) - self.x[i];
                    if step[i] == 0.0 {
                        continue;
                    }
                    let trial = self.problem.trial(&self.x, &step);
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
        for ((x, step), (&lower, &upper)) in self.x.iter_mut().zip(step).zip(bounds) {
            *x = (*x + step).clamp(lower, upper);
        }
        self.problem.accept();
        self.cost = self.problem.linearize(&self.x);
        self.iterations += 1;
    }
}

/// The damped step, in the variables' own units, within the bounds.
fn bounded_step(
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
            step[i] = (x[i] + d[k] * scale[i]).clamp(lower[i], upper[i]) - x[i];
        }
    } else {
        // Not definite: the combination is not observable; go down the gradient, each variable on
        // its own curvature.
        for (k, &i) in free.iter().enumerate() {
            let d = b[k] / (h[(i, i)] * (1.0 + damping) * free.len() as f64);
            step[i] = (x[i] + d * scale[i]).clamp(lower[i], upper[i]) - x[i];
        }
    }
    step
}
