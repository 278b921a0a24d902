//! The distance between a simulation and a recording.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use super::replay::{StepEnds, StepInputs, frames, replay};
use super::sensor_reading::SensorReader;
use crate::ad::Real;
use crate::dynamics::Kinematics;
use crate::identify::data::{Dataset, Window};
use crate::identify::experiment::{
    Experiment, InitialState, MaskSensor, Noise, Reading, RobustLoss, Sensor, StateNumber,
    StepLoad, hinge,
};
use crate::model::{Joint, Model, Parameters, System};
use crate::render::{ImageFitScratch, RecordedImage, Sampling};
use crate::simulation::StepReport;
use crate::spatial::{conjugate, log, product};
use crate::state::{Coordinates, State};
use crate::trajectory::Known;

/// What residuals are made of besides parameters and initial state.
#[derive(Clone, Copy)]
pub struct Measurement<'a> {
    /// Bodies and contact pairs.
    pub model: &'a Model,
    /// Recordings.
    pub dataset: &'a Dataset,
    /// Weights.
    pub noise: &'a Noise,
    /// Weights of the joints that have their own, by body.
    pub joint_noise: &'a BTreeMap<usize, Noise>,
    /// How residuals count, if not by half their square.
    pub robust: Option<RobustLoss>,
    /// What measures other than the columns of the state.
    pub sensors: &'a [Sensor],
    /// Cameras that recorded masks.
    pub masks: &'a [MaskSensor],
    /// Through which blur masks are looked at: the number of the entry in the list of each camera, or its last.
    pub blur: usize,
    /// The inputs of every step, see [`step`](crate::simulation::step), but for what was recorded of them.
    pub inputs: &'a [f64],
    /// Whether the first frame counts: it does where the state there is fitted.
    pub initial_state: InitialState,
}

/// Appends the residuals of a window, simulated from `initial` under `parameters`: for each frame
/// and free body position (3, in the world) and rotation vector from recorded to simulated (3, body
/// frame), of other joints their coordinates, then velocities where they have a weight, then the channels of
/// each sensor; each over its standard deviation. What is not recorded, or missing at a frame, is left out. With
/// a robust loss, half their square is that loss.
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
    let mut readout = Readout::new(measurement, window, parameters);
    if let Some(end) = measurement.delayed_end(window) {
        let inputs = measurement.step_inputs(window);
        let (motion, report) =
            StepEnds::simulate(system, initial.clone(), inputs, (end, measurement.loads()));
        readout.compare_all(&motion, residuals);
        report
    } else {
        let part = (window.trajectory, window.first, window.steps);
        replay(system, dataset, part, initial.clone(), measurement.inputs, |frame, state| {
            readout.compare(frame, state, None, residuals);
        })
    }
}

/// The same of a window that was simulated already: of the states at the ends of all [`steps`] of it, the first before
/// all others.
pub(super) fn residuals_of<T: Real>(
    measurement: &Measurement,
    window: &Window,
    parameters: &Parameters<T>,
    states: Vec<State<T>>,
    residuals: &mut Vec<T>,
) {
    let dataset = measurement.dataset;
    let mut readout = Readout::new(measurement, window, parameters);
    if measurement.delayed_end(window).is_some() {
        readout.compare_all(&StepEnds::new(states, dataset.settings.time_step), residuals);
        return;
    }
    let part = (window.trajectory, window.first, window.steps);
    let mut states = states.into_iter();
    let Some(initial) = states.next() else { return };
    let next = |state: &mut State<T>| {
        if let Some(after) = states.next() {
            *state = after;
        }
    };
    frames(measurement.model, dataset, part, initial, next, |frame, state| {
        readout.compare(frame, state, None, residuals);
    });
}

/// A window as it is simulated, at its frames.
pub(crate) struct WindowMotion {
    pub states: Vec<State<f64>>,
    /// Of each sensor, at each frame, what it gives; nothing where that would be of before the start.
    pub readings: Vec<Vec<Vec<f64>>>,
    /// The inputs of the steps that begin there.
    pub inputs: Vec<Vec<f64>>,
}

