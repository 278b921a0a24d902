//! When Newton's method with contact in each of its iterations ends.

use super::newton::NewtonSettings;
use crate::argmin::Status;

/// Iterations without a smaller residual before the search ends.
const PATIENCE: usize = 6;

/// How a search goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Convergence {
    pub settings: NewtonSettings,
    pub iterations: usize,
    /// Whether one more step by the same matrix is enough.
    pub reusable: bool,
    best: f64,
    before: f64,
    waited: usize,
}

impl Convergence {
    pub fn new(settings: NewtonSettings) -> Self {
        let (best, before) = (f64::INFINITY, f64::INFINITY);
        Convergence { settings, iterations: 0, reusable: false, best, before, waited: 0 }
    }

    /// Whether an iteration may follow; it counts.
    pub fn next(&mut self) -> bool {
        let left = self.iterations < self.settings.iterations;
        self.iterations += usize::from(left);
        left
    }

    /// Takes the residual of an iteration: why the search ends with it, if it does. `lawful`: the law of contact is met, as where the
    /// step was taken whole, by all that touch.
    pub fn ended(&mut self, lawful: bool, residual: f64) -> Option<Status> {
        self.reusable = lawful && residual * residual <= self.settings.tolerance * self.before;
        self.before = residual;
        if !lawful {
            return None;
        }
        if residual <= self.settings.tolerance {
            return Some(Status::Solved);
        }
        let (improves, rests) = (residual < 0.5 * self.best, self.best <= self.settings.accepted);
        if !improves && rests {
            return Some(Status::Solved);
        }
        self.waited = if improves { 0 } else { self.waited + 1 };
        self.best = self.best.min(residual);
        (self.waited > PATIENCE).then_some(Status::Stalled)
    }
}

impl Default for Convergence {
    fn default() -> Self {
        Convergence::new(NewtonSettings::default())
    }
}
