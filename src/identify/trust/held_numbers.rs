//! Numbers of a scene that a fit held, and what they would be as parameters.

use std::collections::BTreeMap;

use crate::identify::experiment::{Experiment, FreeParameter, Transform, is_weight};
use crate::model::{ParameterRef, Parameters, SurfaceTerm, domain};

/// Of what is switched off, in typical changes: so that it has a derivative.
const NEXT_TO_NOTHING: f64 = 1e-6;

/// Numbers of the scene that belong together.
pub(super) struct Group {
    pub name: String,
    pub members: Vec<FreeParameter>,
}

/// What could be free and is not.
pub(super) fn candidate(experiment: &Experiment, name: &str, held: f64) -> Option<FreeParameter> {
    let slots = experiment.parameter(name)?;
    let range = experiment.delay_range(slots.slots[0]);
    let (lower, upper) = range.map_or_else(|| domain(name), |[lower, upper]| (lower, upper));
    let mut parameter = FreeParameter::new(name, slots, held, [lower, upper]);
    parameter.transform = Transform::None;
    if held == 0.0 {
        parameter.scale = usual_change(name).unwrap_or(parameter.scale);
    }
    if held == 0.0 && is_more_than_nothing(name) {
        parameter.start = NEXT_TO_NOTHING * parameter.scale;
    }
    Some(parameter)
}

/// Dry friction that is nothing has no row in a contact problem, nor a derivative; and radii are more than nothing.
fn is_more_than_nothing(name: &str) -> bool {
    name.ends_with("/friction") || name.ends_with("/radius")
}

/// A typical change of what is off.
fn usual_change(name: &str) -> Option<f64> {
    let (_, field) = name.rsplit_once('/')?;
    let couple = |term: SurfaceTerm, change: f64| (field == term.name()).then_some(change);
    couple(SurfaceTerm::TorsionRadius, 1e-2)
        .or_else(|| couple(SurfaceTerm::RollingResistance, 1e-3))
        .or_else(|| matches!(field, "radius" | "delay").then_some(1e-3))
        .or_else(|| couple(SurfaceTerm::Softness, 1e-4))
        .or_else(|| couple(SurfaceTerm::DampingTime, 1e-3))
        .or_else(|| name.contains("/drag/").then_some(0.1))
}

/// What a candidate is held at: nothing where it is next to nothing.
pub(super) fn held(candidate: &FreeParameter) -> f64 {
    let off = candidate.start == NEXT_TO_NOTHING * candidate.scale;
    if off && is_more_than_nothing(&candidate.name) { 0.0 } else { candidate.start }
}

/// The numbers of the scene that are not free, those of one thing together.
pub(super) fn groups(experiment: &Experiment, now: &Parameters<f64>) -> Vec<Group> {
    let is_free = |slots: &ParameterRef| {
        let free = experiment.parameters.iter().filter(|p| !p.fixed);
        free.flat_map(|p| &p.slots.slots).any(|slot| slots.slots.contains(slot))
    };
    let find = experiment.scene.model.parameter_finder();
    let mut groups: BTreeMap<String, Vec<FreeParameter>> = BTreeMap::new();
    let of_scene = experiment.scene.model.parameter_names();
    let calibrated = experiment.calibrated().into_iter().map(|(name, slot)| (name, Some(slot)));
    for (name, slot) in of_scene.into_iter().map(|name| (name, None)).chain(calibrated) {
        // Weight is known, and how the solver gives way is no property of bodies.
        if name.starts_with("gravity/") || name.starts_with("contact/") || is_weight(&name) {
            continue;
        }
        let own = slot.map(|slot| ParameterRef { slots: vec![slot] });
        let Some(slots) = own.or_else(|| find(&name)).filter(|slots| !is_free(slots)) else {
            continue;
        };
        let held = now.values[slots.slots[0]];
        let Some(candidate) = candidate(experiment, &name, held) else { continue };
        let part = name.rsplit_once('/').filter(|(_, last)| {
            ["x", "y", "z", "xx", "yy", "zz", "xy", "xz", "yz", "lower", "upper"].contains(last)
        });
        let whole = part.map_or(name.as_str(), |(whole, _)| whole);
        groups.entry(whole.to_string()).or_default().push(candidate);
    }
    let group = |(name, members): (String, Vec<FreeParameter>)| match &members[..] {
        [one] => Group { name: one.name.clone(), members },
        _ => Group { name, members },
    };
    groups.into_iter().map(group).collect()
}
