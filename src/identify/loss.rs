//! The distance between a simulation and a recording.

use super::{Dataset, InitialState, Noise, Window};
use crate::ad::Real;
use crate::model::{Joint, JointKind, Model, Parameters, System};
use crate::simulation::{Rollout, StepReport};
use crate::spatial::{conjugate, log, product};
use crate::state::State;

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
/// and free body position (3, in the world) and rotation vector from recorded to simulated (3, body
/// frame), of other joints their coordinates, then velocities where they have a weight; each over its
/// standard deviation.
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
        compare(measurement, &rollout.state, &recorded[window.first], residuals);
    }
    for there in recorded.iter().skip(window.first + 1).take(window.steps) {
        rollout.advance(dataset.substeps, &wrenches);
        compare(measurement, &rollout.state, there, residuals);
    }
    rollout.report
}

fn compare<T: Real>(
    measurement: &Measurement,
    simulated: &State<T>,
    recorded: &State<f64>,
    residuals: &mut Vec<T>,
) {
    let noise = measurement.noise;
    for Joint { kind, q, v, .. } in measurement.model.bodies.iter().map(|body| &body.joint) {
        let Some(coordinates) = kind.coordinates() else { continue };
        // A slide counts as a position, a hinge as an angle.
        let slides = *kind == JointKind::Prismatic;
        let (positions, sd) = match coordinates.quaternion() {
            Some((quaternion, _)) => (quaternion, noise.position),
            None if slides => (1, noise.position),
            None => (1, noise.rotation),
        };
        residuals.extend((*q..q + positions).map(|k| (simulated.q[k] - recorded.q[k]) / sd));
        if let Some((first, _)) = coordinates.quaternion() {
            let [w, x, y, z] = [0, 1, 2, 3].map(|k| q + first + k);
            let from = conjugate([w, x, y, z].map(|k| recorded.q[k])).map(T::constant);
            let turn = log(product(from, [w, x, y, z].map(|k| simulated.q[k])));
            residuals.extend(turn.iter().map(|&x| x / noise.rotation));
        }
        let linear = match coordinates.quaternion() {
            Some((_, turns)) => turns,
            None => usize::from(slides),
        };
        let velocities = [(0..linear, noise.velocity), (linear..kind.nv(), noise.angular_velocity)];
        for (range, weight) in velocities {
            let Some(sd) = weight else { continue };
            residuals.extend(range.map(|k| (simulated.v[v + k] - recorded.v[v + k]) / sd));
        }
    }
}
