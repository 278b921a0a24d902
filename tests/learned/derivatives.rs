//! Derivatives of scenes with learned terms, in all ways.

use stiction::linearize::{
    JacobianWorkspace, Selection, StepJacobian, step_jacobian, step_jacobian_by_lanes,
};
use stiction::model::ParameterRef;
use stiction::simulation::{Rollout, StepMemory};
use stiction::verify::{Gradcheck, StepProgram};
use stiction::{Scene, state::State};

use super::{cart_and_rod, drawn};
use crate::linearize::adjoint::compare;
use crate::random::Random;
use crate::scenes::FLOOR;

/// A box that slides and tumbles over the floor, and a hinge with a stop; on both act terms of these kinds.
fn learned(kinds: &[&str]) -> Scene {
    let terms: String = kinds
        .iter()
        .map(|kind| {
            let (of, on) = match *kind {
                "potential" => ("['box/px', 'box/qx', 'box/qw', 'rod/q']", ""),
                "force" => ("['rod/q', 'rod/v', 'box/vy']", "on = ['rod/f', 'box/fx', 'box/ty']"),
                "dissipation" => ("['rod/q', 'box/pz']", "on = ['rod/f', 'box/fx', 'box/ty']"),
                _ => ("['floor/x', 'floor/y', 'box/x']", "on = ['floor-box']"),
            };
            format!(
                "[[learned]]
                name = 'hidden {kind}'
                kind = '{kind}'
                of = {of}
                {on}
                layers = [5]
                amplitude = 0.4\n"
            )
        })
        .collect();
    let text = format!(
        "[simulation]
        time_step = 0.01
        tolerance = 1e-13
        {FLOOR}
        [[body]]
        name = 'box'
        mass = 0.7
        center_of_mass = [0.01, -0.02, 0.01]
        inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
        shape = {{ box = [0.1, 0.08, 0.05] }}
        position = [0, 0, 0.13]
        velocity = [1, 0.2, 0]
        angular_velocity = [1, 2, -1]
        [[body]]
        name = 'rod'
        joint = {{ type = 'revolute', axis = [0, 1, 0], q = [0.5], v = [2.3], limits = [-1, 0.8], damping = 0.01 }}
        position = [3, 0, 3]
        mass = 0.3
        center_of_mass = [0, 0, -0.2]
        inertia = [1e-3, 2e-3, 1e-3]
        [[contact]]
        pair = 'floor-box'
        mu = 0.35
        restitution = 0.2
        {terms}"
    );
    drawn(&text, 0.8, &mut Random(11))
}

const KINDS: [&str; 4] = ["potential", "force", "dissipation", "friction"];

#[test]
fn every_kind_passes_the_check_of_gradients() {
    for kind in KINDS {
        let scene = learned(&[kind]);
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        for k in 0..40 {
            // In flight, at an impact, sliding.
            if [3, 17, 31, 39].contains(&k) {
                let at = (&rollout.state, &scene.inputs[..], &rollout.memory);
                let program = StepProgram::new(scene.system(), at.0, at.1, at.2, 1);
                let check = Gradcheck::of(&program).unwrap();
                assert!(check.passed(), "{kind}, step {k}: {check:?}");
                assert!(check.cases() > 0);
            }
            rollout.step(&scene.inputs);
        }
    }
}

/// The largest difference of the columns of two Jacobians, relative to the larger of 1 and the largest entry.
fn apart(a: &StepJacobian, b: &StepJacobian) -> f64 {
    let pairs = [(&a.a, &b.a), (&a.b, &b.b), (&a.c, &b.c)];
    let worst = pairs.into_iter().map(|(x, y)| {
        assert_eq!(x.shape(), y.shape());
        (x - y).amax() / x.amax().max(1.0)
    });
    worst.fold(0.0, f64::max)
}

#[test]
fn the_structured_jacobian_is_that_of_duals() {
    for kinds in [&KINDS[..1], &KINDS[1..2], &KINDS[..2], &KINDS] {
        let scene = learned(kinds);
        let model = &scene.model;
        let inputs = [0, 2, 4];
        let parameters: Vec<ParameterRef> =
            (0..model.parameter_count()).map(|k| ParameterRef { slots: vec![k] }).collect();
        let selection = Selection { inputs: &inputs, parameters: &parameters };
        let (mut workspace, mut lanes) =
            (JacobianWorkspace::default(), JacobianWorkspace::default());
        let (mut first, mut second) = (StepJacobian::default(), StepJacobian::default());
        let (mut state, mut memory) = (scene.state.clone(), StepMemory::default());
        let mut touched = 0;
        for step in 0..60 {
            let before = memory.clone();
            let system = &scene.system();
            let at: (&State<f64>, &[f64]) = (&state, &scene.inputs);
            step_jacobian(system, at.0, at.1, selection, &mut memory, &mut workspace, &mut first);
            let mut memory = before;
            step_jacobian_by_lanes(
                system,
                at.0,
                at.1,
                selection,
                &mut memory,
                &mut lanes,
                &mut second,
            );
            assert_eq!(first.b.ncols(), inputs.len());
            let apart = apart(&first, &second);
            assert!(apart < 1e-8, "{kinds:?}, step {step}: {apart:e}");
            touched += usize::from(!first.modes.is_empty());
            state.clone_from(&first.next);
        }
        assert!(touched > 20, "{touched}");
    }
}

#[test]
fn adjoints_are_the_transposed_jacobian() {
    for kinds in [&KINDS[..1], &KINDS[1..2], &KINDS[..2]] {
        let tally = compare(&format!("{kinds:?}"), &learned(kinds), 40, 0.3);
        assert_eq!(tally.recorded, 0);
        assert!(tally.structured > 30 && tally.touching > 10);
    }
    for kinds in [&KINDS[2..3], &KINDS[3..], &KINDS] {
        let tally = compare(&format!("{kinds:?}"), &learned(kinds), 40, 0.3);
        assert!(tally.recorded > 30 && tally.touching > 10);
    }
}

#[test]
fn other_integrators_and_impacts_that_split_steps_too() {
    let force = "[[learned]]
        name = 'hidden'
        kind = 'force'
        of = ['rod/q', 'cart/v', 'cart/q']
        on = ['rod/f', 'cart/f']
        layers = [5]
        [[learned]]
        name = 'drag'
        kind = 'dissipation'
        of = ['rod/q']
        on = ['rod/f', 'cart/f']
        layers = [3]";
    for integrator in ["implicit", "runge_kutta"] {
        // Viscous friction needs a step that is implicit in it.
        let terms = match integrator {
            "implicit" => force,
            _ => force.split_once("[[learned]]\n        name = 'drag'").unwrap().0,
        };
        let text = cart_and_rod(&format!("integrator = '{integrator}'"), terms);
        let scene = drawn(&text, 0.8, &mut Random(5));
        compare(integrator, &scene, 20, 0.3);
    }
    let mut scene = learned(&KINDS[..2]);
    scene.settings.split_impacts = true;
    let slot = scene.model.parameter("floor-box/restitution").unwrap().slots[0];
    scene.parameters.values[slot] = 0.8;
    let tally = compare("split", &scene, 40, 0.0);
    assert!(tally.structured > 20);
}
