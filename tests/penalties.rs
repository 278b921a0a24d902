//! Contacts of rigid bodies by penalty ([Geilinger20] 4.2, 4.3): closed forms of what creeps, slides and turns, the exact law as their
//! limit, problems that are all solved, derivatives in all ways.

use approx::{assert_abs_diff_eq, assert_relative_eq};
use stiction::assemble::Description;
use stiction::linearize::Linearizer;
use stiction::model::Scene;
use stiction::simulation::Rollout;
use stiction::verify::{Gradcheck, StepProgram};

use crate::agreement::step_derivatives_agree;
use crate::linearize::adjoint::compare;
use crate::random::Random;
use crate::scenes::{after, scene};

const G: f64 = 9.81;
const PENALTIES: [&str; 2] = ["penalty_linear", "penalty_tanh"];
const INTEGRATORS: [&str; 3] = ["semi_implicit", "bdf1", "bdf2"];

/// A box of 0.2 kg on ground that falls by `slope` (rad) along x, at rest.
fn on_slope(settings: &str, slope: f64, contact: &str) -> Scene {
    scene(&format!(
        "[simulation]
         time_step = 0.01
         compliance = 0
         tolerance = 1e-12
         {settings}
         [[half_space]]
         name = 'floor'
         normal = [{}, 0, {}]
         [[body]]
         name = 'box'
         mass = 0.2
         shape = {{ box = [0.1, 0.08, 0.02] }}
         position = [{}, 0, {}]
         orientation = [{}, 0, {}, 0]
         [[contact]]
         {contact}",
        slope.sin(),
        slope.cos(),
        0.02 * slope.sin(),
        0.02 * slope.cos(),
        (slope / 2.0).cos(),
        (slope / 2.0).sin(),
    ))
}

/// How fast it goes down.
fn speed(scene: &Scene, slope: f64, steps: usize) -> f64 {
    let v = after(scene, steps).v;
    v[0] * slope.cos() - v[2] * slope.sin()
}

#[test]
fn what_sticks_creeps_at_its_load_over_the_stiffness_and_not_with_the_exact_cone() {
    let (slope, kn, mu) = (0.2_f64, 2e3, 0.4);
    for integrator in INTEGRATORS {
        // kt = kn a of each of four corners.
        let rate = if integrator == "bdf2" { 0.01 * 2.0 / 3.0 } else { 0.01 };
        let load = 0.2 * G * slope.sin() / 4.0;
        let contact = format!("mu = {mu}\nstiffness = {kn}\ndamping = 10");
        for solver in ["hybrid", "penalty_linear", "penalty_tanh"] {
            let settings = format!("integrator = '{integrator}'\nsolver = '{solver}'");
            let crept = speed(&on_slope(&settings, slope, &contact), slope, 1500);
            match solver {
                "hybrid" => assert_abs_diff_eq!(crept, 0.0, epsilon = 1e-10),
                "penalty_linear" => {
                    assert_relative_eq!(crept, load / (kn * rate), max_relative = 1e-6);
                }
                // Corners below carry more than those above, so that it is slower below: between the two.
                _ => {
                    let limit = mu * 0.2 * G * slope.cos() / 4.0;
                    let all_alike = limit / (kn * rate) * (load / limit).atanh();
                    assert_relative_eq!(crept, all_alike, max_relative = 0.05);
                    assert!(crept > load / (kn * rate), "{crept}");
                }
            }
        }
    }
}

#[test]
fn what_slides_is_slowed_by_coulombs_friction() {
    let (slope, mu) = (0.5_f64, 0.3);
    for solver in PENALTIES {
        let settings = format!("solver = '{solver}'");
        let contact = format!("mu = {mu}\nstiffness = 1e6\ndamping = 100");
        let scene = on_slope(&settings, slope, &contact);
        let [early, late] = [50, 150].map(|steps| speed(&scene, slope, steps));
        let expected = G * (slope.sin() - mu * slope.cos());
        assert_relative_eq!(late - early, expected, max_relative = 1e-8);
    }
}

