//! What learned terms do to motion: closed forms, energy, nothing without weights.

use approx::assert_relative_eq;
use nalgebra::Vector3;
use stiction::Scene;
use stiction::simulation::Rollout;
use stiction::spatial::rotation_matrix;
use stiction::state::State;

use super::{CART, cart_and_rod, drawn, kinetic};
use crate::random::Random;
use crate::scenes::{FLOOR, scene};

const POTENTIAL: &str = "[[learned]]
    name = 'hidden'
    kind = 'potential'
    of = ['rod/q', 'cart/q']
    layers = [8, 5]
    amplitude = 0.3";

/// The energy of the potential of a scene, J.
fn potential(scene: &Scene, q: &[f64]) -> f64 {
    let term = &scene.model.learned[0];
    let weights = scene.parameters.weights(&scene.model, 0);
    // As scene files order them: an angle by its sine and cosine, then the slider.
    let x = [q[1].sin(), q[1].cos(), q[0]];
    term.amplitude * term.network.value(weights, &x)[0]
}

#[test]
fn a_potential_conserves_energy_whatever_its_weights_are() {
    let mut random = Random(1);
    let (mut worst, mut moved) = (0.0_f64, 0.0_f64);
    for _ in 0..1000 {
        let text = cart_and_rod("integrator = 'runge_kutta'", POTENTIAL);
        let scene = drawn(&text, 1.0, &mut random);
        let energy = |q: &[f64], v: &[f64]| kinetic(v) + potential(&scene, q);
        let before = energy(&scene.state.q, &scene.state.v);
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        for _ in 0..20 {
            rollout.step(&scene.inputs);
        }
        let state = &rollout.state;
        worst = worst.max((energy(&state.q, &state.v) - before).abs());
        moved = moved.max((kinetic(&state.v) - kinetic(&scene.state.v)).abs());
    }
    // Of fourth order in the step, and exchanged with the motion.
    assert!(worst < 1e-6 && moved > 0.1, "{worst:e}, {moved}");
}

#[test]
fn a_dissipation_never_gives_energy_whatever_its_weights_are() {
    let learned = "[[learned]]
        name = 'hidden'
        kind = 'dissipation'
        of = ['rod/q', 'cart/v']
        on = ['rod/f', 'cart/f']
        layers = [8]
        amplitude = 50";
    let mut random = Random(2);
    let mut least = 1.0_f64;
    for integrator in ["semi_implicit", "implicit"] {
        for _ in 0..500 {
            let text = cart_and_rod(&format!("integrator = '{integrator}'"), learned);
            let scene = drawn(&text, 3.0, &mut random);
            let mut rollout = Rollout::new(scene.system(), scene.state.clone());
            let mut before = kinetic(&scene.state.v);
            for _ in 0..20 {
                rollout.step(&scene.inputs);
                let now = kinetic(&rollout.state.v);
                assert!(now <= before * (1.0 + 1e-14), "{now} after {before}");
                before = now;
            }
            least = least.min(before / kinetic(&scene.state.v));
        }
    }
    assert!(least < 1e-3, "{least}");
}

#[test]
fn a_free_body_is_slowed_by_a_learned_dissipation() {
    let text = "gravity = [0, 0, 0]
        simulation.time_step = 0.01
        [[body]]
        name = 'ball'
        mass = 2
        shape = { sphere = 0.1 }
        velocity = [1, 0, 0]
        [[learned]]
        name = 'air'
        kind = 'dissipation'
        of = ['ball/vx']
        on = ['ball/fx']
        layers = []
        amplitude = 1
        weights = [0, 3]";
    let scene = scene(text);
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.step(&scene.inputs);
    // (m + dt c) v+ = m v with c = 3², and nothing else moves.
    assert_relative_eq!(rollout.state.v[0], 2.0 / 2.09, max_relative = 1e-14);
    assert_eq!(rollout.state.v[1..], [0.0; 5]);
}

#[test]
fn a_free_body_off_its_centre_never_gains_either() {
    let text = "gravity = [0, 0, 0]
        simulation.time_step = 0.01
        [[body]]
        name = 'body'
        mass = 0.7
        center_of_mass = [0.1, -0.2, 0.05]
        inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
        velocity = [1, 0.3, -0.5]
        angular_velocity = [3, -2, 1]
        [[learned]]
        name = 'drag'
        kind = 'dissipation'
        of = ['body/vx', 'body/wy', 'body/qw']
        on = ['body/fx', 'body/fy', 'body/fz', 'body/tx', 'body/ty', 'body/tz']
        layers = [5]
        amplitude = 20";
    let mut random = Random(6);
    let mut least = 1.0_f64;
    for _ in 0..300 {
        let scene = drawn(text, 2.0, &mut random);
        let (model, parameters) = (&scene.model, &scene.parameters);
        let energy = |state: &State<f64>| {
            let vector = |x: &[f64]| Vector3::new(x[0], x[1], x[2]);
            let w = vector(&state.v[3..]);
            let turn = rotation_matrix([state.q[3], state.q[4], state.q[5], state.q[6]]);
            let v = vector(&state.v) + turn * w.cross(&parameters.center_of_mass(model, 0));
            0.35 * v.norm_squared() + 0.5 * w.dot(&(parameters.inertia(model, 0) * w))
        };
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        let mut before = energy(&rollout.state);
        for _ in 0..20 {
            rollout.step(&scene.inputs);
            let now = energy(&rollout.state);
            assert!(now <= before * (1.0 + 1e-12), "{now} after {before}");
            before = now;
        }
        least = least.min(before / energy(&scene.state));
    }
    assert!(least < 1e-3, "{least}");
}

