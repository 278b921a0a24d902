//! What processes that work together have to be able to do.

/// Processes that work on one identification, as one of them sees them.
///
/// Each process runs the same search on the same sums: all call [`gather`](Self::gather) equally often, in the same order.
pub trait Peers: Send + Sync {
    /// The number of this process, from 0.
    fn rank(&self) -> usize;

    /// How many there are.
    fn count(&self) -> usize;

    /// What each process gave, in the order of their numbers; all get it.
    ///
    /// # Errors
    /// In words, if the others cannot be reached.
    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, String>;

    /// [`gather`](Self::gather), of which only the first process needs what comes of it.
    ///
    /// # Errors
    /// Those of [`gather`](Self::gather).
    fn gather_at_first(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        self.gather(own)
    }
}

/// One process, which works alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct Alone;

impl Peers for Alone {
    fn rank(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        1
    }

    fn gather(&self, own: &[u8]) -> Result<Vec<Vec<u8>>, String> {
        Ok(vec![own.to_vec()])
    }
}
