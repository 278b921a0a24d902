//! Soft bodies that touch rigid ones: against shapes that are told where they go, balances that hold to rounding, and files.

use stiction::soft::{
    InputSchedule, SoftNumber, SoftParameter, SoftRollout, SoftScene, SoftTangents,
};

use super::numbers::error;
use super::sensitivities::{all_ways_agree_after, any_agrees, difference};
use super::ties::{parse, run};
use crate::differences::central;
use crate::random::Random;

/// A ball above the origin, with a line of its own.
pub(super) fn ball(own: &str) -> String {
    format!(
        "[[soft]]\nname = 'ball'\nshape = {{ sphere = 0.03 }}\nresolution = 0.02\ndensity = 300\nyoungs_modulus = 2e4\n\
         poisson_ratio = 0.3\nmarkers = {{ top = [0, 0, 0.03] }}\n{own}\n"
    )
}

fn scene(settings: &str, rigid: &str, soft: &str) -> SoftScene {
    parse(&format!("{settings}\n{rigid}\n{soft}\n[[contact]]\nmu = 0.4\n")).unwrap()
}

const GRAVITY: &str = "gravity = [0.5, 0.2, -9.81]\nsimulation.time_step = 0.002";

/// The largest distance of two lists of places (m).
pub(super) fn apart(x: &[[f64; 3]], y: &[[f64; 3]]) -> f64 {
    let both = x.as_flattened().iter().zip(y.as_flattened());
    both.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

/// A plate that is led: as a body, and as a shape.
pub(super) const LED_PLATES: [&str; 2] = [
    "[[body]]\nname = 'plate'\nprescribed = true\nvelocity = [0.2, -0.1, 0.05]\n\
     shape = { box = [0.1, 0.1, 0.01] }\nposition = [0, 0, 0.01]",
    "[[shape]]\nname = 'plate'\nbox = [0.1, 0.1, 0.01]\nposition = [0, 0, 0.01]\n\
     times = [0, 10]\ndisplacement = [[0, 0, 0], [2, -1, 0.5]]",
];

/// A body whose motion is given moves as a shape that is told where it is: on one the velocity of what it does to others goes by the
/// rows of a tree, on the other by what the plane of a contact does.
#[test]
fn a_body_that_is_led_is_a_shape_that_is_led() {
    let soft = ball("position = [0, 0, 0.052]\nvelocity = [0.1, 0, 0]\nviscosity = 0.5");
    let [body, shape] = LED_PLATES.map(|own| scene(GRAVITY, own, &soft));
    let (body, shape) = (run(&body, 150), run(&shape, 150));
    let [a, b] = [&body, &shape].map(|own| &own.states()[0]);
    assert!(a.impulse.iter().any(|p| *p != [0.0; 3]), "it lies on it");
    assert!(apart(&a.position, &b.position) < 1e-10, "{:e}", apart(&a.position, &b.position));
    assert!(apart(&a.velocity, &b.velocity) < 1e-8, "{:e}", apart(&a.velocity, &b.velocity));
}

/// Momentum of soft and rigid bodies together (N s).
pub(super) fn momentum(scene: &SoftScene, rollout: &SoftRollout) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for (body, state) in scene.bodies.iter().zip(rollout.states()) {
        let mean = body.mean(&state.velocity);
        (0..3).for_each(|k| sum[k] += body.mass() * mean[k]);
    }
    let rigid = scene.rigid.as_deref().unwrap();
    let state = rollout.rigid_state().unwrap();
    for (index, body) in rigid.model.bodies.iter().enumerate() {
        let mass = rigid.parameters.mass(&rigid.model, index);
        (0..3).for_each(|k| sum[k] += mass * state.v[body.joint.v + k]);
    }
    sum
}

