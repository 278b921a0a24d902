//! Bodies whose velocity is prescribed: what they carry and push, and that nothing moves them.

#[cfg(feature = "cli")]
mod recorded;

use approx::assert_abs_diff_eq;
use stiction::Scene;
use stiction::assemble::Description;
use stiction::dynamics::Kinematics;
use stiction::linearize::{JacobianWorkspace, Selection, StepJacobian, step_jacobian};
use stiction::model::{Integrator, Model};
use stiction::simulation::Rollout;
use stiction::state::State;
use stiction::transition::Transition;

use crate::agreement::step_derivatives_agree;
use crate::linearize::adjoint::{compare, compare_rollouts};
use crate::linearize::integrators::dual_columns;
use crate::scenes::{after, on_floor, scene, slabs};

/// A box on a plate that is led.
fn carried(plate: &str, more: &str) -> Scene {
    scene(&format!(
        "[simulation]
        time_step = 0.002
        tolerance = 1e-13
        {more}
        [[body]]
        name = 'plate'
        prescribed = true
        position = [0, 0, 0.1]
        shape = {{ box = [2, 2, 0.1] }}
        {plate}
        [[body]]
        name = 'box'
        mass = 1.5
        position = [0, 0, 0.25]
        shape = {{ box = [0.05, 0.05, 0.05] }}
        [[contact]]
        mu = 0.4"
    ))
}

/// Of a body, of its numbers in the state.
fn velocity(model: &Model, state: &State<f64>, body: usize) -> [f64; 6] {
    let v = model.bodies[body].joint.v;
    state.v[v..v + 6].try_into().unwrap()
}