/// A ball that slides and turns on its lowest point: one equation for the slip after a step, solved here by bisection.
#[test]
fn a_ball_meets_the_law_in_each_step() {
    let (m, r, kn, kd, mu, dt) = (0.2, 0.05, 800.0, 3.0, 0.3, 0.01);
    for (solver, spin) in PENALTIES.iter().flat_map(|solver| [(solver, 0.05), (solver, 3.0)]) {
        let scene = scene(&format!(
            "[simulation]
             time_step = {dt}
             compliance = 0
             tolerance = 1e-13
             solver = '{solver}'
             [[half_space]]
             name = 'floor'
             normal = [0, 0, 1]
             [[body]]
             name = 'ball'
             mass = {m}
             shape = {{ sphere = {r} }}
             position = [0, 0, 0.048]
             velocity = [0.02, 0, -0.1]
             angular_velocity = [0, {spin}, 0]
             [[contact]]
             mu = {mu}
             stiffness = {kn}
             damping = {kd}"
        ));
        let state = after(&scene, 1);
        // (16) at the end of the step, and (21).
        let depth = |v: f64| 0.002 - dt * v;
        let normal = |v: f64| kn * depth(v) - kd * v;
        let v = (-0.1 - dt * G + dt * normal(0.0) / m) / (1.0 + dt * (kn * dt + kd) / m);
        assert_relative_eq!(state.v[2], v, max_relative = 1e-10);
        let (force, inertia) = (normal(v), 0.4 * m * r * r);
        let before = 0.02 - r * spin;
        let friction = |u: f64| match *solver {
            "penalty_linear" => (kn * dt * u).clamp(-mu * force, mu * force),
            _ => mu * force * (kn * dt * u / (mu * force)).tanh(),
        };
        let left = |u: f64| u - before + dt * friction(u) * (1.0 / m + r * r / inertia);
        let (mut low, mut high) = (-before.abs(), before.abs());
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if left(middle) > 0.0 { high = middle } else { low = middle }
        }
        let slip = state.v[0] - r * state.v[4];
        assert_abs_diff_eq!(slip, low, epsilon = 1e-12);
    }
}

/// A box that is thrown, lands on edges and corners, and slides.
fn toss(settings: &str, contact: &str) -> Scene {
    scene(&format!(
        "[simulation]
         time_step = 0.002
         {settings}
         [[half_space]]
         name = 'floor'
         normal = [0, 0, 1]
         [[body]]
         name = 'box'
         mass = 0.5
         shape = {{ box = [0.05, 0.04, 0.03] }}
         position = [0, 0, 0.08]
         orientation = [0.9, 0.3, 0.3, 0.1]
         velocity = [1, 0.2, -0.3]
         angular_velocity = [1, 2, 0.5]
         [[contact]]
         mu = 0.3
         {contact}"
    ))
}

#[test]
fn stiffer_penalties_tend_to_contacts_that_yield_with_the_exact_cone() {
    for solver in PENALTIES {
        let mut last = f64::INFINITY;
        for kn in [1e4, 1e5, 1e6] {
            let contact = format!("stiffness = {kn:?}\ndamping = 20");
            // At rest in the end, so that only friction's creep is left between them.
            let [soft, exact] = [solver, "hybrid"].map(|solver| {
                let scene =
                    on_slope(&format!("solver = '{solver}'"), 0.2, &format!("mu = 0.4\n{contact}"));
                after(&scene, 200).q
            });
            let apart = (soft[0] - exact[0]).hypot(soft[2] - exact[2]);
            assert!(apart < 0.15 * last, "{solver} {kn}: {apart}, {last}");
            last = apart;
        }
        assert!(last < 1e-4, "{last}");
    }
}

