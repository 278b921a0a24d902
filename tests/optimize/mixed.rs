//! Tasks on soft bodies and rigid ones beside them.

use stiction::identify::Outcome;
use stiction::optimize::{Optimum, Task, optimize};
use stiction::soft::SoftRollout;

use super::soft::differences_agree;
use crate::differences::central;
use crate::folder::Folder;

const SCENE: &str = include_str!("../../examples/soft_push/scene.toml");

const TASK: &str = "scene = 'scene.toml'
duration = 0.3
[[variable]]
name = 'motor/u'
knots = 4
initial = [-0.06, -0.1, -0.02, 0.03]
[[variable]]
name = 'block/velocity_y'
initial = 0.03
scale = 0.1
[[variable]]
name = 'arm/v'
scale = 0.1
[[objective]]
body = 'block'
point = 'surface'
target = [0.03, 0, 0.06]
from = 0.2
[[objective]]
body = 'box'
target = [0.02, 0, 0]
axes = ['x', 'y']
[[objective]]
body = 'arm'
point = [0, 0, -0.06]
target = [0, 0, 0.03]
from = 0.28
[[objective]]
body = 'box'
from_point = [0.06, 0, 0]
to_point = 'centre'
direction = [-1, 0, 0]
weight = 0.1
[[objective]]
effort = 'motor/u'
weight = 0.02
";

fn folder(name: &str, task: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("scene.toml", &SCENE.replace("[simulation]", "[simulation]\ntolerance = 1e-12"));
    folder.write("task.toml", task);
    folder
}

#[test]
fn gradients_and_jacobians_are_those_of_differences() {
    let folder = folder("mixed-task", TASK);
    let task = Task::load(folder.path("task.toml")).unwrap();
    let x = task.start();
    assert_eq!(x.len(), 6);
    let (evaluated, jacobian) = task.jacobian(&x).unwrap();
    let (own, steps) = (task.evaluate(&x), task.steps);
    assert_eq!((evaluated.unsolved, own.unsolved, steps), (0, 0, 75));
    assert_eq!(evaluated.residuals.len(), 3 * 26 + 2 + 3 * 6 + 3 + 75);
    let largest = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let off: Vec<f64> =
        own.residuals.iter().zip(&evaluated.residuals).map(|(a, b)| a - b).collect();
    assert!(largest(&off) < 1e-12);
    // The arm has met the block, and that has moved the box.
    assert!(largest(jacobian.row(78).columns(0, 4).transpose().as_slice()) > 1e-3, "{jacobian}");
    let (cost, _) = task.gradient(&x).unwrap();
    assert!((cost - own.cost).abs() < 1e-12 * cost);
    differences_agree(&task, 1e-7, 0.0);
}

/// What is searched for is found again, from elsewhere; and what it is in each step drives the scene there.
#[test]
fn a_motor_brings_a_box_where_it_was_by_what_it_pushes() {
    let variable = "[[variable]]\nname = 'motor/u'\nknots = 2\n";
    let objective = "[[objective]]\nbody = 'box'\npoint = [0, 0, 0.02]\naxes = ['x']\n";
    let task = |initial: [f64; 2], target: f64| {
        let text = format!(
            "scene = 'scene.toml'\nduration = 0.3\n{variable}initial = {initial:?}\n{objective}target = [{target:?}, 0, 0]\n"
        );
        let folder = folder("mixed-search", &text);
        Task::load(folder.path("task.toml")).unwrap()
    };
    let truth = task([-0.07, -0.05], 0.0);
    let there = truth.evaluate(&truth.start()).residuals[0];
    let start = task([-0.06, -0.06], there);
    assert!(start.evaluate(&start.start()).residuals[0].abs() > 1e-4);
    let found = optimize(&start, &mut |_, _, _, _| true).unwrap();
    assert!(found.evaluated.residuals[0].abs() < 1e-10, "{found:?}");
    let inputs = start.inputs(&found.x);
    assert_eq!((inputs.len(), inputs[0].0.as_str(), inputs[0].1.len()), (1, "motor/u", 75));
    let scene = start.soft_scene(&found.x).unwrap();
    let mut plain = scene.clone();
    plain.schedules.clear();
    let mut driven = SoftRollout::new(&plain);
    let motor = driven.scene().rigid.as_deref().unwrap().model.input_names();
    let motor = motor.iter().position(|name| name == "motor/u").unwrap();
    for u in &inputs[0].1 {
        driven.rigid_inputs().unwrap()[motor] = *u;
        driven.step();
    }
    let end = driven.rigid_state().unwrap();
    let box_x = 0.02f64.mul_add(2.0 * (end.q[3] * end.q[5] + end.q[4] * end.q[6]), end.q[0]);
    assert!((box_x - there).abs() < 1e-10, "{box_x} {there}");
    // The knots are at the first and the last step.
    assert!((inputs[0].1[0] - found.x[0]).abs() < 1e-15);
    assert!((inputs[0].1[74] - found.x[1]).abs() < 1e-15);
}

