//! The cost of a window backwards: steps by their adjoints, what is read of them by the tape.

use super::measurement::{Measurement, residuals_of, steps};
use crate::ad::{self, Var};
use crate::identify::data::Window;
use crate::linalg::dot;
use crate::linearize::RolloutAdjoint;
use crate::model::{ContactSolver, Model, Parameters, Settings, StaggeredDerivative, System};
use crate::spatial::{conjugate, product};
use crate::state::State;

/// Whether a step depends on the one before by the state alone: impulses that solvers start from have no
/// derivatives.
pub(crate) fn forgets(settings: &Settings) -> bool {
    let unrolled = StaggeredDerivative::Unrolled;
    !matches!(settings.solver, ContactSolver::Staggered { derivative, .. } if derivative == unrolled)
}

/// Half the sum of squares of a window, of which only states and parameters are [read](Measurement::is_of_states),
/// simulated from `initial`, and its derivatives in the values of all parameters.
/// Those in the initial state are left in `rollout`, with the report.
///
/// # Errors
/// Those of [`ad::gradient`].
pub(crate) fn window_gradient(
    measurement: &Measurement,
    window: &Window,
    parameters: &Parameters<f64>,
    initial: &State<f64>,
    rollout: &mut RolloutAdjoint,
) -> Result<(f64, Vec<f64>), ad::Error> {
    let model = measurement.model;
    let system = System { model, parameters, settings: &measurement.dataset.settings };
    rollout.start(initial);
    let mut inputs = measurement.step_inputs(window);
    rollout.set_time(Some(inputs.begin));
    let count = steps(measurement, window);
    for _ in 0..count {
        rollout.step(&system, inputs.next(parameters));
    }
    let (nq, nv) = (model.nq(), model.nv());
    let mut read: Vec<f64> = Vec::with_capacity((count + 1) * (nq + nv));
    for k in 0..=count {
        let State { q, v } = rollout.state(k);
        read.extend(q.iter().chain(v));
    }
    // Only sensors and cameras read parameters themselves.
    let states = read.len();
    let senses = !(measurement.sensors.is_empty() && measurement.masks.is_empty());
    let sensed = if senses { &parameters.values } else { &[][..] };
    read.extend(sensed);
    let cost = |numbers: &[Var]| {
        let (numbers, values) = numbers.split_at(states);
        let state = |x: &[Var]| State { q: x[..nq].to_vec(), v: x[nq..].to_vec() };
        let motion = numbers.chunks_exact(nq + nv).map(state).collect();
        let parameters = match values.is_empty() {
            true => parameters.cast(),
            false => Parameters { values: values.to_vec() },
        };
        let mut r = Vec::new();
        residuals_of(measurement, window, &parameters, motion, &mut r);
        dot(&r, &r) * 0.5
    };
    let (cost, slopes) = ad::gradient(cost, &read)?;
    let (slopes, sensed) = slopes.split_at(states);
    rollout.reverse_from(&system, |k, state, adjoint| {
        let slopes = &slopes[k * (nq + nv)..(k + 1) * (nq + nv)];
        add_tangent(model, state, slopes, adjoint);
    })?;
    let mut by_parameters = rollout.adjoints().parameters.clone();
    // Numbers of sensors come after those of the model.
    by_parameters.resize(parameters.values.len(), 0.0);
    by_parameters.iter_mut().zip(sensed).for_each(|(sum, x)| *sum += x);
    let time_step = measurement.dataset.settings.time_step;
    for k in 0..count {
        let time = inputs.begin + k as f64 * time_step;
        let step = (time, time_step);
        let adjoints = rollout.input_adjoints(k);
        let dataset = measurement.dataset;
        dataset.drive_adjoint(window.trajectory, parameters, step, adjoints, &mut by_parameters);
    }
    Ok((cost, by_parameters))
}

/// Adds a gradient in the numbers of a state, `[q; v]`, as one in tangent vectors `[dq; dv]`.
fn add_tangent(model: &Model, state: &State<f64>, slopes: &[f64], tangent: &mut [f64]) {
    let (by_q, by_v) = slopes.split_at(state.q.len());
    let (to_q, to_v) = tangent.split_at_mut(state.v.len());
    let (mut q, mut v) = (0, 0);
    for joint in model.coordinates() {
        let plain = joint.quaternion().map_or(joint.nq(), |(first, _)| first);
        to_q[v..v + plain].iter_mut().zip(&by_q[q..]).for_each(|(to, x)| *to += x);
        if let Some((first, turn)) = joint.quaternion() {
            // dq = q o [0, d] / 2
            let quaternion = |x: &[f64]| std::array::from_fn(|k| x[q + first + k]);
            let [_, turns @ ..] = product(conjugate(quaternion(&state.q)), quaternion(by_q));
            let to = &mut to_q[v + turn..v + turn + 3];
            to.iter_mut().zip(turns).for_each(|(to, x)| *to += x / 2.0);
        }
        (q, v) = (q + joint.nq(), v + joint.nv());
    }
    to_v.iter_mut().zip(by_v).for_each(|(to, x)| *to += x);
}
