//! Motions of textbooks.

use std::f64::consts::PI;

use approx::assert_relative_eq;
use nalgebra::Vector3;
use stiction::dynamics::Kinematics;

use super::{parse, rollout, run};
use crate::scenes::on_floor;

/// The complete elliptic integral K by the arithmetic-geometric mean, of the modulus k.
fn elliptic(k: f64) -> f64 {
    let (mut a, mut b) = (1.0, (1.0 - k * k).sqrt());
    while (a - b).abs() > 1e-15 * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    PI / (2.0 * a)
}

fn pendulum(integrator: &str, time_step: f64, angle: f64, joint: &str) -> String {
    format!(
        "[simulation]
         time_step = {time_step}
         integrator = '{integrator}'
         [[body]]
         name = 'rod'
         joint = {{ type = 'revolute', axis = [0, 2, 0], q = {angle:?}, {joint} }}
         position = [0.3, -0.2, 1]
         mass = 1.5
         center_of_mass = [0, 0, -0.4]
         inertia = [0.085, 0.08, 0.01]"
    )
}

// A physical pendulum swings with period 4 sqrt(I / (m g c)) K(sin(a / 2)).
#[test]
fn a_physical_pendulum_has_its_period() {
    let inertia: f64 = 0.08 + 1.5 * 0.4 * 0.4;
    for angle in [0.1_f64, 1.0, 2.5] {
        let period = 4.0 * (inertia / (1.5 * 9.81 * 0.4)).sqrt() * elliptic((0.5 * angle).sin());
        // Of the order of the integrator: after a period it is back to h and to h^4.
        for (integrator, order) in [("semi_implicit", 1), ("implicit", 1), ("runge_kutta", 4)] {
            let error = |count: usize| {
                let scene = parse(&pendulum(integrator, period / count as f64, angle, ""));
                let end = run(&scene, count);
                (end.state.q[0] - angle).hypot(end.state.v[0] * period / (2.0 * PI))
            };
            let (coarse, fine) = (error(400), error(800));
            let expected = 2.0_f64.powi(order);
            assert!(fine < coarse / expected * 1.3, "{integrator} {angle}: {coarse} {fine}");
            assert!(order < 4 || fine < 1e-8, "{integrator} {angle}: {fine}");
        }
    }
}

// In the frame of small swings: x = a exp(-b t) cos(w t), b = d / 2 I, w² = k / I - b².
#[test]
fn a_damped_spring_swings_as_its_closed_form_says() {
    let (stiffness, damping, rest): (f64, f64, f64) = (3.0, 0.2, 0.3);
    let inertia = 0.08 + 1.5 * 0.16 + 0.05;
    let joint =
        format!("stiffness = {stiffness}, damping = {damping}, rest = {rest}, armature = 0.05");
    let text = format!("gravity = [0, 0, 0]\n{}", pendulum("runge_kutta", 0.005, 1.3, &joint));
    let scene = parse(&text);
    let end = run(&scene, 600);
    let b = damping / (2.0 * inertia);
    let w = (stiffness / inertia - b * b).sqrt();
    let (t, a) = (3.0, 1.3 - rest);
    let x = a * (-b * t).exp() * ((w * t).cos() + b / w * (w * t).sin());
    assert_relative_eq!(end.state.q[0] - rest, x, epsilon = 1e-8);
    // Euler's method, implicit in the damping, is stable however strong that is.
    let stiff = joint.replace("damping = 0.2", "damping = 1e4");
    let text = format!("gravity = [0, 0, 0]\n{}", pendulum("semi_implicit", 0.01, 1.3, &stiff));
    let scene = parse(&text);
    let end = run(&scene, 1000);
    assert_relative_eq!(end.state.q[0], rest + a * (-stiffness / 1e4 * 10.0).exp(), epsilon = 1e-4);
}

fn top(integrator: &str, time_step: f64, spin: f64, tilt: f64, precession: f64) -> String {
    // The rate of the fast spin about its own axis, and that of the precession about the vertical.
    let (sin, cos) = (0.5 * tilt).sin_cos();
    format!(
        "[simulation]
         time_step = {time_step}
         integrator = '{integrator}'
         [[body]]
         name = 'top'
         joint = {{ type = 'ball', q = [{cos:?}, 0, {sin:?}, 0],
                    v = [{:?}, 0, {:?}] }}
         mass = 0.5
         center_of_mass = [0, 0, 0.1]
         inertia = [1e-3, 1e-3, 8e-4]",
        -precession * tilt.sin(),
        spin + precession * tilt.cos(),
    )
}

