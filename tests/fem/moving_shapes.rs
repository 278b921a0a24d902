//! Soft bodies and shapes that go as they are told.

use stiction::argmin::{Mode, Status};
use stiction::soft::{SoftRollout, SoftTangents};
use stiction::verify::{Gradcheck, SoftStepProgram};

use super::sensitivities::all_ways_agree;
use super::ties::{bar, parse, run};

const BALL: &str = "[[soft]]\nname = 'ball'\nshape = { sphere = 0.03 }\nresolution = 0.03\ndensity = 500\n\
                    youngs_modulus = 3e4\npoisson_ratio = 0.3\nviscosity = 5\n";

fn shape(name: &str, kind: &str, position: [f64; 3], velocity: [f64; 3]) -> String {
    let moved = velocity.map(|v| 2.0 * v);
    format!(
        "[[shape]]\nname = '{name}'\n{kind}\nposition = {position:?}\ntimes = [0, 2]\ndisplacement = [[0, 0, 0], {moved:?}]\n"
    )
}

/// What happens is the same where all moves along.
#[test]
fn motion_is_relative() {
    for law in ["coupled", "hybrid", "penalty_linear", "penalty_tanh"] {
        for integrator in ["bdf1", "bdf2", "bdf2'\nfirst_step = 'moved_before"] {
            let run = |drift: [f64; 3]| {
                let stiffness = if law == "coupled" { "" } else { "stiffness = 500\n" };
                let v: Vec<f64> = (0..3).map(|k| [0.4, 0.1, -1.0][k] + drift[k]).collect();
                let text = format!(
                    "[simulation]\ntime_step = 0.004\nintegrator = '{integrator}'\nsolver = '{law}'\n{BALL}\
                     position = [0, 0, 0.035]\nvelocity = {v:?}\n[[contact]]\nmu = 0.3\n{stiffness}{}{}",
                    shape("table", "box = [0.5, 0.5, 0.05]", [0.0, 0.0, -0.05], drift),
                    shape("post", "sphere = 0.05", [0.12, 0.02, 0.03], drift),
                );
                let scene = parse(&text).unwrap();
                let mut rollout = SoftRollout::new(&scene);
                let mut slid = 0;
                for _ in 0..60 {
                    let report = rollout.step();
                    assert_eq!(report.unsolved, 0, "{law} {report:?}");
                    slid += report.sliding + report.sticking;
                }
                assert!(slid > 10, "{law}: {slid}");
                rollout.states()[0].clone()
            };
            let drift = [0.3, -0.2, 0.1];
            let (still, moving) = (run([0.0; 3]), run(drift));
            for (a, b) in still.position.iter().zip(&moving.position) {
                let off = |k: usize| (a[k] + 0.24 * drift[k] - b[k]).abs();
                assert!((0..3).all(|k| off(k) < 1e-8), "{law} {integrator}: {a:?} {b:?}");
            }
        }
    }
}

/// A belt takes along what lies on it: with mu g, until it goes as fast.
#[test]
fn a_belt_takes_a_box_along() {
    let text = format!(
        "[[contact]]\nmu = 0.2\n{}",
        shape("belt", "box = [2, 0.5, 0.05]", [0.0, 0.0, -0.05], [0.5, 0.0, 0.0])
    );
    let scene = bar("time_step = 0.005", "position = [0, 0, 0.02]\nviscosity = 100", &text);
    let rollout = run(&scene, 30);
    let v = scene.bodies[0].mean(&rollout.states()[0].velocity)[0];
    assert!((v / (0.2 * 9.81 * 0.15) - 1.0).abs() < 1e-2, "{v}");
    let rollout = run(&scene, 300);
    let v = scene.bodies[0].mean(&rollout.states()[0].velocity);
    assert!((v[0] - 0.5).abs() < 1e-9 && v[2].abs() < 1e-9, "{v:?}");
}

