//! Bounded quasi-Newton search with limited memory (L-BFGS with bounds), on reverse-mode gradients: for many
//! parameters.
//!
//! Variables at a bound that the gradient pushes against are held; the others move along the two-loop
//! direction (`Nocedal06`, Algorithm 7.4), projected onto the bounds, with Armijo's condition along
//! the projected path (`Bertsekas82`). Fitted initial states move along, in units of 1 mm, 1 mrad and 10 times
//! that a second.

use serde::{Deserialize, Serialize};

use super::descent::Descent;
use super::levenberg_marquardt::{Minimum, Outcome, Variables};
use crate::ad;
use crate::linalg::dot;
use crate::state::State;

/// Where a search stands between two iterations. All in units of the scales.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LbfgsbStanding {
    /// The variables.
    x: Vec<f64>,
    /// The cost there; nothing before the first iteration.
    pub cost: Option<f64>,
    gradient: Vec<f64>,
    /// Steps, changes of the gradient, and 1 over their product; the oldest first.
    pairs: Vec<(Vec<f64>, Vec<f64>, f64)>,
    iterations: usize,
    slow: usize,
    outcome: Option<Outcome>,
}

impl LbfgsbStanding {
    /// Before the first iteration.
    pub fn new(x: &[f64]) -> Self {
        LbfgsbStanding {
            x: x.to_vec(),
            cost: None,
            gradient: Vec::new(),
            pairs: Vec::new(),
            iterations: 0,
            slow: 0,
            outcome: None,
        }
    }

    /// The variables.
    pub fn point(&self) -> &[f64] {
        &self.x
    }
}

/// Pairs that are remembered.
const MEMORY: usize = 12;
/// Share of the predicted decrease that a step has to reach.
const ARMIJO: f64 = 1e-4;
/// Halvings of a step before it is given up.
const HALVINGS: usize = 30;
/// A decrease below this fraction of the cost is slow; so many slow iterations in a row end the search.
const SLOW: f64 = 1e-9;
const SLOW_ITERATIONS: usize = 3;
/// A step of the quasi-Newton model that does not help is at the bottom, within rounding, if the model promises less
/// than this fraction of the cost, or the step is shorter than this in units of the scales.
const LITTLE: f64 = 1e-10;
const SHORT: f64 = 1e-8;
/// A projected gradient this small, of cost 1 and in units of the scales, ends it.
const FLAT: f64 = 1e-10;

