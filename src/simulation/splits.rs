//! Where a step was split at impacts.

/// The searches for impacts of a step, and what was split at them. Reused, it allocates nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Splits {
    /// Of each search in turn what it found: when, s, and how fast the gap closes, m/s.
    pub times: Vec<Option<(f64, f64)>>,
    /// The trees that have struck something.
    pub trees: Vec<usize>,
}

impl Splits {
    pub fn clear(&mut self) {
        self.times.clear();
        self.trees.clear();
    }

    /// Copies those of another step, in the memory there is.
    pub fn keep(&mut self, other: &Splits) {
        self.times.clone_from(&other.times);
        self.trees.clone_from(&other.trees);
    }
}