/// A window simulated from `initial`.
pub(crate) fn motion_of(
    measurement: &Measurement,
    window: &Window,
    parameters: &Parameters<f64>,
    initial: &State<f64>,
) -> WindowMotion {
    let &Window { trajectory, first, steps, .. } = window;
    let Measurement { model, dataset, sensors, .. } = *measurement;
    let system = System { model, parameters, settings: &dataset.settings };
    let last = dataset.time_from(trajectory, first, first + steps);
    let end = measurement.delayed_end(window).unwrap_or(last);
    let inputs = measurement.step_inputs(window);
    let (motion, _) =
        StepEnds::simulate(system, initial.clone(), inputs, (end, measurement.loads()));
    let mut readout = Readout::new(measurement, window, parameters);
    let mut inputs = measurement.step_inputs::<f64>(window);
    let mut found = WindowMotion {
        states: Vec::new(),
        readings: vec![Vec::new(); sensors.len()],
        inputs: Vec::new(),
    };
    for frame in first..=first + steps {
        let time = dataset.time_from(trajectory, first, frame);
        let state = motion.at(model.coordinates(), time);
        for (sensor, readings) in sensors.iter().zip(&mut found.readings) {
            let mut given = Vec::new();
            if measurement.is_read(sensor, window, frame) {
                let time = time - sensor.delay(parameters);
                let late = motion.at(model.coordinates(), time);
                given = readout.reader.read(sensor, (time, &late), Some(&motion));
                let given = given.iter_mut().enumerate();
                given.for_each(|(k, x)| *x = sensor.output(parameters, k, *x));
            }
            readings.push(given);
        }
        found.inputs.push(inputs.at(parameters, time).to_vec());
        found.states.push(state);
    }
    found
}

/// How many steps the residuals of a window need.
pub(super) fn steps(measurement: &Measurement, window: &Window) -> usize {
    match measurement.delayed_end(window) {
        Some(end) => StepEnds::<f64>::steps(end, measurement.dataset.settings.time_step),
        None => measurement.dataset.simulated_steps(window),
    }
}

/// A simulation that is compared with its recording, frame by frame.
struct Readout<'a, T> {
    measurement: &'a Measurement<'a>,
    window: &'a Window,
    parameters: &'a Parameters<T>,
    kinematics: Kinematics<T>,
    reader: SensorReader<'a, T>,
    scratch: ImageFitScratch,
}

impl<'a, T: Real> Readout<'a, T> {
    fn new(
        measurement: &'a Measurement<'a>,
        window: &'a Window,
        parameters: &'a Parameters<T>,
    ) -> Self {
        Readout {
            measurement,
            window,
            parameters,
            kinematics: Kinematics::default(),
            reader: SensorReader::new(
                measurement.model,
                parameters,
                measurement.step_inputs(window),
                measurement.dataset.settings.time_step,
            ),
            scratch: ImageFitScratch::default(),
        }
    }

    /// Appends the residuals of all frames where sensors read late.
    fn compare_all(&mut self, motion: &StepEnds<T>, residuals: &mut Vec<T>) {
        let &Window { trajectory, first, steps, .. } = self.window;
        let Measurement { model, dataset, .. } = *self.measurement;
        for frame in first..=first + steps {
            let time = T::constant(dataset.time_from(trajectory, first, frame));
            let state = motion.at(model.coordinates(), time);
            self.compare(frame, &state, Some(motion), residuals);
        }
    }

