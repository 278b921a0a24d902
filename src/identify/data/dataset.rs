//! Recordings, cut into windows.

use std::sync::Arc;

use super::driven::DrivenInput;
use crate::Error;
use crate::ad::Real;
use crate::identify::experiment::{Calibration, Experiment, Sensor, WindowLength};
use crate::identify::peers::Shares;
use crate::model::{Parameters, Scene, Settings, System};
use crate::render::RecordedImage;
use crate::state::State;
use crate::trajectory::Trajectory;

/// A stretch of a trajectory that is simulated from a state of its own ([`initial_state`]).
///
/// [`initial_state`]: crate::identify::initial_state
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Index into [`Dataset::trajectories`].
    pub trajectory: usize,
    /// The frame it starts from.
    pub first: usize,
    /// How many recorded steps it has.
    pub steps: usize,
}

/// The recordings of an experiment.
///
/// Where several processes work together ([`load_among`](Self::load_among)), each holds some of the recordings: of the others it
/// knows names, times and what is recorded, and has neither states nor readings, masks and inputs. What is asked of such a
/// dataset has to be asked by all processes.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The recordings.
    pub trajectories: Vec<Trajectory>,
    /// The windows, trajectory by trajectory.
    pub windows: Vec<Window>,
    /// What the sensors of the experiment gave: of each recording, if there are sensors, each frame, all channels
    /// of one sensor after the other; nothing where it was not measured.
    pub readings: Vec<Vec<Vec<Option<f64>>>>,
    /// The masks that cameras recorded: of each recording, if there are such cameras, each frame, one of each camera; nothing
    /// where there is none.
    pub masks: Vec<Vec<Vec<Option<RecordedImage>>>>,
    /// What was recorded of the inputs of the steps: of each recording, if there is anything.
    pub inputs: Vec<Vec<DrivenInput>>,
    /// What was odd about the files, in words.
    pub notes: Vec<String>,
    /// Whether frames are evenly spaced, in all recordings alike.
    pub even: bool,
    /// Simulation steps per recorded step; where frames are not even, about so many.
    pub substeps: usize,
    /// Settings of the simulation; the time step is that of the recordings over `substeps`, or the scene's where
    /// frames are not even.
    pub settings: Settings,
    /// A recorded velocity belongs to this long before its frame, s.
    pub velocity_lag: f64,
    /// Who holds what.
    pub(crate) shares: Shares,
}

/// More steps in a recording are taken for a mistake.
const MOST_STEPS: f64 = 1e7;

/// An error unless what takes so many steps is short enough to be simulated again and again.
fn demand_steps(name: &str, steps: f64, most: f64, what: &str) -> Result<(), Error> {
    if steps <= most {
        return Ok(());
    }
    let message = format!(
        "{what} takes {steps:.3e} steps of the scene, {most:e} at most: is a time of the recording wrong, or \
         `time_step` of the scene too short?"
    );
    Err(Error::input(name, None, "t", message))
}

impl Dataset {
    /// All recorded states that are held here.
    pub fn states(&self) -> impl Iterator<Item = &State<f64>> + Clone {
        self.trajectories.iter().flat_map(|recording| &recording.states)
    }

    /// Cuts `trajectories` into windows.
    ///
    /// Where frames are not evenly spaced, or not alike in all of them, the simulation keeps the scene's time step
    /// and is read between its steps ([`replay`](crate::identify::replay)).
    ///
    /// # Errors
    /// If even recorded steps are not `substeps` times the time step of the scene, or there are `substeps` of uneven
    /// ones.
    pub fn new(experiment: &Experiment, trajectories: Vec<Trajectory>) -> Result<Dataset, Error> {
        Dataset::with_readings(experiment, trajectories, Vec::new())
    }

    /// [`new`](Self::new) with what the sensors gave.
    pub fn with_readings(
        experiment: &Experiment,
        trajectories: Vec<Trajectory>,
        readings: Vec<Vec<Vec<Option<f64>>>>,
    ) -> Result<Dataset, Error> {
        let shares = Shares::new(Arc::default(), trajectories.len());
        Dataset::cut(experiment, trajectories, readings, shares)
    }

