//! Nodes of soft bodies that rigid bodies carry: against nodes that are led, balances that hold to rounding, differences, and files.

use stiction::markers::MarkerExperiment;
use stiction::soft::{InputSchedule, SoftNumber, SoftRollout, SoftScene};

use super::mixed::rigid_bodies_change_alike;
use super::sensitivities::all_ways_agree_after;
use super::ties::{parse, run};

/// A block along x that is held at its left end.
fn block(own: &str, hold: &str) -> String {
    format!(
        "[[soft]]\nname = 'block'\nshape = {{ box = [0.04, 0.02, 0.02] }}\nresolution = 0.1\ndensity = 500\nyoungs_modulus = 4e4\n\
         poisson_ratio = 0.3\nviscosity = 5\nmarkers = {{ tip = [0.04, 0.02, 0.02] }}\n{own}\n\
         [[hold]]\nname = 'grip'\nbox = [[-1, -1, -1], [-0.039, 1, 1]]\n{hold}\n"
    )
}

fn scene(settings: &str, rigid: &str, soft: &str) -> SoftScene {
    parse(&format!("{settings}\n{rigid}\n{soft}\n[[contact]]\nmu = 0.4\n")).unwrap()
}

const GRAVITY: &str = "gravity = [0.5, 0.2, -9.81]\nsimulation.time_step = 0.002";
const WEIGHTLESS: &str = "gravity = [0, 0, 0]\nsimulation.time_step = 0.002";

