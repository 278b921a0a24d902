//! The state a window starts from.

use nalgebra::DMatrix;

use super::recorded_state::recorded;
use super::start_in_flight::{LEAST_FRAMES, in_flight, seen_in_flight};
use crate::identify::data::{Dataset, Window};
use crate::identify::experiment::{Experiment, InitialState, Noise};
use crate::model::Joint;
use crate::state::{NQ, NV, State};

/// Frames that a smoothed start is taken from.
const SMOOTHED_FRAMES: usize = 24;
/// Largest distance of a parabola from the frames it smooths, root mean square in standard deviations.
const SMOOTH: f64 = 1.5;

/// The state that the simulation of a window starts from, as the experiment asks for it ([`InitialState`]): the
/// recorded one, the one whose flight fits the frames before the first contact, or one to begin the fit of initial
/// states with. What is computed goes by the scene's own parameters.
pub fn initial_state(experiment: &Experiment, dataset: &Dataset, window: &Window) -> State<f64> {
    let at = (window.trajectory, window.first);
    let parameters = &experiment.scene.parameters;
    let by_masks = !dataset.masks.is_empty();
    let flight = || match by_masks {
        true => seen_in_flight(experiment, dataset, parameters, window),
        false => in_flight(experiment, dataset, parameters, at, window.steps),
    };
    let found = match experiment.initial_state {
        InitialState::Recorded => None,
        InitialState::Flight => flight(),
        InitialState::Fitted if by_masks => flight(),
        InitialState::Fitted => flight().or_else(|| smoothed(experiment, dataset, window)),
    };
    let recorded = || recorded(experiment, dataset, at);
    let Some(mut state) = found else { return recorded() };
    // What is led starts where it was seen.
    let model = &experiment.scene.model;
    if model.bodies.iter().any(|body| body.joint.prescribed) {
        let recorded = recorded();
        for joint in model.bodies.iter().map(|body| &body.joint).filter(|joint| joint.prescribed) {
            let (q, v) = (joint.q..joint.q + NQ, joint.v..joint.v + NV);
            state.q[q.clone()].copy_from_slice(&recorded.q[q]);
            state.v[v.clone()].copy_from_slice(&recorded.v[v]);
        }
    }
    state
}

/// Parabolas through the first frames, of which single ones and their differences are noisy: as many as they come
/// near to. Nothing if there are too few.
fn smoothed(experiment: &Experiment, dataset: &Dataset, window: &Window) -> Option<State<f64>> {
    let mut count = (window.steps + 1).min(SMOOTHED_FRAMES);
    while count >= LEAST_FRAMES {
        let fewer = if count > LEAST_FRAMES { (count / 2).max(LEAST_FRAMES) } else { 0 };
        // Where frames are few enough, the smoothest there is.
        let limit = if fewer == 0 { f64::INFINITY } else { SMOOTH };
        let at = (window.trajectory, window.first);
        if let Some(state) = parabolas(experiment, dataset, at, count, limit) {
            return Some(state);
        }
        count = fewer;
    }
    None
}

/// Parabolas through positions and rotation vectors of `count` frames; nothing if they miss the frames of
/// a coordinate by more than `limit` standard deviations.
fn parabolas(
    experiment: &Experiment,
    dataset: &Dataset,
    (index, first): (usize, usize),
    count: usize,
    limit: f64,
) -> Option<State<f64>> {
    let model = &experiment.scene.model;
    let trajectory = &dataset.trajectories[index];
    let frames = trajectory.states.get(first..first + count)?;
    let origin = trajectory.times[first];
    let design = DMatrix::from_fn(count, 3, |i, power| {
        (trajectory.times[first + i] - origin).powi(power as i32)
    });
    let inverse = design.clone().pseudo_inverse(1e-14).ok()?;
    let reference = &frames[0];
    let away: Vec<Vec<f64>> =
        frames.iter().map(|frame| frame.difference(model.coordinates(), reference)).collect();
    let nv = reference.v.len();
    let away = DMatrix::from_fn(count, nv, |i, k| away[i][k]);
    let fit = inverse * &away;
    let missed = design * &fit - away;
    let mut state = reference.clone();
    let mut tangent: Vec<f64> = fit.row(0).iter().copied().collect();
    tangent.resize(2 * nv, 0.0);
    state = state.moved(model.coordinates(), &tangent);
    for (index, body) in model.bodies.iter().enumerate() {
        let joint = &body.joint;
        let noise = experiment.joint_noise.get(&index).unwrap_or(&experiment.noise);
        for k in 0..joint.kind.nv() {
            if !trajectory.recorded.knows_configuration(joint, k) {
                continue;
            }
            let column = joint.v + k;
            let size = missed.column(column).norm() / (count as f64).sqrt();
            if size > limit * deviation(joint, k, noise) {
                return None;
            }
            // The slope half a step before the frame, where the velocities of the integrator are.
            state.v[column] = fit[(1, column)] - fit[(2, column)] * dataset.settings.time_step;
        }
    }
    Some(state)
}

/// The standard deviation of what velocity `k` of a joint moves.
fn deviation(joint: &Joint, k: usize, noise: &Noise) -> f64 {
    if k < joint.kind.translations() { noise.position } else { noise.rotation }
}
