//! Which shapes can touch, and what they are made of.

use std::collections::HashMap;

use super::fault::{Fault, Owner};
use super::{ColliderDescription, Description, Material};
use crate::model::{Filters, MOST_OWN, Model, Pair, SharedContacts, Solid, Surface, SurfaceKind};

/// The largest number of pairs that have numbers of their own.
const MOST_PAIRS: usize = 1_000_000;

/// What a description says of the solids of a model.
struct Touching<'a> {
    description: &'a Description,
    model: &'a Model,
    order: &'a [usize],
    colliders: &'a [&'a ColliderDescription],
    filters: Filters,
    /// The contact that names each pair.
    named: HashMap<(Solid, usize), usize>,
    /// Colliders that pass through each other although nobody says so, in ascending order.
    apart: &'a [(usize, usize)],
    made_of: MadeOf,
}

/// The materials, by their places, of what is made of one.
struct MadeOf {
    half_spaces: Vec<Option<usize>>,
    colliders: Vec<Option<usize>>,
    /// The colliders that are not.
    others: Vec<usize>,
}

impl Description {
    /// Adds the pairs that can touch to the model; returns what each with numbers of its own is made of, then each surface
    /// that others share. The colliders in `apart`, in ascending order, do not touch.
    pub(super) fn pairs(
        &self,
        model: &mut Model,
        order: &[usize],
        colliders: &[&ColliderDescription],
        apart: &[(usize, usize)],
    ) -> Result<Vec<Material>, Fault> {
        let (filters, named) = (self.filters(model, colliders), self.named(model));
        let description = self;
        let made_of = self.made_of(model, order, colliders)?;
        let touching =
            Touching { description, model, order, colliders, filters, named, apart, made_of };
        let mut own = Vec::new();
        for pair in touching.over_half_spaces() {
            touching.list(pair, &mut own)?;
        }
        touching.check_bare()?;
        let unnamed = touching.of_others().filter(|&pair| {
            !touching.named.contains_key(&pair)
                && touching.admits(pair)
                && touching.material(pair).is_some()
        });
        let few = unnamed.take(MOST_OWN + 1).count() <= MOST_OWN;
        let of_colliders = |pair: &(Solid, usize)| matches!(pair.0, Solid::Collider(_));
        let mut listed: Vec<_> = touching.named.keys().copied().filter(of_colliders).collect();
        if few {
            listed.extend(touching.of_others().filter(|&pair| touching.admits(pair)));
        }
        listed.sort_unstable();
        listed.dedup();
        for pair in listed {
            touching.list(pair, &mut own)?;
        }
        let shared = (!few || !self.materials.is_empty()).then(|| touching.shared(few));
        touching.check_named()?;
        let (pairs, materials): (Vec<_>, Vec<_>) = own.into_iter().unzip();
        let own =
            materials.iter().zip(&pairs).filter(|(_, pair): &(_, &Pair)| pair.surfaces.is_none());
        let mut materials: Vec<Material> = own.map(|(material, _)| *material).collect();
        model.pairs = pairs;
        if let Some((shared, surfaces)) = shared {
            model.shared = Some(shared);
            materials.extend(surfaces);
        }
        Ok(materials)
    }

