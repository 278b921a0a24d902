//! Stacks of boxes that slide and spin on each other: contact problems that Newton, sweeps and the
//! interior point leave unsolved.

use std::fmt::Write;

use stiction::model::Scene;
use stiction::simulation::Rollout;

use crate::scenes::FLOOR;

/// Half extents, mass, x, y, angle about the vertical, velocity along x and y, spin of a box.
type Block = [f64; 10];

/// Steps a stack of boxes, the first at the bottom; every step is to be solved.
fn steps(name: &str, head: &str, count: usize, boxes: &[Block]) {
    let mut text = format!("{head}\n{FLOOR}");
    let mut height = 0.0;
    for (k, &[a, b, c, mass, x, y, angle, vx, vy, spin]) in boxes.iter().enumerate() {
        let z = format!("{:.3}", height + c);
        height += 2.0 * c;
        let (qz, qw) = (0.5 * angle).sin_cos();
        write!(
            text,
            "[[body]]\nname = 'b{k}'\nmass = {mass}\nshape = {{ box = [{a}, {b}, {c}] }}\n\
             position = [{x}, {y}, {z}]\norientation = [{qw}, 0, 0, {qz}]\n\
             velocity = [{vx}, {vy}, 0]\nangular_velocity = [0, 0, {spin}]\n"
        )
        .unwrap();
    }
    let scene = Scene::parse(&text, name).unwrap();
    let system = scene.system();
    let mut rollout = Rollout::new(system, scene.state.clone());
    for step in 0..count {
        let report = rollout.step(&scene.inputs);
        assert_eq!(report.unsolved, 0, "{name}, step {step}: {report:?}");
        assert!(report.worst.residual <= 1e-10, "{name}, step {step}: {report:?}");
    }
}

#[test]
fn stacks_of_seven() {
    let head = "[simulation]\n\
         time_step = 0.005\n\
         [[contact]]\n\
         mu = 1.966\n\
         restitution = 0.4290301";
    steps(
        "with restitution",
        head,
        3,
        &[
            [0.069, 0.069, 0.072, 1.36, 0.001, -0.001, -0.3133625, -0.074, -0.025, -0.496],
            [0.037, 0.063, 0.042, 0.406, 0.004, 0.004, 0.9786153, 0.19, -0.003, -0.569],
            [0.063, 0.023, 0.029, 0.777, 0.004, 0.002, -1.1643213, 0.056, -0.191, -0.324],
            [0.049, 0.073, 0.042, 0.499, 0.003, -0.001, 0.0895923, 0.102, -0.057, 0.95],
            [0.05, 0.025, 0.074, 1.22, -0.003, -0.002, 1.5660589, -0.074, 0.182, -0.862],
            [0.031, 0.021, 0.046, 1.34, 0.004, -0.001, -1.1480247, -0.128, 0.142, -0.992],
            [0.021, 0.036, 0.049, 1.37, 0.003, -0.001, 1.1066972, -0.083, 0.063, 0.883],
        ],
    );
    let head = "[simulation]\n\
         time_step = 0.001\n\
         compliance = 1e-4\n\
         [[contact]]\n\
         mu = 1.352\n\
         restitution = 0.084";
    steps(
        "with compliance",
        head,
        3,
        &[
            [0.023, 0.029, 0.06, 1.49, -0.001, -0.003, -1.549, 0.009, -0.15, 0.161],
            [0.047, 0.044, 0.049, 1.52, -0.002, 0.002, -1.479, 0.016, 0.062, -0.317],
            [0.032, 0.072, 0.024, 0.809, 0.001, 0.001, 0.592, 0.047, 0.116, -0.01],
            [0.072, 0.059, 0.063, 1.43, 0.001, -0.003, -0.985, 0.13, -0.186, -0.517],
            [0.03, 0.069, 0.041, 1.57, -0.003, 0.0, 1.115, 0.146, 0.094, -0.515],
            [0.063, 0.052, 0.059, 0.882, 0.0, 0.002, 1.554, -0.099, -0.177, -0.427],
            [0.047, 0.063, 0.025, 1.04, 0.001, 0.002, -1.454, 0.078, -0.018, -0.108],
        ],
    );
}