// Steady precession: (I_z spin W + (I_z - I_x) W² cos) sin = m g c sin about the tip, of which W is the slow
// root (Landau and Lifshitz, Mechanics, §35).
#[test]
fn a_top_precesses_steadily() {
    let (axial, transverse): (f64, f64) = (8e-4, 1e-3 + 0.5 * 0.01);
    let (tilt, spin): (f64, f64) = (0.5, 200.0);
    let weight = 0.5 * 9.81 * 0.1;
    // (I_z - I_x) cos W² + I_z spin W - m g c = 0
    let a = (axial - transverse) * tilt.cos();
    let b = axial * spin;
    let w = (-b + (b * b + 4.0 * a * weight).sqrt()) / (2.0 * a);
    let scene = parse(&top("runge_kutta", 1e-4, spin, tilt, w));
    let end = run(&scene, 5000);
    let [qw, x, y, z] = [0, 1, 2, 3].map(|k| end.state.q[k]);
    // The axis of the top in the world.
    let axis = [2.0 * (x * z + qw * y), 2.0 * (y * z - qw * x), 1.0 - 2.0 * (x * x + y * y)];
    assert_relative_eq!(axis[2], tilt.cos(), epsilon = 1e-6);
    let turned = axis[1].atan2(axis[0]);
    let expected = (w * 0.5).sin().atan2((w * 0.5).cos());
    assert_relative_eq!(turned, expected, epsilon = 1e-4);
}

// A gyroscope without gravity keeps its angular momentum about the tip, and its energy.
#[test]
fn a_free_gyroscope_keeps_momentum_and_energy() {
    let text = format!("gravity = [0, 0, 0]\n{}", top("runge_kutta", 1e-3, 40.0, 0.4, 3.0));
    let scene = parse(&text);
    let momentum = |state: &stiction::state::State<f64>| {
        let kinematics = Kinematics::new(&scene.model, &scene.parameters, state);
        // About the origin of the tree, the tip.
        (kinematics.momentum().angular, kinematics.kinetic_energy())
    };
    let mut rollout = rollout(&scene);
    let (start, energy) = momentum(&rollout.state);
    for _ in 0..1000 {
        rollout.step(&scene.inputs);
        let (now, kinetic) = momentum(&rollout.state);
        assert_relative_eq!(now, start, epsilon = 1e-7);
        assert_relative_eq!(kinetic, energy, max_relative = 1e-6);
    }
}

// On a slope a ball rolls without slipping, at 5/7 g sin; one on a hinged board too.
#[test]
fn a_ball_rolls_without_slipping_down_a_fixed_board() {
    let (sin, cos) = 0.1_f64.sin_cos();
    let (half_sin, half_cos) = 0.05_f64.sin_cos();
    let start = Vector3::new(0.0, 0.0, 0.0) + Vector3::new(sin, 0.0, cos) * 0.06;
    let scene = parse(&format!(
        "[simulation]
         time_step = 0.001
         [[body]]
         name = 'board'
         joint = {{ type = 'fixed' }}
         orientation = [{half_cos:?}, 0, {half_sin:?}, 0]
         mass = 1
         shape = {{ box = [2, 0.2, 0.01] }}
         [[body]]
         name = 'ball'
         mass = 0.3
         shape = {{ sphere = 0.05 }}
         position = [{:?}, 0, {:?}]
         [[contact]]
         mu = 0.5",
        start.x, start.z
    ));
    let end = run(&scene, 1000);
    let (v, w) = (end.state.velocity(0), end.state.angular_velocity(0));
    let down = Vector3::new(cos, 0.0, -sin);
    assert_relative_eq!(v.dot(&down), 5.0 / 7.0 * 9.81 * sin, max_relative = 1e-3);
    // No slip: v = r w at the end of every step.
    assert_relative_eq!(v.norm(), 0.05 * w.norm(), max_relative = 1e-9);
}

// A tip on a hinge that strikes a floor rebounds at e times its speed.
#[test]
fn a_hinged_rod_bounces() {
    let scene = parse(&on_floor(
        "gravity = [0, 0, 0]
         [simulation]
         time_step = 0.001
         [[body]]
         name = 'rod'
         joint = { type = 'revolute', axis = [0, 1, 0], v = 2 }
         position = [0, 0, 0.3]
         mass = 1
         center_of_mass = [0.5, 0, 0]
         inertia = [0.01, 0.1, 0.1]
         [[body.shape]]
         name = 'tip'
         sphere = 0.05
         position = [1, 0, 0]
         [[contact]]
         mu = 0
         restitution = 0.7",
    ));
    let end = run(&scene, 500);
    assert_relative_eq!(end.state.v[0], -1.4, max_relative = 1e-4);
}
