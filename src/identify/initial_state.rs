//! The state a window starts from.

use nalgebra::DMatrix;

use super::Experiment;
use crate::collision::Detection;
use crate::dynamics::FreeMotion;
use crate::model::{JointKind, Model, Settings, System};
use crate::simulation::Trajectory;
use crate::state::State;

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
    let model = system.model;
    let mut motion = FreeMotion::default();
    let still = vec![0.0; model.nv() + model.nu()];
    motion.start(&system, &state, &still, lag.time_step);
    let mut points = Vec::new();
    Detection::default().points(&system, &motion, &mut points);
    for (index, tree) in model.trees.iter().enumerate() {
        let touches = points.iter().any(|p| p.near && p.trees(&motion).contains(&Some(index)));
        let root = &model.bodies[tree.bodies[0]].joint;
        if !touches && root.kind == JointKind::Free {
            for k in 0..3 {
                state.v[root.v + k] += gravity[k] * late;
            }
        }
    }
    state
}

/// Frames that a smoothed start is taken from.
const SMOOTHED_FRAMES: usize = 24;

/// A start for a fitted initial state: parabolas through the first frames' positions and rotation
/// vectors, since single frames and their differences are noisy.
pub(super) fn smoothed(
    model: &Model,
    trajectory: &Trajectory,
    first: usize,
    steps: usize,
) -> State<f64> {
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
    let reference = state.clone();
    let away: Vec<Vec<f64>> =
        frames.iter().map(|frame| frame.difference(model.coordinates(), &reference)).collect();
    let nv = state.v.len();
    let fit = inverse * DMatrix::from_fn(count, nv, |i, k| away[i][k]);
    let mut tangent: Vec<f64> = fit.row(0).iter().copied().collect();
    tangent.resize(2 * nv, 0.0);
    state = state.moved(model.coordinates(), &tangent);
    for joint in model.bodies.iter().map(|body| &body.joint) {
        for k in 0..joint.kind.nv() {
            if trajectory.recorded.knows_configuration(joint, k) {
                state.v[joint.v + k] = fit[(1, joint.v + k)];
            }
        }
    }
    state
}
