//! Joints that stand exactly at their limits: a kink, whose name and whose one-sided derivative the check gives.

use stiction::argmin::Mode;
use stiction::contact::Target;
use stiction::model::{Scene, System};
use stiction::simulation::Rollout;
use stiction::verify::{Gradcheck, StepProgram};

use crate::linearize::adjoint::compare_rollouts;

fn scene(settings: &str, bodies: &str) -> Scene {
    let text =
        format!("{settings}\nsimulation = {{ time_step = 0.005, tolerance = 1e-12 }}\n{bodies}");
    Scene::parse(&text, "limits.toml").unwrap()
}

/// A trunk on a vertical rail with a leg of three links, whose hinges are straight, as far as they go; the foot is bent
/// off.
fn leg(settings: &str, joint: &str) -> Scene {
    let link = |name: &str, parent: &str, rest: &str| {
        format!(
            "[[body]]\nname = '{name}'\nparent = '{parent}'\nposition = [0, 0, -0.4]\nmass = 2\n\
             center_of_mass = [0, 0, -0.2]\ninertia = 0.03\n{rest}\n"
        )
    };
    let hinge = |limits: &str| {
        format!("joint = {{ type = 'revolute', axis = [0, -1, 0], limits = {limits}{joint} }}")
    };
    let trunk =
        "[[body]]\nname = 'trunk'\njoint = { type = 'prismatic', axis = [0, 0, 1] }\nmass = 3\n";
    let bodies = trunk.to_string()
        + &link("thigh", "trunk", &hinge("[-2, 0]"))
        + &link("shank", "thigh", &hinge("[-2, 0]"))
        + &link("foot", "shank", &hinge("[-0.7, 0.7]"))
            .replace("mass = [0, 0, -0.2]", "mass = [0.13, 0, -0.1]");
    scene(settings, &bodies)
}

/// A link that hangs out sideways and rests on its lower limit.
fn arm(joint: &str) -> Scene {
    let body = format!(
        "[[body]]\nname = 'arm'\njoint = {{ type = 'revolute', axis = [0, -1, 0], limits = [0, 1]{joint} }}\nmass = 1\n\
         center_of_mass = [0.3, 0, 0]\ninertia = 0.02\n"
    );
    scene("", &body)
}

/// Checks one step of a scene after `steps`, which passes.
#[track_caller]
fn checked(scene: &Scene, steps: usize) -> Gradcheck {
    let Scene { model, parameters, settings, state, inputs, .. } = scene;
    let system = System { model, parameters, settings };
    let mut rollout = Rollout::new(system, state.clone());
    rollout.advance(steps, inputs);
    let program = StepProgram::new(system, &rollout.state, inputs, &rollout.memory, 1);
    let check = Gradcheck::of(&program).unwrap();
    let wrong: Vec<_> =
        check.rows.iter().filter(|row| !row.worst.within(&check.tolerances)).collect();
    assert!(check.passed(), "{wrong:#?}");
    check
}

/// The same, where it compares with one-sided differences and names `kink`.
#[track_caller]
fn passes(scene: &Scene, steps: usize, kink: &str) {
    let check = checked(scene, steps);
    assert!(check.one_sided() > 0, "{:?}", check.kinks());
    assert!(check.kinks().keys().any(|name| name.contains(kink)), "{:?}", check.kinks());
    assert!(2 * check.skipped_at_kinks() <= check.cases(), "{:?}", check.rows);
}

/// In free fall nothing presses: rounding says whether the limits carry.
#[test]
fn limits_that_carry_nothing() {
    passes(&leg("", ""), 0, "upper limit of thigh");
    passes(&leg("gravity = [0, 0, 0]", ""), 0, "upper limit of thigh");
    passes(&leg("", ", armature = 0.1, damping = 0.5"), 3, "upper limit of");
}

/// The gap of a limit that carries is 0 up to rounding: on both sides all of it is made up for.
#[test]
fn limits_that_carry() {
    for steps in [0, 1, 40] {
        let check = checked(&arm(""), steps);
        // Only dry friction that is not there is at a kink.
        let kinks = check.rows.iter().filter(|row| row.one_sided > 0).map(|row| row.name.as_str());
        assert!(kinks.eq(["arm/friction"]), "{check:?}");
        assert_eq!(check.skipped_at_kinks(), 0, "{check:?}");
    }
}

/// With dry friction that holds the arm by itself, and with less.
#[test]
fn limits_with_dry_friction() {
    for steps in [0, 30] {
        passes(&arm(", friction = 5"), steps, "of arm");
        let check = checked(&arm(", friction = 1"), steps);
        assert_eq!(check.one_sided() + check.skipped_at_kinks(), 0, "{:?}", check.kinks());
    }
    passes(&leg("", ", friction = 0.3"), 0, "of ");
}

/// Beyond a limit a share of the violation decides, before it the gap: neither is a kink, and adjoints are those of
/// the tape.
#[test]
fn limits_that_are_passed_or_not_reached() {
    for (start, target) in [("q = -1e-3", Target::Penetration), ("q = 1e-3, v = -2", Target::Gap)] {
        let scene = arm(&format!(", {start}"));
        let program =
            StepProgram::new(scene.system(), &scene.state, &scene.inputs, &Default::default(), 1);
        let modes = &program.contact_modes().modes;
        assert_eq!(modes.len(), 1, "{modes:?}");
        assert_eq!((modes[0].3, modes[0].4.0), (Mode::Stick, target));
        let check = Gradcheck::of(&program).unwrap();
        assert!(check.passed() && check.skipped_at_kinks() == 0, "{check:?}");
        // Only dry friction that is not there is at a kink.
        let kinks = check.rows.iter().filter(|row| row.one_sided > 0).map(|row| row.name.as_str());
        assert!(kinks.eq(["arm/friction"]), "{check:?}");
        assert_eq!(compare_rollouts(start, &scene, 2, 1e-9), 0);
    }
}
