//! How the problem of an island was solved.

use super::conflict::Conflict;
use crate::argmin::{ContactResiduals, Report};

/// How the problem of an island was solved.
#[derive(Clone, Copy, Debug, Default)]
pub struct IslandReport {
    /// Status, iterations, residual, margin.
    pub report: Report,
    /// The parts of Coulomb's law by themselves.
    pub residuals: ContactResiduals,
    /// Where it is not solved, conditions that nothing meets together.
    pub conflict: Option<Conflict>,
}
