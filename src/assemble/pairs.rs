//! Which shapes can touch, and what they are made of.

use std::collections::{HashMap, HashSet};

use super::fault::{Fault, Owner};
use super::{ColliderDescription, Description, Material};
use crate::model::{JointKind, Model, Pair, Solid};

/// The largest number of pairs that can touch.
const MOST_PAIRS: usize = 1_000_000;

impl Description {
    /// Adds the pairs that can touch to the model; returns what each is made of.
    pub(super) fn pairs(
        &self,
        model: &mut Model,
        order: &[usize],
        described: &[&ColliderDescription],
    ) -> Result<Vec<Material>, Fault> {
        let mut special = HashMap::new();
        for (k, contact) in self.contacts.iter().enumerate() {
            special.insert(contact.pair.as_str(), k);
        }
        let mut used = HashSet::new();
        let mut materials = Vec::new();
        let mut known = Vec::new();
        let firsts = (0..model.half_spaces.len()).map(Solid::HalfSpace);
        let firsts = firsts.chain((0..model.colliders.len()).map(Solid::Collider));
        for first in firsts.collect::<Vec<_>>() {
            let start = match first {
                Solid::HalfSpace(_) => 0,
                Solid::Collider(first) => first + 1,
            };
            for second in start..model.colliders.len() {
                let name = model.pair_name(first, second);
                let pair = Pair { name, first, second, two_regimes: false };
                if model.moving_bodies(&pair) == [None; 2] {
                    continue;
                }
                let own = special.get(pair.name.as_str()).copied().or_else(|| {
                    let other = match first {
                        Solid::HalfSpace(k) => &model.half_spaces[k].name,
                        Solid::Collider(k) => &model.colliders[k].name,
                    };
                    let name = format!("{}-{other}", model.colliders[second].name);
                    special.get(name.as_str()).copied()
                });
                if own.is_none() && !self.may_touch(model, &pair, described) {
                    continue;
                }
                known.push(pair.name.clone());
                let material = match own {
                    Some(k) => {
                        used.insert(k);
                        match self.contacts[k].material {
                            Some(material) => material,
                            None => continue,
                        }
                    }
                    None => {
                        let first = match first {
                            Solid::HalfSpace(k) => self.half_spaces[k].material,
                            Solid::Collider(k) => described[k].material,
                        };
                        match (first, described[second].material) {
                            (Some(first), Some(second)) => first.with(second),
                            (Some(one), None) | (None, Some(one)) => {
                                self.default_contact.map_or(one, |other| one.with(other))
                            }
                            (None, None) => match self.default_contact {
                                Some(material) => material,
                                None if self.passes => continue,
                                None => return Err(self.no_material(model, order, &pair)),
                            },
                        }
                    }
                };
                if model.pairs.len() == MOST_PAIRS {
                    let message = format!("more than {MOST_PAIRS} pairs of shapes can touch");
                    return Err(Fault::new(Owner::Scene, "contact", message));
                }
                let two_regimes = material.mu_static.is_some();
                model.pairs.push(Pair { two_regimes, ..pair });
                materials.push(material);
            }
        }
        for (k, contact) in self.contacts.iter().enumerate() {
            if !used.contains(&k) {
                let name = &contact.pair;
                let message = match known.is_empty() {
                    true => {
                        format!("there is no pair {name:?}: the scene has nothing that can touch")
                    }
                    false => {
                        format!("there is no pair {name:?}; the pairs are {}", list(&known))
                    }
                };
                return Err(Fault::new(Owner::Contact(k), "pair", message));
            }
        }
        Ok(materials)
    }

    /// Whether the two of a pair are meant to touch, if nothing is said about them.
    fn may_touch(&self, model: &Model, pair: &Pair, described: &[&ColliderDescription]) -> bool {
        let second = &model.colliders[pair.second];
        let (first, filter) = match pair.first {
            Solid::HalfSpace(k) => (None, self.half_spaces[k].filter),
            Solid::Collider(k) => (model.colliders[k].body, described[k].filter),
        };
        if !filter.admits(described[pair.second].filter) {
            return false;
        }
        let (Some(a), Some(b)) = (first, second.body) else { return true };
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
        let names = [a, b].map(|body| &model.bodies[body].name);
        !self.excluded.iter().any(|[x, y]| [x, y] == names || [y, x] == names)
    }

    fn no_material(&self, model: &Model, order: &[usize], pair: &Pair) -> Fault {
        let message = format!(
            "no [[contact]] says how the pair {0:?} touches; add one with pair = {0:?} (with \
             mu, or with collide = false), or one without pair for all",
            pair.name
        );
        let owner = model.colliders[pair.second].body;
        Fault::new(owner.map_or(Owner::Scene, |body| Owner::Body(order[body])), "", message)
    }
}

/// The topmost body that one is fixed to; nothing is the world.
fn whole(model: &Model, mut body: usize) -> Option<usize> {
    while model.bodies[body].joint.kind == JointKind::Fixed {
        body = model.bodies[body].parent?;
    }
    Some(body)
}

/// Names for a message, not too many.
fn list(names: &[String]) -> String {
    const MOST: usize = 20;
    let shown = names.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > MOST { format!("{shown}, and {} more", names.len() - MOST) } else { shown }
}
