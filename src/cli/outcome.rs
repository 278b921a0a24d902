//! How a command ended.

/// How a command ended, if its input was good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Done,
    /// Not converged, or a check failed.
    Failed,
}