/// What a ball loses two boxes gain, one of which is pushed by the other.
#[test]
fn momentum_is_kept() {
    let boxes = "[[body]]\nname = 'near'\nmass = 0.05\nshape = { box = [0.02, 0.05, 0.05] }\nposition = [0.06, 0.01, 0.005]\n\
                 [[body]]\nname = 'far'\nmass = 0.02\nshape = { sphere = 0.02 }\nposition = [0.101, -0.01, 0.01]";
    let soft = ball("velocity = [1, 0.1, 0]\nangular_velocity = [0, 0, 4]");
    for (integrator, accuracy) in [("semi_implicit", 1e-14), ("bdf1", 1e-13)] {
        let settings = format!("time_step = 0.001, integrator = '{integrator}'");
        let settings = format!("gravity = [0, 0, 0]\nsimulation = {{ {settings} }}");
        let scene = scene(&settings, boxes, &soft);
        let mut rollout = SoftRollout::new(&scene);
        let start = momentum(&scene, &rollout);
        for _ in 0..120 {
            let report = rollout.step();
            assert_eq!((report.unsolved, report.rigid.unsolved), (0, 0), "{report:?}");
            let now = momentum(&scene, &rollout);
            assert!(apart(&[now], &[start]) < accuracy, "{now:?} {start:?}");
        }
        let v = &rollout.rigid_state().unwrap().v;
        assert!(v[0] > 0.1 && v[6] > 0.1, "both are pushed: {v:?}");
        assert!(scene.bodies[0].mean(&rollout.states()[0].velocity)[0] < 0.7);
    }
}

/// A stack of soft and rigid ones in turn comes to rest, and what it presses is its weight.
#[test]
fn a_stack_presses_with_its_weight() {
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\nname = 'plate'\nmass = 0.3\n\
                 shape = { box = [0.06, 0.06, 0.01] }\nposition = [0, 0, 0.05]\n[[body]]\nname = 'stone'\nmass = 0.1\n\
                 shape = { box = [0.01, 0.02, 0.01] }\nposition = [0.02, 0.01, 0.07]";
    let soft = "[[soft]]\nname = 'block'\nshape = { box = [0.05, 0.05, 0.02] }\nresolution = 0.03\ndensity = 400\n\
                youngs_modulus = 5e4\npoisson_ratio = 0.2\nviscosity = 20\nposition = [0, 0, 0.02]";
    let text = "gravity = [0, 0, -9.81]\nsimulation.time_step = 0.005";
    let scene = scene(
        text,
        rigid,
        &format!("{soft}\n{}", ball("position = [-0.02, 0, 0.09]\nviscosity = 5")),
    );
    let mut rollout = SoftRollout::new(&scene);
    let weight = 9.81 * (scene.bodies[0].mass() + scene.bodies[1].mass() + 0.4);
    let mut pressed = 0.0;
    for step in 0..150 {
        let before = momentum(&scene, &rollout)[2];
        let report = rollout.step();
        assert_eq!((report.unsolved, report.rigid.unsolved), (0, 0), "{step}: {report:?}");
        // The floor alone is not of the system: what it does is what momentum lacks. Other impulses on the block come from above.
        let block = rollout.states()[0].impulse.iter();
        let floor: f64 = block.map(|p| p[2].max(0.0)).sum();
        let expected = momentum(&scene, &rollout)[2] - before + 0.005 * weight;
        assert!((floor - expected).abs() < 1e-12 * (1.0 + floor), "{step}: {floor} {expected}");
        pressed = floor / 0.005;
    }
    assert!((pressed / weight - 1.0).abs() < 0.01, "{pressed} {weight}");
    assert!(rollout.rigid_state().unwrap().v.iter().all(|v| v.abs() < 0.01));
}

