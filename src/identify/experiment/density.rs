//! The density of a body as a parameter: mass and inertia in proportion to it.

use crate::model::{ParameterRef, Scene};

/// What a density stands for: mass and the six numbers of the inertia, and of each how much it is at a density of 1. Nothing if
/// `name` is not that of the density of a body with mass and shapes.
pub(super) fn find(scene: &Scene, name: &str) -> Option<(ParameterRef, Vec<f64>)> {
    let Scene { model, parameters, .. } = scene;
    let owner = name.strip_suffix("/density")?;
    let body = model.bodies.iter().position(|body| body.name == owner)?;
    let volume = model.volume(parameters, body);
    let first = model.body_slot(body);
    // The centre of mass stays.
    let slots: Vec<usize> = std::iter::once(first).chain(first + 4..first + 10).collect();
    let density = parameters.values[first] / volume;
    let known = volume > 0.0 && density > 0.0 && density.is_finite();
    let factors = slots.iter().map(|&slot| parameters.values[slot] / density).collect();
    known.then_some((ParameterRef { slots }, factors))
}
