//! The distance between a simulation and a recording.

use super::{Dataset, InitialState, Noise, Window};
use crate::ad::Real;
use crate::model::{Model, Parameters, System};
use crate::simulation::{Rollout, StepReport};
use crate::spatial::{conjugate, log, product};
use crate::state::{NQ, NV, State};

/// What residuals are made of besides parameters and initial state.
#[derive(Clone, Copy)]
pub struct Measurement<'a> {
    /// Bodies and contact pairs.
    pub model: &'a Model,
    /// Recordings.
    pub dataset: &'a Dataset,
    /// Weights.
    pub noise: &'a Noise,
    /// Applied wrenches, six numbers a body.
    pub wrenches: &'a [f64],
    /// Whether the first frame counts: it does where the state there is fitted.
    pub initial_state: InitialState,
}

/// Appends the residuals of a window, simulated from `initial` under `parameters`: for each frame
/// and body position (3, in the world) and rotation vector from recorded to simulated (3, body
/// frame), then velocities where they have a weight; each over its standard deviation.
///
/// Returns how the contact problems were solved.
pub fn residuals<T: Real>(
    measurement: &Measurement,
    window: &Window,
    parameters: &Parameters<T>,
    initial: &State<T>,
    residuals: &mut Vec<T>,
) -> StepReport {
    let dataset = measurement.dataset;
    let system = System { model: measurement.model, parameters, settings: &dataset.settings };
    let wrenches: Vec<T> = measurement.wrenches.iter().map(|&u| T::constant(u)).collect();
    let recorded = &dataset.trajectories[window.trajectory].states;
    let mut rollout = Rollout::new(system, initial.clone());
    if measurement.initial_state == InitialState::Fitted {
        compare(measurement.noise, &rollout.state, &recorded[window.first], residuals);
    }
    for there in &recorded[window.first + 1..=window.first + window.steps] {
        rollout.advance(dataset.substeps, &wrenches);
        compare(measurement.noise, &rollout.state, there, residuals);
    }
    rollout.report
}

fn compare<T: Real>(
    noise: &Noise,
    simulated: &State<T>,
    recorded: &State<f64>,
    residuals: &mut Vec<T>,
) {
    for body in 0..simulated.bodies() {
        for k in NQ * body..NQ * body + 3 {
            residuals.push((simulated.q[k] - recorded.q[k]) / noise.position);
        }
        let from = conjugate(recorded.orientation(body)).map(T::constant);
        let turn = log(product(from, simulated.orientation(body)));
        residuals.extend(turn.iter().map(|&x| x / noise.rotation));
        for (first, weight) in [(0, noise.velocity), (3, noise.angular_velocity)] {
            let Some(sd) = weight else { continue };
            for k in NV * body + first..NV * body + first + 3 {
                residuals.push((simulated.v[k] - recorded.v[k]) / sd);
            }
        }
    }
}