/// A box on a soft slab that is held sticks where friction is enough, and slides with what it leaves of gravity where it is not.
#[test]
fn friction_holds_up_to_its_limit() {
    for (slope, slides) in [(0.38, false), (0.45, true)] {
        let settings =
            format!("gravity = [{}, 0, -9.81]\nsimulation.time_step = 0.002", 9.81 * slope);
        let rigid = "[[body]]\nname = 'stone'\nmass = 0.05\nshape = { box = [0.12, 0.12, 0.01] }\nposition = [0, 0, 0.02]";
        let soft = "[[soft]]\nname = 'slab'\nshape = { box = [0.08, 0.04, 0.01] }\nresolution = 0.02\ndensity = 800\n\
                    youngs_modulus = 2e6\npoisson_ratio = 0.2\nviscosity = 200\n\
                    [[hold]]\nname = 'clamp'\nbox = [[-1, -1, -0.011], [1, 1, -0.009]]";
        let scene = scene(&settings, rigid, soft);
        let mut rollout = run(&scene, 20);
        let before = rollout.rigid_state().unwrap().clone();
        for _ in 0..50 {
            rollout.step();
        }
        let after = rollout.rigid_state().unwrap();
        let gained = (after.v[0] - before.v[0]) / 0.1;
        if slides {
            assert!((gained / (9.81 * (slope - 0.4)) - 1.0).abs() < 0.02, "{gained}");
        } else {
            assert!((after.q[0] - before.q[0]).abs() < 1e-9, "{}", after.q[0] - before.q[0]);
        }
    }
}

/// Nothing gains energy of itself: bodies thrown together in many ways, with steps of first order and without restitution.
#[test]
fn energy_does_not_grow() {
    let mut random = Random(7);
    for case in 0..12 {
        let mut number = |scale: f64| random.uniform(-0.5 * scale, 0.5 * scale);
        let rigid = format!(
            "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
             [[body]]\nname = 'box'\nmass = 0.04\nshape = {{ box = [0.03, 0.02, 0.015] }}\nposition = [{}, {}, 0.05]\n\
             velocity = [{}, 0, -1]\nangular_velocity = [{}, {}, {}]\n\
             [[body]]\nname = 'pin'\nmass = 0.02\nshape = {{ capsule = [0.01, 0.03] }}\nposition = [0.1, 0, 0.05]\nvelocity = [-1, 0, 0]",
            number(0.02),
            number(0.02),
            number(1.0),
            number(20.0),
            number(20.0),
            number(20.0),
        );
        let soft = ball(&format!(
            "position = [0, 0, 0.11]\nvelocity = [{}, {}, -2]",
            number(1.0),
            number(1.0)
        ));
        let scene = scene("gravity = [0, 0, -9.81]\nsimulation.time_step = 0.002", &rigid, &soft);
        let mut rollout = SoftRollout::new(&scene);
        let total = |rollout: &SoftRollout| rollout.energies().iter().sum::<f64>();
        let mut last = total(&rollout);
        for step in 0..150 {
            let report = rollout.step();
            assert_eq!(
                (report.unsolved, report.rigid.unsolved),
                (0, 0),
                "{case}, {step}: {report:?}"
            );
            let now = total(&rollout);
            assert!(now < last, "{case}, {step}: {last} to {now}");
            last = now;
        }
    }
}

/// A soft block on a free box that stands on the floor, and beside a bar that a motor swings into it, by this law.
pub(super) fn pushed(law: &str, contact: &str) -> SoftScene {
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n\
                 [[body]]\nname = 'foot'\nmass = 0.08\nshape = { box = [0.06, 0.04, 0.02] }\nposition = [0.01, 0, 0.0201]\n\
                 orientation = [0.9998000066665778, 0, 0, 0.019998666693333084]\n\
                 [[body]]\nname = 'arm'\nmass = 0.1\nposition = [-0.075, 0.005, 0.09]\n\
                 joint = { type = 'revolute', axis = [0, 1, 0.1], anchor = [0, 0, 0.06], q = [0.1], damping = 0.001, friction = 0.001 }\n\
                 [[body.shape]]\nname = 'bar'\ncapsule = [0.012, 0.05]\nposition = [0, 0, -0.05]\n\
                 orientation = [0.7071067811865476, 0.7071067811865476, 0, 0]\n\
                 [[actuator]]\nname = 'motor'\njoint = 'arm'\ntype = 'motor'\ncontrol = -0.06";
    let soft = format!(
        "[[soft]]\nname = 'block'\nshape = {{ box = [0.05, 0.03, 0.02] }}\nresolution = 0.1\ndensity = 300\n\
         youngs_modulus = 3e4\npoisson_ratio = 0.3\nviscosity = 20\nposition = [0, 0.003, 0.0605]\nvelocity = [-0.02, 0.05, 0]\n\
         angular_velocity = [0, 0, 0.4]\n[[contact]]\nmu = 0.4\n{contact}"
    );
    let settings = format!(
        "gravity = [0, 0, -9.81]\nsimulation = {{ time_step = 0.002, tolerance = 1e-12, solver = '{law}' }}"
    );
    parse(&format!("{settings}\n{rigid}\n{soft}")).unwrap()
}

