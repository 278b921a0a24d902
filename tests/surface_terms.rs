//! What surfaces do beyond rubbing and rebounding with constant numbers, and what the air does: closed forms, derivatives in
//! all ways, files.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use stiction::assemble::Description;
use stiction::contact::Regime;
use stiction::model::Scene;
use stiction::simulation::Rollout;

use crate::agreement::step_derivatives_agree;
use crate::linearize::adjoint::compare;
use crate::scenes::{FLOOR, after, scene};

const G: f64 = 9.81;

/// A box on the floor that slides, with what `contact` says of both.
fn sliding(dt: f64, velocity: [f64; 2], contact: &str) -> Scene {
    let [x, y] = velocity;
    scene(&format!(
        "[simulation]\ntime_step = {dt:?}\ntolerance = 1e-13\ncompliance = 0\n{FLOOR}
         [[body]]
         name = 'box'
         mass = 0.7
         shape = {{ box = [0.1, 0.08, 0.02] }}
         position = [0, 0, 0.02]
         velocity = [{x:?}, {y:?}, 0]
         [[contact]]
         pair = 'floor-box'
         {contact}"
    ))
}

const STRIBECK: &str = "mu = 0.2\nmu_static = 0.5\nstribeck_speed = 0.3";

/// On a slope between both coefficients there is one speed at which friction holds the weight; slower things stop, faster ones
/// run away.
#[test]
fn on_a_slope_friction_that_falls_with_slip_holds_one_speed() {
    let slope = 0.3_f64;
    let steady = 0.3 * ((0.5 - 0.2) / (slope - 0.2)).ln().sqrt();
    let speed = |start: f64| {
        let mut scene = sliding(0.01, [start, 0.0], STRIBECK);
        let (sin, cos) = slope.atan().sin_cos();
        scene.parameters.values[..3].copy_from_slice(&[G * sin, 0.0, -G * cos]);
        after(&scene, 60).v[0]
    };
    assert_abs_diff_eq!(speed(steady), steady, epsilon = 1e-9);
    assert!(speed(0.9 * steady).abs() < 1e-12);
    assert!(speed(1.1 * steady) > 1.5 * steady);
}

/// Against the equation of motion by a method of fourth order, at two lengths of steps.
#[test]
fn what_slows_down_by_stribeck_friction_does_so_to_first_order() {
    let wrong = |dt: f64| {
        let deceleration = |v: f64| -G * (0.2 + 0.3 * (-(v / 0.3) * (v / 0.3)).exp());
        let (mut v, h) = (0.8, 1e-5);
        for _ in 0..10_000 {
            let k1 = deceleration(v);
            let k2 = deceleration(v + 0.5 * h * k1);
            let k3 = deceleration(v + 0.5 * h * k2);
            let k4 = deceleration(v + h * k3);
            v += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
        }
        let scene = sliding(dt, [0.8, 0.0], STRIBECK);
        (after(&scene, (0.1 / dt).round() as usize).v[0] - v).abs()
    };
    let [coarse, fine] = [wrong(1e-3), wrong(5e-4)];
    assert!(coarse < 2e-3, "{coarse}");
    assert!((coarse / fine - 2.0).abs() < 0.05, "{coarse} {fine}");
}

