//! How much was simulated.

use serde::{Deserialize, Serialize};

/// Simulated steps so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effort {
    /// Without derivatives.
    pub steps: usize,
    /// With derivatives: each pass of duals over all its lanes, or recording, counts one.
    pub derivative_steps: usize,
}

impl Effort {
    /// Both.
    pub fn and(self, other: Effort) -> Effort {
        Effort {
            steps: self.steps + other.steps,
            derivative_steps: self.derivative_steps + other.derivative_steps,
        }
    }
}