/// Two jaws close on a ball and lift it; without friction it is left.
#[test]
fn a_gripper_lifts_a_ball_by_friction() {
    let jaw = |name: &str, side: f64| {
        let closed = -0.004 * side;
        format!(
            "[[shape]]\nname = '{name}'\nbox = [0.01, 0.03, 0.03]\nposition = [{}, 0, 0.03]\ntimes = [0, 0.1, 0.2, 0.6]\n\
             displacement = [[0, 0, 0], [{closed}, 0, 0], [{closed}, 0, 0], [{closed}, 0, 0.1]]\n",
            0.0405 * side
        )
    };
    for (mu, lifts) in [(0.6, true), (0.0, false)] {
        let text = format!(
            "[simulation]\ntime_step = 0.005\n{BALL}position = [0, 0, 0.03]\n[[contact]]\nmu = {mu}\n\
             [[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n{}{}",
            jaw("left", -1.0),
            jaw("right", 1.0)
        );
        let scene = parse(&text).unwrap();
        let mut rollout = SoftRollout::new(&scene);
        for step in 0..140 {
            let report = rollout.step();
            assert_eq!(report.worst.status, Status::Solved, "{mu} {step} {report:?}");
        }
        let height = scene.bodies[0].mean(&rollout.states()[0].position)[2];
        assert_eq!(height > 0.12, lifts, "mu = {mu}: {height}");
        if lifts {
            assert!((height - 0.13).abs() < 3e-3, "{height}");
        }
    }
}

/// A plate pushes a box along a floor: vertices of its lower edge touch both, which move differently.
#[test]
fn a_vertex_touches_two_that_move_differently() {
    let text = format!(
        "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[contact]]\nmu = 0.3\n{}",
        shape("plate", "box = [0.02, 0.1, 0.1]", [-0.1201, 0.0, 0.05], [0.2, 0.05, 0.0])
    );
    let scene = bar("time_step = 0.005", "position = [0, 0, 0.02]\nviscosity = 100", &text);
    let rollout = run(&scene, 200);
    let state = &rollout.states()[0];
    let v = scene.bodies[0].mean(&state.velocity);
    assert!((v[0] - 0.2).abs() < 1e-3, "{v:?}");
    let (_, _, step) = rollout.next_step(0);
    let (all, modes) = (scene.bodies[0].touching.len(), &step.modes);
    let touches = |pair: &[Mode]| pair.iter().all(|mode| *mode != Mode::Break);
    assert!(modes.chunks(all).any(touches), "{modes:?}");
    // The way of the surfaces there is no one velocity: that has no derivative, which is said where it begins. Straight ahead the
    // plate goes along no surface, and there is one.
    let text = text.replace("0.4, 0.1, 0.0]", "0.4, 0.0, 0.0]");
    let ahead = bar("time_step = 0.005", "position = [0, 0, 0.02]\nviscosity = 100", &text);
    for (scene, differs) in [(&scene, true), (&ahead, false)] {
        let viscosity = scene.parameter("bar/viscosity").unwrap();
        let mut tangents = SoftTangents::new(scene, &[viscosity]);
        for step in 0..60 {
            let found = tangents.step();
            let (_, _, solved) = tangents.rollout.next_step(0);
            let both = solved.modes.chunks(all).any(touches);
            assert_eq!(found.is_err(), differs && both, "step {step}: {found:?}");
            if found.is_err() {
                break;
            }
        }
    }
}