    /// Appends the residuals of a frame. `motion`: all steps, of sensors that read late.
    fn compare(
        &mut self,
        frame: usize,
        state: &State<T>,
        motion: Option<&StepEnds<T>>,
        residuals: &mut Vec<T>,
    ) {
        let Measurement { model, dataset, .. } = *self.measurement;
        if frame == self.window.first && !self.measurement.counts_first() {
            return;
        }
        let trajectory = &dataset.trajectories[self.window.trajectory];
        let known = trajectory.recorded.at(frame);
        compare(self.measurement, state, &trajectory.states[frame], known, residuals);
        self.look(frame, state, residuals);
        let Some(readings) = self.measurement.readings(self.window, frame) else { return };
        let mut channel = 0;
        for sensor in self.measurement.sensors {
            let measured = &readings[channel..channel + sensor.channels()];
            channel += sensor.channels();
            if !self.measurement.is_read(sensor, self.window, frame)
                || measured.iter().all(Option::is_none)
            {
                continue;
            }
            let late;
            let mut read = state;
            let time = dataset.time_from(self.window.trajectory, self.window.first, frame);
            let mut time = T::constant(time);
            if let Some(motion) = motion.filter(|_| sensor.is_delayed()) {
                time -= sensor.delay(self.parameters);
                late = motion.at(model.coordinates(), time);
                read = &late;
            }
            let found = self.reader.read(sensor, (time, read), motion);
            let begin = residuals.len();
            for (k, (reading, measured)) in found.into_iter().zip(measured).enumerate() {
                let Some(measured) = *measured else { continue };
                let away = sensor.output(self.parameters, k, reading) - T::constant(measured);
                let turns = match &sensor.reads {
                    Reading::Numbers(numbers) => match numbers[k] {
                        StateNumber::Q(q) => hinge(model, q),
                        StateNumber::V(_) => None,
                    },
                    _ => None,
                };
                let turns = turns.map_or(0.0, |joint| whole_turns(joint, away.value()));
                residuals.push((away - turns) / sensor.noise);
            }
            self.measurement.settle(&mut residuals[begin..]);
        }
    }

    /// Appends the residuals of the masks of a frame.
    fn look(&mut self, frame: usize, state: &State<T>, residuals: &mut Vec<T>) {
        let Measurement { model, blur, .. } = *self.measurement;
        let Some(masks) = self.measurement.masks_at(self.window, frame) else { return };
        if masks.iter().all(Option::is_none) {
            return;
        }
        self.kinematics.update(model, self.parameters, state);
        for (sensor, mask) in self.measurement.masks.iter().zip(masks) {
            let Some(mask) = mask else { continue };
            let blur = sensor.blur.get(blur).or(sensor.blur.last()).copied().unwrap_or(0.0);
            let at = (model, self.parameters);
            let compared = (mask, Sampling { blur }, sensor.noise);
            let begin = residuals.len();
            sensor.fit.compare(at, &self.kinematics, compared, &mut self.scratch, residuals);
            self.measurement.settle(&mut residuals[begin..]);
        }
    }
}

impl<'a> Measurement<'a> {
    /// What an experiment compares with its recordings.
    pub fn new(experiment: &'a Experiment, dataset: &'a Dataset) -> Self {
        Measurement {
            model: &experiment.scene.model,
            dataset,
            noise: &experiment.noise,
            joint_noise: &experiment.joint_noise,
            robust: experiment.robust,
            sensors: &experiment.sensors,
            masks: &experiment.masks,
            blur: usize::MAX,
            inputs: &experiment.scene.inputs,
            initial_state: experiment.initial_state,
        }
    }

