//! Bounded Levenberg-Marquardt on summed normal equations.
//!
//! The sums J'J and J'r are all it asks of a problem, so that Jacobians of many trajectories need
//! not be kept, and unknowns that belong to one trajectory can be eliminated there. Damping after
//! Marquardt (diagonal) and Nielsen (its update); a bound that the gradient pushes against holds
//! its variable, and steps end at the bounds.

use nalgebra::{DMatrix, DVector};

/// A sum of squares, cost(x) = |r(x)|² / 2.
pub trait LeastSquares {
    /// Evaluates residuals and Jacobian at `x`; returns the cost.
    fn linearize(&mut self, x: &[f64]) -> f64;

    /// J'J and J'r at the last linearised point. Unknowns that were eliminated are damped by
    /// `damping` times their diagonal.
    fn normal_equations(&self, damping: f64) -> (DMatrix<f64>, DVector<f64>);

    /// Tries `x + step`.
    fn trial(&mut self, x: &[f64], step: &[f64], damping: f64) -> Trial;

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
    /// Neither the cost nor the variables change any more.
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
    /// J'J there, of the variables over their scales.
    pub hessian: DMatrix<f64>,
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
    let n = start.len();
    let mut x = start.to_vec();
    let mut cost = problem.linearize(&x);
    let mut iterations = 1;
    let mut damping = 1e-4;
    let mut growth = 2.0;
    let scaled = |problem: &dyn Fn(f64) -> (DMatrix<f64>, DVector<f64>), damping: f64| {
        let (mut h, mut g) = problem(damping);
        for i in 0..n {
            g[i] *= variables.scale[i];
            for j in 0..n {
                h[(i, j)] *= variables.scale[i] * variables.scale[j];
            }
        }
        (h, g)
    };
    let mut outcome = if cost.is_finite() { None } else { Some(Outcome::Infeasible) };
    if !watch(iterations, cost, &x) {
        outcome = Some(Outcome::IterationLimit);
    }
    while outcome.is_none() {
        let (h, g) = scaled(&|damping| problem.normal_equations(damping), damping);
        if !g.iter().chain(h.iter()).all(|x| x.is_finite()) {
            outcome = Some(Outcome::Infeasible);
            break;
        }
        let step = bounded_step(&h, &g, damping, &x, variables);
        let trial = problem.trial(&x, &step, damping);
        let moved = (0..n)
            .map(|i| step[i].abs() / variables.scale[i])
            .fold(trial.eliminated_step, f64::max);
        let short = moved <= STEP_TOLERANCE;
        if trial.cost.is_finite() && trial.cost < cost {
            for (x, step) in x.iter_mut().zip(&step) {
                *x += step;
            }
            for (x, (lower, upper)) in x.iter_mut().zip(variables.lower.iter().zip(variables.upper))
            {
                *x = x.clamp(*lower, *upper);
            }
            let decrease = cost - trial.cost;
            let gain = decrease / trial.predicted.max(f64::MIN_POSITIVE);
            let flat =
                decrease <= COST_TOLERANCE * cost && trial.predicted <= COST_TOLERANCE * cost;
            damping = (damping * (1.0 - (2.0 * gain - 1.0).powi(3)).max(1.0 / 3.0)).max(1e-15);
            growth = 2.0;
            problem.accept();
            cost = problem.linearize(&x);
            iterations += 1;
            let go_on = watch(iterations, cost, &x);
            if short || flat || cost == 0.0 {
                outcome = Some(Outcome::Converged);
            } else if !go_on || iterations >= max_iterations {
                outcome = Some(Outcome::IterationLimit);
            }
        } else if short || trial.predicted <= COST_TOLERANCE * cost {
            outcome = Some(Outcome::Converged);
        } else {
            damping *= growth;
            growth *= 2.0;
            if damping > MAX_DAMPING {
                outcome = Some(Outcome::Stalled);
            }
        }
    }
    let (hessian, _) = scaled(&|damping| problem.normal_equations(damping), 0.0);
    let outcome = outcome.unwrap_or(Outcome::IterationLimit);
    Minimum { x, cost, iterations, outcome, hessian }
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
