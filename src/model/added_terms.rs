//! Terms that a scene does not have, added at numbers by which they do nothing: what a fit may lack is tried so.

use super::slots::MU_STATIC;
use super::{Drag, Grain, Model, Scene, SurfaceTerm};

/// A term that is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AddedTerm {
    /// Of a pair with numbers of its own.
    Surface(usize, SurfaceTerm, f64),
    /// Friction at rest of such a pair.
    StaticFriction(usize, f64),
    /// The direction of the friction of such a pair.
    Grain(usize, Grain),
    /// The drag of a body.
    Drag(usize),
    /// Round edges of a collider.
    Rounding(usize),
}

impl Scene {
    /// The same with terms of which it has none, and where each of its parameters stands then: terms, drags and roundings stand
    /// last, and those of one pair before those of the next.
    pub(crate) fn with_terms(&self, added: &[AddedTerm]) -> (Scene, Vec<usize>) {
        let mut scene = self.clone();
        let Scene { model, parameters, .. } = &mut scene;
        for &term in added {
            match term {
                AddedTerm::Surface(pair, term, _) => model.pairs[pair].terms.insert(term),
                AddedTerm::StaticFriction(pair, _) => model.pairs[pair].two_regimes = true,
                AddedTerm::Grain(pair, grain) => model.pairs[pair].grain = Some(grain),
                AddedTerm::Drag(body) => model.drags.push(Drag { body }),
                AddedTerm::Rounding(collider) => model.colliders[collider].rounded = true,
            }
        }
        model.lay_out();
        let places = self.model.places_in(model);
        let (own, behind) = self.parameters.values.split_at(places.len());
        let values = &mut parameters.values;
        values.clear();
        values.resize(model.parameter_count(), 0.0);
        for (&place, &x) in places.iter().zip(own) {
            values[place] = x;
        }
        for &term in added {
            match term {
                AddedTerm::Surface(pair, term, number) => {
                    if let Some(place) = model.pairs[pair].terms.place(term) {
                        values[model.slots.pair_terms[pair] + place] = number;
                    }
                }
                AddedTerm::StaticFriction(pair, number) => {
                    values[model.slots.pair(pair) + MU_STATIC] = number;
                }
                AddedTerm::Grain(..) | AddedTerm::Drag(_) | AddedTerm::Rounding(_) => {}
            }
        }
        values.extend_from_slice(behind);
        (scene, places)
    }
}

impl Model {
    /// Where each of the parameters stands in a model that has more terms.
    fn places_in(&self, larger: &Model) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.parameter_count()).collect();
        for (pair, own) in self.pairs.iter().enumerate().filter(|(_, own)| own.surfaces.is_none()) {
            for (k, term) in own.terms.iter().enumerate() {
                if let Some(place) = larger.pairs[pair].terms.place(term) {
                    places[self.slots.pair_terms[pair] + k] = larger.slots.pair_terms[pair] + place;
                }
            }
        }
        // Surfaces get no more, and drags come behind those there are.
        let rest = self.slots.surface_terms.first().copied().unwrap_or(self.slots.drags);
        let moved = larger.slots.surface_terms.first().copied().unwrap_or(larger.slots.drags);
        places[rest..].iter_mut().for_each(|place| *place += moved - rest);
        for collider in 0..self.colliders.len() {
            let slots = [self, larger].map(|model| model.rounding_slot(collider));
            if let [Some(own), Some(place)] = slots {
                places[own] = place;
            }
        }
        places
    }
}