#[test]
fn motions_change_as_differences_say_forward_and_backward() {
    // By implicit steps the rigid bodies have momenta at the end, too.
    for law in ["coupled", "coupled', integrator = 'bdf1"] {
        let scene = pushed(law, "");
        let mut rollout = SoftRollout::new(&scene);
        let mut fastest = 0.0_f64;
        for _ in 0..70 {
            let report = rollout.step();
            assert_eq!(report.unsolved, 0, "{law}: {report:?}");
            fastest = fastest.max(scene.bodies[0].mean(&rollout.states()[0].velocity)[0]);
        }
        // What it stands on goes along.
        let q = &rollout.rigid_state().unwrap().q;
        assert!(fastest > 0.1 && q[0] > 0.0105, "{law}: {fastest} {q:?}");
        // Vertices let go and touch again: larger differences see others do so.
        all_ways_agree_after(&scene, (50, 1e-6), (2e-14, 1e-10));
        rigid_bodies_change_alike(&scene, 50);
    }
}

/// The end of a motion of the rigid bodies changes with all parameters as differences say.
pub(super) fn rigid_bodies_change_alike(scene: &SoftScene, steps: usize) {
    let named = scene.parameters();
    let parameters: Vec<SoftParameter> = named.iter().map(|(_, own)| *own).collect();
    let mut tangents = SoftTangents::new(scene, &parameters);
    for _ in 0..steps {
        tangents.step().unwrap();
    }
    let coordinates = || scene.rigid.as_deref().unwrap().model.coordinates();
    for ((name, parameter), column) in named.iter().zip(tangents.rigid_columns()) {
        let value = scene.value(*parameter);
        let Some(size) = difference(scene, (name, *parameter), 1e-6) else { continue };
        let end = |h: f64| {
            let mut scene = scene.clone();
            scene.set(*parameter, value + h);
            let mut rollout = SoftRollout::new(&scene);
            (0..steps).for_each(|_| _ = rollout.step());
            rollout.rigid_state().unwrap().clone()
        };
        let middle = end(0.0);
        let agree = |size: f64| {
            let expected = central(size, |h| end(h).difference(coordinates(), &middle));
            // The contacts of the rigid bodies are solved to 1e-12 of the velocities, and their momenta add up what is left.
            let e = error(column, &expected, 1e-11 / (2e-5 * size));
            if e < 2e-5 { Ok(()) } else { Err(format!("{e:e} {column:?} {expected:?}")) }
        };
        any_agrees((scene, name), size, agree);
    }
}