/// In an ellipse dv_y / dv_x = (mu_across / mu)² v_y / v_x, so that v_y / v_x^((mu_across / mu)²) stays. Along the grain and
/// across it friction is that of either number.
#[test]
fn friction_in_an_ellipse_has_its_closed_form() {
    let grained = |dt: f64, velocity: [f64; 2], grain: [f64; 3]| {
        let contact = format!("mu = 0.4\nmu_across = 0.1\ngrain = {grain:?}");
        sliding(dt, velocity, &contact)
    };
    for (velocity, mu) in [([1.0, 0.0], 0.4), ([0.0, 1.0], 0.1)] {
        let state = after(&grained(0.01, velocity, [1.0, 0.0, 0.0]), 10);
        let speed = (state.v[0] + state.v[1]).abs();
        assert_abs_diff_eq!(speed, 1.0 - mu * G * 0.1, epsilon = 1e-9);
        // Turned by a quarter, it is the other one.
        let state = after(&grained(0.01, velocity, [0.0, 0.3, 0.7]), 10);
        let speed = (state.v[0] + state.v[1]).abs();
        assert_abs_diff_eq!(speed, 1.0 - (0.5 - mu) * G * 0.1, epsilon = 1e-9);
    }
    let kept = |dt: f64| {
        let scene = grained(dt, [1.0, 0.5], [1.0, 0.0, 0.0]);
        let state = after(&scene, (0.2 / dt).round() as usize);
        assert!(state.v[0] < 0.4);
        state.v[1] / state.v[0].powf(0.0625)
    };
    let wrong = [2e-3, 1e-3].map(|dt| (kept(dt) - 0.5).abs());
    assert!(wrong[0] < 1e-3, "{wrong:?}");
    assert!((wrong[0] / wrong[1] - 2.0).abs() < 0.1, "{wrong:?}");
}

/// A grain of the body turns with it, and what is recorded of its friction is in the frame of all contacts.
#[test]
fn a_grain_turns_with_its_body() {
    let mut scene =
        sliding(0.01, [1.0, 0.0], "mu = 0.4\nmu_across = 0.1\ngrain = [1, 0, 0]\ngrain_of = 'box'");
    let mut speeds = [0.0; 3];
    for (speed, angle) in speeds.iter_mut().zip([0.0_f64, 0.25, 0.5]) {
        let half = 0.5 * angle * std::f64::consts::PI;
        scene.state.q[3..7].copy_from_slice(&[half.cos(), 0.0, 0.0, half.sin()]);
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        rollout.advance(1, &scene.inputs);
        *speed = rollout.state.v[0];
        let friction: f64 = rollout.workspace.contacts().map(|c| c.world_impulse().x).sum();
        assert_relative_eq!(friction, 0.7 * (*speed - 1.0), max_relative = 1e-9);
        let across: f64 = rollout.workspace.contacts().map(|c| c.world_impulse().y).sum();
        assert_relative_eq!(across, 0.7 * rollout.state.v[1], epsilon = 1e-12);
    }
    assert_abs_diff_eq!(speeds[0], 1.0 - 0.4 * G * 0.01, epsilon = 1e-9);
    assert_abs_diff_eq!(speeds[2], 1.0 - 0.1 * G * 0.01, epsilon = 1e-9);
    assert!(speeds[0] < speeds[1] && speeds[1] < speeds[2]);
}

#[test]
fn restitution_falls_with_the_speed_of_the_approach() {
    let cases = [(0.5_f64, 0.0), (0.5, 2.0), (3.0, 2.0), (20.0, 0.7)];
    for ((approach, falloff), split) in cases.into_iter().flat_map(|x| [(x, false), (x, true)]) {
        let height = 0.1 + 0.4e-3 * approach;
        let text = format!(
            "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.001\ncompliance = 0
             split_impacts = {split}\n{FLOOR}
             [[body]]\nname = 'ball'\nmass = 2\nshape = {{ sphere = 0.1 }}
             position = [0, 0, {height:?}]
             velocity = [0, 0, {:?}]
             [[contact]]\nmu = 0.3\nrestitution = 0.8\nrestitution_falloff = {falloff:?}",
            -approach
        );
        let rebound = 0.8 * approach / (1.0 + falloff * approach).powf(0.25);
        assert_abs_diff_eq!(after(&scene(&text), 1).v[2], rebound, epsilon = 1e-9);
    }
}

fn falling(settings: &str, mass: f64, drag: &str) -> Scene {
    scene(&format!(
        "[simulation]\n{settings}
         [[body]]\nname = 'ball'\nmass = {mass:?}\ninertia = 0.1\ncenter_of_mass = [0.1, 0, 0]
         drag = {drag}"
    ))
}

