//! Jacobians of steps by the integrators that are not the default, from the structure of the step, against duals through
//! all of it.

use stiction::model::{Integrator, Scene};

use super::loops::{SETTINGS, four_bar};
use super::scenes::{MIXED, compare};

const INTEGRATORS: [Integrator; 2] = [Integrator::Implicit, Integrator::RungeKutta];

/// A floating robot that falls, turns, lands and stands, with motors without stiffness, at the limits of their force, and
/// stiff; another tree beside it that nothing touches.
#[test]
fn a_robot_that_is_thrown() {
    let quadruped = include_str!("../../examples/ilqr/quadruped.toml");
    let motors = [
        "",
        "[[actuator]]\nname = 'knee'\njoint = 'fl_knee'\ntype = 'position'\nkp = 30\nkd = 0.5\ngear = 2\n",
        "[[actuator]]\nname = 'knee'\njoint = 'fl_knee'\ntype = 'position'\nkp = 30\nkd = 0.5\nforce_range = [-0.1, 0.1]\n",
        "[[actuator]]\nname = 'knee'\njoint = 'fl_knee'\ntype = 'velocity'\nkd = 3\n",
    ];
    let pendulum = "[[body]]\nname = 'pendulum'\nposition = [0, 2, 1]\nmass = 1\ninertia = 0.01\n\
                    center_of_mass = [0, 0.02, -0.3]\n\
                    joint = { type = 'ball', damping = 0.05, v = [2, -1, 4] }\n";
    for integrator in INTEGRATORS {
        for (k, motor) in motors.into_iter().enumerate() {
            let text = format!("{quadruped}\n{pendulum}\n{motor}");
            let mut scene = Scene::parse(&text, "quadruped.toml").unwrap();
            scene.settings.integrator = integrator;
            scene.settings.tolerance = 1e-12;
            // From 5 cm above the floor.
            scene.state.q[2] += 0.05;
            for (j, v) in scene.state.v.iter_mut().enumerate() {
                *v += 0.3 * (1.0 + j as f64).sin();
            }
            let (compared, seen) = compare(&scene, 30);
            println!("{integrator:?} {k}: {compared} steps, {seen:?}");
            assert!(compared > 20, "{integrator:?} {k}: {compared}, {seen:?}");
            assert!(!seen.is_empty(), "{integrator:?} {k}: nothing touched");
        }
    }
}

/// Loops that steps close after them, with the linearly implicit step; by stages there is another way.
#[test]
fn a_loop_that_is_closed() {
    let text = SETTINGS.to_string() + &four_bar("");
    for integrator in INTEGRATORS {
        let mut scene = Scene::parse(&text, "loop.toml").unwrap();
        scene.settings.integrator = integrator;
        let (compared, _) = compare(&scene, 30);
        assert!(compared > 20, "{integrator:?}: {compared}");
    }
}

/// All kinds of joints, contacts of all kinds and a lone body.
#[test]
fn mixed_trees() {
    for integrator in INTEGRATORS {
        let mut scene = Scene::parse(MIXED, "mixed.toml").unwrap();
        scene.settings.integrator = integrator;
        let (compared, seen) = compare(&scene, 100);
        println!("{integrator:?}: {compared} steps, {seen:?}");
        assert!(compared > 50 && seen.len() > 1, "{integrator:?}: {compared}, {seen:?}");
    }
}
