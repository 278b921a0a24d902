//! Sensors that ride on bodies, and those of joints.

use std::fmt::Write;

use approx::assert_relative_eq;
use nalgebra::Vector3;
use stiction::identify::{Dataset, Experiment, LeastSquares, Problem, fit};
use stiction::model::{Scene, System};
use stiction::simulation::Rollout;
use stiction::spatial::rotation_matrix;

use super::load;
use crate::fixtures::scenes::scene;

/// Where the unit is on the body, and how it is turned.
const PLACE: [f64; 3] = [0.03, -0.02, 0.05];
const TURN: [f64; 4] = [0.5, 0.5, -0.5, 0.5];

/// A ball that turns evenly as it falls: in it gravity is not felt, what is off its centre feels the turn.
#[test]
fn what_is_felt_is_the_closed_form() {
    let spin = Vector3::new(1.0, -4.0, 2.0);
    let r = Vector3::from(PLACE);
    // Centripetal, in the body, in which both are constant.
    let felt = spin.cross(&spin.cross(&r));
    let axes = rotation_matrix(TURN);
    let (felt, turned) = (axes.tr_mul(&felt), axes.tr_mul(&spin));
    let errors = [0.02, 0.01, 0.005].map(|step: f64| {
        let ball = format!(
            "simulation.time_step = {step}\n[[body]]\nname = 'ball'\nmass = 0.3\ninertia = 2e-4\nvelocity = [1, 2, 5]\n\
             position = [0, 0, 9]\nangular_velocity = [1, -4, 2]\n"
        );
        let Scene { model, parameters, settings, state, inputs, .. } = scene(&ball);
        let system = System { model: &model, parameters: &parameters, settings: &settings };
        let mut rollout = Rollout::new(system, state);
        let mut text = String::from("t,px,py,pz,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz,imu/x,imu/y,imu/z,rate/x,rate/y,rate/z\n");
        for k in 0..=(0.4 / step).round() as usize {
            let row: Vec<f64> = [&[k as f64 * step], &rollout.state.q[..], &rollout.state.v, felt.as_slice(), turned.as_slice()].concat();
            let row: Vec<String> = row.iter().map(f64::to_string).collect();
            writeln!(text, "{}", row.join(",")).unwrap();
            rollout.step(&inputs);
        }
        let tables = format!(
            "[[sensor]]\nname = 'imu'\naccelerometer = 'ball'\nposition = {PLACE:?}\norientation = {TURN:?}\nnoise = 1\n\
             [[sensor]]\nname = 'rate'\ngyroscope = 'ball'\norientation = {TURN:?}\nnoise = 1\n\
             [[parameter]]\nname = 'ball/mass'\nstart = 0.3\n"
        );
        let (experiment, dataset) = load(&format!("felt-{step}"), &ball, &text, &tables).unwrap();
        let mut problem = Problem::new(&experiment, &dataset, 1);
        let cost = problem.cost(&[0.3_f64.ln()]);
        (2.0 * cost / problem.residual_count() as f64).sqrt()
    });
    // Of second order in the step.
    assert!(errors[2] < 2e-4 * felt.norm(), "{errors:?}");
    for pair in errors.windows(2) {
        assert!((3.5..4.5).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
}

/// An arm with a servo whose torque is measured, and a unit on it.
const ARM: &str = "[simulation]
time_step = 0.005
[[body]]
name = 'arm'
joint = { type = 'revolute', axis = [0, 1, 0], damping = 0.02, q = 0.4 }
position = [0, 0, 1]
mass = 0.8
center_of_mass = [0, 0, -0.2]
inertia = 0.01
[[actuator]]
name = 'servo'
joint = 'arm'
type = 'position'
kp = 6
kd = 0.3
";

/// What its sensors give, by formulas of their own: late by whole steps.
fn arm(late: usize) -> String {
    let Scene { model, parameters, settings, state, mut inputs, .. } = scene(ARM);
    let system = System { model: &model, parameters: &parameters, settings: &settings };
    let mut rollout = Rollout::new(system, state);
    let target = |k: usize| 0.8 * (3.0 * 0.005 * k as f64).sin();
    let mut states = vec![[rollout.state.q[0], rollout.state.v[0]]];
    for k in 0..200 {
        inputs[1] = target(k);
        rollout.step(&inputs);
        states.push([rollout.state.q[0], rollout.state.v[0]]);
    }
    // The unit is 0.3 m below the hinge: x forward, z along the arm.
    let place = |k: usize| {
        let q = states[k][0];
        let (s, c) = q.sin_cos();
        Vector3::new(c * 0.02 - s * 0.3, 0.0, 1.0 - s * 0.02 - c * 0.3)
    };
    let mut text = String::from("t,arm/q,arm/v,servo/u,torque,gyro,ax,az\n");
    for k in 0..199_usize {
        let seen = k.saturating_sub(late).max(1);
        let [q, v] = states[seen];
        let torque = 6.0 * (target(seen) - q) - 0.3 * v;
        let a = (place(seen + 1) - 2.0 * place(seen) + place(seen - 1)) / (0.005 * 0.005);
        let a = a + Vector3::z() * 9.81;
        let (s, c) = q.sin_cos();
        let (x, z) = (c * a.x - s * a.z, s * a.x + c * a.z);
        let own = states[k];
        let read = if k > late { format!("{torque},{v},{x},{z}") } else { ",,,".into() };
        writeln!(text, "{},{},{},{},{read}", 0.005 * k as f64, own[0], own[1], target(k)).unwrap();
    }
    text
}

const SENSORS: &str = "[[sensor]]
name = 'cell'
effort = 'servo'
columns = ['torque']
noise = 0.01
[[sensor]]
name = 'gyro'
gyroscope = 'arm'
columns = ['none', 'gyro', 'none']
noise = 0.01
[[sensor]]
name = 'imu'
accelerometer = 'arm'
position = [0.02, 0, -0.3]
columns = ['ax', 'none', 'az']
noise = 0.1
";

fn parameter(name: &str, start: f64, lower: f64, upper: f64) -> String {
    format!("[[parameter]]\nname = '{name}'\nstart = {start}\nlower = {lower}\nupper = {upper}\n")
}

fn sensed(name: &str, late: usize, parameters: &str) -> (Experiment, Dataset) {
    // A unit without a channel along y has none.
    let text: String = arm(late)
        .lines()
        .enumerate()
        .map(|(k, line)| format!("{line},{}\n", if k == 0 { "none" } else { "" }))
        .collect();
    load(name, ARM, &text, &format!("{SENSORS}{parameters}")).unwrap()
}

#[test]
fn gains_places_and_delays_are_found_from_what_rides_along() {
    let parameters = [
        parameter("servo/kp", 4.0, 1.0, 20.0),
        parameter("arm/mass", 0.5, 0.1, 3.0),
        parameter("imu/position/z", -0.2, -0.5, 0.0),
        parameter("imu/delay", 0.01, 0.0, 0.03),
        parameter("cell/delay", 0.01, 0.0, 0.03),
        parameter("gyro/bias/y", 0.1, -1.0, 1.0),
        parameter("gyro/delay", 0.01, 0.0, 0.03),
    ]
    .concat();
    let (experiment, dataset) = sensed("rides", 3, &parameters);
    let found = fit(&experiment, &dataset, 1, &mut |_| true).unwrap();
    for (found, truth) in found.parameters.iter().zip([6.0, 0.8, -0.3, 0.015, 0.015, 0.0, 0.015]) {
        assert!((found.value - truth).abs() < 1e-6, "{found:?} {truth}");
    }
    assert!(found.loss < 1e-10, "{}", found.loss);
}

#[test]
fn slopes_of_what_rides_along() {
    let parameters = [
        parameter("servo/kp", 5.0, 1.0, 20.0),
        parameter("arm/mass", 0.7, 0.1, 3.0),
        parameter("imu/position/z", -0.2, -0.5, 0.0),
        parameter("imu/position/x", 0.03, -0.5, 0.5),
        parameter("imu/delay", 0.0, 0.0, 0.03),
        parameter("cell/delay", 0.0, 0.0, 0.03),
        parameter("servo/gear", 1.1, 0.5, 2.0),
    ]
    .concat();
    let (experiment, dataset) = sensed("rides-slopes", 2, &parameters);
    let mut problem = Problem::new(&experiment, &dataset, 1);
    let x: Vec<f64> = vec![5.1, 0.72_f64.ln(), -0.24, 0.033, 0.0121, 0.0083, 1.07];
    problem.linearize(&x);
    let (_, g) = problem.normal_equations();
    let (_, reverse) = problem.gradient(&x).unwrap();
    for k in 0..x.len() {
        let mut at = |h: f64| {
            let mut x = x.clone();
            x[k] += h;
            problem.cost(&x)
        };
        let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
        assert!(g[k].abs() > 1e-7 * g.amax(), "{k} is hardly seen: {g}");
        assert_relative_eq!(g[k], difference, max_relative = 1e-5, epsilon = 1e-7 * g.amax());
        assert_relative_eq!(g[k], reverse[k], max_relative = 1e-8, epsilon = 1e-10 * g.amax());
    }
}

#[test]
fn sensors_that_cannot_be_are_refused() {
    let mass = parameter("arm/mass", 0.5, 0.1, 3.0);
    for (sensor, place, says) in [
        ("gyroscope = 'leg'", "sensor[0].gyroscope", "the scene has no body \"leg\"; it has arm"),
        ("effort = 'arm'", "sensor[0].effort", "no actuator \"arm\"; it has servo"),
        ("effort = 'servo'\ngyroscope = 'arm'", "sensor[0].marker", "one of these"),
        (
            "gyroscope = 'arm'\nposition = [0, 0, 0]",
            "sensor[0].position",
            "markers and accelerometers",
        ),
        (
            "effort = 'servo'\norientation = [1, 0, 0, 0]",
            "sensor[0].orientation",
            "is of gyroscopes",
        ),
        ("gyroscope = 'arm'\norientation = [1, 1, 0, 0]", "sensor[0].orientation", "norm 1"),
        ("accelerometer = 'arm'\nunit = 'm'", "sensor[0].unit", "m/s^2, mm/s^2, g"),
        ("effort = 'servo'\nunit = 'N'", "sensor[0].unit", "Nm"),
        ("gyroscope = 'arm'", "s/x", "which a [[sensor]] reads"),
    ] {
        let tables = format!("[[sensor]]\nname = 's'\n{sensor}\nnoise = 1\n{mass}");
        let message = load("no-sensor", ARM, &arm(0), &tables).map(|_| ()).unwrap_err();
        assert!(message.contains(place) && message.contains(says), "{sensor}: {message}");
    }
}