#[test]
fn what_is_not_for_both_is_said() {
    let rigid =
        "[[body]]\nname = 'box'\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, -1]\n";
    let contact = "[[contact]]\nmu = 0.4\n";
    for (settings, more, expected) in [
        (
            "integrator = 'bdf2'",
            contact,
            "integrator: is not for scenes that have [[soft]] and [[body]]: write \"bdf1\" (by which rigid",
        ),
        ("integrator = 'runge_kutta'", contact, "integrator: is not for scenes"),
        ("solver = 'pyramid'", contact, "solver: must be one of"),
        ("split_impacts = true", contact, "split_impacts: is not for scenes"),
        ("smoothing = 1e-6", contact, "smoothing: is not for scenes"),
        ("restitution_law = 'poisson'", contact, "restitution_law: is not for scenes"),
        ("first_step = 'moved_before'", contact, "first_step: "),
        ("", "", "contact: is missing for box-ball"),
        (
            "",
            "[[contact]]\nmu = 1\n[[contact]]\npair = 'far-ball'\nmu = 1\n",
            "must be one of box-ball, found \"far-ball\"",
        ),
        (
            "",
            "[[contact]]\nmu = 1\n[[shape]]\nname = 'ball'\nsphere = 1\nposition = [9, 9, 9]\n",
            "\"ball\" is taken",
        ),
        (
            "",
            "[[contact]]\nmu = 1\n[[shape]]\nname = 's'\nsphere = 1\nposition = [9, 9, 9]\ntimes = [0]\n",
            "times",
        ),
    ] {
        let text =
            format!("[simulation]\ntime_step = 1e-3\n{settings}\n{rigid}\n{}\n{more}", ball(""));
        let found = parse(&text).unwrap_err();
        assert!(found.contains(expected) && !found.contains('\n'), "{found}\n{expected}");
    }
}

/// A box that a soft block throws at the next one stops there, however near and fast; so does a ball at the floor.
#[test]
fn what_is_thrown_stops_at_what_it_meets() {
    for speed in [2.0, 8.0] {
        let rigid = "[[body]]\nname = 'a'\nmass = 0.002\nshape = { box = [0.01, 0.02, 0.02] }\nposition = [0.0405, 0, 0]\n\
                     [[body]]\nname = 'b'\nmass = 0.05\nshape = { box = [0.01, 0.02, 0.02] }\nposition = [0.061, 0, 0]";
        let soft = ball(&format!("velocity = [{speed}, 0, 0]"));
        let scene = scene("gravity = [0, 0, 0]\nsimulation.time_step = 0.002", rigid, &soft);
        let mut rollout = SoftRollout::new(&scene);
        let (mut thrown, mut deepest) = (0.0_f64, 0.0_f64);
        for _ in 0..20 {
            if rollout.step().unsolved > 0 {
                break;
            }
            let state = rollout.rigid_state().unwrap();
            deepest = deepest.max(0.02 - (state.q[7] - state.q[0]));
            thrown = thrown.max(state.v[0]);
        }
        assert!(thrown > 0.02 * speed, "{speed}: {thrown}");
        assert!(deepest < 1e-6, "{speed}: {deepest}");
    }
}

/// Soft and rigid ones in a row, a little apart: what the first one hits reaches the last one in one step.
#[test]
fn a_push_goes_through_a_row() {
    let mut rigid = String::new();
    let mut soft = String::new();
    for k in 0..5 {
        let at = 0.0404 * f64::from(k);
        soft += &format!(
            "[[soft]]\nname = 's{k}'\nshape = {{ box = [0.01, 0.01, 0.01] }}\nresolution = 0.05\ndensity = 1000\n\
             youngs_modulus = 1e7\npoisson_ratio = 0.2\nposition = [{at}, 0, 0]\nvelocity = [{}, 0, 0]\n",
            if k == 0 { 4.0 } else { 0.0 }
        );
        let (name, at) = (format!("r{k}"), at + 0.0202);
        rigid += &format!(
            "[[body]]\nname = '{name}'\nmass = 0.008\nshape = {{ box = [0.01, 0.02, 0.02] }}\nposition = [{at}, 0, 0]\n"
        );
    }
    let scene = scene("gravity = [0, 0, 0]\nsimulation.time_step = 0.002", &rigid, &soft);
    let mut rollout = SoftRollout::new(&scene);
    for step in 0..10 {
        let report = rollout.step();
        assert_eq!(report.unsolved, 0, "{step}: {report:?}");
        let q = &rollout.rigid_state().unwrap().q;
        for (k, state) in rollout.states().iter().enumerate() {
            let x = || state.position.iter().map(|x| x[0]);
            let (least, most) = (x().fold(f64::MAX, f64::min), x().fold(f64::MIN, f64::max));
            assert!(most < q[7 * k] - 0.01 + 1e-5, "{step}, {k}: {most} {}", q[7 * k]);
            if k > 0 {
                assert!(least > q[7 * (k - 1)] + 0.01 - 1e-5, "{step}, {k}: {least}");
            }
        }
    }
}

