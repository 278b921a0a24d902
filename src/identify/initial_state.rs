//! The state a window starts from.

use nalgebra::{DMatrix, DVector};

use super::loss::{Measurement, residuals};
use super::{Dataset, Experiment, InitialState, Noise, Window};
use crate::ad::{self, Dual, LANES};
use crate::collision::Detection;
use crate::dynamics::FreeMotion;
use crate::model::{Integrator, Joint, JointKind, Parameters, Settings, System};
use crate::simulation::{StepMemory, Workspace, step};
use crate::state::State;
use crate::trajectory::Trajectory;

/// The recorded state. Of what nothing touches, the velocities are moved from the time they belong to,
/// `velocity_lag` before the frame, to the time those of the integrator belong to. That is half a step
/// before the frame: with q+ = q + dt v+ a parabola is followed exactly by velocities at half steps.
pub(super) fn recorded(
    experiment: &Experiment,
    settings: &Settings,
    trajectory: &Trajectory,
    frame: usize,
) -> State<f64> {
    let mut state = trajectory.states[frame].clone();
    if experiment.velocity_lag == 0.0 {
        return state;
    }
    // Whether something is in flight is a question about the whole lag.
    let lag = Settings { time_step: experiment.velocity_lag.abs(), ..*settings };
    let scene = &experiment.scene;
    let model = &scene.model;
    let system = System { model, parameters: &scene.parameters, settings: &lag };
    let touched = touched(&system, &state, &scene.wrenches);
    if touched.iter().all(|&touched| touched) {
        return state;
    }
    let mut after = state.clone();
    let (mut memory, mut workspace) = (StepMemory::default(), Workspace::default());
    step(&system, &state, &scene.wrenches, &mut memory, &mut workspace, &mut after);
    for (tree, _) in model.trees.iter().zip(touched).filter(|(_, touched)| !touched) {
        let at_frames = settings.integrator == Integrator::RungeKutta && !tree.lone;
        let own = if at_frames { 0.0 } else { 0.5 * settings.time_step };
        let late = (experiment.velocity_lag - own) / lag.time_step;
        for joint in tree.bodies.iter().map(|&body| &model.bodies[body].joint) {
            for k in (0..joint.kind.nv()).filter(|&k| trajectory.recorded.knows_velocity(joint, k))
            {
                let k = joint.v + k;
                let change = (after.v[k] - state.v[k]) * late;
                if change.is_finite() {
                    state.v[k] += change;
                }
            }
        }
    }
    state
}

/// Whether contact is near each tree within the time step of the settings.
fn touched(system: &System<f64>, state: &State<f64>, inputs: &[f64]) -> Vec<bool> {
    let mut motion = FreeMotion::default();
    motion.start(system, state, inputs, system.settings.time_step);
    let mut points = Vec::new();
    Detection::default().points(system, &motion, &mut points);
    let mut touched = vec![false; system.model.trees.len()];
    for tree in points.iter().filter(|p| p.near).flat_map(|p| p.trees(&motion)).flatten() {
        touched[tree] = true;
    }
    touched
}

/// A start from fewer frames than this is no better than the first of them.
const LEAST_FRAMES: usize = 6;
/// Frames that a smoothed start is taken from.
const SMOOTHED_FRAMES: usize = 24;
/// Largest distance of a parabola from the frames it smooths, root mean square in standard deviations.
const SMOOTH: f64 = 1.5;

/// A start for a fitted initial state, since single frames and their differences are noisy: the motion in
/// flight that fits the first frames, or parabolas through them.
pub(super) fn smoothed(
    experiment: &Experiment,
    dataset: &Dataset,
    (index, first): (usize, usize),
    steps: usize,
) -> State<f64> {
    let parameters = &experiment.scene.parameters;
    if let Some(state) = in_flight(experiment, dataset, parameters, (index, first), steps) {
        return state;
    }
    let trajectory = &dataset.trajectories[index];
    let mut count = (steps + 1).min(SMOOTHED_FRAMES);
    while count >= LEAST_FRAMES {
        let fewer = if count > LEAST_FRAMES { (count / 2).max(LEAST_FRAMES) } else { 0 };
        // Where frames are few enough, the smoothest there is.
        let limit = if fewer == 0 { f64::INFINITY } else { SMOOTH };
        if let Some(state) = parabolas(experiment, dataset, trajectory, (first, count), limit) {
            return state;
        }
        count = fewer;
    }
    recorded(experiment, &dataset.settings, trajectory, first)
}