/// Of a body of an example at the end of a task, and of the search.
fn example(name: &str, scene: &str, task: &str) -> (Task, Optimum) {
    let folder = Folder::new(name);
    folder.write("scene.toml", scene);
    folder.write("task.toml", task);
    let task = Task::load(folder.path("task.toml")).unwrap();
    let found = optimize(&task, &mut |_, _, _, _| true).unwrap();
    assert_eq!((found.outcome, found.evaluated.unsolved), (Outcome::Converged, 0), "{found:?}");
    (task, found)
}

/// How often the first soft body comes to the floor after it has left what carried it up, and the heights at which it turns there.
fn bounces(task: &Task, x: &[f64]) -> Vec<f64> {
    let scene = task.soft_scene(x).unwrap();
    let floor = scene.touched().position(|name| name == "floor").unwrap();
    let all = scene.touched().count();
    let record = scene.record(task.steps);
    let mut touches = Vec::new();
    let mut last = false;
    for states in &record.states {
        let low = scene.bodies[0].mean(&states[0].position)[2];
        let body = &scene.bodies[0];
        let node = |k: usize| body.contacts[k].node;
        let pushed = (floor..body.contacts.len())
            .step_by(all)
            .any(|k| states[0].impulse[node(k)][2] > 0.0 && states[0].position[node(k)][2] < 0.01);
        if pushed && !last {
            touches.push(low);
        }
        last = pushed;
    }
    touches
}

/// `Geilinger20` 6.2: an arm with motors tosses a soft ball into a target after exactly one bounce.
#[test]
fn an_arm_tosses_a_soft_ball_into_a_target_after_one_bounce() {
    let (task, found) = example(
        "arm-toss",
        include_str!("../../examples/arm_toss/scene.toml"),
        include_str!("../../examples/arm_toss/task.toml"),
    );
    let miss = |residuals: &[f64]| residuals.iter().map(|r| r * r).sum::<f64>().sqrt();
    assert!(miss(&found.evaluated.residuals) < 0.002);
    assert!(miss(&task.evaluate(&task.start()).residuals) > 0.05);
    let touches = bounces(&task, &found.x);
    assert_eq!(touches.len(), 1, "{touches:?}");
}

/// A hand drags a soft box to where it is wanted, by friction alone.
#[test]
fn a_hand_drags_a_soft_box() {
    let (task, found) = example(
        "drag",
        include_str!("../../examples/soft_drag/scene.toml"),
        include_str!("../../examples/soft_drag/task.toml"),
    );
    let scene = task.soft_scene(&found.x).unwrap();
    let record = scene.record(task.steps);
    let (body, end) = (&scene.bodies[0], &record.states[task.steps][0]);
    assert!((body.mean(&end.position)[0] - 0.06).abs() < 1e-4);
    assert!(body.mean(&end.velocity)[0].abs() < 0.01, "it is at rest there");
    // It starts where nothing moves it.
    assert!(body.mean(&record.states[0][0].position)[0].abs() < 1e-15);
}

/// Four soft feet on legs whose motors give: the trot that the task begins with walks, and its first step changes as the adjoint says
/// along one direction of all knots.
#[test]
fn a_quadruped_walks_on_soft_feet() {
    let folder = Folder::new("feet");
    let text = include_str!("../../examples/soft_feet/scene.toml");
    folder.write("scene.toml", &text.replace("[simulation]", "[simulation]\ntolerance = 1e-12"));
    folder.write("task.toml", include_str!("../../examples/soft_feet/task.toml"));
    let mut task = Task::load(folder.path("task.toml")).unwrap();
    let start = task.start();
    assert_eq!((start.len(), task.steps), (152, 450));
    let scene = task.soft_scene(&start).unwrap();
    let mut rollout = SoftRollout::new(&scene);
    let mut in_air = [0; 4];
    for _ in 0..task.steps {
        assert_eq!(rollout.step().unsolved, 0);
        for (in_air, state) in in_air.iter_mut().zip(rollout.states()) {
            *in_air += usize::from(state.impulse.iter().all(|p| *p == [0.0; 3]));
        }
    }
    let walked = rollout.rigid_state().unwrap().q[0];
    assert!((0.4..0.5).contains(&walked), "{walked}");
    assert!(in_air.iter().all(|steps| (100..350).contains(steps)), "{in_air:?}");
    // The first step, of which differences see the derivative.
    task.steps = 75;
    task.variables.iter_mut().for_each(|variable| variable.initial.truncate(4));
    for objective in &mut task.objectives {
        (objective.period.first, objective.period.last) = (75, 75);
    }
    let start = task.start();
    let (_, gradient) = task.gradient(&start).unwrap();
    let along: Vec<f64> = (0..start.len()).map(|k| ((k * k) % 7) as f64 - 3.0).collect();
    let cost = |h: f64| {
        let x: Vec<f64> = start.iter().zip(&along).map(|(x, d)| x + h * d).collect();
        vec![task.evaluate(&x).cost]
    };
    let expected = central(1e-8, cost)[0];
    let found: f64 = gradient.iter().zip(&along).map(|(g, d)| g * d).sum();
    assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
}
