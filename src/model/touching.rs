//! Which solids touch, and with which numbers.
//!
//! A half-space with a collider, and two colliders that a `[[contact]]` names, are a [`Pair`](super::Pair) with numbers
//! of its own. Where both are made of a `[[material]]` and no `[[contact]]` names them, they share the numbers of
//! their materials, of which the larger count; two colliders are no pair then. Of other colliders there are as many pairs as
//! the square of their number. Up to [`MOST_OWN`](super::MOST_OWN) each is a pair of its own too, so that its numbers can be
//! told from those of any other. Beyond, nothing is stored for two colliders: the broad phase finds those that are near, [`Filters`] say which
//! of them touch, and of the numbers of their two surfaces the larger count. A scene then grows with its shapes, and a
//! step with what is near.

use super::shared_contacts::{Filters, SharedContacts, Surface};
use super::slots::{MU, MU_STATIC};
use super::{Grain, JointKind, Model, Solid, SurfaceTerm, SurfaceTerms};

/// Points of one pair that are remembered at most: a mesh has more vertices than ever touch at a time.
const REMEMBERED: usize = 32;

impl Filters {
    /// Whether two solids are meant to touch, of which the first is a half-space or the collider of lower index.
    pub fn admit(&self, model: &Model, first: Solid, second: usize) -> bool {
        let (body, filter) = match first {
            Solid::HalfSpace(k) => (None, self.half_spaces[k]),
            Solid::Collider(k) => (model.colliders[k].body, self.colliders[k]),
        };
        if !filter.admits(self.colliders[second]) {
            return false;
        }
        // Neither gives way.
        if ![body, model.colliders[second].body].into_iter().any(|body| model.gives_way(body)) {
            return false;
        }
        let (Some(a), Some(b)) = (body, model.colliders[second].body) else { return true };
        // Bodies fixed to each other count as one.
        let [a_whole, b_whole] = [a, b].map(|body| whole(model, body));
        if a_whole == b_whole {
            return false;
        }
        let above = |body: Option<usize>| {
            let parent = body.and_then(|body| model.bodies[body].parent);
            parent.and_then(|parent| whole(model, parent))
        };
        let joined = |child: Option<usize>, parent: Option<usize>| {
            parent.is_some() && above(child) == parent
        };
        if !self.touch_parents && (joined(a_whole, b_whole) || joined(b_whole, a_whole)) {
            return false;
        }
        self.excluded.binary_search(&[a.min(b), a.max(b)]).is_err()
    }
}

/// The topmost body that one is fixed to; nothing is the world.
pub(crate) fn whole(model: &Model, mut body: usize) -> Option<usize> {
    while model.bodies[body].joint.kind == JointKind::Fixed {
        body = model.bodies[body].parent?;
    }
    Some(body)
}

impl SharedContacts {
    /// The surfaces that decide how two colliders touch.
    fn surfaces_of(&self, first: usize, second: usize) -> Option<[usize; 2]> {
        let [first, second] = [first, second].map(|collider| self.surface[collider]);
        Some([first.or(second)?, second.or(first)?])
    }

    /// Whether two colliders touch, the first of lower index.
    fn admit(&self, model: &Model, first: usize, second: usize) -> bool {
        self.surfaces_of(first, second).is_some()
            && self.filters.admit(model, Solid::Collider(first), second)
            && self.passing.binary_search(&[first, second]).is_err()
    }
}

impl Model {
    /// Whether what touches a body can move it; nothing is the world.
    pub(crate) fn gives_way(&self, body: Option<usize>) -> bool {
        body.is_some_and(|body| self.bodies[body].tree.is_some() && !self.is_prescribed(body))
    }

    /// The pair of two solids, if they can touch: an index into [`Self::pairs`], or beyond it that of two colliders
    /// without numbers of their own. The first is a half-space or the collider of lower index.
    pub fn pair(&self, first: Solid, second: usize) -> Option<usize> {
        let own =
            self.pairs.binary_search_by_key(&(first, second), |pair| (pair.first, pair.second));
        own.ok().or_else(|| {
            let (shared, Solid::Collider(a)) = (self.shared.as_ref()?, first) else { return None };
            let touch = a < second
                && self.moving_bodies(first, second) != [None; 2]
                && shared.admit(self, a, second);
            touch.then(|| self.pairs.len() + a * self.colliders.len() + second)
        })
    }

    /// The two solids of a pair: a half-space or the collider of lower index, and the other collider.
    ///
    /// # Panics
    /// If `pair` is none that [`pair`](Self::pair) gives; the same of all that takes a pair.
    pub fn solids(&self, pair: usize) -> (Solid, usize) {
        match self.pairs.get(pair) {
            Some(pair) => (pair.first, pair.second),
            None => {
                let (place, count) = (pair - self.pairs.len(), self.colliders.len());
                (Solid::Collider(place / count), place % count)
            }
        }
    }

    /// What a pair is called.
    pub fn pair_name(&self, pair: usize) -> String {
        let (first, second) = self.solids(pair);
        self.solids_name(first, second)
    }

    /// What two solids are called together, whether or not they can touch.
    pub(crate) fn solids_name(&self, first: Solid, second: usize) -> String {
        let owner = match first {
            Solid::HalfSpace(half_space) => &self.half_spaces[half_space].name,
            Solid::Collider(collider) => &self.colliders[collider].name,
        };
        format!("{owner}-{}", self.colliders[second].name)
    }

    /// Whether anything can touch.
    pub fn has_contacts(&self) -> bool {
        !self.pairs.is_empty() || self.shared.is_some()
    }

