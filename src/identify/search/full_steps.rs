//! Gauss-Newton's steps taken whole, whether the cost falls or not (`Qi93`).
//!
//! Contact makes motions piecewise smooth, and from piece to piece the Jacobian may change its orientation: a search that only
//! goes down ends in the dents between. Whole steps go over them, and at a solution they converge as on smooth equations.
//! The best point is kept; without a better one for a while others take over from there (`Nocedal06` 15.6, the watchdog).

use super::levenberg_marquardt::{
    LeastSquares, Minimum, Outcome, Variables, bounded_step, minimize,
};

/// Damping, relative to the diagonal: only for what nothing tells.
const DAMPING: f64 = 1e-12;
/// How far a step goes at first, in scales; twice as far after one that was cut and lowered the cost.
const RADIUS: f64 = 1.0;
/// Steps without a better point before the end.
const PATIENCE: usize = 6;
/// A shorter step, in scales, is none.
const SHORT: f64 = 1e-9;
/// How often a step is halved into what cannot be simulated.
const HALVINGS: usize = 6;

/// Where the steps led.
struct Led {
    /// The best point.
    x: Vec<f64>,
    /// The cost there.
    cost: f64,
    /// Linearisations.
    iterations: usize,
    /// How they ended, if nothing is left to others.
    outcome: Option<Outcome>,
}

/// Minimises from `start` by whole steps, then by [`minimize`], with so many linearisations at most. A cost of `nothing` or less
/// is a solution. `watch` is told of each iteration: its number, the cost, and where; false ends the search.
pub(crate) fn minimize_over_kinks(
    problem: &mut impl LeastSquares,
    start: &[f64],
    variables: Variables,
    (most, nothing): (usize, f64),
    watch: &mut dyn FnMut(usize, f64, &[f64]) -> bool,
) -> Minimum {
    let led = full_steps(problem, start, variables, (most, nothing), watch);
    let Led { x, cost, iterations, outcome } = led;
    if let Some(outcome) = outcome {
        return Minimum { x, cost, iterations, outcome };
    }
    let mut go_on = |k: usize, cost: f64, x: &[f64]| watch(iterations + k, cost, x);
    let found = minimize(problem, &x, variables, most - iterations, &mut go_on);
    Minimum { iterations: iterations + found.iterations, ..found }
}

/// Takes whole steps from `start`.
fn full_steps(
    problem: &mut impl LeastSquares,
    start: &[f64],
    variables: Variables,
    (most, nothing): (usize, f64),
    watch: &mut dyn FnMut(usize, f64, &[f64]) -> bool,
) -> Led {
    let mut x = start.to_vec();
    let mut cost = problem.linearize(&x);
    let mut led = Led { x: x.clone(), cost, iterations: 1, outcome: None };
    if !cost.is_finite() {
        led.outcome = Some(Outcome::Infeasible);
        return led;
    }
    let (mut radius, mut waited) = (RADIUS, 0);
    let mut goes_on = watch(1, cost, &x);
    loop {
        if led.cost <= nothing {
            led.outcome = Some(Outcome::Converged);
        } else if !goes_on || led.iterations >= most {
            led.outcome = Some(Outcome::IterationLimit);
        }
        if led.outcome.is_some() || waited > PATIENCE {
            return led;
        }
        let (mut h, mut g) = problem.normal_equations();
        for i in 0..g.len() {
            g[i] *= variables.scale[i];
            for j in 0..g.len() {
                h[(i, j)] *= variables.scale[i] * variables.scale[j];
            }
        }
        if !h.iter().chain(g.iter()).all(|x| x.is_finite()) {
            return led;
        }
        let step = bounded_step(&h, &g, DAMPING, &x, variables);
        let sizes = step.iter().zip(variables.scale).map(|(step, scale)| (step / scale).abs());
        let size = sizes.fold(0.0, f64::max);
        if size <= SHORT {
            // Where it stands still the gradient is zero.
            led.outcome = (waited == 0).then_some(Outcome::Converged);
            return led;
        }
        let mut share = (radius / size).min(1.0);
        let cut = share < 1.0;
        let mut there = x.clone();
        let mut found = f64::INFINITY;
        for _ in 0..=HALVINGS {
            for (k, there) in there.iter_mut().enumerate() {
                let moved = x[k] + share * step[k];
                *there = moved.clamp(variables.lower[k], variables.upper[k]);
            }
            found = problem.linearize(&there);
            if found.is_finite() {
                break;
            }
            share *= 0.5;
        }
        if !found.is_finite() {
            return led;
        }
        if cut && found < cost {
            radius *= 2.0;
        }
        (x, cost) = (there, found);
        led.iterations += 1;
        waited += 1;
        if cost < led.cost {
            (led.x, led.cost, waited) = (x.clone(), cost, 0);
        }
        goes_on = watch(led.iterations, cost, &x);
    }
}
