//! A joint that was added: the helical one, of a nut on a lead screw.

use approx::assert_relative_eq;
use nalgebra::{Matrix3, Vector3};
use stiction::ad::{Dual, Real};
use stiction::assemble::Description;
use stiction::dynamics::Kinematics;
use stiction::model::{Integrator, JointKind, Scene};
use stiction::spatial::{exp, rotation_matrix};
use stiction::state::State;

use super::{after, check_gradients};
use crate::scenes::scene;

const MASS: f64 = 0.4;
/// About the axis, kg m².
const INERTIA: f64 = 2e-4;
/// m for each radian.
const PITCH: f64 = 0.008;

/// A nut on a vertical screw.
fn nut(joint: &str, center: [f64; 3], more: &str) -> Scene {
    scene(&format!(
        "[simulation]
         time_step = 0.002
         [[body]]
         name = 'nut'
         joint = {{ type = 'helical', axis = [0, 0, 2], pitch = {PITCH}{joint} }}
         position = [0.1, 0.2, 1]
         mass = {MASS}
         center_of_mass = {center:?}
         inertia = [3e-4, 3e-4, {INERTIA}]
         {more}"
    ))
}

/// A carriage driven along a bent path: a screw on an arm, with an oblique axis beside the body.
const MACHINE: &str = "[simulation]
    time_step = 0.005
    tolerance = 1e-12
    [[half_space]]
    name = 'floor'
    normal = [0, 0.1, 1]
    [[body]]
    name = 'arm'
    joint = { type = 'revolute', axis = [0.3, 1, 0], q = 0.3, v = 0.5, damping = 0.1 }
    position = [0, 0, 0.5]
    mass = 1
    center_of_mass = [0, 0.02, -0.1]
    inertia = [0.01, 0.012, 0.003, 0.0005, 0, 0.0002]
    [[body]]
    name = 'nut'
    parent = 'arm'
    joint = { type = 'helical', axis = [1, 0.5, -2], pitch = -0.06, anchor = [0.02, -0.03, 0.01], q = -0.4, v = 3, limits = [-1, 2], armature = 0.001, damping = 0.004, friction = 0.02, stiffness = 0.05, rest = 0.2 }
    position = [0.05, 0, -0.2]
    orientation = [0.8, 0, 0.6, 0]
    mass = 0.5
    center_of_mass = [0.01, 0.02, -0.05]
    inertia = [0.002, 0.003, 0.0015, 0.0001, 0, -0.0001]
    [[body.shape]]
    name = 'tip'
    sphere = 0.04
    position = [0.25, 0, -0.073]
    [[contact]]
    mu = 0.4
    [[actuator]]
    name = 'motor'
    joint = 'nut'
    control = 0.05";

#[test]
fn the_pose_and_the_motion_subspace_are_those_of_a_screw() {
    let Scene { model, parameters, .. } = scene(MACHINE);
    let JointKind::Helical { pitch } = model.bodies[1].joint.kind else { panic!("helical") };
    for q in [-2.0, 0.0, 0.7, 9.0] {
        let state = State { q: vec![0.3, q], v: vec![0.0, 0.0] };
        let kinematics = Kinematics::new(&model, &parameters, &state);
        let [arm, nut] = [0, 1].map(|k| &kinematics.bodies[k]);
        // p = p0 + R0 (a + axis pitch q) - R a
        let axis = Vector3::new(1.0, 0.5, -2.0).normalize();
        let anchor = Vector3::new(0.02, -0.03, 0.01);
        let constant: Matrix3<f64> = rotation_matrix([0.8, 0.0, 0.6, 0.0]);
        let rotation = constant * rotation_matrix(exp(axis * q));
        let place = Vector3::new(0.05, 0.0, -0.2) + constant * (anchor + axis * (pitch * q));
        let place = place - rotation * anchor;
        assert_relative_eq!(nut.rotation, arm.rotation * rotation, epsilon = 1e-14);
        assert_relative_eq!(nut.position, arm.position + arm.rotation * place, epsilon = 1e-14);
        // S = [axis; pitch axis + pivot x axis], and it is the derivative of the pose.
        let along = arm.rotation * constant * axis;
        let pivot = nut.position + nut.rotation * anchor - nut.origin;
        let motion = kinematics.axes[1].motion;
        assert_relative_eq!(motion.angular, along, epsilon = 1e-14);
        assert_relative_eq!(motion.linear, along * pitch + pivot.cross(&along), epsilon = 1e-14);
        let point = Vector3::new(0.3, -0.1, 0.2);
        let moving = State {
            q: vec![Dual::constant(0.3), Dual::variable(q, 0)],
            v: vec![Dual::constant(0.0); 2],
        };
        let lanes = Kinematics::<Dual<f64, 1>>::new(&model, &parameters.cast(), &moving);
        let there = lanes.point(1, &point.map(Dual::constant));
        let column = kinematics.column(1, 1, &there.map(|x| x.value));
        assert_relative_eq!(there.map(|x| x.tangent[0]), column.linear, epsilon = 1e-14);
    }
    // One turn does not lead back.
    let kind = model.bodies[1].joint.kind;
    assert!(kind.turns() && kind.has_axis() && !kind.comes_round() && !kind.slides());
}

