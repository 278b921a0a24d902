//! Contact impulses of the last step.

use crate::ad::Real;
use crate::argmin::Sharing;

/// Contact impulses of the last step, part of what a step is a function of: the warm start of the
/// coupled solver, the first friction of the staggered one. Those on one tree.
#[derive(Debug)]
pub struct Impulses<T> {
    known: Vec<(usize, usize, [T; 3])>,
    /// How the friction was shared in the island of the tree, with y of the tree.
    pub(crate) sharing: Sharing,
}

impl<T> Default for Impulses<T> {
    fn default() -> Self {
        Impulses { known: Vec::new(), sharing: Sharing::default() }
    }
}

// By hand: the derived `clone_from` drops the memory it has.
impl<T: Clone> Clone for Impulses<T> {
    fn clone(&self) -> Self {
        Impulses { known: self.known.clone(), sharing: self.sharing.clone() }
    }

    fn clone_from(&mut self, other: &Self) {
        self.known.clone_from(&other.known);
        self.sharing.clone_from(&other.sharing);
    }
}

/// More points than a tree mostly touches others with.
const POINTS: usize = 16;

impl<T: Real> Impulses<T> {
    /// The impulse of a feature of a pair in the last step; zero if it was not in contact. The condition
    /// `id` of a joint counts as the pair after all of the model's, by `id`, feature 0, and has the first
    /// number only.
    pub fn of(&self, pair: usize, feature: usize) -> [T; 3] {
        self.known
            .iter()
            .find(|(of, which, _)| (*of, *which) == (pair, feature))
            .map_or([T::zero(); 3], |&(_, _, impulse)| impulse)
    }

    /// Pair, feature and impulse of every point that was in contact.
    pub fn known(&self) -> &[(usize, usize, [T; 3])] {
        &self.known
    }

    /// Adds a point, if there is something to remember of it.
    pub fn remember(&mut self, pair: usize, feature: usize, impulse: [T; 3]) {
        if impulse[0].value() != 0.0 {
            // At once, so that a step with one more contact than any before does not allocate.
            self.known.reserve(if self.known.is_empty() { POINTS } else { 1 });
            self.known.push((pair, feature, impulse));
        }
    }

    /// Forgets them, and keeps the memory.
    pub fn clear(&mut self) {
        self.known.clear();
        self.sharing.clear();
    }

    /// The values, without derivatives.
    pub fn value(&self) -> Impulses<f64> {
        let mut impulses = Impulses::default();
        self.value_into(&mut impulses);
        impulses
    }

    /// The same into memory of the caller's.
    pub(crate) fn value_into(&self, impulses: &mut Impulses<f64>) {
        impulses.known.clear();
        impulses.known.extend(self.known.iter().map(|&(p, f, x)| (p, f, x.map(|x| x.value()))));
        impulses.sharing.clone_from(&self.sharing);
    }
}

impl Impulses<f64> {
    /// The same impulses as constants of another scalar.
    pub fn cast<T: Real>(&self) -> Impulses<T> {
        let mut impulses = Impulses::default();
        self.cast_into(&mut impulses);
        impulses
    }

    /// The same into memory of the caller's.
    pub fn cast_into<T: Real>(&self, impulses: &mut Impulses<T>) {
        impulses.known.clear();
        impulses.known.extend(self.known.iter().map(|&(p, f, x)| (p, f, x.map(T::constant))));
        impulses.sharing.clone_from(&self.sharing);
    }
}
