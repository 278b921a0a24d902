//! What was pushed apart, as it started in each other.

/// What was pushed apart before anything moved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PushedApart {
    /// How many pairs of shapes started in each other.
    pub pairs: usize,
    /// The deepest of them, and how deep, m.
    pub deepest: Option<(usize, f64)>,
    /// How far the centre of mass of each body moved, m.
    pub moved: Vec<f64>,
    /// How often all was moved.
    pub rounds: usize,
    /// Iterations of the contact solver in all rounds.
    pub iterations: usize,
    /// Its largest residual in any of them.
    pub residual: f64,
    /// How many pairs could not be parted.
    pub left: usize,
    /// How deep the deepest of these still is, m.
    pub depth_left: f64,
}
