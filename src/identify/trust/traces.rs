//! What was recorded beside what is simulated, number by number over time.

use crate::identify::data::{Dataset, Window};
use crate::identify::experiment::Experiment;
use crate::identify::residuals::{Measurement, motion_of, whole_turns};
use crate::model::{Joint, Model, Parameters};
use crate::spatial::{conjugate, log, product};
use crate::state::State;
use crate::trajectory::{Quantity, quantity_of};

/// A number over the frames of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// What it is called.
    pub name: String,
    /// What it measures, if that is known.
    pub quantity: Option<Quantity>,
    /// What was recorded.
    pub recorded: Vec<Option<f64>>,
    /// What is simulated.
    pub simulated: Vec<f64>,
    /// How far the simulation is from the recording, where that is not the difference of the two.
    pub apart: Option<Vec<Option<f64>>>,
}

/// Numbers that belong together: of a body, of a sensor, the inputs.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceGroup {
    /// What it is called.
    pub name: String,
    /// Its numbers.
    pub traces: Vec<Trace>,
}

/// All that was recorded of a trajectory and its simulation from a state at its first complete frame, and the times of these
/// frames, s.
pub fn traces(
    experiment: &Experiment,
    dataset: &Dataset,
    parameters: &Parameters<f64>,
    trajectory: usize,
    start: &State<f64>,
) -> (Vec<f64>, Vec<TraceGroup>) {
    let model = &experiment.scene.model;
    let recording = &dataset.trajectories[trajectory];
    let first = recording.first_complete();
    let window = Window { trajectory, first, steps: recording.steps() - first };
    let measurement = Measurement::new(experiment, dataset);
    let motion = motion_of(&measurement, &window, parameters, start);
    let mut groups: Vec<TraceGroup> = (0..model.bodies.len())
        .filter_map(|body| of_body(model, dataset, &window, body, &motion.states))
        .collect();
    let mut channel = 0;
    for (sensor, readings) in experiment.sensors.iter().zip(&motion.readings) {
        let traces = (0..sensor.channels()).map(|k| {
            let reading = |frame: usize| {
                let own = dataset.readings.get(trajectory)?.get(frame)?;
                own.get(channel + k).copied().flatten()
            };
            Trace {
                name: sensor.channel(k),
                quantity: sensor.quantity(k),
                recorded: (first..=first + window.steps).map(reading).collect(),
                simulated: readings
                    .iter()
                    .map(|of_frame| of_frame.get(k).copied().unwrap_or(f64::NAN))
                    .collect(),
                apart: None,
            }
        });
        let traces = traces.collect();
        channel += sensor.channels();
        groups.push(TraceGroup { name: sensor.name.clone(), traces });
    }
    let names = model.input_names();
    let driven = dataset.driven(trajectory);
    if !driven.is_empty() {
        let step = dataset.settings.time_step;
        let frames = first..=first + window.steps;
        let traces = driven.iter().map(|input| Trace {
            name: names[input.place].clone(),
            quantity: quantity_of(model, &names[input.place]),
            recorded: frames
                .clone()
                .map(|frame| {
                    let time = input.begin(dataset.clock(trajectory, frame), step);
                    Some(input.signal.mean(time, step))
                })
                .collect(),
            simulated: motion.inputs.iter().map(|inputs| inputs[input.place]).collect(),
            apart: None,
        });
        groups.push(TraceGroup { name: "inputs".into(), traces: traces.collect() });
    }
    groups.retain(|group| !group.traces.is_empty());
    let times = recording.times[first..].to_vec();
    (times, groups)
}

/// The numbers of a body that were recorded; nothing if it does not move.
fn of_body(
    model: &Model,
    dataset: &Dataset,
    window: &Window,
    index: usize,
    states: &[State<f64>],
) -> Option<TraceGroup> {
    let body = &model.bodies[index];
    let joint = &body.joint;
    let coordinates = joint.kind.coordinates()?;
    let recording = &dataset.trajectories[window.trajectory];
    let frames = window.first..=window.first + window.steps;
    let mut traces = Vec::new();
    let plain = coordinates.quaternion().map_or(coordinates.nq(), |(first, _)| first);
    let names = (model.configuration_names(), model.velocity_names());
    for k in (joint.q..joint.q + plain).filter(|&k| recording.recorded.q[k]) {
        let known =
            |frame: usize| recording.recorded.at(frame).q(k).then(|| recording.states[frame].q[k]);
        let recorded: Vec<Option<f64>> = frames.clone().map(known).collect();
        let simulated: Vec<f64> = states.iter().map(|state| state.q[k]).collect();
        let apart = joint.kind.comes_round().then(|| turned_back(joint, &recorded, &simulated));
        let quantity = quantity_of(model, &names.0[k]);
        traces.push(Trace { name: names.0[k].clone(), quantity, recorded, simulated, apart });
    }
    if let Some((first, _)) = coordinates.quaternion() {
        let q = joint.q + first;
        if recording.recorded.q[q] {
            let of = |state: &State<f64>| -> [f64; 4] { std::array::from_fn(|k| state.q[q + k]) };
            let between = |a: [f64; 4], b: [f64; 4]| log(product(conjugate(a), b)).norm();
            let begin = of(&recording.states[window.first]);
            let known = |frame: usize| {
                recording.recorded.at(frame).q(q).then(|| of(&recording.states[frame]))
            };
            let recorded: Vec<Option<[f64; 4]>> = frames.clone().map(known).collect();
            let apart = recorded.iter().zip(states);
            let apart = apart.map(|(known, state)| Some(between((*known)?, of(state)))).collect();
            traces.push(Trace {
                name: format!("{}/turned", body.name),
                quantity: Some(Quantity::Angle),
                recorded: recorded.iter().map(|known| Some(between(begin, (*known)?))).collect(),
                simulated: states.iter().map(|state| between(begin, of(state))).collect(),
                apart: Some(apart),
            });
        }
    }
    for k in (joint.v..joint.v + coordinates.nv()).filter(|&k| recording.recorded.v[k]) {
        let known =
            |frame: usize| recording.recorded.at(frame).v(k).then(|| recording.states[frame].v[k]);
        traces.push(Trace {
            name: names.1[k].clone(),
            quantity: quantity_of(model, &names.1[k]),
            recorded: frames.clone().map(known).collect(),
            simulated: states.iter().map(|state| state.v[k]).collect(),
            apart: None,
        });
    }
    Some(TraceGroup { name: body.name.clone(), traces })
}

/// Differences of the angles of a hinge, without whole turns.
fn turned_back(joint: &Joint, recorded: &[Option<f64>], simulated: &[f64]) -> Vec<Option<f64>> {
    let apart = recorded.iter().zip(simulated).map(|(recorded, simulated)| {
        let away = simulated - (*recorded)?;
        Some(away - whole_turns(joint, away))
    });
    apart.collect()
}
