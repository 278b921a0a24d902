//! How an iterative solve ended.

use std::fmt;

/// How an iterative solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// The residual is below the tolerance.
    #[default]
    Solved,
    /// The residual stopped falling above the tolerance: the result is the best found.
    Stalled,
    /// The iteration limit was reached: the result is the best found.
    IterationLimit,
    /// An input is not finite, or a matrix is not positive semi-definite: the result is zero.
    InvalidInput,
}

impl Status {
    /// Whether the result meets the tolerance.
    pub fn is_solved(self) -> bool {
        self == Status::Solved
    }

    /// The name used in files; displayed, a status is a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Status::Solved => "solved",
            Status::Stalled => "stalled",
            Status::IterationLimit => "iteration_limit",
            Status::InvalidInput => "invalid_input",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Status::Solved => "solved to the tolerance",
            Status::Stalled => "stalled above the tolerance",
            Status::IterationLimit => "stopped at the iteration limit",
            Status::InvalidInput => "not solved: an input is not finite or not admissible",
        })
    }
}

/// What every iterative solve reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Iterations spent, of all kinds.
    pub iterations: usize,
    /// Relative natural residual at the result.
    pub residual: f64,
    /// Distance to the nearest change of mode, scale-free: 0 at a kink. Infinite without
    /// constraints.
    pub margin: f64,
}
