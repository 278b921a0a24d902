//! Contacts that yield, as a spring and a damper: against the equation of motion, at rest, in the limit of the rigid law;
//! derivatives in all ways.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use stiction::assemble::Description;
use stiction::model::Scene;

use crate::agreement::step_derivatives_agree;
use crate::linearize::adjoint::compare;
use crate::scenes::{FLOOR, after, scene};

const G: f64 = 9.81;

/// A ball of 0.2 kg over a floor, falling at `speed`, and what `contact` says of both.
fn ball(dt: f64, speed: f64, contact: &str) -> Scene {
    scene(&format!(
        "[simulation]\ntime_step = {dt:?}\ntolerance = 1e-13\ncompliance = 0\n{FLOOR}
         [[body]]\nname = 'ball'\nmass = 0.2\nshape = {{ sphere = 0.05 }}
         position = [0, 0, 0.05]\nvelocity = [0, 0, {:?}]
         [[contact]]\npair = 'floor-ball'\nmu = 0.3\n{contact}",
        -speed
    ))
}

#[test]
fn what_rests_is_pressed_in_by_its_weight_over_the_stiffness() {
    for damping in [0.0, 0.02] {
        let scene =
            ball(0.002, 0.0, &format!("softness = 1e-3\ndamping_time = {}", damping + 0.01));
        let state = after(&scene, 3000);
        assert_abs_diff_eq!(state.q[2], 0.05 - 1e-3 * 0.2 * G, epsilon = 1e-9);
        assert!(state.v[2].abs() < 1e-9);
    }
}