    pub(super) fn cut(
        experiment: &Experiment,
        trajectories: Vec<Trajectory>,
        readings: Vec<Vec<Vec<Option<f64>>>>,
        shares: Shares,
    ) -> Result<Dataset, Error> {
        let mut settings = experiment.scene.settings;
        check_readings(experiment, &trajectories, &readings, &shares)?;
        let blame = |message: String| {
            let line = experiment.substeps_line;
            Err(Error::input(&experiment.name, line, "substeps", message))
        };
        let mut mean = settings.time_step;
        let mut even = true;
        match interval(&trajectories) {
            Ok(interval) => mean = interval.unwrap_or(mean),
            Err((interval, why)) => {
                if experiment.substeps.is_some() {
                    return blame(format!(
                        "has no meaning where frames are not evenly spaced, and {why}; \
                         leave it out, for the scene's own time step"
                    ));
                }
                (mean, even) = (interval, false);
            }
        }
        let interval = mean;
        let implied = (interval / settings.time_step).round().max(1.0) as usize;
        let substeps = experiment.substeps.unwrap_or(implied);
        let step = interval / substeps as f64;
        // Recorded times are rounded, so a little is allowed.
        if even && (step / settings.time_step - 1.0).abs() > 0.01 {
            let message = format!(
                "{substeps} steps of the scene's {} s are {} s, but the recordings have a frame \
                 every {interval} s; change `substeps` here or `time_step` in the scene",
                settings.time_step,
                substeps as f64 * settings.time_step,
            );
            return blame(message);
        }
        if even {
            settings.time_step = step;
        }
        let mut windows = Vec::new();
        for (index, trajectory) in trajectories.iter().enumerate() {
            let last = trajectory.times.len() - 1;
            let length = match experiment.window {
                WindowLength::Whole => last,
                WindowLength::Steps(steps) => steps.min(last),
            };
            let begin = trajectory.first_complete();
            for first in (begin..last).step_by(length) {
                let steps = length.min(last - first);
                windows.push(Window { trajectory: index, first, steps });
            }
        }
        let velocity_lag = experiment.velocity_lag;
        let early = experiment.sensors.iter().map(|sensor| -sensor.delay_range[0]);
        let early = early.fold(0.0, f64::max) / settings.time_step;
        let steps_between = |trajectory: &Trajectory, first: usize, last: usize| match even {
            true => (last - first) as f64 * substeps as f64,
            false => (trajectory.times[last] - trajectory.times[first]) / settings.time_step,
        };
        for trajectory in &trajectories {
            let steps = steps_between(trajectory, 0, trajectory.times.len() - 1);
            demand_steps(&trajectory.name, steps, MOST_STEPS, "the recording")?;
        }
        for &Window { trajectory, first, steps } in &windows {
            let trajectory = &trajectories[trajectory];
            let steps = early + steps_between(trajectory, first, first + steps);
            let what = "a window, with the delays of sensors before it,";
            demand_steps(&trajectory.name, steps, MOST_STEPS, what)?;
        }
        let mut dataset = Dataset {
            trajectories,
            windows,
            readings,
            masks: Vec::new(),
            inputs: Vec::new(),
            notes: Vec::new(),
            even,
            substeps,
            settings,
            velocity_lag,
            shares,
        };
        dataset.lead(&experiment.scene.model);
        Ok(dataset)
    }