/// What a plate that nothing stops presses flat against the floor is not solved, which is said, and nothing falls over.
#[test]
fn what_is_pressed_flat_is_said() {
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\nname = 'plate'\nprescribed = true\n\
                 velocity = [0, 0, -0.5]\nshape = { box = [0.1, 0.1, 0.01] }\nposition = [0, 0, 0.075]";
    let scene = scene(GRAVITY, rigid, &ball("position = [0, 0, 0.03]"));
    let mut rollout = SoftRollout::new(&scene);
    let first = (0..100).find(|_| rollout.step().unsolved > 0).unwrap();
    assert!(first > 10, "{first}");
    rollout.step();
    let mut tangents = SoftTangents::new(&scene, &[scene.parameter("ball/density").unwrap()]);
    let failed = (0..100).find_map(|_| tangents.step().err()).unwrap();
    assert!(failed.to_string().contains("all bodies was not solved"), "{failed}");
}

/// A pair is known by the longest name that it ends in, and one [[contact]] may be of all pairs by any law.
#[test]
fn pairs_are_known_by_their_names() {
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = -1\n[[body]]\nname = 'my-ball'\nmass = 1\n\
                 shape = { sphere = 0.1 }\nposition = [0, 0, 1]\n[[contact]]\npair = 'floor-my-ball'\nmu = 0.7\n\
                 [[contact]]\npair = 'my-ball-ball'\nmu = 0.2\n";
    let both = scene("simulation.time_step = 0.002", rigid, &ball(""));
    let friction: Vec<f64> = both.bodies[0].touching.iter().map(|own| own.friction).collect();
    assert_eq!(friction, [0.4, 0.2]);
    let names = both.rigid.as_deref().unwrap().model.parameter_names();
    assert!(names.iter().any(|name| name == "floor-my-ball/mu"), "{names:?}");
    let text = format!(
        "simulation = {{ time_step = 0.002, solver = 'hybrid' }}\n[[body]]\nname = 'box'\nmass = 1\nshape = {{ sphere = 0.1 }}\n\
         position = [0, 0, -1]\n{}\n[[contact]]\nmu = 0.3\nstiffness = 1e4\nby_area = true",
        ball("")
    );
    let hybrid = parse(&text).unwrap();
    assert_eq!(
        (hybrid.bodies[0].touching[0].stiffness, hybrid.bodies[0].touching[0].by_area),
        (1e4, true)
    );
}

/// Forces by depth with the exact cone, and the exact contact of rigid bodies beside them.
#[test]
fn compliance_has_its_derivative_too() {
    let scene = pushed("hybrid", "stiffness = 300");
    assert!(scene.parameter("foot-block/stiffness").is_some());
    all_ways_agree_after(&scene, (50, 1e-6), (2e-14, 1e-10));
}

