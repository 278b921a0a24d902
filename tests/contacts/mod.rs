//! Contact between bodies, and the laws and solvers to choose from.

mod collisions;
mod degenerate;
mod gradients;
mod impacts;
mod islands;
mod many;
mod random_scenes;
mod regimes;
mod rest;
mod scenes;
mod solvers;
mod threads;
mod thrown;

use stiction::ad::Real;
use stiction::model::{Parameters, Scene};
use stiction::simulation::Rollout;
use stiction::state::State;

use crate::scenes::{FLOOR, scene};

/// The acceleration of gravity in all scenes here, m/s².
const G: f64 = 9.81;

/// A scene with a floor and `simulation` settings, followed by `rest`.
fn on_floor(simulation: &str, rest: &str) -> Scene {
    scene(&format!(
        "[simulation]
         {simulation}
         {FLOOR}
         {rest}"
    ))
}

fn rollout<'a>(scene: &'a Scene) -> Rollout<'a, f64> {
    let state = &scene.state;
    Rollout::new(scene.system(), state.clone())
}

/// The state after `steps` steps with these parameters and this start.
fn final_state<T: Real>(
    scene: &Scene,
    parameters: &Parameters<T>,
    start: State<T>,
    steps: usize,
) -> State<T> {
    let system = scene.system_with(parameters);
    let mut rollout = Rollout::new(system, start);
    let inputs: Vec<T> = scene.inputs.iter().map(|&x| T::constant(x)).collect();
    rollout.advance(steps, &inputs);
    assert_eq!(rollout.report.unsolved, 0, "{:?}", rollout.report);
    rollout.state
}

/// Cubes of 0.1 m on top of each other on a floor, the masses from below.
fn stack(masses: &[f64], mu: f64, dt: f64) -> Scene {
    let cube = |(k, mass): (usize, &f64)| {
        format!(
            "[[body]]
             name = 'cube{k}'
             mass = {mass:?}
             shape = {{ box = [0.05, 0.05, 0.05] }}
             position = [0, 0, {:?}]\n",
            0.05 + 0.1 * k as f64
        )
    };
    let cubes: String = masses.iter().enumerate().map(cube).collect();
    on_floor(&format!("time_step = {dt:?}"), &format!("[[contact]]\nmu = {mu:?}\n{cubes}"))
}

/// The impulse on the second body of each pair in the last step, summed over its points.
fn impulses(rollout: &Rollout<f64>, scene: &Scene, pair: &str) -> [f64; 3] {
    let index = scene.model.pairs.iter().position(|p| p.name == pair).unwrap();
    let own = rollout.workspace.contacts().filter(|contact| contact.pair == index);
    own.fold([0.0; 3], |sum, contact| std::array::from_fn(|k| sum[k] + contact.impulse[k]))
}