/// Drag that grows with speed: v = v0 exp(-c t / m); with its square: v = u tanh(g t / u), u² = m g / c.
#[test]
fn drag_has_its_closed_forms() {
    for settings in ["", "integrator = 'implicit'", "integrator = 'runge_kutta'"] {
        let wrong = |dt: f64| {
            let settings = format!("time_step = {dt:?}\n{settings}");
            let steps = (1.0 / dt).round() as usize;
            let mut linear = falling(&settings, 2.0, "{ linear = 3 }");
            linear.parameters.values[2] = 0.0;
            linear.state.v[0] = 5.0;
            let square = falling(&settings, 2.0, "{ quadratic = 1.5 }");
            let speed = (2.0 * G / 1.5).sqrt();
            [
                (after(&linear, steps).v[0] - 5.0 * (-1.5_f64).exp()).abs(),
                (after(&square, steps).v[2] + speed * (G / speed).tanh()).abs(),
            ]
        };
        let (coarse, fine) = (wrong(0.01), wrong(0.005));
        let order = if settings.contains("runge") { 16.0 } else { 2.0 };
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            assert!(coarse < 0.02, "{settings}: {coarse}");
            assert!((coarse / fine / order - 1.0).abs() < 0.15, "{settings}: {coarse} {fine}");
        }
    }
}

/// However light a body is, the air does not throw it back.
#[test]
fn drag_never_turns_a_body_round() {
    let mut scene = falling("time_step = 0.01", 1e-6, "{ linear = 10, quadratic = 100 }");
    scene.state.v[0] = 50.0;
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let mut last = 50.0;
    for _ in 0..20 {
        rollout.advance(1, &scene.inputs);
        let speed = rollout.state.v[0];
        assert!((0.0..=last).contains(&speed), "{speed}");
        last = speed;
    }
}

/// All terms at once: a box that slides askew over a grained board, a ball that bounces, links in the air.
const EVERYTHING: &str = "[[shape]]
    name = 'board'
    box = [2, 2, 0.1]
    position = [0, 0, -0.1]
    orientation = [0.9805806756909202, 0, 0, 0.19611613513818404]
    [[body]]
    name = 'box'
    mass = 0.7
    center_of_mass = [0.01, -0.02, 0.01]
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    shape = { box = [0.1, 0.08, 0.05] }
    position = [0, 0, 0.06]
    velocity = [0.3, 0.2, -0.5]
    angular_velocity = [0.1, 0.3, 1]
    drag = { linear = 0.3, quadratic = 0.8 }
    [[body]]
    name = 'ball'
    mass = 0.2
    shape = { sphere = 0.05 }
    position = [0.7, 0, 0.06]
    velocity = [0.4, 0.5, -2]
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
    center_of_mass = [0.02, 0, -0.1]
    inertia = [1e-3, 2e-3, 1e-3]
    drag = { quadratic = 0.4 }
    [[contact]]
    mu = 0.3
    restitution = 0.6
    restitution_falloff = 0.4
    [[contact]]
    pair = 'board-box'
    mu = 0.25
    mu_static = 0.4
    mu_across = 0.1
    stribeck_speed = 0.5
    restitution = 0.3
    restitution_falloff = 1.5
    grain = [1, 0.2, 0.1]
    grain_of = 'GRAINED'
    ";