    fn made_of(
        &self,
        model: &Model,
        order: &[usize],
        described: &[&ColliderDescription],
    ) -> Result<MadeOf, Fault> {
        let names = self.materials.iter().enumerate();
        let places: HashMap<&str, usize> = names.map(|(k, of)| (of.name.as_str(), k)).collect();
        let find = |name: &Option<String>, owner: Owner, field: &'static str| match name {
            None => Ok(None),
            Some(name) => places.get(name.as_str()).copied().map(Some).ok_or_else(|| {
                let known = list(self.materials.iter().map(|material| material.name.clone()));
                let known = if known.is_empty() { "none".to_string() } else { known };
                let message = format!("there is no [[material]] {name:?}; there is {known}");
                Fault::new(owner, field, message)
            }),
        };
        let half_spaces = self.half_spaces.iter().enumerate();
        let half_spaces =
            half_spaces.map(|(k, ground)| find(&ground.made_of, Owner::HalfSpace(k), "material"));
        let half_spaces = half_spaces.collect::<Result<_, _>>()?;
        let colliders =
            described.iter().enumerate().map(|(k, collider)| match model.colliders[k].body {
                None => find(&collider.made_of, Owner::Collider(k), "material"),
                Some(body) => find(&collider.made_of, Owner::Body(order[body]), "shape.material"),
            });
        let colliders: Vec<Option<usize>> = colliders.collect::<Result<_, _>>()?;
        let others = (0..colliders.len()).filter(|&k| colliders[k].is_none()).collect();
        Ok(MadeOf { half_spaces, colliders, others })
    }

    fn filters(&self, model: &Model, colliders: &[&ColliderDescription]) -> Filters {
        let bodies = model.bodies.iter().enumerate();
        let index: HashMap<&str, usize> = bodies.map(|(k, body)| (body.name.as_str(), k)).collect();
        let known = |[a, b]: &[String; 2]| {
            let [a, b] = [index.get(a.as_str())?, index.get(b.as_str())?];
            Some([*a.min(b), *a.max(b)])
        };
        let mut excluded: Vec<_> = self.excluded.iter().filter_map(known).collect();
        excluded.sort_unstable();
        Filters {
            half_spaces: self.half_spaces.iter().map(|ground| ground.filter).collect(),
            colliders: colliders.iter().map(|collider| collider.filter).collect(),
            excluded,
            touch_parents: self.touch_parents,
        }
    }

    /// The contact that names each pair, in either order; if both orders are there, that of the model.
    pub(super) fn named(&self, model: &Model) -> HashMap<(Solid, usize), usize> {
        let mut solids: HashMap<&str, Vec<Solid>> = HashMap::new();
        for (k, ground) in model.half_spaces.iter().enumerate() {
            solids.entry(&ground.name).or_default().push(Solid::HalfSpace(k));
        }
        for (k, collider) in model.colliders.iter().enumerate() {
            solids.entry(&collider.name).or_default().push(Solid::Collider(k));
        }
        let of = |name: &str| solids.get(name).map_or(&[][..], Vec::as_slice);
        let mut named = HashMap::new();
        for turned in [true, false] {
            for (k, contact) in self.contacts.iter().enumerate() {
                let halves = contact.pair.match_indices('-');
                for (first, second) in halves.map(|(at, _)| contact.pair.split_at(at)) {
                    let (mut first, mut second) = (first, &second[1..]);
                    if turned {
                        (first, second) = (second, first);
                    }
                    for (&first, &second) in
                        of(first).iter().flat_map(|a| of(second).iter().map(move |b| (a, b)))
                    {
                        let Solid::Collider(collider) = second else { continue };
                        if first < second && model.moving_bodies(first, collider) != [None; 2] {
                            named.insert((first, collider), k);
                        }
                    }
                }
            }
        }
        named
    }
}

