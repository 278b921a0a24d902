//! How the impulses of a solution are chosen among those that do the same, handed on to the next step.

/// How contacts that hold share their friction by the least-norm rule: each has J y, as far as its limit allows. From one
/// step to the next it tells whether impulses that solve the problem are still those of least norm.
#[derive(Debug, Default)]
pub struct Sharing {
    /// Whether there is nothing to share: the impulses are unique.
    pub unique: bool,
    /// y, one number a velocity; empty where the impulses are unique, or chosen by another rule.
    pub y: Vec<f64>,
    /// How many contacts hold, and rows without compliance.
    pub contacts: usize,
    /// How many of the conditions that share are independent, where that is known.
    pub independent: Option<usize>,
    /// Rows shorter than this part of the longest counted as dependent.
    pub dependent: f64,
}

// By hand: the derived `clone_from` drops the memory it has.
impl Clone for Sharing {
    fn clone(&self) -> Self {
        let mut clone = Sharing::default();
        clone.clone_from(self);
        clone
    }

    fn clone_from(&mut self, other: &Self) {
        self.start_like(other);
        self.y.extend_from_slice(&other.y);
    }
}

impl Sharing {
    /// Says nothing any more.
    pub fn clear(&mut self) {
        self.start_like(&Sharing::default());
    }

    /// The same as `other`, but for y, which is empty.
    pub fn start_like(&mut self, other: &Sharing) {
        let mut y = std::mem::take(&mut self.y);
        y.clear();
        let &Sharing { unique, contacts, independent, dependent, .. } = other;
        *self = Sharing { unique, y, contacts, independent, dependent };
    }

    /// Whether it is the same as `other`, but for y.
    pub fn is_like(&self, other: &Sharing) -> bool {
        let all = |of: &Sharing| (of.unique, of.contacts, of.independent, of.dependent);
        all(self) == all(other)
    }
}
