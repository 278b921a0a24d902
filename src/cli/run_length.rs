//! How many steps a command simulates.

use std::path::Path;

use crate::Error;

/// More steps than this in one run are taken for a mistake.
pub(super) const MOST_STEPS: usize = 10_000_000;

/// How many steps a rollout takes: as given, or as many as make one second.
pub(super) fn run_length(
    scene: &Path,
    time_step: f64,
    given: Option<usize>,
) -> Result<usize, Error> {
    let steps = given.unwrap_or_else(|| ((1.0 / time_step).round() as usize).max(1));
    if (1..=MOST_STEPS).contains(&steps) {
        return Ok(steps);
    }
    Err(match given {
        Some(_) => {
            let message = format!("must be 1 to {MOST_STEPS}, found {steps}");
            Error::input("--steps", None, "", message)
        }
        None => {
            let message = format!("one second would be {steps} steps; say how many with --steps");
            Error::input(scene.display().to_string(), None, "simulation.time_step", message)
        }
    })
}