#[test]
fn a_force_of_one_layer_is_a_spring() {
    let spring = cart_and_rod("", "").replace("q = [0.2]", "q = [0.2], stiffness = 40, rest = 0.1");
    let learned = cart_and_rod(
        "",
        "[[learned]]
        name = 'spring'
        kind = 'force'
        of = ['cart/q']
        on = ['cart/f']
        layers = []
        amplitude = 2
        weights = [-20, 2]",
    );
    let energy = cart_and_rod(
        "",
        "[[learned]]
        name = 'pull'
        kind = 'potential'
        of = ['cart/q']
        layers = []
        weights = [7, 11]",
    );
    let run = |text: &str| {
        let scene = scene(text);
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        (0..50).for_each(|_| {
            rollout.step(&scene.inputs);
        });
        rollout.state
    };
    let (expected, found) = (run(&spring), run(&learned));
    for (a, b) in expected.q.iter().chain(&expected.v).zip(found.q.iter().chain(&found.v)) {
        assert_relative_eq!(a, b, max_relative = 1e-12);
    }
    // V = 7 x + 11 pulls by 7 N.
    assert_relative_eq!(run(&energy).v[0], 0.7 - 0.5 * 7.0 / CART, max_relative = 1e-13);
    assert_relative_eq!(run(&energy).v[1], -1.3, max_relative = 1e-14);
}

#[test]
fn a_potential_turns_a_free_body_by_its_slope() {
    let text = "gravity = [0, 0, 0]
        simulation.time_step = 0.01
        [[body]]
        name = 'body'
        mass = 1
        inertia = [0.01, 0.02, 0.03]
        orientation = [0.5, 0.5, -0.5, 0.5]
        [[learned]]
        name = 'field'
        kind = 'potential'
        of = ['body/qw', 'body/qx', 'body/qy', 'body/qz', 'body/px', 'body/pz']
        layers = [6]";
    let scene = drawn(text, 1.0, &mut Random(3));
    let weights = scene.parameters.weights(&scene.model, 0);
    let energy = |tangent: &[f64]| {
        let q = scene.state.moved(scene.model.coordinates(), tangent).q;
        scene.model.learned[0].network.value(weights, &[q[3], q[4], q[5], q[6], q[0], q[2]])[0]
    };
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.step(&scene.inputs);
    // m dv = dt F, of the body at rest.
    let masses = [1.0, 1.0, 1.0, 0.01, 0.02, 0.03];
    for (k, mass) in masses.into_iter().enumerate() {
        let mut tangent = [0.0; 12];
        let mut at = |x: f64| {
            tangent[k] = x;
            energy(&tangent)
        };
        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
        let found = rollout.state.v[k] * mass / 0.01;
        // The free rotation of the step is of second order in it.
        assert_relative_eq!(found, -slope, epsilon = if k < 3 { 1e-9 } else { 2e-2 });
        assert!(k == 1 || slope.abs() > 1e-3);
    }
}

#[test]
fn friction_that_is_learned_slows_by_the_place() {
    let text = format!(
        "simulation.time_step = 0.001
        {FLOOR}
        [[body]]
        name = 'box'
        mass = 1
        shape = {{ box = [0.1, 0.1, 0.02] }}
        position = [0, 0, 0.02]
        velocity = [2, 0, 0]
        [[contact]]
        pair = 'floor-box'
        mu = 0.3
        [[learned]]
        name = 'patch'
        kind = 'friction'
        of = ['floor/x']
        on = 'floor-box'
        layers = []
        weights = [0, 0.5]"
    );
    let scene = scene(&text);
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    (0..100).for_each(|_| {
        rollout.step(&scene.inputs);
    });
    let mu = 0.3 * 0.5_f64.exp();
    assert_relative_eq!(rollout.state.v[0], 2.0 - mu * 9.81 * 0.1, max_relative = 1e-6);
}

#[test]
fn without_weights_a_term_changes_no_bit() {
    let kinds = "[[learned]]
        name = 'a'
        kind = 'potential'
        of = ['body/px', 'body/qw']
        [[learned]]
        name = 'b'
        kind = 'force'
        of = ['body/vx']
        on = ['body/fx', 'body/tz']
        [[learned]]
        name = 'c'
        kind = 'friction'
        of = ['floor/x', 'body/y']
        on = ['floor-body']
        [[learned]]
        name = 'd'
        kind = 'dissipation'
        of = ['body/vz']
        on = ['body/fx', 'body/ty']";
    let bodies = format!(
        "simulation.time_step = 0.005
        {FLOOR}
        [[body]]
        name = 'body'
        mass = 1
        shape = {{ box = [0.1, 0.05, 0.02] }}
        position = [0, 0, 0.1]
        velocity = [1, 0.3, 0]
        angular_velocity = [3, -2, 1]
        [[contact]]
        pair = 'floor-body'
        mu = 0.4
        restitution = 0.3\n"
    );
    let run = |text: &str| {
        let scene = scene(text);
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        (0..200).for_each(|_| {
            rollout.step(&scene.inputs);
        });
        rollout.state
    };
    assert_eq!(run(&bodies), run(&format!("{bodies}{kinds}")));
    let dissipation = "[[learned]]
        name = 'd'
        kind = 'dissipation'
        of = ['rod/q']
        on = ['rod/f']";
    assert_eq!(run(&cart_and_rod("", "")), run(&cart_and_rod("", dissipation)));
}