    /// The inputs of the steps of a window.
    pub(super) fn step_inputs<T: Real>(&self, window: &Window) -> StepInputs<'a, T> {
        StepInputs::new(self.dataset, (window.trajectory, window.first), self.inputs)
    }

    /// When the simulation of a window ends where a sensor reads late, s.
    fn delayed_end(&self, window: &Window) -> Option<f64> {
        if !self.sensors.iter().any(Sensor::needs_steps) {
            return None;
        }
        let &Window { trajectory, first, steps, .. } = window;
        let end = self.dataset.time_from(trajectory, first, first + steps);
        let step = self.dataset.settings.time_step;
        let late = |sensor: &Sensor| sensor.steps_around()[1] as f64 * step - sensor.delay_range[0];
        let early = self.sensors.iter().map(late);
        Some(end + early.fold(0.0, f64::max))
    }

    /// What sensors read of what acts in steps.
    fn loads(&self) -> Vec<StepLoad> {
        self.sensors.iter().filter_map(Sensor::load).collect()
    }

    /// Whether all that is read is of states and parameters: no sensor reads what steps solved for.
    pub(crate) fn is_of_states(&self) -> bool {
        self.sensors.iter().all(|sensor| sensor.load().is_none())
    }

    /// Residuals that belong together as they count.
    fn settle<T: Real>(&self, residuals: &mut [T]) {
        if let Some(robust) = self.robust {
            robust.apply(residuals);
        }
    }

    /// Whether the first frame of a window counts.
    fn counts_first(&self) -> bool {
        self.initial_state == InitialState::Fitted
    }

    /// What the sensors gave at a frame.
    fn readings(&self, window: &Window, frame: usize) -> Option<&'a [Option<f64>]> {
        let frames = self.dataset.readings.get(window.trajectory)?;
        frames.get(frame).map(Vec::as_slice)
    }

    /// What cameras recorded at a frame.
    fn masks_at(&self, window: &Window, frame: usize) -> Option<&'a [Option<RecordedImage>]> {
        let frames = self.dataset.masks.get(window.trajectory)?;
        frames.get(frame).map(Vec::as_slice)
    }

    /// Whether a sensor reads within the window, whatever its delay.
    fn is_read(&self, sensor: &Sensor, window: &Window, frame: usize) -> bool {
        let time = self.dataset.time_from(window.trajectory, window.first, frame);
        let step = self.dataset.settings.time_step;
        time - sensor.delay_range[1] >= (sensor.steps_around()[0] as f64 - 1e-6) * step
    }

    /// Whether a number has a residual of its own: no sensor reads it.
    fn has_own(&self, number: StateNumber) -> bool {
        !self.sensors.iter().any(|sensor| sensor.reads(number))
    }

    /// All joints that move, with how they move and their weights; but for those that are led along what was recorded.
    fn joints(&self) -> impl Iterator<Item = (&Joint, Coordinates, &Noise)> {
        let bodies = self.model.bodies.iter().enumerate();
        let bodies = bodies.filter(|(_, body)| !body.joint.prescribed);
        bodies.filter_map(|(index, body)| {
            let noise = self.joint_noise.get(&index).unwrap_or(self.noise);
            Some((&body.joint, body.joint.kind.coordinates()?, noise))
        })
    }
}

/// Which numbers of a joint count as positions, and which as angles.
struct Weights {
    /// How many of its velocities, and of the numbers of its configuration, are along positions.
    linear: usize,
    /// How many numbers of its configuration do not belong to a quaternion.
    plain: usize,
}

impl Weights {
    fn of(joint: &Joint, coordinates: Coordinates) -> Weights {
        // A slide counts as a position, a hinge as an angle.
        let plain = coordinates.quaternion().map_or(1, |(plain, _)| plain);
        Weights { linear: joint.kind.translations(), plain }
    }

    fn configuration(&self, k: usize, noise: &Noise) -> f64 {
        if k < self.linear { noise.position } else { noise.rotation }
    }

    fn velocity(&self, k: usize, noise: &Noise) -> Option<f64> {
        if k < self.linear { noise.velocity } else { noise.angular_velocity }
    }
}

fn compare<T: Real>(
    measurement: &Measurement,
    simulated: &State<T>,
    recorded: &State<f64>,
    known: Known,
    residuals: &mut Vec<T>,
) {
    for (joint, coordinates, noise) in measurement.joints() {
        let weights = Weights::of(joint, coordinates);
        let &Joint { kind, q, v, .. } = joint;
        let begin = residuals.len();
        let own = |k: &usize| known.q(q + k) && measurement.has_own(StateNumber::Q(q + k));
        for k in (0..weights.plain).filter(own) {
            let away = simulated.q[q + k] - recorded.q[q + k];
            let away = away - whole_turns(joint, away.value());
            residuals.push(away / weights.configuration(k, noise));
        }
        measurement.settle(&mut residuals[begin..]);
        if let Some((first, _)) = coordinates.quaternion()
            && known.q(q + first)
        {
            let [w, x, y, z] = [0, 1, 2, 3].map(|k| q + first + k);
            let from = conjugate([w, x, y, z].map(|k| recorded.q[k])).map(T::constant);
            let turn = log(product(from, [w, x, y, z].map(|k| simulated.q[k])));
            let begin = residuals.len();
            residuals.extend(turn.iter().map(|&x| x / noise.rotation));
            measurement.settle(&mut residuals[begin..]);
        }
        for part in [0..weights.linear, weights.linear..kind.nv()] {
            let begin = residuals.len();
            let own =
                |k: &usize| known.velocity(joint, *k) && measurement.has_own(StateNumber::V(v + k));
            for k in part.filter(own) {
                let Some(sd) = weights.velocity(k, noise) else { continue };
                residuals.push((simulated.v[v + k] - recorded.v[v + k]) / sd);
            }
            measurement.settle(&mut residuals[begin..]);
        }
    }
}

