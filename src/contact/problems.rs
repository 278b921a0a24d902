//! The problems of islands, and what their solvers keep from step to step.

use super::contact_problem::ContactProblem;
use super::islands::Island;
use crate::ad::Real;

/// The problem of each island, kept with the first of its trees. A problem takes kilobytes: a tree has one from when it is
/// first of an island, and not before.
pub(super) struct Problems<T: Real> {
    list: Vec<ContactProblem<T>>,
    /// Of each tree the place of its problem, or [`NONE`].
    places: Vec<usize>,
}

/// The place of what there is not.
const NONE: usize = usize::MAX;

impl<T: Real> Default for Problems<T> {
    fn default() -> Self {
        Problems { list: Vec::new(), places: Vec::new() }
    }
}

impl<T: Real> Problems<T> {
    /// That of an island which [`of_mut`](Self::of_mut) was asked about before.
    pub fn of(&self, island: &Island) -> &ContactProblem<T> {
        &self.list[self.places[island.trees[0]]]
    }

    /// That of an island, as its solver left it.
    pub fn of_mut(&mut self, island: &Island) -> &mut ContactProblem<T> {
        let first = island.trees[0];
        if self.places.len() <= first {
            self.places.resize(first + 1, NONE);
        }
        if self.places[first] == NONE {
            self.places[first] = self.list.len();
            self.list.push(ContactProblem::default());
        }
        &mut self.list[self.places[first]]
    }

    /// Those of islands which have no trees in common, all at once.
    pub fn of_each<'p, 'i>(
        &'p mut self,
        islands: impl Iterator<Item = Island<'i>> + Clone,
    ) -> Vec<(Island<'i>, &'p mut ContactProblem<T>)> {
        for island in islands.clone() {
            self.of_mut(&island);
        }
        let Problems { list, places } = self;
        let mut left: Vec<_> = list.iter_mut().map(Some).collect();
        let taken = islands.filter_map(|island| {
            let problem = left[places[island.trees[0]]].take()?;
            Some((island, problem))
        });
        taken.collect()
    }
}
