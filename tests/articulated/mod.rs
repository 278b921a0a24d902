//! Bodies joined by joints.

mod backward;
mod bouncing;
mod closed_forms;
mod gradients;
mod holds;
mod joints;
mod loops;
#[cfg(feature = "cli")]
mod robots;
mod scenes;
mod smooth;

use stiction::model::{Scene, System};
use stiction::simulation::Rollout;

use crate::scenes::scene as parse;

fn system(scene: &Scene) -> System<'_, f64> {
    scene.system()
}

fn rollout(scene: &Scene) -> Rollout<'_, f64> {
    Rollout::new(system(scene), scene.state.clone())
}

/// Runs a scene for `steps` steps; every contact problem must be solved.
fn run(scene: &Scene, steps: usize) -> Rollout<'_, f64> {
    let mut rollout = rollout(scene);
    rollout.advance(steps, &scene.inputs);
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    rollout
}

/// The body of a name.
fn body(scene: &Scene, name: &str) -> usize {
    scene.model.bodies.iter().position(|body| body.name == name).unwrap()
}