/// How many residuals a window has.
pub(crate) fn residual_count(measurement: &Measurement, window: &Window) -> usize {
    let &Window { trajectory, first, steps, .. } = window;
    let begin = if measurement.counts_first() { first } else { first + 1 };
    let recorded = &measurement.dataset.trajectories[trajectory].recorded;
    let of_states = |known: Known| residuals_of_frame(measurement, known);
    let frames = begin..=first + steps;
    let states: usize = match recorded.has_gaps() {
        true => frames.clone().map(|frame| of_states(recorded.at(frame))).sum(),
        false => frames.clone().count() * of_states(recorded.at(begin)),
    };
    let others = frames.map(|frame| {
        readings_of_frame(measurement, window, frame) + pixels_of_frame(measurement, window, frame)
    });
    states + others.sum::<usize>()
}

/// How many residuals a frame of a window has, and how many numbers that were recorded these stand for: a mask is as many as
/// it has pixels on its outline, by few residuals.
pub(crate) fn residual_count_at(
    measurement: &Measurement,
    window: &Window,
    frame: usize,
) -> [usize; 2] {
    if frame == window.first && !measurement.counts_first() {
        return [0; 2];
    }
    let recorded = &measurement.dataset.trajectories[window.trajectory].recorded;
    let others = residuals_of_frame(measurement, recorded.at(frame))
        + readings_of_frame(measurement, window, frame);
    let masks = measurement.masks_at(window, frame).unwrap_or_default();
    let seen = measurement.masks.iter().zip(masks).filter(|(_, mask)| mask.is_some());
    let entries: usize = seen.map(|(sensor, _)| sensor.fit.residuals()).sum();
    [others + entries, others + pixels_of_frame(measurement, window, frame)]
}

/// How many pixels of the masks of a frame tell where outlines are.
fn pixels_of_frame(measurement: &Measurement, window: &Window, frame: usize) -> usize {
    let masks = measurement.masks_at(window, frame).unwrap_or_default();
    masks.iter().flatten().map(RecordedImage::borders).sum()
}

/// How many residuals the sensors have at a frame.
fn readings_of_frame(measurement: &Measurement, window: &Window, frame: usize) -> usize {
    let Some(readings) = measurement.readings(window, frame) else { return 0 };
    let mut channel = 0;
    let counts = measurement.sensors.iter().map(|sensor| {
        let own = &readings[channel..channel + sensor.channels()];
        channel += sensor.channels();
        let read = measurement.is_read(sensor, window, frame);
        if read { own.iter().flatten().count() } else { 0 }
    });
    counts.sum()
}

/// How many residuals the state at a frame has.
fn residuals_of_frame(measurement: &Measurement, known: Known) -> usize {
    let of = |(joint, coordinates, noise): (&Joint, Coordinates, &Noise)| {
        let weights = Weights::of(joint, coordinates);
        (0..coordinates.nv())
            .map(|k| {
                let turns = coordinates.quaternion().is_some_and(|(_, turn)| k >= turn);
                let q = turns || measurement.has_own(StateNumber::Q(joint.q + k));
                let v = weights.velocity(k, noise).is_some()
                    && measurement.has_own(StateNumber::V(joint.v + k));
                usize::from(q && known.configuration(joint, k))
                    + usize::from(v && known.velocity(joint, k))
            })
            .sum::<usize>()
    };
    measurement.joints().map(of).sum()
}

/// The turns, rad, by which the angle of a hinge can be off and the bodies be where they should; none of a
/// joint that is stopped by limits before it comes round.
pub(crate) fn whole_turns(joint: &Joint, angle: f64) -> f64 {
    match joint.kind.comes_round() && !joint.limited && angle.is_finite() {
        true => TAU * (angle / TAU).round(),
        false => 0.0,
    }
}
