//! What a solve of a cone program decided.

use crate::argmin::status::Report;

/// The face of its cone that an impulse is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConeMode {
    /// f = 0.
    Apex,
    /// |f_t| < mu f_n: the contact does not move.
    Inside,
    /// |f_t| = mu f_n.
    Surface,
    /// f_n = t > 0 and |f_t| < mu t: no slip.
    HeldInside,
    /// f_n = t > 0 and |f_t| = mu t.
    HeldSurface,
}

/// What a solve decided, in f64.
#[derive(Debug, Default)]
pub struct ConeSolution {
    /// Status, iterations, relative natural residual, margin.
    pub report: Report,
    /// One a contact.
    pub modes: Vec<ConeMode>,
    /// Direction of friction where its limit is zero.
    pub(super) directions: Vec<[f64; 2]>,
    /// The part of the impulses that is not felt and held, n.
    pub(super) held: Vec<f64>,
}

// By hand: the tape copies solutions into memory it has, which the derived `clone_from` drops.
impl Clone for ConeSolution {
    fn clone(&self) -> Self {
        ConeSolution {
            report: self.report,
            modes: self.modes.clone(),
            directions: self.directions.clone(),
            held: self.held.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.report = other.report;
        self.modes.clone_from(&other.modes);
        self.directions.clone_from(&other.directions);
        self.held.clone_from(&other.held);
    }
}