/// Against m z'' = -m g + (delta + tau delta')/c by a method of fourth order, at two lengths of steps: an impact, the rebound
/// and what it has lost.
#[test]
fn impacts_follow_the_equation_of_motion_to_first_order() {
    let (mass, softness) = (0.2, 2e-3);
    for damping in [0.0, 0.004] {
        // Flight, compression and part of the way up again.
        let time = 0.12_f64;
        let force = |depth: f64, rate: f64| {
            let pressed = (depth + damping * rate) / softness;
            if depth > 0.0 { pressed.max(0.0) } else { 0.0 }
        };
        let rates = |[depth, rate]: [f64; 2]| [rate, G - force(depth, rate) / mass];
        let (mut at, h) = ([0.0, 1.5], 1e-6);
        for _ in 0..(time / h).round() as usize {
            let moved = |k: [f64; 2], by: f64| [at[0] + by * k[0], at[1] + by * k[1]];
            let k1 = rates(at);
            let k2 = rates(moved(k1, 0.5 * h));
            let k3 = rates(moved(k2, 0.5 * h));
            let k4 = rates(moved(k3, h));
            for i in 0..2 {
                at[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
        }
        let contact = format!("softness = {softness:?}\ndamping_time = {damping:?}");
        let wrong = |dt: f64| {
            let state = after(&ball(dt, 1.5, &contact), (time / dt).round() as usize);
            [(0.05 - state.q[2] - at[0]).abs(), (-state.v[2] - at[1]).abs()]
        };
        let [coarse, fine] = [wrong(1e-4), wrong(5e-5)];
        assert!(at[1] < -0.5, "it rebounds: {at:?}");
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            assert!(coarse < 0.03, "{coarse}");
            assert!((coarse / fine - 2.0).abs() < 0.15, "{coarse} {fine}");
        }
    }
}

/// With stiffness what is pressed in goes to nothing, and the rigid law is left: bits where it is 0.
#[test]
fn stiff_contacts_tend_to_the_rigid_law() {
    let body = |terms: &str| {
        let text = format!(
            "[simulation]\ntime_step = 0.005\ntolerance = 1e-13\n{FLOOR}
             [[body]]\nname = 'box'\nmass = 0.5\nshape = {{ box = [0.1, 0.08, 0.05] }}
             position = [0, 0, 0.0501]\nvelocity = [1, 0.2, -0.3]
             [[contact]]\nmu = 0.3\nrestitution = 0.2\n{terms}"
        );
        after(&scene(&text), 40).q
    };
    let rigid = body("");
    let off = |softness: &str| {
        let soft = body(&format!("softness = {softness}"));
        soft.iter().zip(&rigid).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
    };
    assert_eq!(off("0"), 0.0);
    let [soft, stiff] = [off("1e-7"), off("1e-8")];
    assert!(soft < 1e-4 && stiff < 0.15 * soft, "{soft} {stiff}");
}

/// Yielding in `setting`s: corners of a box on a board that is fixed askew, a foot of an arm, a ball on a ball.
fn everything(setting: &str) -> Scene {
    scene(&format!(
        "[simulation]\ntime_step = 0.01\ntolerance = 1e-13\n{setting}\n{FLOOR}
    [[shape]]
    name = 'board'
    box = [2, 2, 0.1]
    position = [0, 0, -0.1]
    orientation = [0.9805806756909202, 0, 0, 0.19611613513818404]
    [[body]]
    name = 'box'
    mass = 0.7
    center_of_mass = [0.01, -0.02, 0.01]
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    shape = {{ box = [0.1, 0.08, 0.05] }}
    position = [0, 0, 0.0505]
    velocity = [0.3, 0.2, -0.5]
    angular_velocity = [0.1, 0.3, 1]
    [[body]]
    name = 'ball'
    mass = 0.2
    shape = {{ sphere = 0.05 }}
    position = [0.5, 0, 0.051]
    velocity = [0.4, 0.5, -2]
    [[body]]
    name = 'arm'
    joint = {{ type = 'revolute', axis = [0, 1, 0], q = [0.3], v = [1.3] }}
    position = [-1, 0, 0.3]
    mass = 0.3
    center_of_mass = [0, 0, -0.2]
    inertia = [1e-3, 2e-3, 1e-3]
    [[body]]
    name = 'foot'
    parent = 'arm'
    joint = {{ type = 'prismatic', axis = [0, 0, -1], q = [0.01], v = [0.4], damping = 0.1 }}
    position = [0, 0, -0.23]
    mass = 0.1
    inertia = [1e-4, 1e-4, 1e-4]
    shape = {{ sphere = 0.05 }}
    [[contact]]
    mu = 0.3
    softness = 4e-4
    damping_time = 0.006
    [[contact]]
    pair = 'board-ball'
    mu = 0.25
    softness = 1e-4
    restitution = 0.3
    [[contact]]
    pair = 'board-foot'
    mu = 0.5
    softness = 1e-3
    damping_time = 0.02"
    ))
}

#[test]
fn derivatives_of_yielding_contacts_agree_in_all_ways() {
    let more = ["", "compliance = 0", "integrator = 'implicit'", "smoothing = 1e-6"];
    for setting in more {
        let scene = everything(setting);
        let names = [
            "board-box/softness",
            "board-box/damping_time",
            "board-ball/softness",
            "board-foot/softness",
            "board-foot/damping_time",
        ];
        let mut moved = [0.0_f64; 5];
        for steps in [0, 1, 3, 6] {
            let found = step_derivatives_agree(setting, &scene, steps);
            for (most, name) in moved.iter_mut().zip(names) {
                let slot = scene.model.parameter(name).unwrap().slots[0];
                *most = most.max(found.c.column(slot).norm());
            }
        }
        assert!(moved.iter().all(|&most| most > 1e-4), "{setting}: {moved:?}");
    }
    let tally = compare("yielding", &everything(""), 12, 0.5);
    assert!(tally.structured > 8 && tally.recorded == 0, "{}", tally.structured);
}

/// All solvers of one problem come to the same depth where nothing slides.
#[test]
fn all_solvers_know_softness() {
    for solver in ["coupled", "gauss_seidel", "staggered", "pyramid", "convex_relaxation"] {
        let mut scene = ball(0.002, 0.0, "softness = 1e-3\ndamping_time = 0.02");
        let text = format!("solver = '{solver}'");
        let own = Scene::parse(
            &format!(
                "[simulation]\ntime_step = 0.002\n{text}\n{FLOOR}[[body]]\nname = 'ball'\nmass = 0.2
                 shape = {{ sphere = 0.05 }}\nposition = [0, 0, 0.05]
                 [[contact]]\nmu = 0.3\nsoftness = 1e-3\ndamping_time = 0.02"
            ),
            "scene.toml",
        );
        scene.settings.solver = own.unwrap().settings.solver;
        assert_relative_eq!(after(&scene, 3000).q[2], 0.05 - 2e-4 * G, epsilon = 1e-6);
    }
}

#[test]
fn softness_is_written_back_and_nonsense_refused() {
    let first = everything("");
    let written = Description::of(&first, &first.parameters, "again").to_toml(".");
    let second = scene(&written);
    assert_eq!(second.model.parameter_names(), first.model.parameter_names());
    assert_eq!(second.parameters.values, first.parameters.values);
    for (setting, contact, expected) in [
        ("", "softness = -1", "must not be negative"),
        ("", "softness = nan", "finite"),
        ("", "damping_time = 0.1", "without softness"),
        ("", "softness = 1\ndamping_time = -1", "must not be negative"),
        ("split_impacts = true", "softness = 1e-3", "split_impacts"),
    ] {
        let text = format!(
            "[simulation]\ntime_step = 0.01\n{setting}\n{FLOOR}[[body]]\nname = 'box'\nmass = 1\nshape = {{ box = [1, 1, 1] }}
             position = [0, 0, 1]\n[[contact]]\nmu = 0.1\n{contact}"
        );
        let error = Scene::parse(&text, "scene.toml").expect_err(&text).to_string();
        assert!(error.starts_with("scene.toml:") && error.contains(expected), "{error}");
    }
}
