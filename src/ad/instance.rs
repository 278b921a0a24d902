//! Numbers of the scalars that whoever is generic over [`Real`](super::Real) may compile programs for once, for all who
//! call them: see [`INSTANCE`](super::Real::INSTANCE).

/// `f64`
pub const PLAIN: usize = 0;
/// `Dual<f64, LANES>`
pub const FORWARD: usize = 1;
/// `Var<f64>`
pub const REVERSE: usize = 2;
/// `Var<Dual<f64, LANES>>`
pub const SECOND: usize = 3;

/// The instance of a dual of `lanes` lanes over a scalar of the given one.
pub(super) const fn dual(inner: Option<usize>, lanes: usize) -> Option<usize> {
    match (inner, lanes) {
        (Some(PLAIN), super::LANES) => Some(FORWARD),
        _ => None,
    }
}

/// The instance of a variable over a scalar of the given one.
pub(super) const fn variable(inner: Option<usize>) -> Option<usize> {
    match inner {
        Some(PLAIN) => Some(REVERSE),
        Some(FORWARD) => Some(SECOND),
        _ => None,
    }
}