#[test]
fn a_nut_falls_as_slowly_as_its_inertia_lets_it() {
    // (I + m p²) q'' = -m g p + torque
    let scene = nut("", [0.0; 3], "");
    let steps = 500;
    let found = after(&scene, steps);
    let speed = |torque: f64| {
        let time = 0.002 * steps as f64;
        time * (torque - MASS * 9.81 * PITCH) / (INERTIA + MASS * PITCH * PITCH)
    };
    assert_relative_eq!(found.v[0], speed(0.0), max_relative = 1e-12);
    // What falls is the weight, by p times the angle.
    let height = |scene: &Scene, state: &State<f64>| {
        Kinematics::new(&scene.model, &scene.parameters, state).bodies[0].position.z
    };
    assert_relative_eq!(height(&scene, &found), 1.0 + PITCH * found.q[0], max_relative = 1e-14);

    let motor =
        |torque: f64| format!("[[actuator]]\nname = 'motor'\njoint = 'nut'\ncontrol = {torque:?}");
    let held = after(&nut("", [0.0; 3], &motor(MASS * 9.81 * PITCH)), steps);
    assert!(held.v[0].abs() < 1e-12, "{held:?}");
    let lifted = after(&nut("", [0.0; 3], &motor(0.05)), steps);
    assert_relative_eq!(lifted.v[0], speed(0.05), max_relative = 1e-12);

    // A screw with dry friction enough holds its load, and one with a limit ends there.
    let stuck = after(&nut(", friction = 0.04", [0.0; 3], ""), steps);
    assert_eq!(stuck.v[0], 0.0);
    let stopped = after(&nut(", limits = [-3, 3]", [0.0; 3], ""), steps);
    assert_relative_eq!(stopped.q[0], -3.0, epsilon = 1e-9);
}

#[test]
fn energy_is_kept_where_nothing_takes_it() {
    let mut scene = nut(", v = 20", [0.03, 0.02, 0.01], "");
    scene.settings.integrator = Integrator::RungeKutta;
    scene.parameters.values[..3].copy_from_slice(&[3.0, -2.0, -9.0]);
    let energy = |state: &State<f64>| {
        let kinematics = Kinematics::new(&scene.model, &scene.parameters, state);
        kinematics.kinetic_energy() + kinematics.potential_energy(&scene.parameters)
    };
    let (start, end) = (energy(&scene.state), energy(&after(&scene, 500)));
    assert!((end - start).abs() < 1e-7 * start.abs(), "{start} {end}");
}

#[test]
fn steps_of_a_screw_have_their_derivatives() {
    let scene = scene(MACHINE);
    for steps in [0, 5, 30, 80, 200] {
        check_gradients(&scene, steps);
    }
}

#[test]
fn jacobians_and_adjoints_of_steps_agree() {
    let machine = scene(MACHINE);
    let (compared, _) = crate::linearize::scenes::compare(&machine, 150);
    assert!(compared > 80, "{compared}");
    let tally = crate::linearize::adjoint::compare("machine", &machine, 150, 0.05);
    assert!(tally.structured > 80, "{tally:?}");
}

#[test]
fn a_weld_holds_what_a_screw_turns() {
    // Its orientation goes by the joints of both. The tip is out of the way of the floor.
    let machine = MACHINE.replace("[0.25, 0, -0.073]", "[0, 0, -0.16]");
    let scene = scene(&format!(
        "{machine}
        [[body]]
        name = 'load'
        mass = 0.2
        inertia = 1e-4
        position = [1, 0, 2]
        [[equality]]
        name = 'bolt'
        type = 'weld'
        bodies = ['nut', 'load']
        anchors = [[0, 0, 0.1], [0, 0, 0]]"
    ));
    let end = after(&scene, 100);
    let kinematics = Kinematics::new(&scene.model, &scene.parameters, &end);
    let apart = kinematics.point(1, &Vector3::new(0.0, 0.0, 0.1)) - kinematics.bodies[2].position;
    assert!(apart.norm() < 1e-9, "{apart}");
    let [nut, load] = [1, 2].map(|k| kinematics.bodies[k].rotation);
    assert!((nut - load).amax() < 1e-9, "{nut} {load}");
    assert!((end.q[1] - scene.state.q[1]).abs() > 0.1, "it turned");
    check_gradients(&scene, 20);
}

#[test]
fn a_screw_is_written_as_it_was_read() {
    let before = scene(MACHINE);
    let text = Description::of(&before, &before.parameters, "machine").to_toml("");
    assert!(text.contains("type = \"helical\"") && text.contains("pitch = -0.06"), "{text}");
    let after = scene(&text);
    assert_eq!(before.model, after.model);
    assert_eq!((&before.parameters, &before.state), (&after.parameters, &after.state));
    for (from, to, says) in [
        (", pitch = -0.06", "", "pitch"),
        ("pitch = -0.06", "pitch = inf", "pitch"),
        ("pitch = -0.06", "pitch = 1e300", "at most 1e6 m per radian"),
        ("type = 'helical'", "type = 'revolute'", "has no meaning for a joint that is revolute"),
        ("type = 'helical'", "type = 'screwy'", "\"helical\""),
    ] {
        let message = Scene::parse(&MACHINE.replace(from, to), "a.toml").unwrap_err().to_string();
        assert!(message.starts_with("a.toml:") && message.contains(says), "{message}");
    }
}