#[test]
fn motions_on_shapes_that_move_change_as_differences_say() {
    for (law, more) in [
        ("coupled", ""),
        ("hybrid", "stiffness = 900\n"),
        ("penalty_tanh", "stiffness = 900\ndamping = 1\n"),
    ] {
        let text = format!(
            "[simulation]\ntime_step = 0.004\nintegrator = 'bdf2'\nsolver = '{law}'\n{BALL}\
             position = [0, 0, 0.06]\nvelocity = [0.4, 0.1, -0.5]\n[[contact]]\nmu = 0.3\n{more}{}{}",
            shape("table", "box = [0.5, 0.5, 0.05]", [0.0, 0.0, -0.06], [0.3, -0.2, 0.1]),
            shape("post", "sphere = 0.05", [0.13, 0.02, 0.06], [-0.2, 0.05, 0.0]),
        );
        let scene = parse(&text).unwrap();
        all_ways_agree(&scene, 1e-15);
        let mut rollout = SoftRollout::new(&scene);
        let (mut all, mut touched) = (Gradcheck::default(), [0; 2]);
        for step in 0..70 {
            if step % 12 == 0 {
                let program = SoftStepProgram::new(&rollout, 0);
                all.merge(&program.check_while_wanted(&mut || true).unwrap());
            }
            rollout.step();
            // Each vertex has a contact with the table and one with the post.
            let (_, _, solved) = rollout.next_step(0);
            for (k, mode) in solved.modes.iter().enumerate() {
                touched[k % 2] += usize::from(*mode != Mode::Break);
            }
        }
        assert!(all.passed(), "{law}: {:?}", all.max());
        assert!(touched.iter().all(|count| *count > 5), "{law}: {touched:?}");
    }
}

/// A plate that comes fast meets a ball at rest where nothing pulls it, and never is inside it.
#[test]
fn what_comes_fast_is_met_in_time() {
    let text = format!(
        "gravity = [0, 0, 0]\n[simulation]\ntime_step = 0.004\n{BALL}[[contact]]\nmu = 0.3\n{}",
        shape("plate", "box = [0.1, 0.1, 0.01]", [0.0, 0.0, -0.041], [0.0, 0.0, 1.0])
    );
    let scene = parse(&text).unwrap();
    let mut rollout = SoftRollout::new(&scene);
    for step in 1..=40 {
        assert_eq!(rollout.step().worst.status, Status::Solved);
        let lowest = rollout.states()[0].position.iter().map(|x| x[2]).fold(1.0, f64::min);
        let plate = -0.031 + 0.004 * f64::from(step);
        assert!(lowest > plate - 1e-9, "{step}: {lowest} {plate}");
    }
    assert!(scene.bodies[0].mean(&rollout.states()[0].velocity)[2] > 0.9);
}

/// What sticks to a belt goes its way also where that changes its speed, by both formulas.
#[test]
fn what_sticks_goes_the_way_of_the_belt() {
    for integrator in ["bdf1", "bdf2"] {
        let settings = format!("time_step = 0.005\nintegrator = '{integrator}'");
        let belt = "[[contact]]\nmu = 2\n[[shape]]\nname = 'belt'\nbox = [2, 0.5, 0.05]\nposition = [0, 0, -0.05]\n\
                    times = [0.2, 0.4, 0.7]\ndisplacement = [[0, 0, 0], [0.001, 0, 0], [0.004, 0.0005, 0]]\n";
        let scene = bar(&settings, "position = [0, 0, 0.02]\nviscosity = 2000", belt);
        let mut rollout = SoftRollout::new(&scene);
        let mut start = Vec::new();
        for step in 0..200 {
            if step == 30 {
                start.clone_from(&rollout.states()[0].position);
            }
            assert_eq!(rollout.step().unsolved, 0);
            let (_, _, solved) = rollout.next_step(0);
            assert!(step < 30 || solved.modes.iter().all(|mode| *mode != Mode::Slide), "{step}");
        }
        let state = &rollout.states()[0];
        let touching = (0..start.len()).filter(|&node| start[node][2] < 1e-6);
        let mut count = 0;
        for node in touching {
            let way = [0, 1].map(|k| state.position[node][k] - start[node][k]);
            assert!((way[0] - 0.004).abs() < 1e-9 && (way[1] - 0.0005).abs() < 1e-9, "{way:?}");
            count += 1;
        }
        assert!(count > 3, "{count}");
    }
}
