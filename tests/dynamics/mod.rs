//! Kinematics, forces and accelerations of trees of joints, and their derivatives.

mod allocations;
mod closed_forms;
mod derivatives;
mod inertial;
mod models;
mod node;
mod particles;
mod pinocchio;
mod runge_kutta;
mod singular;
mod solves;

use proptest::test_runner::Config;
use stiction::dynamics::{Aba, Kinematics, Rnea, forward_dynamics, inverse_dynamics};
use stiction::model::{Model, Parameters};
use stiction::state::State;

use stiction::ad::Real;

/// So many random cases. What fails is kept by hand, as a test of its own: nothing is written to files.
fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// The largest difference of two arrays, as part of the largest entry of `expected` or of 1.
fn difference(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let scale = expected.iter().fold(1.0, |most: f64, x| most.max(x.abs()));
    let differences = || found.iter().zip(expected).map(|(a, b)| (a - b).abs() / scale);
    // `max` would drop what is not a number.
    if differences().any(f64::is_nan) { f64::NAN } else { differences().fold(0.0, f64::max) }
}

#[track_caller]
fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, what: &str) {
    let difference = difference(found, expected);
    assert!(difference <= tolerance, "{what}: {difference:e}\n{found:?}\n{expected:?}");
}

fn forces_of<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    acceleration: &[T],
) -> Vec<T> {
    let kinematics = Kinematics::new(model, parameters, state);
    let mut forces = vec![T::zero(); model.nv()];
    let mut scratch = Rnea::default();
    inverse_dynamics(model, parameters, &kinematics, acceleration, &mut scratch, &mut forces);
    forces
}

fn accelerations_of<T: Real>(
    model: &Model,
    parameters: &Parameters<T>,
    state: &State<T>,
    forces: &[T],
) -> Vec<T> {
    let kinematics = Kinematics::new(model, parameters, state);
    let mut acceleration = vec![T::zero(); model.nv()];
    forward_dynamics(
        model,
        parameters,
        &kinematics,
        forces,
        None,
        &mut Aba::default(),
        &mut acceleration,
    )
    .unwrap();
    acceleration
}