#[test]
fn problems_are_solved_however_stiff() {
    for solver in PENALTIES {
        for integrator in INTEGRATORS {
            for kn in [1e3, 1e5, 1e7] {
                let settings = format!("solver = '{solver}'\nintegrator = '{integrator}'");
                let scene = toss(&settings, &format!("stiffness = {kn:?}\ndamping = 5"));
                let mut rollout = Rollout::new(scene.system(), scene.state.clone());
                rollout.advance(500, &scene.inputs);
                assert_eq!(rollout.report.unsolved, 0, "{settings} {kn}: {:?}", rollout.report);
                assert!(rollout.state.q[2] < 0.08, "{:?}", rollout.state);
            }
        }
    }
}

/// Bodies in a heap, by chance: boxes, balls and a hinged flap.
fn heap(seed: u64, settings: &str) -> Scene {
    let mut random = Random(seed);
    let mut text = format!(
        "[simulation]
         time_step = 0.005
         {settings}
         [[half_space]]
         name = 'floor'
         normal = [0, 0, 1]
         [[body]]
         name = 'flap'
         mass = 0.4
         shape = {{ box = [0.2, 0.2, 0.02] }}
         position = [-0.2, 0, 0.05]
         joint = {{ type = 'revolute', axis = [0, 1, 0], anchor = [-0.2, 0, 0], limits = [-0.3, 0.3], friction = 0.02, damping = 0.01 }}
         [[contact]]
         mu = 0.5
         stiffness = 2e4
         damping = 10\n"
    );
    for k in 0..6 {
        let mut number = |size: f64| random.uniform(-size, size);
        let shape = if k % 2 == 0 { "box = [0.05, 0.04, 0.03]" } else { "sphere = 0.04" };
        text += &format!(
            "[[body]]\nname = 'body{k}'\nmass = 0.3\nshape = {{ {shape} }}
             position = [{}, {}, {}]\nvelocity = [{}, {}, -0.5]\nangular_velocity = [{}, {}, {}]\n",
            number(0.05),
            number(0.05),
            0.2 + 0.12 * f64::from(k),
            number(0.3),
            number(0.3),
            number(2.0),
            number(2.0),
            number(2.0),
        );
    }
    scene(&text)
}

#[test]
fn heaps_are_solved_and_come_to_rest() {
    for solver in PENALTIES {
        for seed in 0..3 {
            let scene = heap(seed, &format!("solver = '{solver}'"));
            let mut rollout = Rollout::new(scene.system(), scene.state.clone());
            rollout.advance(400, &scene.inputs);
            assert_eq!(rollout.report.unsolved, 0, "{solver} {seed}: {:?}", rollout.report);
        }
    }
}

#[test]
fn derivatives_agree_in_all_ways() {
    for solver in PENALTIES {
        for more in ["", "compliance = 0", "integrator = 'implicit'"] {
            let settings = format!("tolerance = 1e-12\nsolver = '{solver}'\n{more}");
            let tossed = toss(&settings, "stiffness = 3e3\ndamping = 2");
            let mut moved = [0.0_f64; 3];
            for steps in (20..140).step_by(15) {
                let found = step_derivatives_agree(&settings, &tossed, steps);
                for (most, name) in moved.iter_mut().zip(["mu", "stiffness", "damping"]) {
                    let name = format!("floor-box/{name}");
                    let slot = tossed.model.parameter(&name).unwrap().slots[0];
                    *most = most.max(found.c.column(slot).norm());
                }
            }
            assert!(moved.iter().all(|&most| most > 1e-9), "{settings}: {moved:?}");
        }
        let settings = format!("tolerance = 1e-12\nsolver = '{solver}'");
        let tally = compare(solver, &heap(5, &settings), 60, 0.5);
        assert!(tally.structured > 30 && tally.recorded == 0, "{tally:?}");
        // The same numbers in the other words.
        let softness = toss(&settings, "softness = 3e-4\ndamping_time = 1e-3");
        let tally = compare(solver, &softness, 60, 0.5);
        assert!(tally.structured > 30 && tally.recorded == 0, "{tally:?}");
    }
}

