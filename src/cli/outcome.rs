//! How a command ended.

use crate::simulation::Plausibility;

/// How a command ended, if its input was good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// Not converged, or a check failed.
    Failed,
    /// Something was simulated that no body does.
    Implausible,
}

impl Outcome {
    /// The worse of two.
    pub fn worse(self, other: Outcome) -> Outcome {
        match (self, other) {
            (Outcome::Implausible, _) | (_, Outcome::Implausible) => Outcome::Implausible,
            (Outcome::Done, other) => other,
            (Outcome::Failed, _) => Outcome::Failed,
        }
    }

    /// Of what is `good` or not, and simulated these steps.
    pub fn of(good: bool, plausibility: &Plausibility) -> Outcome {
        match (plausibility.is_whole(), good) {
            (false, _) => Outcome::Implausible,
            (true, true) => Outcome::Done,
            (true, false) => Outcome::Failed,
        }
    }
}
