//! The state a window starts from.

use nalgebra::{DMatrix, Vector3};

use super::Experiment;
use crate::collision::Detection;
use crate::dynamics::FreeBody;
use crate::model::{Settings, System};
use crate::simulation::Trajectory;
use crate::spatial::{conjugate, exp, log, normalized, product};
use crate::state::{NQ, NV, State};

/// The recorded state. In flight, the velocity is moved from the time it belongs to, `velocity_lag`
/// before the frame, to the time the integrator's velocities belong to, half a step before it: with
/// q+ = q + dt v+ a parabola is followed exactly by velocities at half steps.
pub(super) fn recorded(
    experiment: &Experiment,
    settings: &Settings,
    trajectory: &Trajectory,
    frame: usize,
) -> State<f64> {
    let mut state = trajectory.states[frame].clone();
    let late = experiment.velocity_lag - 0.5 * settings.time_step;
    if experiment.velocity_lag == 0.0 || late == 0.0 {
        return state;
    }
    let parameters = &experiment.scene.parameters;
    // Whether a body is in flight is a question about the whole lag.
    let lag = Settings { time_step: experiment.velocity_lag.abs(), ..*settings };
    let system = System { model: &experiment.scene.model, parameters, settings: &lag };
    let gravity = parameters.gravity();
    let free = |body| FreeBody::new(parameters, &state, body, &[0.0; NV], lag.time_step);
    let free: Vec<_> = (0..state.bodies()).map(free).collect();
    let mut points = Vec::new();
    Detection::default().points(&system, &free, &mut points);
    for body in 0..state.bodies() {
        let touches = |other| points.iter().any(|p| p.near && p.bodies().any(|b| b == other));
        if !touches(body) {
            for k in 0..3 {
                state.v[NV * body + k] += gravity[k] * late;
            }
        }
    }
    state
}

/// Frames that a smoothed start is taken from.
const SMOOTHED_FRAMES: usize = 24;

/// A start for a fitted initial state: parabolas through the first frames' positions and rotation
/// vectors, since single frames and their differences are noisy.
pub(super) fn smoothed(trajectory: &Trajectory, first: usize, steps: usize) -> State<f64> {
    let mut state = trajectory.states[first].clone();
    let count = (steps + 1).min(SMOOTHED_FRAMES);
    // A parabola through few frames is worse than their differences.
    if count < 6 {
        return state;
    }
    let frames = &trajectory.states[first..first + count];
    let origin = trajectory.times[first];
    let design = DMatrix::from_fn(count, 3, |i, power| {
        (trajectory.times[first + i] - origin).powi(power as i32)
    });
    let Ok(inverse) = design.pseudo_inverse(1e-14) else { return state };
    for body in 0..state.bodies() {
        let reference = state.orientation(body);
        let samples = DMatrix::from_fn(count, NV, |i, k| {
            let turn = product(conjugate(reference), frames[i].orientation(body));
            if k < 3 { frames[i].q[NQ * body + k] } else { log(turn)[k - 3] }
        });
        let fit = &inverse * samples;
        for k in 0..3 {
            state.q[NQ * body + k] = fit[(0, k)];
        }
        let turn = Vector3::new(fit[(0, 3)], fit[(0, 4)], fit[(0, 5)]);
        let orientation = normalized(product(reference, exp(turn)));
        state.q[NQ * body + 3..NQ * (body + 1)].copy_from_slice(&orientation);
        for k in 0..NV {
            state.v[NV * body + k] = fit[(1, k)];
        }
    }
    state
}