/// What does not yield at all, and what nothing pushes back: numbers that a fit may come to.
#[test]
fn softness_and_stiffness_of_nothing_are_no_gaps() {
    let tally = compare("rigid", &toss("tolerance = 1e-12", "softness = 0"), 60, 0.5);
    assert!(tally.structured > 30 && tally.recorded == 0, "{tally:?}");
    assert!(after(&toss("solver = 'hybrid'", "softness = 0"), 300).q[2] > 0.02);
    for solver in ["coupled", "hybrid", "penalty_linear", "penalty_tanh"] {
        let mut scene = toss(&format!("solver = '{solver}'"), "stiffness = 1\ndamping = 0");
        let slot = scene.model.parameter("floor-box/stiffness").unwrap().slots[0];
        scene.parameters.values[slot] = 0.0;
        // It falls through.
        let state = after(&scene, 300);
        assert!(state.q[2] < -1.0 && state.v.iter().all(|v| v.is_finite()), "{solver}: {state:?}");
    }
}

#[test]
fn derivatives_of_implicit_steps_agree() {
    let laws = PENALTIES.map(|solver| format!("solver = '{solver}'"));
    for law in laws.into_iter().chain(["smoothing = 1e-6".to_string()]) {
        for integrator in ["bdf1", "bdf2"] {
            let settings = format!("tolerance = 1e-12\n{law}\nintegrator = '{integrator}'");
            let tossed = toss(&settings, "stiffness = 3e3\ndamping = 2");
            let mut rollout = Rollout::new(tossed.system(), tossed.state.clone());
            let mut moved = 0.0_f64;
            for _ in 0..6 {
                rollout.advance(20, &tossed.inputs);
                assert_eq!(rollout.report.unsolved, 0, "{settings}");
                let at = (&rollout.state, &tossed.inputs[..], &rollout.memory);
                let program = StepProgram::new(tossed.system(), at.0, at.1, at.2, 1);
                let check = Gradcheck::of(&program).unwrap();
                assert!(check.passed() && check.cases() > 0, "{settings}: {check:?}");
                if integrator == "bdf1" {
                    let found = step_derivatives_agree(&settings, &tossed, rollout.report.steps);
                    let slot = tossed.model.parameter("floor-box/stiffness").unwrap().slots[0];
                    moved = moved.max(found.c.column(slot).norm());
                }
            }
            assert!(integrator == "bdf2" || moved > 1e-9, "{settings}");
        }
    }
}

#[test]
fn penalties_are_written_back_and_nonsense_is_refused() {
    let first = toss("solver = 'penalty_tanh'", "stiffness = 3e3\ndamping = 2");
    let second = scene(&Description::of(&first, &first.parameters, "again").to_toml("."));
    assert_eq!(second.settings, first.settings);
    assert_eq!(second.parameters.values, first.parameters.values);
    for (settings, contact, expected) in [
        (
            "solver = 'hybrid'",
            "mu = 0.1",
            "needs a stiffness (N/m) in the [[contact]] or material of \"floor-box\"",
        ),
        ("solver = 'penalty_linear'", "mu = 0.1", "needs a stiffness"),
        ("solver = 'penalty_tanh'", "mu = 0.1\nstiffness = 0", "must be positive"),
        ("solver = 'penalty_tanh'", "mu = 0.1\nsoftness = 0", "must be positive by penalties"),
        ("", "mu = 0.1\ndamping = 1", "without stiffness"),
        ("", "mu = 0.1\nstiffness = 1\nsoftness = 1", "give one of both"),
        (
            "solver = 'penalty_linear'\nsplit_impacts = true",
            "mu = 0.1\nstiffness = 1",
            "split_impacts",
        ),
        (
            "solver = 'penalty_linear'",
            "mu = 0.1\nstiffness = 1\ntorsion_radius = 0.1",
            "which has no torsion_radius: take \"hybrid\"",
        ),
        (
            "solver = 'penalty_linear'\nrestitution_law = 'poisson'",
            "mu = 0.1\nstiffness = 1",
            "only has a meaning with solver = \"coupled\"",
        ),
    ] {
        let text = format!(
            "[simulation]\ntime_step = 0.01\n{settings}\n[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]
             [[body]]\nname = 'box'\nmass = 1\nshape = {{ box = [1, 1, 1] }}\nposition = [0, 0, 1]\n[[contact]]\n{contact}"
        );
        let error = Scene::parse(&text, "scene.toml").expect_err(&text).to_string();
        assert!(error.starts_with("scene.toml:") && error.contains(expected), "{error}");
    }
}

