//! Scenes whose contacts share what they carry, at random states: what all derivatives of a step are compared on.

mod agree;
pub mod scenes;

use stiction::argmin::Mode;
use stiction::model::System;
use stiction::simulation::{Workspace, step};
use stiction::state::State;

use crate::linearize::scenes::Sample;
use crate::random::Random;
use scenes::Family;

/// The modes of the contacts of a step.
fn modes(family: &Family, sample: &Sample) -> Vec<Mode> {
    let Family { scene, .. } = family;
    let system =
        System { model: &scene.model, parameters: &scene.parameters, settings: &scene.settings };
    let (mut workspace, mut next) = (Workspace::default(), State::default());
    let mut memory = sample.memory.clone();
    let report =
        step(&system, &sample.state, &sample.inputs, &mut memory, &mut workspace, &mut next);
    assert_eq!(report.unsolved, 0, "{}: {report:?}", family.name);
    workspace.contacts().map(|contact| contact.mode).collect()
}

/// What settles is at rest and sticks; what is sampled from it touches, and much of it does not slip.
#[test]
fn families_are_what_they_are_called() {
    let mut random = Random(11);
    for family in scenes::all() {
        let Family { name, settled, .. } = &family;
        let fastest = settled.state.v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        assert!(fastest < family.still, "{name}: {fastest}");
        let at_rest = modes(&family, settled);
        assert!(at_rest.len() >= family.contacts, "{name}: {at_rest:?}");
        let sticking = at_rest.iter().filter(|&&mode| mode == Mode::Stick).count();
        assert!(2 * sticking >= family.contacts, "{name}: {at_rest:?}");
        let (mut touching, mut held) = (0, 0);
        for _ in 0..20 {
            let found = modes(&family, &family.sample(&mut random));
            touching += found.iter().filter(|&&mode| mode != Mode::Break).count();
            held += found.iter().filter(|&&mode| matches!(mode, Mode::Stick | Mode::Clamp)).count();
        }
        assert!(4 * touching >= 20 * family.contacts, "{name}: {touching}");
        assert!(8 * held > touching, "{name}: {held} of {touching}");
    }
}

/// The same seed is the same state, whatever was sampled before.
#[test]
fn samples_depend_on_their_seed_alone() {
    for family in scenes::all() {
        let [one, two] = [0; 2].map(|_| family.sample(&mut Random(3)));
        assert_eq!((&one.state, &one.inputs), (&two.state, &two.inputs), "{}", family.name);
    }
}
