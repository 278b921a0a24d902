//! Relative differences and what counts as agreement.

/// One number for each comparison: a relative difference |a - b| / max(|a|, |b|, s), where s is the
/// largest derivative in the row, or a bound on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Errors {
    /// Duals (`jvp`) against the tape (`vjp`).
    pub dual_vs_tape: f64,
    /// Duals through the residual against the tape.
    pub residual_vs_tape: f64,
    /// Duals through the solver's iterations against the tape.
    pub unrolled_vs_tape: f64,
    /// Central differences against the tape.
    pub vs_differences: f64,
}

impl Errors {
    /// What counts as agreement: rounding for what is exact; the convergence of the iterations;
    /// the accuracy of differences.
    pub const TOLERANCES: Errors = Errors {
        dual_vs_tape: 1e-8,
        residual_vs_tape: 1e-8,
        unrolled_vs_tape: 1e-6,
        vs_differences: 1e-5,
    };

    /// Whether all are within `bounds`.
    pub fn within(&self, bounds: &Errors) -> bool {
        self.dual_vs_tape <= bounds.dual_vs_tape
            && self.residual_vs_tape <= bounds.residual_vs_tape
            && self.unrolled_vs_tape <= bounds.unrolled_vs_tape
            && self.vs_differences <= bounds.vs_differences
    }

    /// The larger of each.
    pub(super) fn worst(&self, other: &Errors) -> Errors {
        Errors {
            dual_vs_tape: self.dual_vs_tape.max(other.dual_vs_tape),
            residual_vs_tape: self.residual_vs_tape.max(other.residual_vs_tape),
            unrolled_vs_tape: self.unrolled_vs_tape.max(other.unrolled_vs_tape),
            vs_differences: self.vs_differences.max(other.vs_differences),
        }
    }
}

/// A relative difference. Infinite if one of the two is not a number: that must not pass for agreement.
pub(super) fn error(a: f64, b: f64, scale: f64) -> f64 {
    let error = (a - b).abs() / a.abs().max(b.abs()).max(scale);
    if error.is_nan() { f64::INFINITY } else { error }
}