/// What one soft body is changes the motion of another through the box between them: forward, backward and by differences.
#[test]
fn soft_bodies_change_each_other_through_what_is_between_them() {
    const STEPS: usize = 25;
    let rigid = "[[body]]\nname = 'box'\nmass = 0.01\nshape = { box = [0.01, 0.04, 0.04] }\nposition = [0.0405, 0.001, 0]";
    let other =
        ball("position = [0.081, 0.002, 0.001]\nviscosity = 1").replace("'ball'", "'other'");
    let soft = ball("velocity = [1, 0.1, 0]\nviscosity = 1") + &other;
    let settings = "gravity = [0, 0, 0]\nsimulation = { time_step = 0.001, tolerance = 1e-12 }";
    let scene = scene(settings, rigid, &soft);
    let names = [
        "ball/density",
        "ball/lame_mu",
        "ball/viscosity",
        "box-ball/mu",
        "ball/velocity_y",
        "box/vx",
        "box/wz",
        "box/fx",
        "box/ty",
    ];
    let parameters = names.map(|name| scene.parameter(name).unwrap());
    let mut tangents = SoftTangents::new(&scene, &parameters);
    (0..STEPS).for_each(|_| _ = tangents.step().unwrap());
    let body = &scene.bodies[1];
    let forward: Vec<[f64; 3]> = tangents.columns(1).map(|own| body.mean(own.unwrap().0)).collect();
    let record = scene.record(STEPS);
    for axis in 0..3 {
        let mut weigh = |step: usize, own: usize, x: &mut [[f64; 3]], _: &mut [[f64; 3]]| {
            if (step, own) == (STEPS, 1) {
                let weights = body.elements.unit_weight();
                let total: f64 = weights.iter().sum();
                x.iter_mut().zip(weights).for_each(|(x, weight)| x[axis] += weight / total);
            }
        };
        let gradient = record.gradient(&parameters, &mut weigh).unwrap();
        for ((name, own), gradient) in names.iter().zip(&forward).zip(gradient) {
            let scale = own.iter().fold(1e-10, |most: f64, x| most.max(x.abs()));
            assert!(
                (gradient - own[axis]).abs() < 1e-9 * scale,
                "{name} {axis}: {gradient} {own:?}"
            );
        }
    }
    for ((name, parameter), own) in names.iter().zip(parameters).zip(&forward) {
        let value = scene.value(parameter);
        let size = value.abs().max(0.1) * 1e-6;
        let end = |h: f64| {
            let mut scene = scene.clone();
            scene.set(parameter, value + h);
            let rollout = run(&scene, STEPS);
            scene.bodies[1].mean(&rollout.states()[1].position).to_vec()
        };
        let e = error(own, &central(size, end), 2e-15 / (2e-5 * size));
        assert!(e < 2e-5, "{name}: {e:e} {own:?}");
        assert!(own.iter().any(|x| x.abs() > 1e-9), "{name} has an effect: {own:?}");
    }
}

/// Round edges, margins and bodies that are fixed to the world are met as the same shapes in other words.
#[test]
fn shapes_are_met_where_they_touch() {
    let soft = ball("position = [0, 0, 0.05]\nvelocity = [0.3, 0, -0.5]\nviscosity = 1");
    let end = |rigid: &str| {
        // A body that moves makes the scene one of both.
        let far =
            "[[body]]\nname = 'far'\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, -9]\n";
        let scene = scene(GRAVITY, &format!("{far}{rigid}"), &soft);
        let mut rollout = SoftRollout::new(&scene);
        let mut touches = 0;
        for _ in 0..80 {
            assert_eq!(rollout.step().unsolved, 0);
            touches += usize::from(rollout.states()[0].impulse.iter().any(|p| *p != [0.0; 3]));
        }
        assert!(touches > 1, "{rigid}");
        rollout.states()[0].position.clone()
    };
    let place = "position = [0, 0, -0.2]";
    let sphere = end(&format!("[[shape]]\nname = 's'\nsphere = 0.2\n{place}\n"));
    for same in [
        format!("[[shape]]\nname = 's'\nsphere = 0.15\nmargin = 0.05\n{place}\n"),
        format!("[[body]]\nname = 's'\nmass = 1\nshape = {{ sphere = 0.2 }}\njoint = {{ type = 'fixed' }}\n{place}\n"),
        format!("[[body]]\nname = 's'\nprescribed = true\nshape = {{ sphere = 0.2 }}\n{place}\n"),
        "[[body]]\nname = 's'\nmass = 1\njoint = { type = 'fixed' }\nposition = [0, 0, -0.3]\norientation = [0, 1, 0, 0]\n\
         [[body.shape]]\nname = 'own'\nsphere = 0.2\nposition = [0, 0, -0.1]\n"
            .to_string(),
    ] {
        let found = end(&same);
        assert!(apart(&found, &sphere) < 1e-10, "{same}: {:e}", apart(&found, &sphere));
    }
    // A box with round edges is as large as without.
    let flat = |radius: &str| {
        format!("[[shape]]\nname = 's'\nbox = [1, 1, 0.1]\n{radius}position = [0, 0, -0.1]\n")
    };
    assert!(apart(&end(&flat("")), &end(&flat("radius = 0.02\n"))) < 1e-10);
}

