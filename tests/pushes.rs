//! Known forces that act for a while.

use approx::assert_abs_diff_eq;
use stiction::simulation::Rollout;
use stiction::{Scene, state::State};

use crate::agreement::step_derivatives_agree;
use crate::linearize::adjoint::compare;
use crate::scenes::FLOOR;

fn pushed(settings: &str, push: &str) -> Scene {
    let text = format!(
        "[simulation]\ntime_step = 0.01\n{settings}\n[[body]]\nname = 'a'\nmass = 2\ninertia = 0.5\n\
         [[push]]\nname = 'shove'\nbody = 'a'\nuntil = 0.25\n{push}"
    );
    Scene::parse(&text, "scene.toml").unwrap()
}

fn after(scene: &Scene, steps: usize) -> State<f64> {
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(steps, &scene.inputs);
    rollout.state
}

#[test]
fn a_push_gives_its_momentum_while_it_acts() {
    for settings in ["", "integrator = 'implicit'", "integrator = 'runge_kutta'"] {
        let scene = pushed(settings, "force = [8, 0, 0]");
        // 4 m/s², for 0.25 s at most.
        for (steps, speed) in [(10, 0.4), (25, 1.0), (60, 1.0)] {
            assert_abs_diff_eq!(after(&scene, steps).v[0], speed, epsilon = 1e-12);
        }
        // Half of a step counts for half.
        let scene = pushed(settings, "force = [8, 0, 0]\nfrom = 0.105");
        assert_abs_diff_eq!(after(&scene, 60).v[0], 4.0 * 0.145, epsilon = 1e-12);
    }
}

/// About z with I = 0.5: the point goes round, the force does not.
#[test]
fn a_push_at_a_point_turns_as_the_point_goes_round() {
    let scene = pushed("integrator = 'runge_kutta'\n", "force = [0, 0.7, 0]\npoint = [0.3, 0, 0]");
    let mut scene = scene;
    // Without gravity.
    scene.parameters.values[2] = 0.0;
    let found = after(&scene, 25);
    // I w' = r F cos(angle): energy by the work, w² = 2 r F sin(angle) / I.
    let (qw, qz) = (found.q[3], found.q[6]);
    let angle = 2.0 * qz.atan2(qw);
    assert!(angle > 0.01);
    assert_abs_diff_eq!(found.v[5].powi(2), 2.0 * 0.3 * 0.7 * angle.sin() / 0.5, epsilon = 1e-9);
    assert_abs_diff_eq!(found.v[1], 0.7 * 0.25 / 2.0, epsilon = 1e-12);
}

/// A push on the second of two links, and one on a box that slides.
const BOTH: &str = "[[body]]
    name = 'box'
    mass = 0.7
    center_of_mass = [0.01, -0.02, 0.01]
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    shape = { box = [0.1, 0.08, 0.05] }
    position = [0, 0, 0.0501]
    velocity = [1, 0.2, 0]
    [[body]]
    name = 'upper'
    joint = { type = 'revolute', axis = [0, 1, 0], q = [0.5], v = [1.3] }
    position = [3, 0, 3]
    mass = 0.3
    center_of_mass = [0, 0, -0.2]
    inertia = [1e-3, 2e-3, 1e-3]
    [[body]]
    name = 'lower'
    parent = 'upper'
    joint = { type = 'revolute', axis = [1, 0, 0], q = [0.2], v = [-0.4] }
    position = [0, 0, -0.4]
    mass = 0.2
    center_of_mass = [0, 0, -0.1]
    inertia = [1e-3, 2e-3, 1e-3]
    [[contact]]
    pair = 'floor-box'
    mu = 0.35
    [[push]]
    name = 'shove'
    body = 'box'
    point = [0.1, 0.02, 0.03]
    force = [2, -1, 0.5]
    until = 10
    [[push]]
    name = 'pull'
    body = 'lower'
    point = [0.02, 0.01, -0.2]
    force = [0.4, -0.2, 0.3]
    until = 10
    ";

#[test]
fn derivatives_of_pushes_agree_in_all_ways() {
    for settings in ["", "integrator = 'implicit'", "integrator = 'runge_kutta'"] {
        let text =
            format!("[simulation]\ntime_step = 0.01\ntolerance = 1e-13\n{settings}\n{FLOOR}{BOTH}");
        let scene = Scene::parse(&text, "scene.toml").unwrap();
        let found = step_derivatives_agree(settings, &scene, 4);
        // What pushes are for: more of them moves more.
        let of = scene.model.nv() + 1;
        assert!(found.b.column(of).norm() > 1e-4);
        let tally = compare("pushes", &scene, 12, 0.5);
        assert!(tally.structured + tally.recorded > 8);
    }
}

#[test]
fn pushes_survive_a_file() {
    let text = format!(
        "[simulation]\ntime_step = 0.01\n{FLOOR}{BOTH}[[camera]]\nname = 'front'\nsize = [64, 48]\neye = [0, -3, 1]\ntarget = [0, 0, 0.5]\nfov_y_deg = 45\nbody = 'upper'\n"
    );
    let scene = Scene::parse(&text, "scene.toml").unwrap();
    let written = stiction::assemble::Description::of(&scene, &scene.parameters, "scene.toml");
    let again = Scene::parse(&written.to_toml(""), "scene.toml").unwrap();
    assert_eq!((&again.model, &again.inputs), (&scene.model, &scene.inputs));
    assert_eq!(again.parameters.values.len(), scene.parameters.values.len());
    for (a, b) in again.parameters.values.iter().zip(&scene.parameters.values) {
        assert_abs_diff_eq!(a, b, epsilon = 1e-15);
    }
    assert_eq!(scene.model.input_names().last().unwrap(), "pull/u");
    for name in ["shove/point/x", "pull/force/z", "front/eye/y", "front/fov_y", "front/center/x"] {
        assert!(scene.model.parameter(name).is_some(), "{name}");
    }
}