#[test]
fn sides_that_say_it_in_two_words_are_refused() {
    let text = "[simulation]\ntime_step = 0.01\n[[material]]\nname = 'rubber'\nmu = 1\nstiffness = 1e4
         [[material]]\nname = 'foam'\nmu = 1\nsoftness = 1e-4
         [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\nmaterial = 'rubber'
         [[body]]\nname = 'box'\nmass = 1\nshape = { box = [1, 1, 1] }\nposition = [0, 0, 1]\nmaterial = 'foam'";
    let text = text.replace(
        "shape = { box = [1, 1, 1] }\nposition = [0, 0, 1]\nmaterial = 'foam'",
        "position = [0, 0, 1]\n[[body.shape]]\nbox = [1, 1, 1]\nmaterial = 'foam'",
    );
    let error = Scene::parse(&text, "scene.toml").expect_err(&text).to_string();
    assert!(error.contains("give both in the same word"), "{error}");
}

/// Of two surfaces one is enough, where shapes are made of materials.
#[test]
fn a_stiffness_is_asked_for_where_neither_side_has_one() {
    let text = |stiff: &str, other: &str| {
        format!(
            "[simulation]\ntime_step = 0.002\nsolver = 'penalty_linear'
             [[material]]\nname = 'wood'\nmu = 0.3\n[[material]]\nname = 'rubber'\nmu = 0.5\nstiffness = 1e4\ndamping = 20
             [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\nmaterial = '{stiff}'
             [[body]]\nname = 'box'\nmass = 1\ninertia = 0.01\nposition = [0, 0, 0.1]
             [[body.shape]]\nname = 'left'\nbox = [0.04, 0.1, 0.1]\nposition = [-0.06, 0, 0]\nmaterial = 'wood'
             [[body.shape]]\nname = 'right'\nbox = [0.04, 0.1, 0.1]\nposition = [0.06, 0, 0]\nmaterial = 'wood'\n{other}"
        )
    };
    let scene = scene(&text("rubber", ""));
    assert_abs_diff_eq!(after(&scene, 2000).q[2], 0.1 - G / 8e4, epsilon = 1e-6);
    let ball = "[[body]]\nname = 'ball'\nmass = 1\nposition = [1, 0, 1]\n[[body.shape]]\nsphere = 0.1\nmaterial = 'wood'";
    for text in [text("wood", ""), text("rubber", ball)] {
        let error = Scene::parse(&text, "scene.toml").expect_err(&text).to_string();
        assert!(error.contains("needs a stiffness") && error.contains("\"wood\""), "{error}");
    }
}

/// What is exported says by which law.
#[test]
fn exported_jacobians_say_by_which_law_they_are() {
    for (settings, law) in [
        ("", "Rigid contact with Coulomb friction"),
        ("solver = 'penalty_tanh'", "Contact and friction by penalty"),
        ("smoothing = 1e-6\nintegrator = 'bdf1'", "Contact smoothed by the product"),
    ] {
        let scene = toss(settings, "stiffness = 3e3");
        let system = scene.system();
        let mut linearizer = Linearizer::new("toss", system, &scene.inputs, &[], &[]).unwrap();
        let result = linearizer.rollout(&scene.state, 1, |_| ()).unwrap();
        let said = result.meta(&system)["integrator"].to_string();
        assert!(said.contains(law), "{said}");
    }
}