fn apart(x: &[[f64; 3]], y: &[[f64; 3]]) -> f64 {
    let both = x.as_flattened().iter().zip(y.as_flattened());
    both.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// What goes along with a body that is led goes as what is led: on one the nodes are unknowns, and tied; on the other they are
/// none. So also where the body stands still.
#[test]
fn carried_by_what_is_led_is_led() {
    let led = "times = [0, 10]\ndisplacement = [[0, 0, 0], [2, -1, 0.5]]";
    let moving = "prescribed = true\nvelocity = [0.2, -0.1, 0.05]";
    let far = "[[body]]\nname = 'far'\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, -9]\n";
    for (own, hold) in [(moving, led), ("prescribed = true", "")] {
        // All of the block is in the hand, which what it carries does not meet. Carried nodes start as it does.
        let body = format!("{far}[[body]]\nname = 'hand'\n{own}\nshape = {{ sphere = 0.12 }}\n");
        let place = "position = [0.05, 0, 0]";
        let carried = scene(GRAVITY, &body, &block(place, "to = 'hand'"));
        let other = scene(GRAVITY, far, &block(place, hold));
        assert_eq!(carried.warnings.len(), 0, "{:?}", carried.warnings);
        let (a, b) = (run(&carried, 150), run(&other, 150));
        let [a, b] = [&a, &b].map(|own| &own.states()[0]);
        assert!(apart(&a.position, &b.position) < 1e-12, "{own}");
        assert!(apart(&a.velocity, &b.velocity) < 1e-10, "{own}");
        let scale = b.holds[0].iter().fold(0.0, |most: f64, f| most.max(f.abs()));
        assert!(apart(&a.holds, &b.holds) < 1e-8 * scale, "{own} {:?} {:?}", a.holds, b.holds);
    }
}

/// Where carried nodes are, from the pose of the body that carries them, is where they started in it, but for the step along the arc.
#[test]
fn carried_nodes_stay_in_their_places() {
    let rigid = "[[body]]\nname = 'hand'\nmass = 1\nshape = { box = [0.05, 0.03, 0.02] }\nvelocity = [0.3, 0, 0.1]\n\
                 angular_velocity = [2, 9, -4]\nposition = [0.1, 0, 0]\norientation = [0.6, 0, 0.8, 0]";
    let far_off = |time_step: f64| {
        let settings = format!("gravity = [0, 0, 0]\nsimulation.time_step = {time_step}");
        let scene = scene(&settings, rigid, &block("position = [0.2, 0, 0.05]", "to = 'hand'"));
        let hold = &scene.bodies[0].holds[0];
        let mut rollout = SoftRollout::new(&scene);
        let local = |rollout: &SoftRollout| -> Vec<[f64; 3]> {
            let q = &rollout.rigid_state().unwrap().q;
            let turn = nalgebra::UnitQuaternion::from_quaternion(nalgebra::Quaternion::new(
                q[3], q[4], q[5], q[6],
            ));
            let x = &rollout.states()[0].position;
            let seen = |&node: &usize| {
                let arm =
                    nalgebra::Vector3::from(x[node]) - nalgebra::Vector3::new(q[0], q[1], q[2]);
                turn.inverse_transform_vector(&arm).into()
            };
            hold.nodes.iter().map(seen).collect()
        };
        let start = local(&rollout);
        let mut most: [f64; 2] = [0.0; 2];
        let steps = (0.4 / time_step) as usize;
        for step in 0..steps {
            assert_eq!(rollout.step().unsolved, 0);
            let off = apart(&local(&rollout), &start);
            let late = usize::from(2 * step > steps);
            most[late] = most[late].max(off);
        }
        // It does not grow.
        assert!(most[1] < 1.2 * most[0], "{most:?}");
        most[0].max(most[1])
    };
    let [coarse, fine] = [0.002, 0.001].map(far_off);
    // Half of (time step times 10 rad/s)² times the arm.
    assert!(coarse < 0.5 * 0.02_f64.powi(2) * 0.2, "{coarse}");
    assert!((coarse / fine).log2() > 1.9, "{coarse} {fine}");
}

/// Momentum of the soft body and of one free rigid body together (N s).
fn momentum(scene: &SoftScene, rollout: &SoftRollout) -> [f64; 3] {
    let rigid = scene.rigid.as_deref().unwrap();
    let mass = rigid.parameters.mass(&rigid.model, 0);
    let mean = scene.bodies[0].mean(&rollout.states()[0].velocity);
    [0, 1, 2].map(|k| scene.bodies[0].mass() * mean[k] + mass * rollout.rigid_state().unwrap().v[k])
}

/// In flight momentum is kept, and energy does not grow.
#[test]
fn nothing_comes_of_nothing() {
    let rigid = "[[body]]\nname = 'hand'\nmass = 0.1\nshape = { box = [0.05, 0.03, 0.02] }\nvelocity = [0.3, 0, 0.1]\n\
                 angular_velocity = [1, 5, -3]";
    let scene = scene(WEIGHTLESS, rigid, &block("position = [0.09, 0, 0.01]", "to = 'hand'"));
    let mut rollout = SoftRollout::new(&scene);
    let mut last = rollout.energies().iter().sum::<f64>();
    let start = momentum(&scene, &rollout);
    for step in 0..300 {
        let report = rollout.step();
        assert_eq!(report.unsolved, 0, "{step}: {report:?}");
        let now = momentum(&scene, &rollout);
        assert!(apart(&[now], &[start]) < 1e-13, "{step}: {now:?} {start:?}");
        let energy = rollout.energies().iter().sum::<f64>();
        assert!(energy < last, "{step}: {energy} {last}");
        last = energy;
    }
    let spin = &rollout.rigid_state().unwrap().v[3..];
    assert!(spin.iter().any(|w| w.abs() > 1.0), "{spin:?}");
}

/// An arm that a motor holds out carries a block at its end: at rest the grip holds the weight of the block, and the motor that of both.
#[test]
fn an_arm_holds_what_it_carries() {
    let rigid = "[[body]]\nname = 'arm'\nmass = 0.2\ninertia = 1e-3\ncenter_of_mass = [0.1, 0, 0]\n\
                 joint = { type = 'revolute', axis = [0, 1, 0], damping = 0.05 }\n\
                 [[actuator]]\nname = 'motor'\njoint = 'arm'\ntype = 'position'\nkp = 5\nkd = 0.2\ncontrol = 0.1";
    let settings = "gravity = [0, 0, -9.81]\nsimulation.time_step = 0.01";
    let scene = scene(
        settings,
        rigid,
        &block("position = [0.24, 0, 0]\nviscosity = 100", "to = 'arm'")
            .replace("viscosity = 5\n", ""),
    );
    let rollout = run(&scene, 600);
    let state = &rollout.states()[0];
    let (body, pull) = (&scene.bodies[0], 9.81);
    let weight = pull * body.mass();
    let [x, y, z] = state.holds[0];
    assert!(
        x.abs().max(y.abs()) < 1e-6 * weight && (z - weight).abs() < 1e-6 * weight,
        "{x} {y} {z} {weight}"
    );
    let q = rollout.rigid_state().unwrap().q[0];
    let moment = pull * 0.2 * 0.1 * q.cos() + weight * body.mean(&state.position)[0];
    // About y what hangs at x turns down.
    assert!((5.0 * (q - 0.1) - moment).abs() < 1e-6 * moment, "{q} {moment}");
}

/// With implicit steps of the rigid bodies, too, a motor may be as stiff as it likes: it holds where moments over kp leave it.
#[test]
fn a_stiff_motor_holds_what_it_carries() {
    let rigid = "[[body]]\nname = 'arm'\nmass = 0.2\ninertia = 1e-3\ncenter_of_mass = [0.1, 0, 0]\n\
                 joint = { type = 'revolute', axis = [0, 1, 0] }\n\
                 [[actuator]]\nname = 'motor'\njoint = 'arm'\ntype = 'position'\nkp = 1e6\nkd = 10\ncontrol = 0.1";
    let settings =
        "gravity = [0, 0, -9.81]\nsimulation = { time_step = 0.01, integrator = 'bdf1' }";
    let soft = block("position = [0.24, 0, 0]\nviscosity = 100", "to = 'arm'");
    let scene = scene(settings, rigid, &soft.replace("viscosity = 5\n", ""));
    let rollout = run(&scene, 300);
    let (body, state) = (&scene.bodies[0], &rollout.states()[0]);
    let q = rollout.rigid_state().unwrap().q[0];
    let moment = 9.81 * (0.2 * 0.1 * q.cos() + body.mass() * body.mean(&state.position)[0]);
    assert!((1e6 * (q - 0.1) - moment).abs() < 1e-4 * moment, "{q} {moment}");
}

/// An arm swings a block that it carries into a box on the floor.
fn swung(law: &str) -> SoftScene {
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
                 [[body]]\nname = 'arm'\nmass = 0.1\nposition = [0, 0.004, 0.14]\nshape = { box = [0.01, 0.01, 0.04] }\n\
                 joint = { type = 'revolute', axis = [0.1, 1, 0], anchor = [0, 0, 0.06], damping = 0.001, friction = 0.001 }\n\
                 [[actuator]]\nname = 'motor'\njoint = 'arm'\ntype = 'motor'\ncontrol = 0.15\n\
                 [[body]]\nname = 'box'\nmass = 0.05\nshape = { box = [0.02, 0.03, 0.02] }\nposition = [-0.06, 0, 0.0201]";
    let settings = format!(
        "gravity = [0, 0, -9.81]\nsimulation = {{ time_step = 0.002, tolerance = 1e-12, solver = '{law}' }}"
    );
    let soft = block(
        "orientation = [0.7071067811865476, 0, 0.7071067811865476, 0]\nposition = [0, 0.004, 0.07]",
        "to = 'arm'",
    );
    let contact = if law == "hybrid" { "stiffness = 300" } else { "" };
    parse(&format!("{settings}\n{rigid}\n{soft}\n[[contact]]\nmu = 0.4\n{contact}\n")).unwrap()
}

#[test]
fn what_carries_changes_as_differences_say_forward_and_backward() {
    const STEPS: usize = 50;
    for law in ["coupled", "hybrid", "coupled', integrator = 'bdf1"] {
        let scene = swung(law);
        let rollout = run(&scene, STEPS);
        let v = &rollout.rigid_state().unwrap().v;
        assert!(v[0].abs() > 0.5 && v[1].abs() > 0.05, "{law}: it meets the box {v:?}");
        let known = |name: &str| scene.parameters().iter().any(|(own, _)| own == name);
        assert!(known("arm/center_of_mass/x") && !known("arm/position/x"), "{law}");
        all_ways_agree_after(&scene, (STEPS, 1e-6), (2e-14, 1e-10));
        rigid_bodies_change_alike(&scene, STEPS);
    }
}

#[test]
fn a_body_that_falls_on_what_it_carries_changes_as_differences_say() {
    const STEPS: usize = 60;
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
                 [[body]]\nname = 'head'\nmass = 0.05\nshape = { box = [0.02, 0.02, 0.02] }\nposition = [0, 0, 0.13]\n\
                 velocity = [0.3, 0.1, -0.6]\nangular_velocity = [0.5, 2, -1]";
    let soft = block(
        "orientation = [0.7071067811865476, 0, 0.7071067811865476, 0]\nposition = [0.01, 0, 0.0601]\nvelocity = [0.3, 0.1, -0.5]",
        "to = 'head'",
    );
    let settings = "gravity = [0, 0, -9.81]\nsimulation = { time_step = 0.002, tolerance = 1e-12 }";
    let scene = scene(settings, rigid, &soft);
    let rollout = run(&scene, STEPS);
    assert!(rollout.rigid_state().unwrap().v[2] > -0.5, "{:?}", rollout.rigid_state());
    all_ways_agree_after(&scene, (STEPS, 1e-6), (2e-14, 1e-10));
    rigid_bodies_change_alike(&scene, STEPS);
    // Beside a hold that turns.
    let both = "[[hold]]\nname = 'rest'\nbox = [[0.039, -1, -1], [1, 1, 1]]\n";
    let other = scene_of_two(both);
    all_ways_agree_after(&other, (30, 1e-6), (2e-14, 1e-10));
    rigid_bodies_change_alike(&other, 30);
    let named = scene.parameters();
    let known = |name: &str| named.iter().any(|(own, _)| own == name);
    assert!(known("floor-block/mu") && known("block/velocity_x"));
    // What carries it is not met by it, and says where it starts.
    assert!(!known("head-block/mu") && !known("block/position_x"));
}

/// A block between a free body and a hold that turns.
fn scene_of_two(hold: &str) -> SoftScene {
    let rigid = "[[body]]\nname = 'head'\nmass = 0.05\nshape = { box = [0.02, 0.02, 0.02] }\nposition = [-0.06, 0, 0]\n\
                 velocity = [0.1, 0.2, 0]\nangular_velocity = [0.5, 2, -1]";
    let turns = "times = [0, 1]\nrotation = [[0, 0, 0], [0.5, 1, 0.2]]\ndisplacement = [[0, 0, 0], [0, 0.1, 0]]\n";
    let settings = "gravity = [0, 0, -9.81]\nsimulation = { time_step = 0.002, tolerance = 1e-12 }";
    scene(settings, rigid, &block("", &format!("to = 'head'\n{hold}{turns}")))
}

#[test]
fn what_carries_is_a_body_and_tells_where() {
    let rigid = "[[body]]\nname = 'hand'\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, -1]\n\
                 [[body]]\nname = 'base'\nmass = 1\njoint = { type = 'fixed' }\n";
    let tables = |hold: &str| {
        parse(&format!(
            "simulation.time_step = 0.01\n{rigid}{}\n[[contact]]\nmu = 0\n",
            block("", hold)
        ))
        .unwrap_err()
    };
    for (hold, expected) in [
        ("to = 'foot'", "hold.grip.to: the scene has no [[body]] \"foot\"; it has hand, base"),
        ("to = 'base'", "to: base does not move: leave `to` out"),
        (
            "to = 'hand'\ntimes = [0, 1]\ndisplacement = [[0, 0, 0], [0, 0, 1]]",
            "times: has no meaning beside `to`",
        ),
    ] {
        let error = tables(hold);
        assert!(error.contains(expected), "{error}");
    }
    let pair = format!(
        "simulation.time_step = 0.01\n{rigid}{}\n[[contact]]\npair = 'hand-block'\nmu = 1\n",
        block("", "to = 'hand'")
    );
    let error = parse(&pair).unwrap_err();
    assert!(error.contains("what carries it, which do not touch"), "{error}");
    // There is nothing else to say of a contact.
    let silent = format!("simulation.time_step = 0.01\n{rigid}{}", block("", "to = 'hand'"));
    assert!(parse(&silent).is_ok());
    let alone = format!("simulation.time_step = 0.01\n{}", block("", "to = 'hand'"));
    let error = parse(&alone).unwrap_err();
    assert!(error.contains("no [[body]] \"hand\"; it has none"), "{error}");
    // Markers are looked for from starts that are found; where it is carried from is where that body is.
    let folder = crate::folder::Folder::new("carried");
    let marked =
        "markers = { a = [0.04, 0.02, 0.02], b = [0.04, -0.02, 0.02], c = [0.04, 0, -0.02] }";
    let soft = block("", "to = 'hand'").replace("markers = { tip = [0.04, 0.02, 0.02] }", marked);
    let text = format!("simulation.time_step = 0.01\n{rigid}{soft}\n[[contact]]\nmu = 0\n");
    folder.write("scene.toml", &text);
    folder
        .write("fit.toml", "scene = 'scene.toml'\n[[parameter]]\nname = 'block/youngs_modulus'\n");
    let error = MarkerExperiment::load(folder.path("fit.toml"), &[]).unwrap_err().to_string();
    assert!(error.contains("scene: must have a soft body whose start is its own"), "{error}");
}

/// Feet that are pressed so hard that they would topple, but for what they are tied to and stand on: their matrix alone is not positive
/// definite.
#[test]
fn pressed_feet_change_as_differences_say() {
    const STEPS: usize = 25;
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
                 [[body]]\nname = 'leg'\nmass = 3\nshape = { box = [0.03, 0.03, 0.05] }\nposition = [0, 0.001, 0.0745]\n\
                 velocity = [0.1, 0.05, -0.2]\nangular_velocity = [0.2, 0.3, 0]";
    let settings = "gravity = [0, 0, -9.81]\nsimulation = { time_step = 0.004, tolerance = 1e-12 }";
    for viscosity in ["", "viscosity = 20\n"] {
        let soft = format!(
            "[[soft]]\nname = 'foot'\nshape = {{ box = [0.02, 0.015, 0.012] }}\nresolution = 0.1\ndensity = 200\n\
             youngs_modulus = 3e5\npoisson_ratio = 0.3\nposition = [0, 0, 0.0125]\n{viscosity}\
             [[hold]]\nname = 'glue'\nto = 'leg'\nbox = [[-1, -1, 0.0119], [1, 1, 1]]\n"
        );
        let scene = scene(settings, rigid, &soft);
        run(&scene, STEPS);
        all_ways_agree_after(&scene, (STEPS, 1e-6), (2e-14, 1e-10));
        rigid_bodies_change_alike(&scene, STEPS);
    }
}

/// What is carried starts as its hand is led, whose velocities are inputs; also where these change over time.
#[test]
fn what_a_led_hand_carries_changes_with_how_that_is_led() {
    let rigid = "[[body]]\nname = 'hand'\nprescribed = true\nvelocity = [0.2, -0.1, 0.05]\nangular_velocity = [0, 1, 0.5]\n\
                 position = [-0.04, 0, 0]\n\
                 [[body]]\nname = 'stone'\nmass = 0.02\nshape = { sphere = 0.02 }\nposition = [0.065, 0, -0.005]";
    let settings = "gravity = [0, 0, -9.81]\nsimulation = { time_step = 0.002, tolerance = 1e-12 }";
    let mut scene = scene(settings, rigid, &block("", "to = 'hand'"));
    let start = |scene: &SoftScene| SoftRollout::new(scene).states()[0].velocity.clone();
    let node = scene.bodies[0].holds[0].nodes[0];
    let moves = start(&scene)[node];
    assert!((moves[0] - 0.2).abs() > 1e-3 && moves[0] != 0.0, "v + w x r: {moves:?}");
    all_ways_agree_after(&scene, (20, 1e-6), (2e-14, 1e-10));
    let hand = scene.parameter("hand/set_vx").unwrap();
    scene.set(hand, 0.5);
    assert!((start(&scene)[node][0] - moves[0] - 0.3).abs() < 1e-14);
    let SoftNumber::RigidInput(input) = hand.number else { panic!("{hand:?}") };
    scene.schedules.push(InputSchedule::over((20, 0.002), input, vec![0.3, -0.2]));
    assert!((start(&scene)[node][0] - moves[0] - 0.1).abs() < 1e-14);
    assert!(scene.parameter("hand/set_vx").is_none() && scene.parameter("hand/set_vx_1").is_some());
    all_ways_agree_after(&scene, (20, 1e-6), (2e-14, 1e-10));
    rigid_bodies_change_alike(&scene, 20);
}