    /// What simulations beside the recordings are functions of, at their time step.
    pub fn system<'a, T>(
        &'a self,
        scene: &'a Scene,
        parameters: &'a Parameters<T>,
    ) -> System<'a, T> {
        System { settings: &self.settings, ..scene.system_with(parameters) }
    }

    /// The time from one frame of a trajectory to another, s, as simulated.
    pub(crate) fn time_from(&self, trajectory: usize, first: usize, frame: usize) -> f64 {
        if self.even {
            return (frame - first) as f64 * self.substeps as f64 * self.settings.time_step;
        }
        let times = &self.trajectories[trajectory].times;
        times[frame] - times[first]
    }

    /// The time of a frame as it was recorded, s, by which pushes act.
    pub(crate) fn clock(&self, trajectory: usize, frame: usize) -> f64 {
        let recording = &self.trajectories[trajectory];
        match self.even {
            true => recording.times[0] + self.time_from(trajectory, 0, frame),
            false => recording.times[frame],
        }
    }

    /// Puts what was recorded of the inputs over `duration` (s) from a time (s, of the clock of the recording) on among those of a step: of
    /// each its mean ([`DrivenInput::begin`]), so that it may begin to act within a step.
    pub(crate) fn drive<T: Real>(
        &self,
        trajectory: usize,
        parameters: &Parameters<T>,
        (time, duration): (T, f64),
        inputs: &mut [T],
    ) {
        for input in self.driven(trajectory) {
            let DrivenInput { place, signal, calibration } = input;
            let time = time + T::constant(input.begin(0.0, duration));
            let Some(Calibration { delay, gain, bias }) = *calibration else {
                inputs[*place] = signal.mean(time, duration);
                continue;
            };
            let [delay, gain, bias] = [delay, gain, bias].map(|slot| parameters.values[slot]);
            let recorded = signal.mean(time - delay, duration);
            inputs[*place] = gain * recorded + bias;
        }
    }

    /// Adds what adjoints of the inputs of a step make of those of the parameters by which recorded inputs are corrected.
    pub(crate) fn drive_adjoint(
        &self,
        trajectory: usize,
        parameters: &Parameters<f64>,
        (time, duration): (f64, f64),
        adjoints: &[f64],
        by_parameters: &mut [f64],
    ) {
        for input in self.driven(trajectory) {
            let DrivenInput { place, signal, calibration } = input;
            let Some(Calibration { delay, gain, bias }) = *calibration else { continue };
            let adjoint = adjoints[*place];
            let begin = input.begin(time, duration) - parameters.values[delay];
            let recorded = signal.mean(begin, duration);
            by_parameters[gain] += adjoint * recorded;
            by_parameters[bias] += adjoint;
            by_parameters[delay] -=
                adjoint * parameters.values[gain] * signal.mean_rate(begin, duration);
        }
    }

    /// The recorded inputs of a recording.
    pub(crate) fn driven(&self, trajectory: usize) -> &[DrivenInput] {
        self.inputs.get(trajectory).map_or(&[], Vec::as_slice)
    }

    /// How many simulation steps a window takes.
    pub fn simulated_steps(&self, window: &Window) -> usize {
        let Window { trajectory, first, steps, .. } = *window;
        if self.even {
            return steps * self.substeps;
        }
        let time = self.time_from(trajectory, first, first + steps);
        (time / self.settings.time_step).ceil() as usize
    }

    /// How many simulation steps all windows take.
    pub fn simulated(&self) -> usize {
        self.windows.iter().map(|window| self.simulated_steps(window)).sum()
    }

    /// Mean number of recorded steps of a trajectory.
    pub fn mean_steps(&self) -> f64 {
        let steps: usize = self.trajectories.iter().map(|t| t.steps()).sum();
        steps as f64 / self.trajectories.len().max(1) as f64
    }
}

/// The readings have as many trajectories, frames and channels as they should.
fn check_readings(
    experiment: &Experiment,
    trajectories: &[Trajectory],
    readings: &[Vec<Vec<Option<f64>>>],
    shares: &Shares,
) -> Result<(), Error> {
    if readings.is_empty() {
        return Ok(());
    }
    let channels: usize = experiment.sensors.iter().map(Sensor::channels).sum();
    let fit = |k: usize| {
        let (trajectory, frames) = (&trajectories[k], &readings[k]);
        let whole = || frames.iter().all(|all| all.len() == channels);
        !shares.holds(k) || (frames.len() == trajectory.times.len() && whole())
    };
    if readings.len() == trajectories.len() && (0..readings.len()).all(fit) {
        return Ok(());
    }
    let message = format!("must be {channels} numbers for each frame of each recording");
    Err(Error::input(&experiment.name, None, "sensor", message))
}

/// The mean interval of trajectories that are uniform within 5 % (times are often rounded), and alike within
/// 1 %; if they are not, the mean interval of all, and why.
fn interval(trajectories: &[Trajectory]) -> Result<Option<f64>, (f64, String)> {
    let mean = |t: &Trajectory| (t.times[t.times.len() - 1] - t.times[0]) / t.steps() as f64;
    let steps: usize = trajectories.iter().map(Trajectory::steps).sum();
    let overall = trajectories.iter().map(|t| mean(t) * t.steps() as f64).sum::<f64>();
    let overall = overall / steps.max(1) as f64;
    let mut first = None;
    for trajectory in trajectories {
        let mean = mean(trajectory);
        let name = &trajectory.name;
        for (k, pair) in trajectory.times.windows(2).enumerate() {
            let step = pair[1] - pair[0];
            if (step / mean - 1.0).abs() > 0.05 {
                // Line 1 of a table is its header.
                let (frame, line) = (k + 1, k + 3);
                let why = match name.ends_with(".csv") {
                    true => format!("{name}:{line} comes {step} s after the line before"),
                    false => format!("frame {frame} of {name} comes {step} s after the one before"),
                };
                let why = format!("{why}, the mean is {mean} s");
                return Err((overall, why));
            }
        }
        let other = *first.get_or_insert(mean);
        if (mean / other - 1.0).abs() > 0.01 {
            let why =
                format!("{name} has a frame every {mean} s, those before it one every {other} s");
            return Err((overall, why));
        }
    }
    Ok(first)
}
