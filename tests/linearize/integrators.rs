//! Jacobians of steps by the integrators that are not the default, from the structure of the step, against duals through
//! all of it.

use stiction::linearize::{JacobianWorkspace, Selection, StepJacobian, step_jacobian};
use stiction::model::{Integrator, Scene};
use stiction::simulation::Rollout;

use super::adjoint;
use super::loops::{SETTINGS, four_bar};
use super::scenes::{MIXED, compare};

const INTEGRATORS: [Integrator; 4] =
    [Integrator::Implicit, Integrator::ImplicitFast, Integrator::RungeKutta, Integrator::Bdf1];

/// How many columns of A and B of the steps of a scene have something on duals.
pub fn dual_columns(scene: &Scene, steps: usize) -> usize {
    let system = scene.system();
    let inputs: Vec<usize> = (0..scene.model.nv() + scene.model.nu()).collect();
    let selection = Selection { inputs: &inputs, parameters: &[] };
    let (mut workspace, mut result) = (JacobianWorkspace::default(), StepJacobian::default());
    let mut rollout = Rollout::new(system, scene.state.clone());
    let mut count = 0;
    for _ in 0..steps {
        let mut memory = rollout.memory.clone();
        let (state, u) = (&rollout.state, &scene.inputs);
        step_jacobian(&system, state, u, selection, &mut memory, &mut workspace, &mut result);
        count += result.dual_columns;
        rollout.step(u);
    }
    count
}

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
            assert_eq!(dual_columns(&scene, 30), 0, "{integrator:?} {k}");
            let tally = adjoint::compare(motor, &scene, 30, 0.2);
            assert!(tally.recorded == 0 && tally.structured > 20, "{integrator:?}: {tally:?}");
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
        let staged = integrator == Integrator::RungeKutta;
        let columns = if staged { 3 * 3 * scene.model.nv() } else { 0 };
        assert_eq!(dual_columns(&scene, 3), columns, "{integrator:?}");
        let tally = adjoint::compare("loop", &scene, 30, 0.2);
        assert!(tally.recorded == 0 && tally.structured > 20, "{integrator:?}: {tally:?}");
    }
}

/// A chain of 24 hinges that swings down to the floor: its velocities are many, its rows few, so that it is solved in another
/// way than [chains that lie](crate::truth::scenes::chains).
#[test]
fn a_large_tree_that_touches_at_few_points() {
    let link = |k: usize| {
        let place = match k {
            0 => "position = [0, 0, 1.52]".to_string(),
            _ => format!("parent = 'link{}'\nposition = [0, 0, -0.1]", k - 1),
        };
        let axis = if k.is_multiple_of(2) { [1, 0, 0] } else { [0, 1, 0] };
        let angle = if k < 15 { 0.02 } else { 0.35 };
        format!(
            "[[body]]\nname = 'link{k}'\n{place}\nmass = 0.1\ncenter_of_mass = [0, 0, -0.05]\ninertia = [1e-4, 1e-4, 2e-5]\n\
             joint = {{ type = 'revolute', axis = {axis:?}, damping = 2e-3, q = {angle} }}\n\
             [[body.shape]]\nsphere = 0.03\nposition = [0, 0, -0.05]\n"
        )
    };
    let text = format!(
        "{SETTINGS}[[half_space]]\nname = 'floor'\nnormal = [0, 0, 1]\noffset = -0.5\n[[contact]]\nmu = 0.5\n{}",
        (0..24).map(link).collect::<String>()
    );
    let mut scene = Scene::parse(&text, "chain.toml").unwrap_or_else(|error| panic!("{error}"));
    let mut rollout = Rollout::new(scene.system(), scene.state.clone());
    let (mut most, mut landing) = (0, None);
    for _ in 0..200 {
        let before = rollout.state.clone();
        assert_eq!(rollout.step(&scene.inputs).unsolved, 0);
        let count = rollout.workspace.contacts().count();
        most = most.max(count);
        if count > 0 {
            landing.get_or_insert(before);
        }
    }
    assert!((2..8).contains(&most), "{most}");
    scene.state = landing.unwrap();
    let (compared, seen) = compare(&scene, 20);
    println!("{compared} steps, {seen:?}");
    assert!(compared > 15 && seen.len() > 1, "{compared}, {seen:?}");
    assert_eq!(dual_columns(&scene, 20), 0);
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
        assert_eq!(dual_columns(&scene, 100), 0, "{integrator:?}");
        let tally = adjoint::compare("mixed", &scene, 50, 0.2);
        assert!(tally.recorded == 0 && tally.structured > 45, "{integrator:?}: {tally:?}");
    }
}
