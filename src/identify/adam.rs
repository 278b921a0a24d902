//! Adam (Kingma and Ba 2015) on reverse-mode gradients: the search of [LeLidec21] IV.B.

use super::Problem;
use super::levenberg_marquardt::{Minimum, Outcome, Variables};
use crate::Error;
use crate::ad;
use crate::table::Table;

/// Numbers of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdamSettings {
    /// Step length as a fraction of the scale of each parameter; falls linearly to zero.
    pub rate: f64,
    /// Decay of the mean of the gradient.
    pub beta1: f64,
    /// Decay of the mean of its square.
    pub beta2: f64,
}

impl Default for AdamSettings {
    fn default() -> Self {
        AdamSettings { rate: 0.1, beta1: 0.9, beta2: 0.999 }
    }
}

impl AdamSettings {
    pub(super) fn read(table: Option<&Table>) -> Result<Self, Error> {
        let mut settings = AdamSettings::default();
        let Some(table) = table else { return Ok(settings) };
        table.only(&["rate", "beta1", "beta2"])?;
        if let Some(rate) = table.number("rate")? {
            table.demand("rate", rate > 0.0, "must be positive", rate, "")?;
            settings.rate = rate;
        }
        for (field, place) in [("beta1", &mut settings.beta1), ("beta2", &mut settings.beta2)] {
            if let Some(beta) = table.number(field)? {
                let inside = (0.0..1.0).contains(&beta);
                table.demand(field, inside, "must be at least 0 and below 1", beta, "")?;
                *place = beta;
            }
        }
        Ok(settings)
    }
}

/// Change over the last tenth of the iterations, relative to the scales, that counts as converged.
const TOLERANCE: f64 = 1e-2;
/// Keeps the step finite where a gradient has always been zero.
const EPSILON: f64 = 1e-30;

/// Minimises `problem` from `start` within the bounds, in the manner of
/// [`minimize`](super::minimize). Fitted initial states move along, in units of 1 mm, 1 mrad and
/// 10 times that a second.
pub(super) fn adam(
    problem: &mut Problem,
    start: &[f64],
    variables: Variables,
    settings: AdamSettings,
    max_iterations: usize,
    watch: &mut dyn FnMut(usize, f64, &[f64]) -> bool,
) -> Result<Minimum, ad::Error> {
    let n = start.len();
    let unknowns = problem.initial_unknowns();
    let windows = problem.initial.len();
    let total = n + windows * unknowns;
    let scale = |i: usize| match i.checked_sub(n) {
        None => variables.scale[i],
        Some(j) if (j % unknowns) < unknowns / 2 => 1e-3,
        Some(_) => 1e-2,
    };
    let (mut mean, mut square) = (vec![0.0; total], vec![0.0; total]);
    let mut x = start.to_vec();
    let mut best = (f64::INFINITY, x.clone(), problem.initial.clone());
    let mut history = Vec::new();
    let mut outcome = Outcome::IterationLimit;
    let mut iterations = 0;
    while iterations < max_iterations {
        let (cost, gradient) = problem.gradient(&x)?;
        iterations += 1;
        if !(cost.is_finite() && gradient.iter().all(|g| g.is_finite())) {
            if iterations == 1 {
                outcome = Outcome::Infeasible;
            }
            break;
        }
        if cost < best.0 {
            best = (cost, x.clone(), problem.initial.clone());
        }
        history.push(x.clone());
        if !watch(iterations, cost, &x) {
            break;
        }
        let t = iterations as i32;
        let rate = settings.rate * (1.0 - (iterations - 1) as f64 / max_iterations as f64);
        let mut step = vec![0.0; total];
        for i in 0..total {
            let g = gradient[i] * scale(i);
            mean[i] = settings.beta1 * mean[i] + (1.0 - settings.beta1) * g;
            square[i] = settings.beta2 * square[i] + (1.0 - settings.beta2) * g * g;
            let m = mean[i] / (1.0 - settings.beta1.powi(t));
            let v = square[i] / (1.0 - settings.beta2.powi(t));
            step[i] = -rate * scale(i) * m / (v.sqrt() + EPSILON);
        }
        for i in 0..n {
            x[i] = (x[i] + step[i]).clamp(variables.lower[i], variables.upper[i]);
        }
        if unknowns > 0 {
            for (k, tangent) in step[n..].chunks_exact(unknowns).enumerate() {
                problem.move_initial(k, tangent);
            }
        }
    }
    let tail = history.len() - history.len() / 10;
    let settled = history.get(tail.saturating_sub(1)).is_some_and(|earlier| {
        (0..n).all(|i| (x[i] - earlier[i]).abs() <= TOLERANCE * variables.scale[i])
    });
    if iterations == max_iterations && settled {
        outcome = Outcome::Converged;
    }
    let (cost, x, initial) = best;
    problem.initial = initial;
    Ok(Minimum { x, cost, iterations, outcome })
}
