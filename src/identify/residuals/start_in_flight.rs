//! The start of a motion in flight, fitted to the frames before the first contact.

use nalgebra::DVector;

use super::measurement::{Measurement, residuals};
use super::recorded_state::{recorded, touched};
use super::replay::{StepInputs, replay};
use crate::ad::{self, Dual, LANES};
use crate::identify::data::{Dataset, Window};
use crate::identify::experiment::{Experiment, InitialState};
use crate::model::{Parameters, Settings, System};
use crate::state::State;

/// A start from fewer frames than this is no better than the first of them.
pub(super) const LEAST_FRAMES: usize = 6;
/// Steps of the shortest stretch of masks.
const LEAST_SEEN: usize = 3;

/// Damping of the search for a start in flight at its beginning, and where it ends.
const DAMPING: f64 = 1e-3;
const MAX_DAMPING: f64 = 1e6;
const MAX_ITERATIONS: usize = 30;

/// The state at a frame (trajectory and frame) from which the motion under `parameters` up to the first
/// contact, of at most `steps` recorded steps, comes nearest to the recorded frames, in standard deviations
/// of the noise. Nothing if there are too few frames without contact.
pub(crate) fn in_flight(
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
    let system = System { settings: &settings, ..scene.system_with(parameters) };
    let flies = |&(frame, state): &(usize, &State<f64>)| {
        !touches(&system, dataset, &scene.inputs, (trajectory, frame), state)
    };
    let frames = recording.states.iter().enumerate().skip(first);
    let count = frames.take(steps + 1).take_while(flies).count();
    if count < LEAST_FRAMES {
        return None;
    }
    let state = recorded(experiment, dataset, (trajectory, first));
    let window = Window { trajectory, first, steps: count - 1 };
    let mut measurement = Measurement::new(experiment, dataset);
    measurement.initial_state = InitialState::Fitted;
    nearest(&measurement, &window, parameters, state)
}

/// The same by masks: as many frames as the motion that was found flies over, more and more of them, first through a large blur.
/// Nothing if contact is near at once.
pub(super) fn seen_in_flight(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    window: &Window,
) -> Option<State<f64>> {
    let Window { trajectory, first, steps } = *window;
    let mut measurement = Measurement::new(experiment, dataset);
    measurement.initial_state = InitialState::Fitted;
    let mut state = recorded(experiment, dataset, (trajectory, first));
    let mut steps_taken = 0;
    let mut wanted = LEAST_SEEN.min(steps);
    loop {
        let part = Window { steps: wanted, ..*window };
        let flown = steps_in_flight(&measurement, parameters, &part, &state);
        if flown <= steps_taken {
            break;
        }
        steps_taken = flown;
        measurement.blur = 0;
        state = nearest(&measurement, &Window { steps: flown, ..*window }, parameters, state)?;
        if flown < wanted || wanted == steps {
            break;
        }
        wanted = (2 * wanted).min(steps);
    }
    if steps_taken == 0 {
        return None;
    }
    let blurs = experiment.masks.iter().map(|sensor| sensor.blur.len()).max().unwrap_or(1);
    for blur in 1..blurs {
        measurement.blur = blur;
        state =
            nearest(&measurement, &Window { steps: steps_taken, ..*window }, parameters, state)?;
    }
    Some(state)
}

/// Over how many recorded steps of a window the motion from a state touches nothing.
fn steps_in_flight(
    measurement: &Measurement,
    parameters: &Parameters<f64>,
    window: &Window,
    state: &State<f64>,
) -> usize {
    let dataset = measurement.dataset;
    let system = System { model: measurement.model, parameters, settings: &dataset.settings };
    let part = (window.trajectory, window.first, window.steps);
    let (mut flown, mut touched) = (0, false);
    replay(system, dataset, part, state.clone(), measurement.inputs, |frame, state| {
        let place = (window.trajectory, frame);
        touched |= touches(&system, dataset, measurement.inputs, place, state);
        if !touched {
            flown = frame - window.first;
        }
    });
    flown
}

/// Whether a state at a frame of a recording (trajectory and frame) is about to touch anything, under what drives it there.
fn touches(
    system: &System<f64>,
    dataset: &Dataset,
    constant: &[f64],
    frame: (usize, usize),
    state: &State<f64>,
) -> bool {
    // The mean over the steps to the next frame.
    let mut driven = StepInputs::new(dataset, frame, constant);
    let mut inputs = vec![0.0; constant.len()];
    for _ in 0..dataset.substeps {
        let step = driven.next(system.parameters);
        inputs.iter_mut().zip(step).for_each(|(sum, u)| *sum += u / dataset.substeps as f64);
    }
    touched(system, state, &inputs).contains(&true)
}

/// The state near another one from which a window comes nearest to what was recorded; nothing if there is none.
fn nearest(
    measurement: &Measurement,
    window: &Window,
    parameters: &Parameters<f64>,
    mut state: State<f64>,
) -> Option<State<f64>> {
    let model = measurement.model;
    let cost = |state: &State<f64>| {
        let mut r = Vec::new();
        residuals(measurement, window, parameters, state, &mut r);
        0.5 * r.iter().map(|r| r * r).sum::<f64>()
    };
    let mut best = cost(&state);
    let mut damping = DAMPING;
    let unknowns = vec![0.0; 2 * model.nv()];
    for _ in 0..MAX_ITERATIONS {
        let (r, j) = ad::jacobian::<LANES>(
            |z: &[Dual<f64, LANES>]| {
                let initial = state.cast().moved(model.coordinates(), z);
                let mut r = Vec::new();
                residuals(measurement, window, &parameters.cast(), &initial, &mut r);
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
            let there = state.moved(model.coordinates(), step.as_slice());
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
