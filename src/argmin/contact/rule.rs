//! Which impulses a Newton step takes where many do the same.

/// How the conditions are kept nonsingular where impulses are not unique.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Selection {
    /// By the rule: least norm, where rows shorter than this part of the longest count as dependent (see
    /// [`ContactSolution`](super::ContactSolution)). Fails where a sliding contact does not slip.
    LeastNorm(f64),
    /// The same, where rows that are dependent but for this part of the longest count as dependent: their
    /// squares, of which K is made, are lost in rounding long before they are. Links that lie flat on the
    /// ground are such a case, with tilts of 1e-9 that turn their hinge. Contacts whose slip is less than
    /// this part of s + R g count as clamped.
    CoarseLeastNorm(f64),
    /// Proximal: stay near the iterate. Always solvable; any of the solutions.
    Proximal,
    /// The same, and steps are kept short by this weight relative to the diagonal.
    Damped(f64),
    /// Proximal, with the first weight for normal impulses and the second for all friction that holds: its steps are J dy, as
    /// those of the rule are.
    Even([f64; 2]),
    /// As they are: what friction holds is left to who asks. Contacts whose slip is less than this part of s + R g,
    /// if any, count as clamped.
    Exact(Option<f64>),
}

/// Weight of the proximal term relative to the diagonal. Small enough to converge in a step or
/// two, large enough that rounding of the dependent rows (1e-16) stays below 1e-6 of the impulses.
pub(super) const PROXIMAL: f64 = 1e-9;