#[test]
fn derivatives_of_terms_agree_in_all_ways() {
    for (settings, grained) in [("", "board"), ("", "box"), ("integrator = 'implicit'", "box")] {
        let text = format!("[simulation]\ntime_step = 0.01\ntolerance = 1e-13\n{settings}\n");
        let text = text + &EVERYTHING.replace("GRAINED", grained);
        let scene = scene(&text);
        let names = scene.model.parameter_names();
        for name in [
            "box/drag/quadratic",
            "board-box/mu_across",
            "board-box/stribeck_speed",
            "board-box/mu_static",
            "board-ball/restitution_falloff",
        ] {
            assert!(names.iter().any(|known| known == name), "{name} of {names:?}");
        }
        let mut moved = [0.0_f64; 4];
        for steps in [0, 1, 3, 6] {
            let found = step_derivatives_agree(grained, &scene, steps);
            for (most, name) in moved.iter_mut().zip([
                "box/drag/linear",
                "board-box/mu_across",
                "board-box/stribeck_speed",
                "board-ball/restitution_falloff",
            ]) {
                let slot = scene.model.parameter(name).unwrap().slots[0];
                *most = most.max(found.c.column(slot).norm());
            }
        }
        assert!(moved.iter().all(|&most| most > 1e-4), "{moved:?}");
        let tally = compare("terms", &scene, 12, 0.5);
        assert!(tally.structured + tally.recorded > 8);
    }
}

/// Restitution that falls is part of the structured Jacobian and its transpose.
#[test]
fn falling_restitution_goes_by_the_structured_way() {
    let text = format!(
        "[simulation]\ntime_step = 0.01\ntolerance = 1e-13\ncompliance = 0\n{FLOOR}
         [[body]]\nname = 'box'\nmass = 0.7\nshape = {{ box = [0.1, 0.08, 0.05] }}
         position = [0, 0, 0.13]\norientation = [0.9, 0.3, 0.2, 0.1]\nvelocity = [1, 0.2, -3]
         [[contact]]\nmu = 0.3\nrestitution = 0.7\nrestitution_falloff = 2"
    );
    let mut scene = scene(&text.replace("[0.9, 0.3, 0.2, 0.1]", "[0.92387953, 0.38268343, 0, 0]"));
    let mut moved = 0.0_f64;
    for _ in 0..6 {
        let found = step_derivatives_agree("rebound", &scene, 0);
        let slot = scene.model.parameter("floor-box/restitution_falloff").unwrap().slots[0];
        moved = moved.max(found.c.column(slot).norm());
        let state = after(&scene, 1);
        scene.state = state;
    }
    assert!(moved > 1e-2, "{moved}");
}

#[test]
fn terms_are_written_back() {
    let text = format!("[simulation]\ntime_step = 0.01\n{}", EVERYTHING.replace("GRAINED", "box"));
    let first = scene(&text);
    let mut parameters = first.parameters.clone();
    let slot = first.model.parameter("board-box/mu_across").unwrap().slots[0];
    parameters.values[slot] = 0.15;
    let written = Description::of(&first, &parameters, "again").to_toml(".");
    let second = scene(&written);
    assert_eq!(second.model.parameter_names(), first.model.parameter_names());
    let wrong = second.parameters.values.iter().zip(&parameters.values);
    assert!(wrong.into_iter().all(|(a, b)| (a - b).abs() < 1e-12), "{written}");
    assert_eq!(after(&second, 1).v.len(), first.state.v.len());
    let pair = second.model.pairs.iter().find(|pair| pair.name == "board-box").unwrap();
    let grain = pair.grain.unwrap();
    assert_eq!(grain.side, 1);
    assert!((grain.axis * 1.05_f64.sqrt() - nalgebra::Vector3::new(1.0, 0.2, 0.1)).amax() < 1e-12);
}