/// v = mu g t up to the speed of the belt, and that from then on.
#[test]
fn a_belt_takes_a_box_along_by_friction() {
    let scene = carried("velocity = [1, 0, 0]", "");
    let gravity = 9.81;
    for steps in [50, 100, 127, 128, 200] {
        let state = after(&scene, steps);
        let expected = (0.4 * gravity * 0.002 * steps as f64).min(1.0);
        let found = velocity(&scene.model, &state, 1);
        // Where sliding ends it tips by the softness of contacts.
        assert_abs_diff_eq!(found[0], expected, epsilon = 1e-8);
        found[1..].iter().for_each(|&v| assert_abs_diff_eq!(v, 0.0, epsilon = 1e-6));
        // To the last bit.
        assert_eq!(velocity(&scene.model, &state, 0), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
}

/// What turns with a table stays on it if w² r < mu g.
#[test]
fn a_turntable_keeps_what_friction_can_hold() {
    for (spin, stays) in [(3.5, true), (4.5, false)] {
        let mut scene = carried(&format!("angular_velocity = [0, 0, {spin:?}]"), "");
        // At 0.25 m: w² r is 3.06 and 5.06 m/s², friction holds 3.92.
        let (radius, first) = (0.25, scene.model.bodies[1].joint.q);
        scene.state.q[first] = radius;
        let v = scene.model.bodies[1].joint.v;
        (scene.state.v[v + 1], scene.state.v[v + 5]) = (spin * radius, spin);
        let steps = 200;
        let state = after(&scene, steps);
        let at = nalgebra::Vector2::new(state.q[first], state.q[first + 1]);
        if stays {
            // The chords of steps are tangents: q+ = q + dt v+ leaves the circle to first order.
            assert_abs_diff_eq!(at.norm(), radius, epsilon = 5e-3);
            let angle = spin * 0.002 * steps as f64;
            assert_abs_diff_eq!(at.y.atan2(at.x), angle, epsilon = 2e-2);
        } else {
            assert!(at.norm() > 1.2 * radius, "{}", at.norm());
        }
    }
}

/// A plate that pushes a box along the floor: a constant speed, whatever the friction, and the plate does not feel it.
#[test]
fn a_hand_pushes_what_it_meets() {
    let text = on_floor(
        "[simulation]
        time_step = 0.002
        [[body]]
        name = 'hand'
        prescribed = true
        position = [-0.1, 0, 0.05]
        velocity = [0.3, 0, 0]
        shape = { box = [0.02, 0.1, 0.04] }
        [[body]]
        name = 'box'
        mass = 3
        position = [0, 0, 0.05]
        shape = { box = [0.05, 0.05, 0.05] }
        [[contact]]
        mu = 0.6",
    );
    let scene = scene(&text);
    // The hand is in the floor's way, and the two do not touch.
    let names: Vec<&str> = scene.model.pairs.iter().map(|pair| &pair.name[..]).collect();
    assert_eq!(names, ["floor-box", "hand-box"]);
    let state = after(&scene, 500);
    let [hand, pushed] = [0, 1].map(|body| state.q[scene.model.bodies[body].joint.q]);
    assert_abs_diff_eq!(hand, 0.2, epsilon = 1e-12);
    assert_abs_diff_eq!(pushed - hand, 0.07, epsilon = 1e-6);
    assert_abs_diff_eq!(velocity(&scene.model, &state, 1)[0], 0.3, epsilon = 1e-9);
}

/// The same on a floor that stands still and on one that is led and does.
#[test]
fn a_floor_that_could_move_is_a_floor() {
    for count in [3, 40] {
        let bodies = slabs(count, 0.02, |k| [0.1 * (k as f64).sin(), 0.05, 0.0]);
        let settings =
            "[simulation]\ntime_step = 0.005\ntolerance = 1e-12\n[[contact]]\nmu = 0.3\n";
        let plane = format!(
            "{settings}[[shape]]\nname = 'ground'\nbox = [3, 3, 0.5]\nposition = [0, 0, -0.5]\n{bodies}"
        );
        let led = format!(
            "{settings}{bodies}[[body]]\nname = 'ground'\nprescribed = true\nposition = [0, 0, -0.5]\nshape = {{ box = [3, 3, 0.5] }}\n"
        );
        let [plane, led] = [plane, led].map(|text| scene(&text));
        let nq = plane.model.nq();
        let [fixed, moving] = [&plane, &led].map(|scene| {
            let mut rollout = Rollout::new(scene.system(), scene.state.clone());
            rollout.advance(30, &scene.inputs);
            assert_eq!(rollout.report.unsolved, 0);
            rollout.state
        });
        for (a, b) in fixed.q.iter().zip(&moving.q[..nq]) {
            assert_abs_diff_eq!(a, b, epsilon = 1e-8);
        }
        assert_eq!(moving.v[plane.model.nv()..], [0.0; 6]);
    }
}

/// An arm's hand, welded to what is led, goes where that goes.
#[test]
fn what_is_tied_to_a_led_body_follows() {
    let scene = scene(
        "[simulation]
        time_step = 0.005
        [[body]]
        name = 'upper'
        mass = 1
        inertia = 0.02
        center_of_mass = [0, 0, -0.2]
        position = [0, 0, 1]
        joint = { type = 'revolute', axis = [0, 1, 0], q = 0.5 }
        [[body]]
        name = 'lower'
        parent = 'upper'
        mass = 0.5
        inertia = 0.01
        center_of_mass = [0, 0, -0.2]
        position = [0, 0, -0.4]
        joint = { type = 'revolute', axis = [0, 1, 0], q = -1 }
        [[body]]
        name = 'target'
        prescribed = true
        position = [0, 0, 0.2978]
        velocity = [0.2, 0, 0.1]
        [[equality]]
        name = 'grip'
        type = 'connect'
        bodies = ['lower', 'target']
        anchors = [[0, 0, -0.4], [0, 0, 0]]",
    );
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(100, &scene.inputs);
    assert_eq!(rollout.report.unsolved, 0);
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, &rollout.state);
    let lower = scene.model.bodies.iter().position(|body| body.name == "lower").unwrap();
    let target = scene.model.bodies.iter().position(|body| body.name == "target").unwrap();
    let hand = &kinematics.bodies[lower];
    let tip = hand.position + hand.rotation * nalgebra::Vector3::new(0.0, 0.0, -0.4);
    let goal = kinematics.bodies[target].position;
    assert_abs_diff_eq!((tip - goal).norm(), 0.0, epsilon = 1e-9);
    assert_abs_diff_eq!(goal.x, 0.2 * 0.5, epsilon = 1e-12);
}

/// A tilted plate that turns and rises under a box, a ball and an arm, and a second led body beside.
const MOVING: &str = "[simulation]
    time_step = 0.005
    tolerance = 1e-12
    [[body]]
    name = 'plate'
    prescribed = true
    position = [0, 0, -0.1]
    velocity = [0.3, -0.1, 0.2]
    angular_velocity = [0.2, 0.1, 0.5]
    shape = { box = [1, 1, 0.1] }
    [[body]]
    name = 'box'
    mass = 0.7
    center_of_mass = [0.01, -0.02, 0.01]
    inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
    position = [0.1, 0.1, 0.052]
    shape = { box = [0.05, 0.04, 0.05] }
    [[body]]
    name = 'ball'
    mass = 0.3
    position = [-0.2, 0.1, 0.041]
    velocity = [0.5, 0, 0]
    shape = { sphere = 0.04 }
    [[body]]
    name = 'finger'
    mass = 0.4
    inertia = 0.003
    center_of_mass = [0, 0, -0.1]
    position = [0.3, -0.3, 0.157]
    joint = { type = 'revolute', axis = [0, 1, 0], q = 0.9, damping = 0.02 }
    shape = { sphere = 0.03, position = [0, 0, -0.2] }
    [[body]]
    name = 'pusher'
    prescribed = true
    position = [-0.3, 0.1, 0.06]
    velocity = [0.4, 0, 0]
    shape = { sphere = 0.05 }
    [[contact]]
    mu = 0.4
    restitution = 0.2
    ";

#[test]
fn derivatives_of_steps_know_how_bodies_are_led() {
    for integrator in Integrator::ALL {
        let mut scene = scene(MOVING);
        scene.settings.integrator = integrator;
        let tally = compare(integrator.name(), &scene, 40, 0.3);
        let from_two = integrator == Integrator::Bdf2;
        let way = if from_two { tally.recorded } else { tally.structured };
        assert!(tally.recorded + tally.structured == way && way > 30, "{integrator:?}: {tally:?}");
        let (compared, seen) = crate::linearize::scenes::compare(&scene, 30);
        assert!(compared > 20 && !seen.is_empty(), "{integrator:?}: {compared} {seen:?}");
        step_derivatives_agree(integrator.name(), &scene, 20);
        let staged = matches!(integrator, Integrator::RungeKutta | Integrator::Bdf2);
        assert!(staged || dual_columns(&scene, 30) == 0, "{integrator:?}");
    }
    // Of motions, by the adjoint and the tape.
    assert_eq!(compare_rollouts("led", &scene(MOVING), 25, 1e-6), 0);
}

/// v+ = u whatever the velocity before: in it the derivative is 0, in the input 1; and the plate feels nothing of the box.
#[test]
fn a_led_body_has_the_derivatives_of_its_inputs() {
    let scene = scene(MOVING);
    let model = &scene.model;
    let (nv, v) = (model.nv(), model.bodies[0].joint.v);
    let inputs: Vec<usize> = (v..v + 6).collect();
    let selection = Selection { inputs: &inputs, parameters: &[] };
    let (mut workspace, mut found) = (JacobianWorkspace::default(), StepJacobian::default());
    let mut memory = Default::default();
    let system = scene.system();
    let (state, u) = (&scene.state, &scene.inputs);
    step_jacobian(&system, state, u, selection, &mut memory, &mut workspace, &mut found);
    for i in 0..6 {
        for j in 0..2 * nv {
            assert_abs_diff_eq!(found.a[(nv + v + i, j)], 0.0, epsilon = 1e-14);
        }
        for j in 0..6 {
            let expected = if i == j { 1.0 } else { 0.0 };
            assert_abs_diff_eq!(found.b[(nv + v + i, j)], expected, epsilon = 1e-14);
        }
    }
}

#[test]
fn steps_with_led_bodies_allocate_nothing_and_split_nothing() {
    let mut scene = scene(MOVING);
    scene.settings.split_impacts = true;
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    rollout.advance(40, &scene.inputs);
    let counted = allocation_counter::measure(|| {
        rollout.advance(20, &scene.inputs);
    });
    assert_eq!((counted.count_total, rollout.report.unsolved), (0, 0));
}

#[test]
fn what_cannot_be_led_is_refused_with_its_place() {
    let with = |body: &str| {
        let text = format!("[simulation]\ntime_step = 0.01\n{body}");
        Scene::parse(&text, "s.toml").map_err(|error| error.to_string())
    };
    let led = "[[body]]\nname = 'hand'\nprescribed = true\n";
    assert!(with(led).is_ok());
    for (body, says) in [
        (format!("{led}mass = 2\n"), "mass: means nothing where `prescribed`"),
        (format!("{led}force = [1, 0, 0]\n"), "force: means nothing"),
        (format!("{led}drag = {{ linear = 1 }}\n"), "drag: means nothing"),
        (format!("{led}joint = {{ type = 'ball' }}\n"), "prescribed: is for a free body"),
        (
            format!(
                "{led}[[body]]\nname = 'b'\nparent = 'hand'\nmass = 1\ninertia = 1\njoint = {{ type = 'ball' }}\n"
            ),
            "prescribed: is for a body on which nothing hangs",
        ),
        (
            format!("{led}[[push]]\nname = 'p'\nbody = 'hand'\nforce = [1, 0, 0]\nuntil = 1\n"),
            "hand",
        ),
    ] {
        let found = with(&body).unwrap_err();
        assert!(found.contains(says), "{body}: {found}");
    }
}

#[test]
fn a_scene_of_led_bodies_is_written_and_read_again() {
    let moving = scene(MOVING);
    let description = Description::of(&moving, &moving.parameters, "again");
    let text = description.to_toml(".");
    let again = Scene::parse(&text, "again.toml").unwrap();
    let scene = scene(MOVING);
    assert_eq!(again.model, scene.model);
    assert_eq!((&again.state, &again.inputs), (&scene.state, &scene.inputs));
    let names = scene.model.input_names();
    assert_eq!(names[..2], ["plate/set_vx", "plate/set_vy"]);
    assert!(!scene.model.parameter_names().contains(&"plate/mass".to_string()));
    assert_eq!(scene.inputs[..6], [0.3, -0.1, 0.2, 0.2, 0.1, 0.5]);
    // They are controls, as those of motors are.
    let own: Vec<usize> = (0..names.len()).filter(|&k| names[k].contains("/set_")).collect();
    assert_eq!((own.len(), scene.model.default_inputs()), (12, own.clone()));
    assert_eq!(scene.model.inputs_named(&["controls".to_string()], "").unwrap(), own);
    let forces = scene.model.inputs_named(&["forces".to_string()], "").unwrap();
    assert!(forces.len() == scene.model.nv() - 12 && forces.iter().all(|k| !own.contains(k)));
}

/// A spring that a network knows, from the hand to a box: the box feels it, the hand does not.
#[test]
fn learned_terms_move_what_they_tie_to_a_hand_and_not_the_hand() {
    let text = "[simulation]
        time_step = 0.01
        gravity = [0, 0, 0]
        [[body]]
        name = 'hand'
        prescribed = true
        velocity = [0.1, 0, 0]
        [[body]]
        name = 'box'
        mass = 2
        position = [1, 0, 0]
        shape = { sphere = 0.1 }
        [[learned]]
        name = 'spring'
        kind = 'potential'
        of = ['hand/px', 'box/px']
        layers = [4]";
    let text = text.replace("gravity = [0, 0, 0]", "");
    let mut scene = scene(&format!("gravity = [0, 0, 0]\n{text}"));
    let names = scene.model.parameter_names();
    for (k, name) in names.iter().filter(|name| name.contains("/weights/")).enumerate() {
        let slot = scene.model.parameter(name).unwrap().slots[0];
        scene.parameters.values[slot] = 0.7 * (1.0 + 2.3 * k as f64).sin();
    }
    let state = after(&scene, 10);
    assert_eq!(velocity(&scene.model, &state, 0), [0.1, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(velocity(&scene.model, &state, 1)[0].abs() > 1e-4);
    step_derivatives_agree("learned", &scene, 3);
}

/// What is led has no mass: energy, momentum and centre of mass are those of all else, and no force is along its velocities.
#[test]
fn a_led_body_weighs_nothing() {
    let led = scene(MOVING);
    let without: String = MOVING
        .split("[[")
        .filter(|part| !part.contains("prescribed"))
        .collect::<Vec<_>>()
        .join("[[");
    let others = scene(&without);
    let [a, b] =
        [&led, &others].map(|scene| Kinematics::new(&scene.model, &scene.parameters, &scene.state));
    assert_eq!(a.mass(), b.mass());
    assert_eq!(a.kinetic_energy(), b.kinetic_energy());
    assert_eq!(a.potential_energy(&led.parameters), b.potential_energy(&others.parameters));
    assert_eq!(a.center_of_mass(), b.center_of_mass());
    assert_eq!(a.momentum().linear, b.momentum().linear);
    let nv = led.model.nv();
    let mut rows = vec![0.0; 3 * nv];
    a.center_of_mass_jacobian(&mut rows);
    let speed: f64 = rows[..nv].iter().zip(&led.state.v).map(|(row, v)| row * v).sum();
    assert_abs_diff_eq!(speed, b.momentum().linear.x / b.mass(), epsilon = 1e-14);
    let x = [&led.state.q[..], &led.state.v].concat();
    let mut transition = Transition::new("led", std::sync::Arc::new(led.clone())).unwrap();
    let v = led.model.bodies[0].joint.v;
    assert_eq!(transition.bias(&x).unwrap()[v..v + 6], [0.0; 6]);
    assert_eq!(transition.inverse_dynamics(&x, &vec![1.0; nv]).unwrap()[v..v + 6], [0.0; 6]);
}

/// What takes along what it touches gives it energy, which is no oddity.
#[test]
fn what_is_taken_along_is_plausible() {
    let belt = carried("velocity = [5, 0, 0]", "");
    let throw = carried("velocity = [0, 0, 3]\nangular_velocity = [0, 1, 0]", "");
    for scene in [belt, throw, scene(MOVING)] {
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        rollout.advance(50, &scene.inputs);
        assert_eq!(rollout.report.plausibility.steps, 0, "{:?}", rollout.report);
    }
}

#[test]
fn a_keyframe_says_how_a_led_body_goes_on() {
    let text = "[simulation]
        time_step = 0.01
        [[body]]
        name = 'hand'
        prescribed = true
        velocity = [0.1, 0, 0]
        [[keyframe]]
        name = 'fast'
        v = [1, 0, 0, 0, 0, 0.5]";
    let mut scene = scene(text);
    scene.start_at("fast", "scene.toml").unwrap();
    let state = after(&scene, 10);
    assert_eq!(velocity(&scene.model, &state, 0), [1.0, 0.0, 0.0, 0.0, 0.0, 0.5]);
    assert_abs_diff_eq!(state.q[0], 0.1, epsilon = 1e-15);
}

/// `gradcheck` calls inputs what they are.
#[test]
fn inputs_have_one_name() {
    let scene = scene(MOVING);
    let program = stiction::verify::StepProgram::new(
        scene.system(),
        &scene.state,
        &scene.inputs,
        &Default::default(),
        1,
    );
    let names = program.names();
    assert_eq!(names[names.len() - scene.inputs.len()..], scene.model.input_names());
}
