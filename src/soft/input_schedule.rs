//! Inputs of the rigid bodies that change over time.

use super::schedule;

/// An input of the rigid bodies as it is told at some times, on straight lines between these; in each step it is what it is as that
/// begins. What the scene has of the input otherwise does not count; of several schedules of one input the last does.
#[derive(Clone, Debug, PartialEq)]
pub struct InputSchedule {
    /// Which input, in the order of the model.
    pub input: usize,
    /// Ascending (s).
    pub times: Vec<f64>,
    /// A number of each, N, N m or the unit of a control.
    pub values: Vec<f64>,
}

impl InputSchedule {
    /// At times that are evenly spaced over so many steps of `time_step` (s): the first number acts in the first of them, the last in
    /// the last.
    pub fn over((steps, time_step): (usize, f64), input: usize, values: Vec<f64>) -> Self {
        let last = steps.saturating_sub(1) as f64 * time_step;
        let spans = values.len().saturating_sub(1).max(1) as f64;
        let times = (0..values.len()).map(|k| last * k as f64 / spans).collect();
        InputSchedule { input, times, values }
    }

    /// What it is at time `t` (s).
    pub fn at(&self, t: f64) -> f64 {
        let told = |k: usize| self.values.get(k).copied().unwrap_or_default();
        schedule::weights(&self.times, t).map(|(k, weight)| weight * told(k)).sum()
    }

    /// How that changes with the number told as the `k`-th.
    pub fn slope(&self, t: f64, k: usize) -> f64 {
        schedule::weight(&self.times, t, k)
    }
}