#[test]
fn light_boxes_under_heavy_ones() {
    let head = "[simulation]\n\
         time_step = 0.01\n\
         [[contact]]\n\
         mu = 0.504\n\
         restitution = 0.21";
    steps(
        "two",
        head,
        3,
        &[
            [0.062, 0.022, 0.049, 0.00109, -0.003, 0.004, -1.546, 0.131, -0.191, 0.901],
            [0.026, 0.02, 0.023, 27.5, 0.005, 0.005, 0.888, -0.001, -0.103, 0.782],
        ],
    );
    let head = "[simulation]\n\
         time_step = 0.005\n\
         compliance = 0\n\
         [[contact]]\n\
         mu = 0.945\n\
         restitution = 0";
    steps(
        "four, rigid",
        head,
        3,
        &[
            [0.066, 0.05, 0.037, 0.0526, 0.001, -0.004, 0.836, -0.106, 0.084, -0.574],
            [0.03, 0.073, 0.023, 27.8, 0.002, -0.004, -0.17, 0.128, 0.019, -0.423],
            [0.037, 0.053, 0.076, 0.00217, -0.002, 0.004, 0.52, 0.135, 0.112, -0.427],
            [0.062, 0.069, 0.05, 327.0, -0.001, -0.001, 1.027, -0.123, 0.161, -0.058],
        ],
    );
    let head = "[simulation]\n\
         time_step = 0.005\n\
         compliance = 1e-6\n\
         baumgarte = 0\n\
         [[contact]]\n\
         mu = 1.222\n\
         restitution = 0";
    steps(
        "seven",
        head,
        3,
        &[
            [0.062, 0.056, 0.037, 26.9, -0.004, -0.004, 1.468, -0.126, 0.184, 0.446],
            [0.046, 0.068, 0.042, 0.00557, -0.003, -0.005, -1.164, 0.07, -0.083, 0.355],
            [0.072, 0.063, 0.07, 795.0, 0.003, -0.002, -1.16, 0.07, -0.174, -0.454],
            [0.052, 0.078, 0.027, 1.71, -0.003, -0.003, 1.517, 0.159, -0.096, -0.613],
            [0.044, 0.047, 0.077, 231.0, 0.0, 0.004, 0.449, -0.019, 0.154, -0.609],
            [0.08, 0.061, 0.022, 0.0137, 0.0, 0.0, 1.541, -0.11, -0.081, -0.192],
            [0.044, 0.021, 0.064, 3.81, 0.005, -0.005, -1.06, 0.112, 0.009, 0.68],
        ],
    );
    let head = "[simulation]\n\
         time_step = 0.005\n\
         compliance = 0\n\
         [[contact]]\n\
         mu = 0.319\n\
         restitution = 0";
    steps(
        "seven, rigid",
        head,
        3,
        &[
            [0.037, 0.051, 0.062, 0.048, -0.002, 0.001, -0.9, 0.187, -0.07, 0.245],
            [0.036, 0.063, 0.024, 209.0, -0.002, -0.003, 0.651, 0.136, 0.128, -0.434],
            [0.069, 0.076, 0.074, 1.95, -0.002, 0.003, -0.606, 0.038, -0.038, 0.181],
            [0.061, 0.063, 0.056, 57.4, -0.003, -0.004, 0.181, 0.144, -0.082, 0.837],
            [0.044, 0.048, 0.068, 0.271, -0.004, -0.002, -0.003, -0.135, 0.02, 0.28],
            [0.066, 0.075, 0.027, 0.00109, 0.001, -0.002, -0.01, 0.185, 0.0, 0.599],
            [0.059, 0.025, 0.073, 249.0, -0.004, 0.004, 1.536, 0.165, -0.046, -0.468],
        ],
    );
}

#[test]
fn a_million_to_one() {
    let head = "[simulation]\ntime_step = 0.005\n[[contact]]\nmu = 0.5\nrestitution = 0";
    let heavy = |x| [0.05, 0.04, 0.03, 1e3, x, 0.002, 0.3, 0.1, -0.05, 0.4];
    let light = |x| [0.06, 0.03, 0.02, 1e-3, x, -0.001, -0.2, -0.1, 0.07, -0.5];
    steps("heavy on light", head, 20, &[light(0.001), heavy(0.0)]);
    steps("light on heavy", head, 20, &[heavy(0.0), light(0.001)]);
    steps("light between heavy", head, 20, &[heavy(0.0), light(0.001), heavy(-0.002)]);
    steps("heavy on two light", head, 20, &[light(0.0), light(0.001), heavy(-0.002)]);
}