#[test]
fn materials_share_their_terms() {
    let ball = |k: usize, material: &str| {
        format!(
            "[[body]]\nname = 'ball{k}'\nmass = 1\nposition = [{k}, 0, 0.1]\nvelocity = [0, 0, -2]
             shape = {{ sphere = 0.1, material = '{material}' }}\n"
        )
    };
    let text = format!(
        "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.001
compliance = 0
         [[material]]\nname = 'clay'\nmu = 0.2\nrestitution = 0.5\nrestitution_falloff = 3
         [[material]]\nname = 'steel'\nmu = 0.2\nrestitution = 0.5
         [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\nmaterial = 'steel'\n{}{}",
        ball(0, "clay"),
        ball(1, "steel")
    );
    let scene = scene(&text);
    let names = scene.model.parameter_names();
    assert!(names.contains(&"clay/restitution_falloff".to_string()));
    assert!(!names.contains(&"steel/restitution_falloff".to_string()));
    let v = after(&scene, 1).v;
    assert_abs_diff_eq!(v[2], 1.0 / 7.0_f64.powf(0.25), epsilon = 1e-9);
    assert_abs_diff_eq!(v[8], 1.0, epsilon = 1e-9);
}

#[test]
fn terms_without_sense_are_refused() {
    let refused = |contact: &str, body: &str| {
        let text = format!(
            "[simulation]\ntime_step = 0.01\n{FLOOR}[[body]]\nname = 'box'\nmass = 1\nshape = {{ box = [1, 1, 1] }}\nposition = [0, 0, 1]
             {body}\n[[contact]]\n{contact}"
        );
        let error = Scene::parse(&text, "scene.toml").expect_err(&text).to_string();
        assert!(error.starts_with("scene.toml:"), "{error}");
        error
    };
    let pair = "pair = 'floor-box'\nmu = 0.3\n";
    for (contact, body, expected) in [
        ("mu = 0.1\nstribeck_speed = 1", "", "without mu_static"),
        ("mu = 0.1\nmu_static = 0.2\nstribeck_speed = 0", "", "must be positive"),
        ("mu = 0.1\nrestitution_falloff = -1", "", "must not be negative"),
        ("mu = 0.1\nrestitution_falloff = inf", "", "finite"),
        ("mu = 0.1\nmu_across = 0.1", "", "`pair` and a `grain`"),
        ("mu = 0.1\ngrain = [1, 0, 0]", "", "with a `pair`"),
        (&format!("{pair}mu_across = 0.1"), "", "`grain`, a vector"),
        (&format!("{pair}mu_across = 0\ngrain = [1, 0, 0]"), "", "must be positive"),
        (&format!("{pair}grain = [1, 0, 0]"), "", "without mu_across"),
        (&format!("{pair}mu_across = 0.1\ngrain = [0, 0, 0]"), "", "must be a direction"),
        (&format!("{pair}mu_across = 0.1\ngrain = [1, 0]"), "", "3 numbers"),
        (
            &format!("{pair}mu_across = 0.1\ngrain = [1, 0, 0]\ngrain_of = 'wall'"),
            "",
            "\"floor\" or \"box\"",
        ),
        (&format!("{pair}grain_of = 'box'"), "", "without grain"),
        ("stribeck_speed = 1", "", "mu"),
        ("mu = 0.1", "drag = { linear = -1 }", "must not be negative"),
        ("mu = 0.1", "drag = { cubic = 1 }", "cubic"),
        ("mu = 0.1", "drag = 3", "drag"),
    ] {
        let error = refused(contact, body);
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}

/// Which of two coefficients counts is for the slip to say, and not for the row across the grain, which is scaled.
#[test]
fn regimes_across_a_grain_go_by_the_slip() {
    for across in [0.4, 0.025] {
        let contact = format!("mu = 0.1\nmu_static = 0.3\nmu_across = {across}\ngrain = [1, 0, 0]");
        for (slip, regime) in [(0.8e-3, Regime::Static), (1.2e-3, Regime::Kinetic)] {
            let scene = sliding(0.01, [0.0, slip], &contact);
            let mut rollout = Rollout::new(scene.system(), scene.state.clone());
            rollout.advance(1, &scene.inputs);
            let records: Vec<_> = rollout.workspace.contacts().collect();
            assert_eq!(records.len(), 4);
            assert!(records.iter().all(|record| record.regime == regime), "{across}, {slip}");
        }
    }
}
