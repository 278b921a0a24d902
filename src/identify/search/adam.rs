//! Adam (`Kingma15`) on reverse-mode gradients: the search of [LeLidec21] IV.B.

use serde::{Deserialize, Serialize};

use super::descent::Descent;
use super::levenberg_marquardt::{Minimum, Outcome, Variables};
use super::window_states::WindowStates;
use crate::ad;
use crate::adaptive_moments::Moments;
use crate::identify::experiment::AdamSettings;

/// Change over the last tenth of the iterations, relative to the scales, that counts as converged.
const TOLERANCE: f64 = 1e-2;
/// Keeps the step finite where a gradient has always been zero.
const EPSILON: f64 = 1e-30;

/// Where a search stands between two iterations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AdamStanding {
    /// The variables of the next iteration.
    pub x: Vec<f64>,
    /// Means of the gradient and of its square, initial states behind the variables.
    mean: Vec<f64>,
    square: Vec<f64>,
    pub iterations: usize,
    /// The best point so far: cost, variables, initial states.
    pub(super) best: Option<(f64, Vec<f64>, WindowStates)>,
    /// The variables when the last tenth of the iterations began.
    earlier: Option<Vec<f64>>,
}

impl AdamStanding {
    /// Before the first iteration.
    pub fn new(x: &[f64]) -> Self {
        let (mean, square) = (Vec::new(), Vec::new());
        AdamStanding { x: x.to_vec(), mean, square, iterations: 0, best: None, earlier: None }
    }
}

/// Minimises `problem` from where a search stands within the bounds, in the manner of
/// [`minimize`](super::minimize). Fitted initial states move along, in units of 1 mm, 1 mrad and
/// 10 times that a second. `watch` is told of each iteration: where it stands after it, and the cost before.
pub(crate) fn adam<P: Descent>(
    problem: &mut P,
    mut at: AdamStanding,
    variables: Variables,
    settings: AdamSettings,
    max_iterations: usize,
    watch: &mut dyn FnMut(&AdamStanding, f64, &P) -> bool,
) -> Result<Minimum, ad::Error> {
    let n = at.x.len();
    let unknowns = problem.initial_unknowns();
    let windows = problem.initial().len();
    let total = n + windows * unknowns;
    let scale = |i: usize| match i.checked_sub(n) {
        None => variables.scale[i],
        Some(j) if (j % unknowns) < unknowns / 2 => 1e-3,
        Some(_) => 1e-2,
    };
    at.mean.resize(total, 0.0);
    at.square.resize(total, 0.0);
    let mut outcome = Outcome::IterationLimit;
    while at.iterations < max_iterations {
        let (cost, gradient) = problem.gradient(&at.x)?;
        at.iterations += 1;
        if !(cost.is_finite() && gradient.iter().all(|g| g.is_finite())) {
            if at.iterations == 1 {
                outcome = Outcome::Infeasible;
            }
            break;
        }
        if at.best.as_ref().is_none_or(|(best, ..)| cost < *best) {
            let initial = problem.initial().to_vec();
            let states = WindowStates { initial, ..WindowStates::default() };
            at.best = Some((cost, at.x.clone(), states));
        }
        if at.iterations == max_iterations - max_iterations / 10 {
            at.earlier = Some(at.x.clone());
        }
        let t = at.iterations as i32;
        let rate = settings.rate * (1.0 - (at.iterations - 1) as f64 / max_iterations as f64);
        let mut step = vec![0.0; total];
        let AdamSettings { beta1: mean, beta2: square, .. } = settings;
        let moments = Moments { mean, square, epsilon: EPSILON };
        for i in 0..total {
            let g = gradient[i] * scale(i);
            let direction = moments.direction(t, g, &mut at.mean[i], &mut at.square[i]);
            step[i] = -rate * scale(i) * direction;
        }
        let bounds = variables.lower.iter().zip(variables.upper);
        for ((x, step), (&lower, &upper)) in at.x.iter_mut().zip(&step).zip(bounds) {
            *x = (*x + step).clamp(lower, upper);
        }
        if unknowns > 0 {
            for (k, tangent) in step[n..].chunks_exact(unknowns).enumerate() {
                problem.move_initial(k, tangent);
            }
        }
        if !watch(&at, cost, problem) {
            break;
        }
    }
    let settled = at.earlier.as_ref().is_some_and(|earlier| {
        (0..n).all(|i| (at.x[i] - earlier[i]).abs() <= TOLERANCE * variables.scale[i])
    });
    if at.iterations == max_iterations && settled {
        outcome = Outcome::Converged;
    }
    let iterations = at.iterations;
    Ok(match at.best {
        Some((cost, x, states)) => {
            problem.set_initial(&states.initial);
            Minimum { x, cost, iterations, outcome }
        }
        None => Minimum { x: at.x, cost: f64::INFINITY, iterations, outcome },
    })
}
