//! Terms that a scene does not have, added at numbers by which they do nothing: what a fit may lack is tried so.

use super::{Drag, Model, Scene, SurfaceTerm};

/// A term that is added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum AddedTerm {
    /// Of a pair with numbers of its own.
    Surface(usize, SurfaceTerm, f64),
    /// Friction at rest of such a pair.
    StaticFriction(usize, f64),
    /// The drag of a body.
    Drag(usize),
}

impl Scene {
    /// The same with terms of which it has none. Other parameters keep their slots; what stands behind those of the model
    /// moves by as many as are added.
    pub(crate) fn with_terms(&self, added: &[AddedTerm]) -> Scene {
        let mut scene = self.clone();
        let Scene { model, parameters, .. } = &mut scene;
        for &term in added {
            match term {
                AddedTerm::Surface(pair, term, _) => model.pairs[pair].terms.insert(term),
                AddedTerm::StaticFriction(pair, _) => model.pairs[pair].two_regimes = true,
                AddedTerm::Drag(body) => model.drags.push(Drag { body }),
            }
        }
        model.lay_out();
        let before = &self.model;
        let (own, behind) = self.parameters.values.split_at(before.parameter_count());
        let values = &mut parameters.values;
        values.clear();
        values.extend_from_slice(&own[..before.slots.first_of_terms()]);
        values.resize(model.parameter_count(), 0.0);
        for pair in 0..model.pairs.len() {
            for term in SurfaceTerm::ALL {
                let slot = |model: &Model| {
                    let place = model.pairs[pair].terms.place(term)?;
                    model.pairs[pair]
                        .surfaces
                        .is_none()
                        .then(|| model.slots.pair_terms[pair] + place)
                };
                if let (Some(from), Some(to)) = (slot(before), slot(model)) {
                    values[to] = own[from];
                }
            }
        }
        let rest = before.slots.surface_terms.first().copied().unwrap_or(before.slots.drags);
        let moved = model.slots.surface_terms.first().copied().unwrap_or(model.slots.drags);
        values[moved..moved + own.len() - rest].copy_from_slice(&own[rest..]);
        for &term in added {
            match term {
                AddedTerm::Surface(pair, term, number) => {
                    if let Some(place) = model.pairs[pair].terms.place(term) {
                        values[model.slots.pair_terms[pair] + place] = number;
                    }
                }
                AddedTerm::StaticFriction(pair, number) => {
                    values[model.slots.pair(pair) + super::slots::MU_STATIC] = number;
                }
                AddedTerm::Drag(_) => {}
            }
        }
        values.extend_from_slice(behind);
        scene
    }
}