impl Touching<'_> {
    fn over_half_spaces(&self) -> impl Iterator<Item = (Solid, usize)> + use<'_> {
        let (grounds, colliders) = (self.model.half_spaces.len(), self.model.colliders.len());
        let all = (0..grounds).flat_map(move |k| (0..colliders).map(move |c| (k, c)));
        all.map(|(ground, collider)| (Solid::HalfSpace(ground), collider))
    }

    fn of_colliders(&self) -> impl Iterator<Item = (Solid, usize)> + use<'_> {
        let count = self.model.colliders.len();
        let all = (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)));
        all.map(|(first, second)| (Solid::Collider(first), second))
    }

    /// Of two colliders, but for those of which both are made of a material.
    fn of_others(&self) -> impl Iterator<Item = (Solid, usize)> + use<'_> {
        let MadeOf { colliders, others, .. } = &self.made_of;
        let count = colliders.len();
        let all = (0..count).flat_map(move |a| {
            let (rest, few) = match colliders[a] {
                None => (a + 1..count, &[][..]),
                Some(_) => (0..0, &others[others.partition_point(|&other| other < a)..]),
            };
            rest.chain(few.iter().copied()).map(move |b| (a, b))
        });
        all.map(|(first, second)| (Solid::Collider(first), second))
    }

    /// The materials whose numbers two solids share.
    fn materials_of(&self, (first, second): (Solid, usize)) -> Option<[usize; 2]> {
        let of_first = match first {
            Solid::HalfSpace(k) => self.made_of.half_spaces[k],
            Solid::Collider(k) => self.made_of.colliders[k],
        };
        let materials = [of_first?, self.made_of.colliders[second]?];
        (!self.named.contains_key(&(first, second))).then_some(materials)
    }

    /// Whether two solids are meant to touch: because a contact names them, or because nothing is in the way.
    fn admits(&self, (first, second): (Solid, usize)) -> bool {
        if let Solid::Collider(first) = first
            && self.apart.binary_search(&(first, second)).is_ok()
        {
            return false;
        }
        self.named.contains_key(&(first, second))
            || self.model.moving_bodies(first, second) != [None; 2]
                && self.filters.admit(self.model, first, second)
    }

    /// What the surface of a solid is made of, if it says so.
    fn surface(&self, solid: Solid) -> Option<Material> {
        let (material, made_of) = match solid {
            Solid::HalfSpace(k) => {
                (self.description.half_spaces[k].material, self.made_of.half_spaces[k])
            }
            Solid::Collider(k) => (self.colliders[k].material, self.made_of.colliders[k]),
        };
        made_of.map(|k| self.description.materials[k].material).or(material)
    }

    /// What a pair that touches is made of; nothing if its solids pass through each other or do not say.
    fn material(&self, (first, second): (Solid, usize)) -> Option<Material> {
        if let Some(&k) = self.named.get(&(first, second)) {
            return self.description.contacts[k].material;
        }
        let default = self.description.default_contact;
        match (self.surface(first), self.surface(Solid::Collider(second))) {
            (Some(first), Some(second)) => Some(first.with(second)),
            (Some(one), None) | (None, Some(one)) => {
                Some(default.map_or(one, |other| one.with(other)))
            }
            (None, None) => default,
        }
    }

    /// Adds a pair that touches to those with numbers of their own.
    fn list(&self, pair: (Solid, usize), own: &mut Vec<(Pair, Material)>) -> Result<(), Fault> {
        if !self.admits(pair) {
            return Ok(());
        }
        let Some(material) = self.material(pair) else {
            let says = self.named.contains_key(&pair) || self.description.passes;
            return if says { Ok(()) } else { Err(self.no_material(pair)) };
        };
        if own.len() == MOST_PAIRS {
            let message = format!("more than {MOST_PAIRS} pairs of shapes can touch");
            return Err(Fault::new(Owner::Scene, "contact", message));
        }
        let (first, second) = pair;
        let name = self.model.solids_name(first, second);
        let two_regimes = material.mu_static.is_some();
        let surfaces = self.materials_of(pair);
        let grain = match self.named.get(&pair) {
            Some(&k) => self.description.contacts[k].grain(self.model, Owner::Contact(k), pair)?,
            None => None,
        };
        let terms = material.terms.terms();
        own.push((Pair { name, first, second, two_regimes, terms, grain, surfaces }, material));
        Ok(())
    }

    /// Colliders of which nobody says what they are made of must not meet.
    fn check_bare(&self) -> Result<(), Fault> {
        if self.description.passes || self.description.default_contact.is_some() {
            return Ok(());
        }
        let all = 0..self.model.colliders.len();
        let bare: Vec<usize> =
            all.filter(|&k| self.surface(Solid::Collider(k)).is_none()).collect();
        for (place, &first) in bare.iter().enumerate() {
            for &second in &bare[place + 1..] {
                let pair = (Solid::Collider(first), second);
                if !self.named.contains_key(&pair) && self.admits(pair) {
                    return Err(self.no_material(pair));
                }
            }
        }
        Ok(())
    }

    /// How colliders touch that no contact names, and what their surfaces are made of. `few`: all but those made of
    /// materials are pairs with numbers of their own.
    fn shared(&self, few: bool) -> (SharedContacts, Vec<Material>) {
        let (mut materials, mut surfaces) = (Vec::new(), Vec::new());
        let mut add = |name: &str, kind: SurfaceKind, material: Material| {
            let (name, two_regimes) = (name.to_string(), material.mu_static.is_some());
            surfaces.push(Surface { name, kind, two_regimes, terms: material.terms.terms() });
            materials.push(material);
            surfaces.len() - 1
        };
        for named in &self.description.materials {
            add(&named.name, SurfaceKind::Material, named.material);
        }
        let all = 0..self.colliders.len();
        let bare = all.clone().any(|k| self.surface(Solid::Collider(k)).is_none());
        let default = self.description.default_contact.filter(|_| bare && !few);
        let default = default.map(|material| add("contact", SurfaceKind::Default, material));
        let surface = all.map(|k| match (self.made_of.colliders[k], self.colliders[k].material) {
            (Some(material), _) => Some(material),
            (None, _) if few => None,
            (None, Some(own)) => Some(add(&self.model.colliders[k].name, SurfaceKind::Own, own)),
            (None, None) => default,
        });
        let surface = surface.collect();
        let passing = self.named.iter().filter_map(|(&(first, second), &k)| match first {
            Solid::Collider(first) if self.description.contacts[k].material.is_none() => {
                Some([first, second])
            }
            _ => None,
        });
        let apart = self.apart.iter().map(|&(first, second)| [first, second]);
        let mut passing: Vec<_> = passing.chain(apart).collect();
        passing.sort_unstable();
        let (filters, grounds) = (self.filters.clone(), self.made_of.half_spaces.clone());
        (SharedContacts { filters, passing, grounds, surface, surfaces }, materials)
    }

    /// Every contact names a pair.
    fn check_named(&self) -> Result<(), Fault> {
        let mut used = vec![false; self.description.contacts.len()];
        self.named.values().for_each(|&k| used[k] = true);
        let Some(k) = used.iter().position(|used| !used) else { return Ok(()) };
        let name = &self.description.contacts[k].pair;
        let known = self.over_half_spaces().chain(self.of_colliders());
        let mut known = known.filter(|&pair| self.admits(pair)).peekable();
        let message = match known.peek() {
            None => format!("there is no pair {name:?}: the scene has nothing that can touch"),
            Some(_) => {
                let names = known.map(|(first, second)| self.model.solids_name(first, second));
                format!("there is no pair {name:?}; the pairs are {}", list(names))
            }
        };
        Err(Fault::new(Owner::Contact(k), "pair", message))
    }

    fn no_material(&self, (first, second): (Solid, usize)) -> Fault {
        let message = format!(
            "no [[contact]] says how the pair {0:?} touches; add one with pair = {0:?} (with \
             mu, or with collide = false), or one without pair for all",
            self.model.solids_name(first, second)
        );
        let owner = self.model.colliders[second].body;
        Fault::new(owner.map_or(Owner::Scene, |body| Owner::Body(self.order[body])), "", message)
    }
}

/// Names for a message, not too many.
fn list(mut names: impl Iterator<Item = String>) -> String {
    const MOST: usize = 20;
    let shown = names.by_ref().take(MOST).collect::<Vec<_>>().join(", ");
    match names.count() {
        0 => shown,
        more => format!("{shown}, and {more} more"),
    }
}