/// The start in flight with the scene's own parameters, or the recorded one.
pub(super) fn flight_or_recorded(
    experiment: &Experiment,
    dataset: &Dataset,
    (index, first): (usize, usize),
    steps: usize,
) -> State<f64> {
    let parameters = &experiment.scene.parameters;
    let trajectory = &dataset.trajectories[index];
    in_flight(experiment, dataset, parameters, (index, first), steps)
        .unwrap_or_else(|| recorded(experiment, &dataset.settings, trajectory, first))
}

/// Parabolas through positions and rotation vectors of `count` frames; nothing if they miss the frames of
/// a coordinate by more than `limit` standard deviations.
fn parabolas(
    experiment: &Experiment,
    dataset: &Dataset,
    trajectory: &Trajectory,
    (first, count): (usize, usize),
    limit: f64,
) -> Option<State<f64>> {
    let model = &experiment.scene.model;
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
    let moves = match joint.kind {
        JointKind::Free => k < 3,
        JointKind::Prismatic => true,
        JointKind::Fixed | JointKind::Ball | JointKind::Revolute => false,
    };
    if moves { noise.position } else { noise.rotation }
}

/// Damping of the search for a start in flight at its beginning, and where it ends.
const DAMPING: f64 = 1e-3;
const MAX_DAMPING: f64 = 1e6;
const MAX_ITERATIONS: usize = 30;

/// The state at a frame (trajectory and frame) from which the motion under `parameters` up to the first
/// contact, of at most `steps` recorded steps, comes nearest to the recorded frames, in standard deviations
/// of the noise. Nothing if there are too few frames without contact.
pub(super) fn in_flight(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    (trajectory, first): (usize, usize),
    steps: usize,
) -> Option<State<f64>> {
    let scene = &experiment.scene;
    let recording = &dataset.trajectories[trajectory];
    let time_step = dataset.settings.time_step * dataset.substeps as f64;
    let settings = Settings { time_step, ..dataset.settings };
    let system = System { model: &scene.model, parameters, settings: &settings };
    let flies = |state: &&State<f64>| !touched(&system, state, &scene.wrenches).contains(&true);
    let count = recording.states[first..].iter().take(steps + 1).take_while(flies).count();
    if count < LEAST_FRAMES {
        return None;
    }
    let mut state = recorded(experiment, &dataset.settings, recording, first);
    let window = Window { trajectory, first, steps: count - 1, initial: state.clone() };
    let mut measurement = Measurement::new(experiment, dataset);
    measurement.initial_state = InitialState::Fitted;
    let cost = |state: &State<f64>| {
        let mut r = Vec::new();
        residuals(&measurement, &window, parameters, state, &mut r);
        0.5 * r.iter().map(|r| r * r).sum::<f64>()
    };
    let mut best = cost(&state);
    let mut damping = DAMPING;
    let unknowns = vec![0.0; 2 * scene.model.nv()];
    for _ in 0..MAX_ITERATIONS {
        let (r, j) = ad::jacobian::<LANES>(
            |z: &[Dual<f64, LANES>]| {
                let initial = state.cast().moved(scene.model.coordinates(), z);
                let mut r = Vec::new();
                residuals(&measurement, &window, &parameters.cast(), &initial, &mut r);
                r
            },
            &unknowns,
        );
        let (h, g) = (j.tr_mul(&j), j.tr_mul(&DVector::from_vec(r)));
        let floor = 1e-12 * h.diagonal().max();
        let before = best;
        while damping <= MAX_DAMPING {
            let mut damped = h.clone();
            for i in 0..h.nrows() {
                damped[(i, i)] += damping * h[(i, i)] + floor;
            }
            let step = damped.cholesky()?.solve(&-&g);
            let there = state.moved(scene.model.coordinates(), step.as_slice());
            let found = cost(&there);
            if found < best {
                (state, best) = (there, found);
                damping = (damping / 10.0).max(1e-12);
                break;
            }
            damping *= 10.0;
        }
        if before - best <= 1e-9 * before {
            break;
        }
    }
    best.is_finite().then_some(state)
}
