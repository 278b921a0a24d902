//! How an iterative solve ended.

use std::fmt;

use crate::packed::{packed, packed_names};

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

/// Which part of a solver found the result. Solvers that have one part only report the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The starting guess, or Newton steps from it.
    #[default]
    WarmStart,
    /// Gauss-Seidel sweeps and Newton steps from nothing.
    Sweeps,
    /// The interior point, and Newton steps from it.
    InteriorPoint,
    /// The proximal point method: from the best impulses found before, from none, and on from there.
    ProximalPoint,
    /// Sweeps and damped Newton steps in rounds.
    Rounds,
}

impl Stage {
    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Stage::WarmStart => "warm_start",
            Stage::Sweeps => "sweeps",
            Stage::InteriorPoint => "interior_point",
            Stage::ProximalPoint => "proximal_point",
            Stage::Rounds => "rounds",
        }
    }
}

packed_names!(Status { Solved, Stalled, IterationLimit, InvalidInput });
packed_names!(Stage { WarmStart, Sweeps, InteriorPoint, ProximalPoint, Rounds });

/// What every iterative solve reports.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// How it ended.
    pub status: Status,
    /// Iterations spent, of all kinds, but for the sweeps of contact problems that go on from a warm start.
    pub iterations: usize,
    /// Which part of the solver found the result.
    pub stage: Stage,
    /// Relative natural residual at the result.
    pub residual: f64,
    /// Distance to the nearest change of mode, scale-free: 0 at a kink. Infinite without
    /// constraints.
    pub margin: f64,
}

packed!(Report { status, iterations, stage, residual, margin });