    /// Whether any two colliders can touch.
    pub fn colliders_touch(&self) -> bool {
        let last = self.pairs.last().map(|pair| pair.first);
        matches!(last, Some(Solid::Collider(_))) || self.colliders_share()
    }

    /// Whether two colliders can touch that are no pair with numbers of its own.
    fn colliders_share(&self) -> bool {
        let surfaces = self.shared.as_ref().map_or(&[][..], |shared| &shared.surface);
        self.colliders.len() > 1 && surfaces.iter().any(Option::is_some)
    }

    /// Every index of a pair is below.
    pub fn pair_end(&self) -> usize {
        self.pairs.len() + if self.colliders_share() { self.colliders.len().pow(2) } else { 0 }
    }

    /// Whether contacts of a pair that are at rest have a coefficient of friction of their own.
    pub fn two_regimes(&self, pair: usize) -> bool {
        match self.pairs.get(pair) {
            Some(pair) => pair.two_regimes,
            None => self.shared_surfaces(pair).into_iter().any(|(_, surface)| surface.two_regimes),
        }
    }

    /// The slots of a number of a pair: the larger of the two counts.
    pub(super) fn slots_of_pair(&self, pair: usize, number: usize) -> [usize; 2] {
        if self.pairs.get(pair).is_some_and(|pair| pair.surfaces.is_none()) {
            return [self.slots.pair(pair) + number; 2];
        }
        let slot = |(index, surface): (usize, &Surface)| {
            let one = number == MU_STATIC && !surface.two_regimes;
            self.slots.surface(index) + if one { MU } else { number }
        };
        self.shared_surfaces(pair).map(slot)
    }

    /// The slots of the number of a term of a pair, if it has it: the larger of the two counts.
    pub(super) fn term_slots(&self, pair: usize, term: SurfaceTerm) -> Option<[usize; 2]> {
        if !self.any_has_term(term) {
            return None;
        }
        if let Some(own) = self.pairs.get(pair).filter(|own| own.surfaces.is_none()) {
            let place = own.terms.place(term)?;
            return Some([self.slots.pair_terms[pair] + place; 2]);
        }
        let slot = |(index, surface): (usize, &Surface)| {
            let place = surface.terms.place(term)?;
            Some(self.slots.surface_terms[index] + place)
        };
        let [first, second] = self.shared_surfaces(pair).map(slot);
        Some([first.or(second)?, second.or(first)?])
    }

    /// Whether a pair has a term.
    pub fn has_term(&self, pair: usize, term: SurfaceTerm) -> bool {
        self.term_slots(pair, term).is_some()
    }

    /// Whether any pair has a term.
    pub(crate) fn any_has_term(&self, term: SurfaceTerm) -> bool {
        self.slots.terms.has(term)
    }

    /// The grain of a pair, if it has one.
    pub fn grain(&self, pair: usize) -> Option<&Grain> {
        self.pairs.get(pair)?.grain.as_ref()
    }

    /// The surfaces of a pair that has no numbers of its own. [`pair`](Self::pair) gives only those that have both; any
    /// other index is a mistake of the caller, as one beyond the end of a slice is.
    fn shared_surfaces(&self, pair: usize) -> [(usize, &Surface); 2] {
        let found = self.shared.as_ref().and_then(|shared| {
            let surfaces = match (self.pairs.get(pair), self.solids(pair)) {
                (Some(pair), _) => pair.surfaces?,
                (None, (Solid::Collider(first), second)) => shared.surfaces_of(first, second)?,
                (None, _) => return None,
            };
            Some(surfaces.map(|index| (index, &shared.surfaces[index])))
        });
        found.unwrap_or_else(|| panic!("there is no pair {pair}"))
    }

    /// The bodies of two solids that move; nothing stands for the world and what is fixed to it.
    pub fn moving_bodies(&self, first: Solid, second: usize) -> [Option<usize>; 2] {
        let moving = |body: Option<usize>| body.filter(|&body| self.bodies[body].tree.is_some());
        let first = match first {
            Solid::HalfSpace(_) => None,
            Solid::Collider(first) => moving(self.colliders[first].body),
        };
        [first, moving(self.colliders[second].body)]
    }

    /// How many impulses a pair with numbers of its own is remembered with from step to step: see
    /// [`StepMemory`](crate::simulation::StepMemory).
    pub fn remembered_points(&self, pair: usize) -> usize {
        let (first, second) = self.solids(pair);
        let points = |collider: usize| self.colliders[collider].shape.contact_points();
        let most = match first {
            Solid::HalfSpace(_) => points(second),
            Solid::Collider(first) => points(first).min(points(second)),
        };
        most.min(REMEMBERED) * (1 + couples(self.pairs[pair].terms))
    }

    /// How many impulses all other pairs together are remembered with: twice as many as their shapes have points.
    pub fn shared_remembered_points(&self) -> usize {
        if !self.colliders_share() {
            return 0;
        }
        let points = self.colliders.iter().map(|collider| collider.shape.contact_points());
        let surfaces = self.shared.iter().flat_map(|shared| &shared.surfaces);
        let most = surfaces.map(|surface| couples(surface.terms)).max().unwrap_or(0);
        points.map(|points| 2 * points.min(REMEMBERED) * (1 + most)).sum()
    }
}

/// How many couples each contact has.
fn couples(terms: SurfaceTerms) -> usize {
    let couples = [SurfaceTerm::TorsionRadius, SurfaceTerm::RollingResistance];
    couples.into_iter().filter(|&term| terms.has(term)).count()
}
