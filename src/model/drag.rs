//! Bodies that the air brakes.

/// A body that the air brakes, at its centre of mass: a force of -(linear + quadratic |v|) v. Its two numbers, in N s/m and
/// N s²/m², are [parameters](super::Parameters) called `body/drag/linear` and `body/drag/quadratic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drag {
    /// The body.
    pub body: usize,
}
