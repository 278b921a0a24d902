//! Steps that are split at impacts: their Jacobians and adjoints come without duals or a tape through the whole step.

use stiction::model::Scene;
use stiction::simulation::Rollout;

use super::adjoint;
use super::loops::{compare_differences, compare_rows};
use crate::scenes::scene;

const SETTINGS: &str = "[simulation]
time_step = 0.01
tolerance = 1e-12
split_impacts = true
[[half_space]]
name = 'floor'
normal = [0.05, 0.02, 1]
[[contact]]
mu = 0.3
restitution = 0.7
";

fn ball(height: f64) -> String {
    format!(
        "[[body]]
        name = 'ball'
        mass = 0.4
        inertia = [2e-3, 1.8e-3, 2.2e-3]
        shape = {{ sphere = 0.1 }}
        center_of_mass = [0.01, 0.02, -0.01]
        position = [0, 0, {height:?}]
        velocity = [1, 0.3, 0]
        angular_velocity = [2, -3, 1]
        "
    )
}

fn crate_at(height: f64) -> String {
    format!(
        "[[body]]
        name = 'crate'
        mass = 0.7
        inertia = [2e-3, 3e-3, 4e-3, 1e-4, -3e-4, 5e-4]
        shape = {{ box = [0.1, 0.08, 0.05] }}
        position = [0, 0, {height:?}]
        orientation = [0.5, -0.5, 0.5, 0.5]
        velocity = [1, 0.3, 0]
        angular_velocity = [3, -2, 1]
        "
    )
}

/// Two balls that meet in the air, and bounce.
const PAIR: &str = "[[body]]
name = 'left'
mass = 0.4
shape = { sphere = 0.1 }
position = [-0.5, 0, 0.6]
velocity = [2, 0.1, 1]
angular_velocity = [2, -3, 1]
[[body]]
name = 'right'
mass = 0.9
shape = { sphere = 0.12 }
position = [0.5, 0.02, 0.7]
velocity = [-2, 0, 0.8]
";

/// A box slides on the floor into a wall.
const WALL: &str = "[[half_space]]
name = 'wall'
normal = [-1, 0.05, 0]
offset = -0.5
[[body]]
name = 'crate'
mass = 0.7
shape = { box = [0.1, 0.08, 0.05] }
position = [0.1, 0, 0.05]
velocity = [2.2, 0.2, 0]
";

fn scenes() -> Vec<(String, Scene)> {
    let mut texts = Vec::new();
    for height in [0.15, 0.3, 0.62] {
        texts.push((format!("ball from {height}"), ball(height)));
        texts.push((format!("crate from {height}"), crate_at(height)));
    }
    texts.push(("pair".to_string(), PAIR.to_string()));
    texts.push(("wall".to_string(), WALL.to_string()));
    texts.into_iter().map(|(name, text)| (name, scene(&(SETTINGS.to_string() + &text)))).collect()
}

#[test]
fn jacobians_of_split_steps_agree_with_duals_through_the_whole_step() {
    let mut all = 0;
    for (name, scene) in scenes() {
        let [compared, rebounds] = compare_rows(&name, &scene, 80, 0.05, 0.0);
        assert!(compared > 40, "{name}: {compared}");
        all += rebounds;
    }
    assert!(all > 15, "{all}");
}

#[test]
fn jacobians_of_split_steps_agree_with_differences() {
    for (name, scene) in scenes() {
        let mut rollout = Rollout::new(scene.system(), scene.state.clone());
        // To the step before the first impact.
        let struck = |rollout: &Rollout<f64>| {
            let mut ahead = Rollout::new(scene.system(), rollout.state.clone());
            let speed = ahead.state.v.clone();
            ahead.step(&scene.inputs);
            let change = ahead.state.v.iter().zip(&speed).map(|(a, b)| (a - b).abs());
            change.fold(0.0, f64::max) > 0.5
        };
        let steps = (0..80).take_while(|_| {
            let found = struck(&rollout);
            if !found {
                rollout.step(&scene.inputs);
            }
            !found
        });
        assert!(steps.count() < 80, "{name}: nothing strikes");
        compare_differences(&name, &scene, &rollout, (0, 1e-7));
    }
}

#[test]
fn adjoints_of_split_steps_are_products_with_their_jacobians() {
    for (name, scene) in scenes() {
        let tally = adjoint::compare(&name, &scene, 80, 0.05);
        assert!(tally.recorded == 0 && tally.structured > 40, "{name}: {tally:?}");
    }
}

#[test]
fn gradients_of_rollouts_of_split_steps_are_those_of_the_tape() {
    for (name, scene) in scenes() {
        assert_eq!(adjoint::compare_rollouts(&name, &scene, 40, 1e-7), 0, "{name}");
    }
}
