//! Directions of friction.

use nalgebra::Vector3;

use super::fault::{Fault, Owner};
use super::{ContactDescription, Material};
use crate::model::{Grain, Model, Solid, SurfaceTerm};

impl ContactDescription {
    /// The grain of the pair that it names.
    pub(super) fn grain(
        &self,
        model: &Model,
        owner: Owner,
        (first, second): (Solid, usize),
    ) -> Result<Option<Grain>, Fault> {
        let across = |material: &Material| material.terms.get(SurfaceTerm::MuAcross).is_some();
        let (described, across) = (self.grain.as_ref(), self.material.as_ref().is_some_and(across));
        let grain = match (described, across) {
            (None, false) => return Ok(None),
            (Some(grain), true) => grain,
            (None, true) => {
                let message = "is missing: `mu_across` is across the direction `grain`, a vector";
                return Err(Fault::new(owner, "grain", message));
            }
            (Some(_), false) => {
                return Err(Fault::new(owner, "grain", "has no meaning without mu_across"));
            }
        };
        let names = [
            match first {
                Solid::HalfSpace(k) => &model.half_spaces[k].name,
                Solid::Collider(k) => &model.colliders[k].name,
            },
            &model.colliders[second].name,
        ];
        let side = match grain.of.is_empty() {
            true => Some(0),
            false => names.iter().position(|name| **name == grain.of),
        };
        let side = side.ok_or_else(|| {
            let [first, second] = names;
            let message = format!(
                "must be {first:?} or {second:?}, the two of the pair, found {:?}",
                grain.of
            );
            Fault::new(owner, "grain_of", message)
        })?;
        let axis = Vector3::from(grain.axis);
        let axis = axis.try_normalize(0.0).filter(|axis| axis.iter().all(|x| x.is_finite()));
        let axis = axis.ok_or_else(|| {
            let message = format!("must be a direction, found {:?}", grain.axis);
            Fault::new(owner, "grain", message)
        })?;
        Ok(Some(Grain { side, axis }))
    }
}