/// A body that is led starts as it is told, which what it strikes in the first step rebounds from: how it is led changes that, be it all along
/// or over time.
#[test]
fn what_is_led_strikes_as_it_is_led() {
    let rigid = "[[body]]\nname = 'hand'\nprescribed = true\nvelocity = [0.5, 0.02, 0]\nshape = { sphere = 0.02 }\n\
                 [[body]]\nname = 'stone'\nmass = 0.02\nshape = { sphere = 0.02 }\nposition = [0.04001, 0.001, 0]";
    let soft = ball("position = [0, 0, 0.2]");
    let settings = "gravity = [0, 0, 0]\nsimulation = { time_step = 0.002, tolerance = 1e-12 }\n";
    let contact =
        "[[contact]]\nmu = 0.3\n[[contact]]\npair = 'hand-stone'\nmu = 0.3\nrestitution = 0.6\n";
    let mut scene = parse(&format!("{settings}{rigid}\n{soft}\n{contact}")).unwrap();
    let stone = |scene: &SoftScene| run(scene, 4).rigid_state().unwrap().v[6];
    let struck = stone(&scene);
    assert!(struck > 0.7, "it rebounds: {struck}");
    rigid_bodies_change_alike(&scene, 4);
    let hand = scene.parameter("hand/set_vx").unwrap();
    scene.set(hand, 1.0);
    let SoftNumber::RigidInput(input) = hand.number else { panic!("{hand:?}") };
    // Of two schedules the last acts.
    scene.schedules.push(InputSchedule::over((4, 0.002), input, vec![3.0, 3.0]));
    scene.schedules.push(InputSchedule::over((4, 0.002), input, vec![0.5, 0.4]));
    assert!((stone(&scene) - struck).abs() < 1e-12, "{}", stone(&scene));
    rigid_bodies_change_alike(&scene, 4);
    let shadowed = SoftParameter { body: hand.body, number: SoftNumber::Scheduled(0, 0) };
    let mut tangents = SoftTangents::new(&scene, &[hand, shadowed]);
    tangents.step().unwrap();
    assert!(tangents.rigid_columns().all(|column| column.iter().all(|x| *x == 0.0)));
}

/// Where a block lies on a box the corners of the box share its friction as they do without: alike.
#[test]
fn corners_share_friction_alike_beside_soft_bodies() {
    let rigid = "[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\n[[body]]\nname = 'box'\nmass = 0.2\n\
                 shape = { box = [0.06, 0.06, 0.01] }\nposition = [0, 0, 0.01]\nforce = [0.3, 0.1, 0]";
    let soft = "[[soft]]\nname = 'block'\nshape = { box = [0.05, 0.05, 0.02] }\nresolution = 0.1\ndensity = 300\n\
                youngs_modulus = 5e4\npoisson_ratio = 0.2\nviscosity = 50\nposition = [0, 0, 0.04]";
    let scene = scene("gravity = [0, 0, -9.81]\nsimulation.time_step = 0.005", rigid, soft);
    let rollout = run(&scene, 100);
    let corners: Vec<_> = rollout.rigid_contacts().map(|own| own.world_impulse()).collect();
    assert_eq!(corners.len(), 4);
    for corner in &corners {
        for (found, force) in corner.iter().zip([-0.3, -0.1]) {
            assert!((found - 0.25 * 0.005 * force).abs() < 1e-9 * 0.005, "{corners:?}");
        }
    }
}