/// Minimises `problem` from where a search stands within the bounds. `watch` is told of each iteration.
pub(crate) fn lbfgsb<P: Descent>(
    problem: &mut P,
    mut at: LbfgsbStanding,
    variables: Variables,
    max_iterations: usize,
    watch: &mut dyn FnMut(&LbfgsbStanding, &P) -> bool,
) -> Result<Minimum, ad::Error> {
    let n = variables.scale.len();
    let unknowns = problem.initial_unknowns();
    let scale = |i: usize| match i.checked_sub(n) {
        None => variables.scale[i],
        Some(j) if (j % unknowns) < unknowns / 2 => 1e-3,
        Some(_) => 1e-2,
    };
    let evaluate = |problem: &mut P, x: &[f64]| -> Result<(f64, Vec<f64>), ad::Error> {
        let (cost, mut gradient) = problem.gradient(x)?;
        gradient.iter_mut().enumerate().for_each(|(i, g)| *g *= scale(i));
        let finite = cost.is_finite() && gradient.iter().all(|g| g.is_finite());
        Ok((if finite { cost } else { f64::INFINITY }, gradient))
    };
    if at.cost.is_none() && at.outcome.is_none() {
        let (cost, gradient) = evaluate(problem, &at.x)?;
        (at.cost, at.gradient, at.iterations) = (Some(cost), gradient, 1);
        if !cost.is_finite() {
            (at.cost, at.outcome) = (None, Some(Outcome::Infeasible));
            at.gradient.clear();
        }
        if !watch(&at, problem) {
            at.outcome = at.outcome.or(Some(Outcome::IterationLimit));
        }
    }
    while at.outcome.is_none() {
        let before = at.cost.unwrap_or(f64::INFINITY);
        if at.iterations >= max_iterations {
            at.outcome = Some(Outcome::IterationLimit);
            break;
        }
        let held = |i: usize| {
            let Some((&x, &g)) = at.x.get(i).zip(at.gradient.get(i)) else { return false };
            (x <= variables.lower[i] && g > 0.0) || (x >= variables.upper[i] && g < 0.0)
        };
        let held: Vec<bool> = (0..at.gradient.len()).map(held).collect();
        let free = |v: &[f64]| -> Vec<f64> {
            v.iter().zip(&held).map(|(&v, &held)| if held { 0.0 } else { v }).collect()
        };
        let slope = free(&at.gradient);
        if dot(&slope, &slope).sqrt() <= FLAT * before {
            at.outcome = Some(Outcome::Converged);
            break;
        }
        let mut direction = free(&two_loop(&at.pairs, &slope));
        if dot(&direction, &slope) >= 0.0 {
            at.pairs.clear();
            direction = slope.iter().map(|g| -g).collect();
        }
        // Before the curvature is known: a tenth of a scale.
        let longest = direction.iter().fold(0.0_f64, |most, d| most.max(d.abs()));
        let mut length = if at.pairs.is_empty() { 0.1 / longest } else { 1.0 };
        let start: Vec<State<f64>> = problem.initial().to_vec();
        let mut found = None;
        for _ in 0..HALVINGS {
            let mut step: Vec<f64> = direction.iter().map(|d| d * length).collect();
            let mut x = at.x.clone();
            for i in 0..n {
                let there = at.x[i] + step[i] * scale(i);
                x[i] = there.clamp(variables.lower[i], variables.upper[i]);
                step[i] = (x[i] - at.x[i]) / scale(i);
            }
            problem.set_initial(&start);
            if unknowns > 0 {
                for (k, tangent) in step[n..].chunks_exact(unknowns).enumerate() {
                    let tangent: Vec<f64> =
                        (0..unknowns).map(|j| tangent[j] * scale(n + j)).collect();
                    problem.move_initial(k, &tangent);
                }
            }
            let (cost, gradient) = evaluate(problem, &x)?;
            if cost <= before + ARMIJO * dot(&slope, &step) && cost < before {
                found = Some((x, step, cost, gradient));
                break;
            }
            length *= 0.5;
        }
        let Some((x, step, cost, gradient)) = found else {
            problem.set_initial(&start);
            let promised = -0.5 * dot(&direction, &slope);
            if at.pairs.is_empty() {
                at.outcome = Some(Outcome::Stalled);
            } else if promised <= LITTLE * before || longest <= SHORT {
                at.outcome = Some(Outcome::Converged);
            }
            // Once more down the gradient itself: across a kink, curvature that was met before misleads.
            at.pairs.clear();
            continue;
        };
        let change: Vec<f64> = gradient.iter().zip(&at.gradient).map(|(a, b)| a - b).collect();
        let product = dot(&step, &change);
        if product > 1e-12 * dot(&step, &step).sqrt() * dot(&change, &change).sqrt() {
            at.pairs.push((step, change, 1.0 / product));
            if at.pairs.len() > MEMORY {
                at.pairs.remove(0);
            }
        }
        (at.x, at.cost, at.gradient) = (x, Some(cost), gradient);
        at.iterations += 1;
        at.slow = if before - cost <= SLOW * before { at.slow + 1 } else { 0 };
        if at.slow >= SLOW_ITERATIONS || cost == 0.0 {
            at.outcome = Some(Outcome::Converged);
        }
        if !watch(&at, problem) {
            at.outcome = at.outcome.or(Some(Outcome::IterationLimit));
        }
    }
    Ok(Minimum {
        x: at.x,
        cost: at.cost.unwrap_or(f64::INFINITY),
        iterations: at.iterations,
        outcome: at.outcome.unwrap_or(Outcome::IterationLimit),
    })
}

/// Minus the inverse Hessian that the pairs tell of, times the gradient.
fn two_loop(pairs: &[(Vec<f64>, Vec<f64>, f64)], gradient: &[f64]) -> Vec<f64> {
    let mut q: Vec<f64> = gradient.iter().map(|g| -g).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for (step, change, inverse) in pairs.iter().rev() {
        let share = inverse * dot(step, &q);
        q.iter_mut().zip(change).for_each(|(q, y)| *q -= share * y);
        shares.push(share);
    }
    if let Some((_, change, inverse)) = pairs.last() {
        let size = 1.0 / (inverse * dot(change, change));
        q.iter_mut().for_each(|q| *q *= size);
    }
    for ((step, change, inverse), share) in pairs.iter().zip(shares.iter().rev()) {
        let own = inverse * dot(change, &q);
        q.iter_mut().zip(step).for_each(|(q, s)| *q += (share - own) * s);
    }
    q
}
